// The lock of Mellor-Crummey and Scott, with nodes on the stacks of those who wait.
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::*};
use std::thread;
struct Node {
    next: AtomicPtr<Node>,
    locked: AtomicBool,
}
struct Lock {
    tail: AtomicPtr<Node>,
    value: UnsafeCell<u32>,
}
unsafe impl Sync for Lock {}
static L: Lock = Lock {
    tail: AtomicPtr::new(null_mut()),
    value: UnsafeCell::new(0),
};
fn add() {
    let node = Node {
        next: AtomicPtr::new(null_mut()),
        locked: AtomicBool::new(true),
    };
    let me = &node as *const Node as *mut Node;
    let prev = L.tail.swap(me, AcqRel);
    if !prev.is_null() {
        unsafe { (*prev).next.store(me, Release) };
        let mut n = 0;
        while node.locked.load(Acquire) {
            n += 1;
            if n > 100 {
                thread::yield_now();
                n = 0;
            }
        }
    }
    unsafe { *L.value.get() += 1 };
    if node.next.load(Acquire).is_null() {
        if L.tail
            .compare_exchange(me, null_mut(), AcqRel, Relaxed)
            .is_ok()
        {
            return;
        }
        while node.next.load(Acquire).is_null() {
            std::hint::spin_loop();
        }
    }
    unsafe { (*node.next.load(Acquire)).locked.store(false, Release) };
}
fn main() {
    let ts: Vec<_> = (0..2).map(|_| thread::spawn(add)).collect();
    for t in ts {
        t.join().unwrap();
    }
    assert_eq!(unsafe { *L.value.get() }, 2);
}
