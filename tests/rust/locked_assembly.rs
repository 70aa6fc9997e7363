// Two threads count with instructions that have a lock prefix, and fence as libraries do. What the processor can besides is asked, and answered: nothing.

use std::arch::asm;
use std::cell::UnsafeCell;

struct Counter(UnsafeCell<u64>);

unsafe impl Sync for Counter {}

static COUNTER: Counter = Counter(UnsafeCell::new(0));

fn count() {
    unsafe {
        asm!("lock inc qword ptr [{0}]", in(reg) COUNTER.0.get(), options(nostack));
        asm!("lock add qword ptr [{0}], {1}", in(reg) COUNTER.0.get(), in(reg) 2_u64, options(nostack));
    }
}

fn fence() -> u64 {
    let word = UnsafeCell::new(0_u64);
    unsafe { asm!("lock not qword ptr [{0}]", in(reg) word.get(), options(nostack, preserves_flags)) };
    word.into_inner()
}

fn main() {
    let other = std::thread::spawn(count);
    count();
    assert_eq!(fence(), u64::MAX);
    assert!(!is_x86_feature_detected!("avx2"));
    other.join().unwrap();
    assert_eq!(unsafe { *COUNTER.0.get() }, 6);
}
