// Standard output is locked while another thread prints, which is waited for.
use std::io::Write;
use std::thread;

fn main() {
    let mut output = std::io::stdout().lock();
    writeln!(output, "held").unwrap();
    let thread = thread::spawn(|| println!("there"));
    thread.join().unwrap();
}
