// Scoped threads write to parts of a variable of their own, which is read when the scope is over.
use std::thread;

fn main() {
    let mut parts = [0u32; 2];
    thread::scope(|scope| {
        for (index, part) in parts.iter_mut().enumerate() {
            scope.spawn(move || *part = index as u32 + 1);
        }
    });
    assert_eq!(parts.iter().sum::<u32>(), 3);
}
