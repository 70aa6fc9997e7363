// What is printed panics, after standard output was locked, and prints itself: the lock is given back, and others print.
use std::fmt;
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static SEEN: AtomicU32 = AtomicU32::new(0);

struct Refuses;

impl fmt::Display for Refuses {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        SEEN.fetch_add(1, Ordering::SeqCst);
        println!("a line inside of another one");
        panic!("not to be printed")
    }
}

struct Counts;

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", SEEN.fetch_add(1, Ordering::SeqCst))
    }
}

fn main() {
    let thread = thread::spawn(|| {
        assert!(panic::catch_unwind(|| println!("{Refuses}")).is_err());
    });
    println!("{Counts}");
    thread.join().unwrap();
    println!("{Counts}");
    assert_eq!(SEEN.load(Ordering::SeqCst), 3);
}
