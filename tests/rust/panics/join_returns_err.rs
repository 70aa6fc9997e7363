// Whoever joins a thread is told of its panic.
use std::thread;

fn main() {
    let other = thread::spawn(|| {
        panic!("on purpose");
    });
    let payload = other.join().unwrap_err();
    assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "on purpose");
}
