// Whoever looks finds a message, none yet, or that nobody will send any more; and a message that was sent is never lost.
use std::sync::mpsc::{self, TryRecvError};
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(7).unwrap());
    let first = receiver.try_recv();
    assert!(matches!(first, Ok(7) | Err(TryRecvError::Empty)));
    thread.join().unwrap();
    let second = receiver.try_recv();
    assert_eq!(first.is_ok(), second == Err(TryRecvError::Disconnected));
}
