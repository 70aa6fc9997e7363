// Who has the only reference may write, but has not seen what was done through the others: the count was read without acquiring.
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
    if shared.count.load(Ordering::Relaxed) == 1 {
        unsafe { *shared.value.get() = 1 };
    }
    thread.join().unwrap();
}
