// Both threads may read before either of them writes.
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static COUNTER: AtomicU32 = AtomicU32::new(0);

fn increase() {
    let before = COUNTER.load(Ordering::SeqCst);
    COUNTER.store(before + 1, Ordering::SeqCst);
}

fn main() {
    let other = thread::spawn(increase);
    increase();
    other.join().unwrap();
    assert!(COUNTER.load(Ordering::SeqCst) == 2);
}
