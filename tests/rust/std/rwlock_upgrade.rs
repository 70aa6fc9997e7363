// What was read under a read lock is old by the time of the write lock.
use std::sync::{Arc, RwLock};
use std::thread;

fn main() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let increment = |lock: &RwLock<i32>| {
        let seen = *lock.read().unwrap();
        *lock.write().unwrap() = seen + 1;
    };
    let thread = thread::spawn(move || {
        increment(&other);
    });
    increment(&lock);
    thread.join().unwrap();
    let total = *lock.read().unwrap();
    if total == 1 {
        // An update was lost.
        let lost = true;
        assert!(!lost);
    }
}
