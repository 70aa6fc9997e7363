// Two scoped threads write to the same variable by a pointer.
use std::thread;

struct Shared(*mut u32);
unsafe impl Sync for Shared {}

fn main() {
    let mut value = 0u32;
    let shared = Shared(&mut value);
    let shared = &shared;
    thread::scope(|scope| {
        scope.spawn(move || unsafe { *shared.0 += 1 });
        scope.spawn(move || unsafe { *shared.0 += 1 });
    });
}
