//! Waiting with a time limit comes to an end, and so does looking at the clock until a time has come.

use std::sync::{Condvar, Mutex};
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
}
