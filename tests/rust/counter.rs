// Two threads count under a mutex, and one of them in an atomic, too.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let hits = Arc::new(AtomicUsize::new(0));
    let total = Arc::new(Mutex::new(0));
    let (hits_there, total_there) = (Arc::clone(&hits), Arc::clone(&total));
    let worker = thread::spawn(move || {
        hits_there.fetch_add(1, Ordering::Relaxed);
        *total_there.lock().unwrap() += 1;
    });
    hits.fetch_add(1, Ordering::Relaxed);
    *total.lock().unwrap() += 1;
    worker.join().unwrap();
    assert_eq!(*total.lock().unwrap(), 2);
    assert_eq!(hits.load(Ordering::Relaxed), 2);
}
