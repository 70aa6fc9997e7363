// A bounded buffer of one place with a condition variable.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new((Mutex::new(None), Condvar::new()));
    let other = shared.clone();
    let thread = thread::spawn(move || {
        let (place, changed) = &*other;
        for value in 1..=2 {
            let mut place = changed.wait_while(place.lock().unwrap(), |it| it.is_some()).unwrap();
            *place = Some(value);
            changed.notify_all();
        }
    });
    let (place, changed) = &*shared;
    for value in 1..=2 {
        let mut place = changed.wait_while(place.lock().unwrap(), |it| it.is_none()).unwrap();
        assert_eq!(place.take(), Some(value));
        changed.notify_all();
    }
    thread.join().unwrap();
}
