// A static that is made when it is first looked at.
use std::sync::LazyLock;
use std::thread;

static LAZY: LazyLock<u32> = LazyLock::new(|| 5);

fn main() {
    let thread = thread::spawn(|| *LAZY);
    assert_eq!(*LAZY, 5);
    assert_eq!(thread.join().unwrap(), 5);
}
