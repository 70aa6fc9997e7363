// Two threads wait, and only one of them is woken.
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn main() {
    let threads: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(|| {
                let mut ready = READY.lock().unwrap();
                while !*ready {
                    ready = CHANGED.wait(ready).unwrap();
                }
            })
        })
        .collect();
    *READY.lock().unwrap() = true;
    CHANGED.notify_one();
    for thread in threads {
        thread.join().unwrap();
    }
}
