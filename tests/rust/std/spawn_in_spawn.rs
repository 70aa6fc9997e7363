// A thread that starts another one.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

fn main() {
    let count = Arc::new(AtomicU32::new(0));
    let theirs = count.clone();
    let outer = thread::Builder::new()
        .name("outer".to_owned())
        .spawn(move || {
            let inner_count = theirs.clone();
            let inner = thread::spawn(move || inner_count.fetch_add(1, Ordering::Relaxed));
            theirs.fetch_add(1, Ordering::Relaxed);
            inner.join().unwrap();
            thread::current().name().map(str::to_owned)
        })
        .unwrap();
    assert_eq!(outer.join().unwrap().as_deref(), Some("outer"));
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(Arc::strong_count(&count), 1);
}
