// The flag says that the slot is full, but a relaxed store orders nothing.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Slot {
    value: UnsafeCell<u32>,
    full: AtomicBool,
}

unsafe impl Sync for Slot {}

static SLOT: Slot = Slot {
    value: UnsafeCell::new(0),
    full: AtomicBool::new(false),
};

fn main() {
    let producer = thread::spawn(|| {
        unsafe { *SLOT.value.get() = 7 };
        SLOT.full.store(true, Ordering::Relaxed);
    });
    if SLOT.full.load(Ordering::Acquire) {
        let value = unsafe { *SLOT.value.get() };
        assert_eq!(value, 7);
    }
    producer.join().unwrap();
}
