// The scope passes on the panic of its thread.
use std::thread;

fn main() {
    let limit = 2;
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(limit > 2, "the limit is {limit}");
        });
    });
}
