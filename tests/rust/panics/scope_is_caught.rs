// A scope panics if one of its threads did, and may be caught like any function.
use std::panic;
use std::thread;

fn main() {
    let caught = panic::catch_unwind(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("inside"));
        })
    });
    assert!(caught.is_err());
}
