// A worker that nobody joins, and that waits for work when the program ends.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (jobs, work) = mpsc::channel::<u32>();
    let (results, done) = mpsc::channel();
    thread::spawn(move || {
        for job in work {
            let _ = results.send(job * 2);
        }
    });
    jobs.send(21).unwrap();
    assert_eq!(done.recv(), Ok(42));
}
