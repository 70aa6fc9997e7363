// Three threads and a lock that looks before it tries, by a weak compare-exchange.
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
    fn is_free(&self) -> bool {
        !self.taken.load(Ordering::Relaxed)
    }

    fn take(&self) -> Result<bool, bool> {
        self.taken
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
    }

    fn with<R>(&self, f: impl FnOnce(&mut u32) -> R) -> R {
        while !(self.is_free() && self.take().is_ok()) {
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
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || lock.with(|value| *value += 1))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(lock.with(|value| *value), 3);
}
