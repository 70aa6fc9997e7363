// A thread parks until a flag is set, and looks at it each time.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn main() {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    let waiter = thread::spawn(move || {
        while !seen.load(Ordering::Acquire) {
            thread::park();
        }
    });
    flag.store(true, Ordering::Release);
    waiter.thread().unpark();
    waiter.join().unwrap();
}
