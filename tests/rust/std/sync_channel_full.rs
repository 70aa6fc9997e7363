// The sender is joined before there is room for its second message.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    thread.join().unwrap();
    assert_eq!(receiver.recv(), Ok(1));
}
