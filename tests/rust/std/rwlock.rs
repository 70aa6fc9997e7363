// One thread writes what another one reads.
use std::sync::{Arc, RwLock};
use std::thread;

fn main() {
    let lock = Arc::new(RwLock::new((0, 0)));
    let other = Arc::clone(&lock);
    let writer = thread::spawn(move || {
        let mut pair = other.write().unwrap();
        pair.0 = 1;
        pair.1 = 1;
    });
    {
        let pair = lock.read().unwrap();
        assert_eq!(pair.0, pair.1);
    }
    writer.join().unwrap();
    assert_eq!(*lock.read().unwrap(), (1, 1));
}
