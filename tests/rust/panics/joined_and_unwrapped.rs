// The usual way: the report is about the assertion, not about `unwrap`.
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static VALUE: AtomicU32 = AtomicU32::new(0);

fn main() {
    let other = thread::spawn(|| {
        let seen = VALUE.load(Ordering::SeqCst);
        assert!(seen == 0, "saw {seen}");
    });
    VALUE.store(1, Ordering::SeqCst);
    other.join().unwrap();
}
