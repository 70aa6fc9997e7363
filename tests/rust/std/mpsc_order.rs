// Nobody promises that messages of two threads come in a certain order.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let one = thread::spawn(move || sender.send(1).unwrap());
    let two = thread::spawn(move || other.send(2).unwrap());
    let first = receiver.recv().unwrap();
    assert_eq!(first, 1);
    one.join().unwrap();
    two.join().unwrap();
}
