// Peterson's algorithm with release and acquire, which is not enough: both come in.
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

struct Shared {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    wants: [AtomicBool::new(false), AtomicBool::new(false)],
    turn: AtomicUsize::new(0),
    value: UnsafeCell::new(0),
};

fn add(me: usize) {
    SHARED.wants[me].store(true, Release);
    SHARED.turn.store(1 - me, Release);
    while SHARED.wants[1 - me].load(Acquire) && SHARED.turn.load(Acquire) != me {}
    unsafe { *SHARED.value.get() += 1 };
    SHARED.wants[me].store(false, Release);
}

fn main() {
    let thread = thread::spawn(|| add(1));
    add(0);
    thread.join().unwrap();
    assert_eq!(unsafe { *SHARED.value.get() }, 2);
}
