// What is printed says that it cannot be: the library panics.
use std::fmt;
use std::thread;

struct Fails;

impl fmt::Display for Fails {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Err(fmt::Error)
    }
}

fn main() {
    let thread = thread::spawn(|| println!("{Fails}"));
    println!("here");
    thread.join().unwrap();
}
