// Vyukov's queue for many producers and one consumer.
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Arc;
use std::thread;

struct Node {
    next: AtomicPtr<Node>,
    value: u32,
}

struct Queue {
    head: AtomicPtr<Node>,
    tail: UnsafeCell<*mut Node>,
}

unsafe impl Send for Queue {}
unsafe impl Sync for Queue {}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node {
        next: AtomicPtr::new(ptr::null_mut()),
        value,
    }))
}

impl Queue {
    fn new() -> Self {
        let stub = node(0);
        Queue {
            head: AtomicPtr::new(stub),
            tail: UnsafeCell::new(stub),
        }
    }

    fn push(&self, value: u32) {
        let node = node(value);
        let before = self.head.swap(node, Ordering::AcqRel);
        unsafe { (*before).next.store(node, Ordering::Release) };
    }

    /// Only one thread may call this.
    unsafe fn pop(&self) -> Option<u32> {
        unsafe {
            let tail = *self.tail.get();
            let next = (*tail).next.load(Ordering::Acquire);
            if next.is_null() {
                return None;
            }
            *self.tail.get() = next;
            drop(Box::from_raw(tail));
            Some((*next).value)
        }
    }
}

fn main() {
    let queue = Arc::new(Queue::new());
    let producers = [1, 2].map(|value| {
        let queue = queue.clone();
        thread::spawn(move || queue.push(value))
    });
    let mut sum = unsafe { queue.pop() }.unwrap_or(0);
    for producer in producers {
        producer.join().unwrap();
    }
    while let Some(value) = unsafe { queue.pop() } {
        sum += value;
    }
    assert_eq!(sum, 3);
}
