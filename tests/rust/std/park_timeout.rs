// Parking with a limit ends.
use std::thread;
use std::time::Duration;

fn main() {
    let main = thread::current();
    let thread = thread::spawn(move || main.unpark());
    thread::park_timeout(Duration::from_millis(5));
    thread.join().unwrap();
}
