// A panic under a lock gives the lock back, and leaves a mark.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&shared);
    let other = thread::spawn(move || {
        let mut value = theirs.lock().unwrap();
        *value = 1;
        panic!("in the middle");
    });
    assert!(other.join().is_err());
    assert!(shared.is_poisoned());
    let value = shared.lock().unwrap_or_else(|poison| poison.into_inner());
    assert_eq!(*value, 1);
}
