// A ticket lock that gives way each eighth time that it looks.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
struct Lock {
    next: AtomicUsize,
    serving: AtomicUsize,
    value: UnsafeCell<u32>,
}
unsafe impl Sync for Lock {}
static L: Lock = Lock {
    next: AtomicUsize::new(0),
    serving: AtomicUsize::new(0),
    value: UnsafeCell::new(0),
};
fn add() {
    let my = L.next.fetch_add(1, Ordering::Relaxed);
    let mut spins = 0;
    while L.serving.load(Ordering::Acquire) != my {
        spins += 1;
        if spins % 8 == 0 {
            thread::yield_now();
        }
    }
    unsafe { *L.value.get() += 1 };
    L.serving.store(my + 1, Ordering::Release);
}
fn main() {
    let ts: Vec<_> = (0..2).map(|_| thread::spawn(add)).collect();
    add();
    for t in ts {
        t.join().unwrap();
    }
    assert_eq!(unsafe { *L.value.get() }, 3);
}
