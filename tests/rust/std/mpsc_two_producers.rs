// Messages of two threads get there.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let one = thread::spawn(move || sender.send(1).unwrap());
    let two = thread::spawn(move || other.send(2).unwrap());
    let sum: i32 = receiver.iter().sum();
    assert_eq!(sum, 3);
    one.join().unwrap();
    two.join().unwrap();
}
