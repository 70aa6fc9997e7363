// A lock that spins.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Lock {
    taken: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Lock {}

static LOCK: Lock = Lock {
    taken: AtomicBool::new(false),
    value: UnsafeCell::new(0),
};

fn increment() {
    while LOCK.taken.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    unsafe { *LOCK.value.get() += 1 };
    LOCK.taken.store(false, Ordering::Release);
}

fn main() {
    let one = thread::spawn(increment);
    let two = thread::spawn(increment);
    one.join().unwrap();
    two.join().unwrap();
    assert_eq!(unsafe { *LOCK.value.get() }, 2);
}
