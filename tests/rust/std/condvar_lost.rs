// The flag is set without the mutex: between looking and sleeping, and then nobody wakes the thread.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

fn main() {
    let starter = thread::spawn(|| {
        READY.store(true, Ordering::SeqCst);
        CHANGED.notify_one();
    });
    let mut guard = LOCK.lock().unwrap();
    while !READY.load(Ordering::SeqCst) {
        guard = CHANGED.wait(guard).unwrap();
    }
    drop(guard);
    starter.join().unwrap();
}
