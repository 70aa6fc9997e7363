// Three threads count in an atomic.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn main() {
    let hits = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let hits = Arc::clone(&hits);
            thread::spawn(move || {
                hits.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(hits.load(Ordering::Relaxed), 3);
}
