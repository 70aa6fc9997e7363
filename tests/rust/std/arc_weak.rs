// A weak reference is upgraded while the last strong ones are dropped.
use std::sync::{Arc, Weak};
use std::thread;
fn main() {
    let a = Arc::new(5);
    let w: Weak<i32> = Arc::downgrade(&a);
    let t = thread::spawn(move || {
        if let Some(v) = w.upgrade() {
            assert_eq!(*v, 5);
        }
    });
    let b = a.clone();
    let u = thread::spawn(move || drop(b));
    drop(a);
    t.join().unwrap();
    u.join().unwrap();
}
