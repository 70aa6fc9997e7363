// Three scoped threads count, and nobody joins them.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn main() {
    let hits = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| hits.fetch_add(1, Ordering::Relaxed));
        }
    });
    assert_eq!(hits.load(Ordering::Relaxed), 3);
}
