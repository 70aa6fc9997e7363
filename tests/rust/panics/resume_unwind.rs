// A panic that is caught and sent on is the same for whoever joins the thread.
use std::panic;
use std::thread;

fn main() {
    let other = thread::spawn(|| {
        let caught = panic::catch_unwind(|| panic::panic_any(7_u32)).unwrap_err();
        panic::resume_unwind(caught);
    });
    let payload = other.join().unwrap_err();
    assert_eq!(payload.downcast_ref::<u32>(), Some(&7));
}
