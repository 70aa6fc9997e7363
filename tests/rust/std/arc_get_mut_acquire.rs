// Who has the only reference, and has seen what was done through the others, may write.
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Shared {
    count: AtomicUsize,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Shared {}

fn main() {
    let shared = Arc::new(Shared {
        count: AtomicUsize::new(2),
        value: UnsafeCell::new(0),
    });
    let other = shared.clone();
    let thread = thread::spawn(move || {
        let seen = unsafe { *other.value.get() };
        other.count.fetch_sub(1, Ordering::Release);
        seen
    });
    if shared.count.load(Ordering::Acquire) == 1 {
        unsafe { *shared.value.get() = 1 };
    }
    thread.join().unwrap();
}
