//! Waiting with a time limit comes to an end, and so does looking at the clock until a time has come.

use std::sync::{Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let (mutex, condition) = (Mutex::new(false), Condvar::new());
    let limit = Duration::from_millis(100);
    let (guard, result) = condition
        .wait_timeout_while(mutex.lock().unwrap(), limit, |ready| !*ready)
        .unwrap();
    assert!(!*guard && result.timed_out());
    drop(guard);
    let end = Instant::now() + Duration::from_secs(5);
    let mut rounds = 0;
    while Instant::now() < end {
        thread::sleep(Duration::from_millis(1));
        rounds += 1;
    }
    assert!(rounds > 0);
    takes_as_long_as_it_says();
}

// Who waits with a limit in vain is late, and not much: whatever woke it before.
fn takes_as_long_as_it_says() {
    let (mutex, condition) = (Mutex::new(()), Condvar::new());
    let limit = Duration::from_millis(10);
    let start = Instant::now();
    let (guard, result) = condition
        .wait_timeout_while(mutex.lock().unwrap(), limit, |_| true)
        .unwrap();
    assert!(result.timed_out());
    drop(guard);
    assert!(start.elapsed() >= limit && start.elapsed() < limit * 3);
    let (sender, receiver) = mpsc::channel::<()>();
    let start = Instant::now();
    assert!(receiver.recv_timeout(limit).is_err());
    assert!(start.elapsed() >= limit && start.elapsed() < limit * 3);
    drop(sender);
    let start = Instant::now();
    thread::sleep(limit);
    assert!(start.elapsed() >= limit && start.elapsed() < limit * 3);
    // A loop of short waits comes to its end all the same.
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        thread::park_timeout(Duration::from_millis(1));
    }
}
