//! Clocks of threads know nothing of each other: the one that waits for a thread that has slept does not find it to be later.

use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let start = Instant::now();
    thread::spawn(|| thread::sleep(Duration::from_millis(50)))
        .join()
        .unwrap();
    assert!(start.elapsed() >= Duration::from_millis(50));
}
