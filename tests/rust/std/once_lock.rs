// Both may make the value; one of them is kept, and both see that one.
use std::sync::OnceLock;
use std::thread;

static VALUE: OnceLock<u32> = OnceLock::new();

fn main() {
    let thread = thread::spawn(|| *VALUE.get_or_init(|| 1));
    let mine = *VALUE.get_or_init(|| 2);
    assert_eq!(thread.join().unwrap(), mine);
    assert!(VALUE.set(3).is_err());
}
