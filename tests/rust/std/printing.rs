// Two threads print.
use std::thread;

fn main() {
    let thread = thread::spawn(|| println!("there"));
    println!("here");
    thread.join().unwrap();
}
