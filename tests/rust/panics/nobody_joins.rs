// The handle is dropped: nobody will ever look.
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static DONE: AtomicBool = AtomicBool::new(false);

struct Tell;

impl Drop for Tell {
    fn drop(&mut self) {
        DONE.store(true, Ordering::SeqCst);
    }
}

fn main() {
    thread::spawn(|| {
        let _tell = Tell;
        let items = [1, 2, 3];
        let index = items.len() + DONE.load(Ordering::SeqCst) as usize;
        assert!(items[index] > 0);
    });
    while !DONE.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}
