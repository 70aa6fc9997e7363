// A lock that takes a closure, and counts in an unsigned number how often it tried: where that panics there is something to drop.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Lock {
    taken: AtomicBool,
    value: UnsafeCell<u32>,
}
unsafe impl Sync for Lock {}
static L: Lock = Lock {
    taken: AtomicBool::new(false),
    value: UnsafeCell::new(0),
};

impl Lock {
    fn with(&self, f: impl FnOnce(&mut u32)) {
        let mut spins = 0u32;
        while self
            .taken
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            spins += 1;
            if spins > 10 {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        f(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
    }
}

fn main() {
    let threads: Vec<_> = (0..1)
        .map(|_| thread::spawn(|| L.with(|v| *v += 1)))
        .collect();
    L.with(|v| *v += 1);
    for t in threads {
        t.join().unwrap();
    }
    L.with(|v| assert_eq!(*v, 2));
}
