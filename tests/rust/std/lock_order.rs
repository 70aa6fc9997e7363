// Two locks, taken in different orders.
use std::sync::Mutex;
use std::thread;

static A: Mutex<u32> = Mutex::new(0);
static B: Mutex<u32> = Mutex::new(0);

fn main() {
    let thread = thread::spawn(|| {
        let a = A.lock().unwrap();
        let b = B.lock().unwrap();
        assert_eq!(*a, *b);
    });
    let b = B.lock().unwrap();
    let a = A.lock().unwrap();
    assert_eq!(*a, *b);
    drop((a, b));
    thread.join().unwrap();
}
