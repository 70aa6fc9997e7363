// A cell that is initialised once: whoever comes first does it, the others wait.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const EMPTY: usize = 0;
const BUSY: usize = 1;
const FULL: usize = 2;

struct OnceCell {
    state: AtomicUsize,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for OnceCell {}

static CELL: OnceCell = OnceCell {
    state: AtomicUsize::new(EMPTY),
    value: UnsafeCell::new(0),
};

impl OnceCell {
    fn get_or_init(&self, value: u32) -> u32 {
        let won = self
            .state
            .compare_exchange(EMPTY, BUSY, Ordering::Relaxed, Ordering::Relaxed);
        if won.is_ok() {
            unsafe { *self.value.get() = value };
            self.state.store(FULL, Ordering::Release);
        } else {
            while self.state.load(Ordering::Acquire) != FULL {} // weaken: Relaxed
        }
        unsafe { *self.value.get() }
    }
}

fn main() {
    let other = thread::spawn(|| CELL.get_or_init(1));
    let own = CELL.get_or_init(2);
    assert_eq!(own, other.join().unwrap());
}
