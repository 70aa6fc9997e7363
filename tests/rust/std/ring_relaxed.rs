// The same, but the producer publishes by a relaxed store.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
struct Ring {
    buf: [UnsafeCell<u32>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}
unsafe impl Sync for Ring {}
static R: Ring = Ring {
    buf: [const { UnsafeCell::new(0) }; 2],
    head: AtomicUsize::new(0),
    tail: AtomicUsize::new(0),
};
fn push(v: u32) {
    let t = R.tail.load(Relaxed);
    while t - R.head.load(Acquire) == 2 {
        std::hint::spin_loop();
    }
    unsafe {
        *R.buf[t % 2].get() = v;
    }
    R.tail.store(t + 1, Relaxed);
}
fn pop() -> u32 {
    let h = R.head.load(Relaxed);
    while R.tail.load(Acquire) == h {
        std::hint::spin_loop();
    }
    let v = unsafe { *R.buf[h % 2].get() };
    R.head.store(h + 1, Release);
    v
}
fn main() {
    let t = thread::spawn(|| {
        for i in 0..4 {
            push(i);
        }
    });
    for i in 0..4 {
        assert_eq!(pop(), i);
    }
    t.join().unwrap();
}
