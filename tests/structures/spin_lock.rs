// A spin lock with a guard, as crates have it.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct SpinLock {
    locked: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for SpinLock {}

static LOCK: SpinLock = SpinLock {
    locked: AtomicBool::new(false),
    value: UnsafeCell::new(0),
};

struct Guard<'a>(&'a SpinLock);

impl SpinLock {
    fn lock(&self) -> Guard<'_> {
        while self.locked.swap(true, Ordering::Acquire) {}
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.locked.store(false, Ordering::Release); // weaken: Relaxed
    }
}

fn add() -> u32 {
    let guard = LOCK.lock();
    let value = unsafe { &mut *guard.0.value.get() };
    *value += 1;
    *value
}

fn main() {
    let other = thread::spawn(add);
    let own = add();
    assert_eq!(own + other.join().unwrap(), 3);
}
