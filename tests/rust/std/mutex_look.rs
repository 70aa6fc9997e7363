// Loops that take a mutex, look, and give it back.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let state = Arc::new(Mutex::new((false, false)));
    let other = Arc::clone(&state);
    let thread = thread::spawn(move || {
        other.lock().unwrap().0 = true;
        while !other.lock().unwrap().1 {}
    });
    loop {
        let guard = state.lock().unwrap();
        if guard.0 {
            break;
        }
        drop(guard);
        thread::yield_now();
    }
    state.lock().unwrap().1 = true;
    thread.join().unwrap();
}
