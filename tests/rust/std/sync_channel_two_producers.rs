// A channel with one place, and two who send.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let other = sender.clone();
    let threads = [
        thread::spawn(move || sender.send(1).unwrap()),
        thread::spawn(move || other.send(2).unwrap()),
    ];
    assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
    assert!(receiver.recv().is_err());
    for thread in threads {
        thread.join().unwrap();
    }
}
