// A barrier for three that two threads come to.
use std::sync::{Arc, Barrier};
use std::thread;

fn main() {
    let barrier = Arc::new(Barrier::new(3));
    let other = Arc::clone(&barrier);
    let thread = thread::spawn(move || {
        other.wait();
    });
    barrier.wait();
    thread.join().unwrap();
}
