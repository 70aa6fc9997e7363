// A counter that is read and written in two steps loses one.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn main() {
    let hits = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&hits);
    let count = |hits: &AtomicUsize| {
        let before = hits.load(Ordering::SeqCst);
        hits.store(before + 1, Ordering::SeqCst);
    };
    let thread = thread::spawn(move || {
        count(&other);
    });
    count(&hits);
    thread.join().unwrap();
    assert_eq!(hits.load(Ordering::SeqCst), 2);
}
