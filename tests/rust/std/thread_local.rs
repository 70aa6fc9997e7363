// Each thread has its own, and it is dropped with the thread.
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Noisy(u32);

impl Drop for Noisy {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: RefCell<Noisy> = const { RefCell::new(Noisy(0)) };
}

fn bump() -> u32 {
    OWN.with(|own| {
        own.borrow_mut().0 += 1;
        own.borrow().0
    })
}

fn main() {
    let one = thread::spawn(bump);
    let other = thread::spawn(bump);
    assert_eq!(one.join().unwrap(), 1);
    assert_eq!(other.join().unwrap(), 1);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 2);
}
