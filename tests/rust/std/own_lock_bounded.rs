// A lock that gives up after some tries and says so: both outcomes are there.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

static TAKEN: AtomicBool = AtomicBool::new(false);
static DONE: AtomicU32 = AtomicU32::new(0);

fn try_for_a_while() -> bool {
    let mut tries = 0;
    while TAKEN.swap(true, Ordering::Acquire) {
        tries += 1;
        if tries == 3 {
            return false;
        }
    }
    DONE.fetch_add(1, Ordering::Relaxed);
    TAKEN.store(false, Ordering::Release);
    true
}

fn main() {
    let thread = thread::spawn(try_for_a_while);
    let mine = try_for_a_while();
    let theirs = thread.join().unwrap();
    assert_eq!(DONE.load(Ordering::Relaxed), u32::from(mine) + u32::from(theirs));
    assert!(mine && theirs);
}
