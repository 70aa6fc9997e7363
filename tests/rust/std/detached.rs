// A thread that nobody joins ends with the process.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        sender.send(1).unwrap();
        loop {
            thread::park();
        }
    });
    assert_eq!(receiver.recv(), Ok(1));
}
