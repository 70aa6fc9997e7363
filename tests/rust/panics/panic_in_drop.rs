// A destructor that panics on its own is caught like anything else, and what else there is is dropped.
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

static DROPPED: AtomicBool = AtomicBool::new(false);

struct Loud(Quiet);
struct Quiet;

impl Drop for Loud {
    fn drop(&mut self) {
        panic!("in drop");
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        DROPPED.store(true, Ordering::SeqCst);
    }
}

fn main() {
    let caught = panic::catch_unwind(|| drop(Loud(Quiet)));
    assert!(caught.is_err());
    assert!(DROPPED.load(Ordering::SeqCst));
}
