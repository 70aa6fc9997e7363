// Nobody says what the loop waits for.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let ready = Arc::new(Mutex::new(0));
    let other = Arc::clone(&ready);
    let thread = thread::spawn(move || {
        *other.lock().unwrap() += 1;
    });
    while *ready.lock().unwrap() < 2 {}
    thread.join().unwrap();
}
