// Whoever sends first is received first, and that may be either.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    thread::spawn(move || sender.send(1));
    thread::spawn(move || other.send(2));
    assert_eq!(receiver.recv(), Ok(1));
}
