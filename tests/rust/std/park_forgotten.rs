// The flag is set after the thread was woken.
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
    waiter.thread().unpark();
    flag.store(true, Ordering::Release);
    waiter.join().unwrap();
}
