// What is caught is no violation, and has what it was thrown with. (`--panic any` wants none at all.)
use std::panic;
use std::thread;

fn checked(x: u32) -> u32 {
    if x > 2 {
        panic!("{x} is too large");
    }
    x
}

fn main() {
    let other = thread::spawn(|| {
        let caught = panic::catch_unwind(|| checked(3)).unwrap_err();
        assert_eq!(caught.downcast_ref::<String>().unwrap(), "3 is too large");
        assert!(!thread::panicking());
    });
    assert_eq!(panic::catch_unwind(|| checked(1)).unwrap(), 1);
    other.join().unwrap();
}
