// The end of a scope wakes its owner by the same token as `unpark`: if the owner slept, it is used up, and `park` waits for ever.
use std::thread;

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {});
    });
    thread::park();
}
