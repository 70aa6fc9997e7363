// A lock-free stack that frees nodes which others may still look at: a race with `free`.
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

struct Node {
    value: u32,
    next: *mut Node,
}

static HEAD: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn push(value: u32) {
    let node = Box::into_raw(Box::new(Node {
        value,
        next: ptr::null_mut(),
    }));
    loop {
        let head = HEAD.load(Ordering::Relaxed);
        unsafe { (*node).next = head };
        if HEAD
            .compare_exchange(head, node, Ordering::Release, Ordering::Relaxed)
            .is_ok()
        {
            return;
        }
    }
}

fn pop() -> Option<u32> {
    loop {
        let head = HEAD.load(Ordering::Acquire);
        if head.is_null() {
            return None;
        }
        let (value, next) = unsafe { ((*head).value, (*head).next) };
        if HEAD
            .compare_exchange(head, next, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            drop(unsafe { Box::from_raw(head) });
            return Some(value);
        }
    }
}

fn main() {
    let one = thread::spawn(|| push(1));
    let two = thread::spawn(|| {
        push(2);
        pop()
    });
    let mine = pop();
    one.join().unwrap();
    let theirs = two.join().unwrap();
    let mut sum = mine.unwrap_or(0) + theirs.unwrap_or(0);
    while let Some(value) = pop() {
        sum += value;
    }
    assert_eq!(sum, 3);
}
