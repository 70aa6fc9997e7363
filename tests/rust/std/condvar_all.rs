// Both threads that wait are woken.
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn wait() {
    let mut ready = READY.lock().unwrap();
    while !*ready {
        ready = CHANGED.wait(ready).unwrap();
    }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(wait);
        scope.spawn(wait);
        *READY.lock().unwrap() = true;
        CHANGED.notify_all();
    });
}
