// A thread of a scope that is joined is looked at: the scope is content.
use std::thread;

fn main() {
    let results = thread::scope(|scope| {
        let bad = scope.spawn(|| -> u32 { panic!("inside") });
        bad.join().is_err()
    });
    assert!(results);
}
