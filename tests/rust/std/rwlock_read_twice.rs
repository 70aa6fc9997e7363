// Who reads twice at a time waits for ever if a writer has come in between.
use std::sync::{Arc, RwLock};
use std::thread;

fn main() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let writer = thread::spawn(move || *other.write().unwrap() = 1);
    let first = lock.read().unwrap();
    let second = lock.read().unwrap();
    assert_eq!(*first, *second);
    drop((first, second));
    writer.join().unwrap();
}
