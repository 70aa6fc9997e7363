//! What a thread does before `main` returns is checked, whether or not anybody waits for it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static STATE: AtomicU32 = AtomicU32::new(0);

fn main() {
    thread::spawn(|| {
        assert_eq!(STATE.load(Ordering::SeqCst), 0);
        loop {
            thread::park();
        }
    });
    STATE.store(1, Ordering::SeqCst);
}
