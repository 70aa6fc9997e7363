// The one who panics under the lock does not keep the other from taking it.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new(Mutex::new(1));
    let theirs = Arc::clone(&shared);
    let other = thread::spawn(move || {
        let value = theirs.lock().unwrap();
        if *value == 1 {
            panic!("one");
        }
    });
    let value = shared.lock().unwrap_or_else(|poison| poison.into_inner());
    assert_eq!(*value, 1);
    drop(value);
    assert!(other.join().is_err());
}
