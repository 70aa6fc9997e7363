// Threads that threads start have ids of their own.
use std::thread;

fn main() {
    let one = thread::spawn(|| thread::spawn(|| thread::current().id()).join().unwrap());
    let two = thread::spawn(|| thread::current().id());
    let (one, two) = (one.join().unwrap(), two.join().unwrap());
    assert_ne!(one, two);
    let own = thread::current().id();
    assert_ne!(one, own);
    assert_ne!(two, own);
}
