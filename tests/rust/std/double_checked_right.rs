// Double-checked initialisation.
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Lazy {
    is_made: AtomicBool,
    lock: Mutex<()>,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Lazy {}

static LAZY: Lazy = Lazy {
    is_made: AtomicBool::new(false),
    lock: Mutex::new(()),
    value: UnsafeCell::new(0),
};

fn get() -> u32 {
    if !LAZY.is_made.load(Ordering::Acquire) {
        let _guard = LAZY.lock.lock().unwrap();
        if !LAZY.is_made.load(Ordering::Acquire) {
            unsafe { *LAZY.value.get() = 42 };
            LAZY.is_made.store(true, Ordering::Release);
        }
    }
    unsafe { *LAZY.value.get() }
}

fn main() {
    let thread = thread::spawn(get);
    assert_eq!(get(), 42);
    assert_eq!(thread.join().unwrap(), 42);
}
