// Two producers, read until both are gone.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    thread::spawn(move || sender.send(1).unwrap());
    thread::spawn(move || other.send(2).unwrap());
    let mut all: Vec<i32> = receiver.iter().collect();
    all.sort_unstable();
    assert_eq!(all, [1, 2]);
}
