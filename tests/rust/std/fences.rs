// Relaxed operations with fences around them.
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread;

static mut DATA: u32 = 0;
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let thread = thread::spawn(|| {
        unsafe { DATA = 42 };
        fence(Ordering::Release);
        READY.store(true, Ordering::Relaxed);
    });
    if READY.load(Ordering::Relaxed) {
        fence(Ordering::Acquire);
        assert_eq!(unsafe { DATA }, 42);
    }
    thread.join().unwrap();
}
