// Nobody passes a barrier before all have come.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

fn main() {
    let state = Arc::new((AtomicUsize::new(0), Barrier::new(2)));
    let other = Arc::clone(&state);
    let thread = thread::spawn(move || {
        other.0.fetch_add(1, Ordering::Relaxed);
        other.1.wait();
        assert_eq!(other.0.load(Ordering::Relaxed), 2);
    });
    state.0.fetch_add(1, Ordering::Relaxed);
    state.1.wait();
    assert_eq!(state.0.load(Ordering::Relaxed), 2);
    thread.join().unwrap();
}
