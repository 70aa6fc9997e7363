// A receiver that does not wait for ever.
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(1).unwrap());
    match receiver.recv_timeout(Duration::from_millis(1)) {
        Ok(message) => assert_eq!(message, 1),
        Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
    }
    thread.join().unwrap();
}
