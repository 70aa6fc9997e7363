// Whoever tries to read gets the lock or is told so, and then sees all or nothing.
use std::sync::RwLock;
use std::thread;

static PAIR: RwLock<(u32, u32)> = RwLock::new((0, 0));

fn main() {
    let writer = thread::spawn(|| {
        let mut pair = PAIR.write().unwrap();
        pair.0 = 1;
        pair.1 = 1;
    });
    if let Ok(pair) = PAIR.try_read() {
        assert_eq!(pair.0, pair.1);
    }
    writer.join().unwrap();
}
