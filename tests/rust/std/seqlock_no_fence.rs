// A reader of two values under a sequence lock: without a fence it may take the new one of the second for the old one.
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

static SEQUENCE: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicUsize = AtomicUsize::new(0);
static SECOND: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let writer = thread::spawn(|| {
        SEQUENCE.store(1, Relaxed);
        FIRST.store(1, Relaxed);
        SECOND.store(1, Relaxed);
        SEQUENCE.store(2, Release);
    });
    loop {
        let before = SEQUENCE.load(Acquire);
        if before % 2 == 1 {
            continue;
        }
        let (first, second) = (FIRST.load(Relaxed), SECOND.load(Relaxed));
        if SEQUENCE.load(Relaxed) == before {
            assert_eq!(first, second);
            break;
        }
    }
    writer.join().unwrap();
}
