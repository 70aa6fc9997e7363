// A thread looks once only: it may wake up although nothing has changed.
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn main() {
    let starter = thread::spawn(|| {
        *READY.lock().unwrap() = true;
        CHANGED.notify_one();
    });
    let mut ready = READY.lock().unwrap();
    if !*ready {
        ready = CHANGED.wait(ready).unwrap();
    }
    let woken_in_time = *ready;
    drop(ready);
    starter.join().unwrap();
    assert!(woken_in_time);
}
