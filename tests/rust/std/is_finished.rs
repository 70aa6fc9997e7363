// That a thread is finished says that it has done all it does.
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static DONE: AtomicBool = AtomicBool::new(false);

fn main() {
    let thread = thread::spawn(|| DONE.store(true, Ordering::SeqCst));
    if thread.is_finished() {
        assert!(DONE.load(Ordering::SeqCst));
    }
    thread.join().unwrap();
}
