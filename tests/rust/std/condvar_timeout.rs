// A wait with a limit ends, whether or not somebody notifies.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let thread = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_all();
    });
    let limit = Duration::from_millis(10);
    let guard = pair.0.lock().unwrap();
    let (ready, result) = pair.1.wait_timeout_while(guard, limit, |ready| !*ready).unwrap();
    assert!(*ready || result.timed_out());
    drop(ready);
    thread.join().unwrap();
}
