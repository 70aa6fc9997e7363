// The flag is looked at, the lock let go, and taken again to wait: the notification may come in between.
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
    if !*started.lock().unwrap() {
        let guard = started.lock().unwrap();
        drop(changed.wait(guard).unwrap());
    }
    starter.join().unwrap();
}
