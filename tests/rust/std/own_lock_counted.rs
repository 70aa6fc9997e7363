// A lock that counts how often it tried, to give way after some time.
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
    let mut tries = 0;
    while LOCK
        .taken
        .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        tries += 1;
        if tries > 100 {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
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
