// What an `Arc` holds is dropped once, after all that was done with it.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Held(AtomicUsize);

impl Drop for Held {
    fn drop(&mut self) {
        assert_eq!(*self.0.get_mut(), 2);
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let held = Arc::new(Held(AtomicUsize::new(0)));
    let other = Arc::clone(&held);
    let thread = thread::spawn(move || {
        other.0.fetch_add(1, Ordering::Relaxed);
    });
    held.0.fetch_add(1, Ordering::Relaxed);
    drop(held);
    thread.join().unwrap();
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
}
