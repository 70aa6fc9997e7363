// Collections under a mutex.
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new(Mutex::new((VecDeque::new(), BTreeMap::new())));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        let mut guard = other.lock().unwrap();
        guard.0.push_back(1);
        guard.1.insert("one", 1);
    });
    {
        let mut guard = shared.lock().unwrap();
        guard.0.push_back(2);
        guard.1.insert("two", 2);
    }
    thread.join().unwrap();
    let guard = shared.lock().unwrap();
    assert_eq!(guard.0.iter().sum::<i32>(), 3);
    assert_eq!(guard.1.len(), 2);
}
