// A lock for reading and writing whose writer publishes nothing: readers race with it.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const WRITER: usize = 1;
const READER: usize = 2;

struct Lock {
    state: AtomicUsize,
    pair: UnsafeCell<(i32, i32)>,
}

unsafe impl Sync for Lock {}

impl Lock {
    fn read(&self) -> (i32, i32) {
        while self.state.fetch_add(READER, Ordering::Acquire) & WRITER != 0 {
            self.state.fetch_sub(READER, Ordering::Release);
            std::hint::spin_loop();
        }
        let pair = unsafe { *self.pair.get() };
        self.state.fetch_sub(READER, Ordering::Release);
        pair
    }

    fn write(&self, value: i32) {
        while self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        unsafe { *self.pair.get() = (value, value) };
        self.state.fetch_and(!WRITER, Ordering::Relaxed);
    }
}

static LOCK: Lock = Lock {
    state: AtomicUsize::new(0),
    pair: UnsafeCell::new((0, 0)),
};

fn main() {
    let reader = thread::spawn(|| LOCK.read());
    LOCK.write(1);
    let (a, b) = reader.join().unwrap();
    assert_eq!(a, b);
}
