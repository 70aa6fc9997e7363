// What is printed is written meanwhile.
use std::cell::UnsafeCell;
use std::thread;

struct Shared(UnsafeCell<u32>);

unsafe impl Sync for Shared {}

static VALUE: Shared = Shared(UnsafeCell::new(0));

fn main() {
    let thread = thread::spawn(|| unsafe { *VALUE.0.get() = 1 });
    println!("{}", unsafe { &*VALUE.0.get() });
    thread.join().unwrap();
}
