// The loop over messages waits for a sender that it keeps alive itself.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let thread = thread::spawn(move || other.send(1).unwrap());
    for message in receiver {
        assert_eq!(message, 1);
    }
    drop(sender);
    thread.join().unwrap();
}
