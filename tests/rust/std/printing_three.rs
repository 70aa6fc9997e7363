// Three threads print, to both streams: who comes first is seen by nobody.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let threads: Vec<_> = (0..2)
        .map(|i| {
            thread::spawn(move || {
                COUNT.fetch_add(1, Ordering::SeqCst);
                println!("thread {i} of {:?}", [1, 2]);
                eprintln!("{i:>4}");
            })
        })
        .collect();
    println!("main");
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(COUNT.load(Ordering::SeqCst), 2);
    println!("done {}", COUNT.load(Ordering::SeqCst));
}
