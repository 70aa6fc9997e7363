// Whoever does not get the lock does something else.
use std::sync::Mutex;
use std::thread;

static LOCK: Mutex<u32> = Mutex::new(0);

fn main() {
    let thread = thread::spawn(|| *LOCK.lock().unwrap() += 1);
    let got = match LOCK.try_lock() {
        Ok(mut value) => {
            *value += 1;
            1
        }
        Err(_) => 0,
    };
    thread.join().unwrap();
    assert_eq!(*LOCK.lock().unwrap(), 1 + got);
}
