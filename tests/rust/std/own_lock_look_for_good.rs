// As own_lock_look.rs, but nobody counts to what the loop looks for: it goes round for good.
use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

struct Lock {
    taken: AtomicBool,
    value: UnsafeCell<u32>,
}
unsafe impl Sync for Lock {}

impl Lock {
    fn with<R>(&self, f: impl FnOnce(&mut u32) -> R) -> R {
        while self
            .taken
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            hint::spin_loop();
        }
        let result = f(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

fn main() {
    let lock = Arc::new(Lock {
        taken: AtomicBool::new(false),
        value: UnsafeCell::new(0),
    });
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || lock.with(|value| *value += 1))
        })
        .collect();
    while lock.with(|value| *value < 3) {
        thread::yield_now();
    }
    for thread in threads {
        thread.join().unwrap();
    }
}
