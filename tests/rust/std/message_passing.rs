// What was written before a release is seen after the acquire that reads it.
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static mut DATA: u32 = 0;
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let thread = thread::spawn(|| {
        unsafe { DATA = 42 };
        READY.store(true, Ordering::Release);
    });
    while !READY.load(Ordering::Acquire) {
        thread::yield_now();
    }
    assert_eq!(unsafe { DATA }, 42);
    thread.join().unwrap();
}
