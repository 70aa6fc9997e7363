// A destructor that runs because of a panic is in a race like any other code.
use std::cell::UnsafeCell;
use std::thread;

struct Racy(UnsafeCell<u32>);

unsafe impl Sync for Racy {}

static LAST: Racy = Racy(UnsafeCell::new(0));

struct Note;

impl Drop for Note {
    fn drop(&mut self) {
        unsafe { *LAST.0.get() = 1 };
    }
}

fn main() {
    let other = thread::spawn(|| {
        let _note = Note;
        panic!("on purpose");
    });
    unsafe { *LAST.0.get() = 2 };
    let _ = other.join();
}
