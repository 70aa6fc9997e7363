// What scoped threads return is there when they are joined.
use std::thread;

fn main() {
    let numbers = [1, 2, 3, 4];
    let sum: i32 = thread::scope(|scope| {
        let (left, right) = numbers.split_at(2);
        let one = scope.spawn(move || left.iter().sum::<i32>());
        let other = scope.spawn(move || right.iter().sum::<i32>());
        one.join().unwrap() + other.join().unwrap()
    });
    assert_eq!(sum, 10);
}
