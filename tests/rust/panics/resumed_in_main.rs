// `main` passes on what it was told: the report is about the thread that began it.
use std::panic;
use std::thread;

fn main() {
    let other = thread::spawn(|| {
        let wanted = 5;
        assert_eq!(wanted, 6);
    });
    if let Err(payload) = other.join() {
        panic::resume_unwind(payload);
    }
}
