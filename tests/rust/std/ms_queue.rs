// The queue of Michael and Scott. Nothing is freed.
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
struct Node {
    value: u32,
    next: AtomicPtr<Node>,
}
struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
}
fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node {
        value,
        next: AtomicPtr::new(null_mut()),
    }))
}
impl Queue {
    fn new() -> Self {
        let d = node(0);
        Queue {
            head: AtomicPtr::new(d),
            tail: AtomicPtr::new(d),
        }
    }
    fn push(&self, value: u32) {
        let n = node(value);
        loop {
            let t = self.tail.load(Acquire);
            let next = unsafe { (*t).next.load(Acquire) };
            if !next.is_null() {
                let _ = self.tail.compare_exchange(t, next, Release, Relaxed);
                continue;
            }
            if unsafe {
                (*t).next
                    .compare_exchange(null_mut(), n, Release, Relaxed)
                    .is_ok()
            } {
                let _ = self.tail.compare_exchange(t, n, Release, Relaxed);
                return;
            }
        }
    }
    fn pop(&self) -> Option<u32> {
        loop {
            let h = self.head.load(Acquire);
            let next = unsafe { (*h).next.load(Acquire) };
            if next.is_null() {
                return None;
            }
            if self
                .head
                .compare_exchange(h, next, Release, Relaxed)
                .is_ok()
            {
                return Some(unsafe { (*next).value });
            }
        }
    }
}
fn main() {
    let q: &'static Queue = Box::leak(Box::new(Queue::new()));
    let a = thread::spawn(|| q.push(1));
    let b = thread::spawn(|| q.pop());
    q.push(2);
    a.join().unwrap();
    let got = b.join().unwrap();
    let mut n = got.is_some() as u32;
    while q.pop().is_some() {
        n += 1;
    }
    assert_eq!(n, 2);
}
