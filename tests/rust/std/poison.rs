// A thread panics with a lock in hand, and somebody looks at what it left.
use std::sync::{Arc, Mutex};
use std::thread;
fn main() {
    let m = Arc::new(Mutex::new(1));
    let n = m.clone();
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        *g = 2;
        panic!("in the middle");
    });
    assert!(t.join().is_err());
    assert!(m.is_poisoned());
    let value = match m.lock() {
        Ok(_) => unreachable!(),
        Err(e) => *e.into_inner(),
    };
    assert_eq!(value, 2);
}
