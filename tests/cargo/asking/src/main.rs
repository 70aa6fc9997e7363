//! Starts as many threads as it is told to.
use std::sync::atomic::{AtomicU32, Ordering};

static DONE: AtomicU32 = AtomicU32::new(0);

fn main() {
    let workers: u32 = match std::env::args().nth(1).as_deref() {
        Some("--workers") => std::env::args().nth(2).unwrap().parse().unwrap(),
        _ => 0,
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| DONE.fetch_add(1, Ordering::SeqCst));
        }
    });
    assert!(DONE.load(Ordering::SeqCst) < 2, "too many workers");
}
