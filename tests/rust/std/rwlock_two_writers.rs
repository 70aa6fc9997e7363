// Two threads write, one after the other, and nobody sees half of it.
use std::sync::RwLock;
use std::thread;

static PAIR: RwLock<(u32, u32)> = RwLock::new((0, 0));

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut pair = PAIR.write().unwrap();
            pair.0 += 1;
            pair.1 += 1;
        });
        let mut pair = PAIR.write().unwrap();
        pair.0 += 1;
        pair.1 += 1;
        drop(pair);
        let pair = PAIR.read().unwrap();
        assert_eq!(pair.0, pair.1);
    });
    assert_eq!(*PAIR.read().unwrap(), (2, 2));
}
