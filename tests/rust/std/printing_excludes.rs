// Threads that format take turns, as long as they print to the same stream: what one does in between is not seen by the other.
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static INSIDE: AtomicU32 = AtomicU32::new(0);

struct Alone;

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
        f.write_str("alone")?;
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }
}

fn main() {
    let thread = thread::spawn(|| println!("{Alone}"));
    println!("{Alone}");
    thread.join().unwrap();
}
