// A guard that is forgotten: the mutex stays locked, wherever it is moved.
use std::mem;
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let mutex = Mutex::new(0);
    mem::forget(mutex.lock().unwrap());
    let mutex = Arc::new(mutex);
    let other = Arc::clone(&mutex);
    let thread = thread::spawn(move || other.try_lock().is_err());
    assert!(mutex.try_lock().is_err());
    assert!(thread.join().unwrap());
    drop(mutex.lock());
}
