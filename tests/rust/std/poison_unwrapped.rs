// A thread panics with a lock in hand, and somebody does not expect it.
use std::sync::{Arc, Mutex};
use std::thread;
fn main() {
    let m = Arc::new(Mutex::new(1));
    let n = m.clone();
    let t = thread::spawn(move || {
        let _g = n.lock().unwrap();
        panic!("in the middle");
    });
    *m.lock().unwrap() += 1;
    let _ = t.join();
}
