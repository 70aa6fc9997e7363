// A loop that checks its condition again is not harmed by wake-ups that nobody asked for.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn main() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let starter = thread::spawn(move || {
        let (started, changed) = &*other;
        *started.lock().unwrap() = true;
        changed.notify_one();
    });
    let (started, changed) = &*pair;
    let mut guard = started.lock().unwrap();
    while !*guard {
        guard = changed.wait(guard).unwrap();
    }
    drop(guard);
    starter.join().unwrap();
}
