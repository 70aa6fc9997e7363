// Three threads of a scope share a mutex.
use std::sync::Mutex;
use std::thread;
fn main() {
    let n = Mutex::new(0);
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| *n.lock().unwrap() += 1);
        }
    });
    assert_eq!(n.into_inner().unwrap(), 3);
}
