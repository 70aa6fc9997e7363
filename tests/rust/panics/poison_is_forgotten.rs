// The other thread is looked at, but not what it left behind.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&shared);
    let other = thread::spawn(move || {
        let _value = theirs.lock().unwrap();
        panic!("in the middle");
    });
    let _ = other.join();
    *shared.lock().unwrap() += 1;
}
