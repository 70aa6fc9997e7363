// Unwinding drops variables from the last to the first, function by function.
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering};

static ORDER: AtomicU32 = AtomicU32::new(0);

struct Digit(u32);

impl Drop for Digit {
    fn drop(&mut self) {
        let before = ORDER.load(Ordering::SeqCst);
        ORDER.store(10 * before + self.0, Ordering::SeqCst);
    }
}

fn inner() {
    let _third = Digit(3);
    let _fourth = Digit(4);
    if ORDER.load(Ordering::SeqCst) == 0 {
        panic!("now");
    }
    let _never = Digit(9);
}

fn main() {
    let caught = panic::catch_unwind(|| {
        let _first = Digit(1);
        let _second = Digit(2);
        inner();
    });
    assert!(caught.is_err());
    assert_eq!(ORDER.load(Ordering::SeqCst), 4321);
}
