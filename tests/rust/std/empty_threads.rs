// Four threads that do nothing.
use std::thread;

fn main() {
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| {})).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
