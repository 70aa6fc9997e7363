//! A thread that waits for ever is no deadlock: it ends with the process, when `main` returns.

use std::thread;

fn main() {
    thread::spawn(|| {
        loop {
            thread::park();
        }
    });
}
