// A destructor that panics while a panic unwinds the stack ends the program, caught or not.
use std::panic;

struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        panic!("the second");
    }
}

fn main() {
    let _ = panic::catch_unwind(|| {
        let _loud = Loud;
        panic!("the first");
    });
}
