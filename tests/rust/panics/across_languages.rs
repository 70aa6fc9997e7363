// A panic may not leave a function that other languages call.
use std::panic;

extern "C" fn callback(x: u32) {
    assert!(x < 3, "x is {x}");
}

fn main() {
    let _ = panic::catch_unwind(|| callback(5));
}
