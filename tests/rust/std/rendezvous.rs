// A channel without room: both meet, and what was done before is seen.
use std::sync::mpsc;
use std::thread;

static mut PLAIN: u32 = 0;

fn main() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || {
        unsafe { PLAIN = 5 };
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    assert_eq!(unsafe { PLAIN }, 5);
    thread.join().unwrap();
}
