// Dekker's handshake with release and acquire: both may enter.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;
static A: AtomicBool = AtomicBool::new(false);
static B: AtomicBool = AtomicBool::new(false);
static IN: AtomicU32 = AtomicU32::new(0);
fn main() {
    let t = thread::spawn(|| {
        A.store(true, Release);
        if !B.load(Acquire) {
            IN.fetch_add(1, Relaxed);
        }
    });
    B.store(true, Release);
    if !A.load(Acquire) {
        IN.fetch_add(1, Relaxed);
    }
    t.join().unwrap();
    assert!(IN.load(Relaxed) < 2);
}
