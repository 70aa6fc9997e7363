// Initialised once, whoever comes first.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Once, OnceLock};
use std::thread;

static RUNS: AtomicU32 = AtomicU32::new(0);
static ONCE: Once = Once::new();
static CELL: OnceLock<u32> = OnceLock::new();

fn work() -> u32 {
    ONCE.call_once(|| {
        RUNS.fetch_add(1, Ordering::SeqCst);
    });
    *CELL.get_or_init(|| 7)
}

fn main() {
    let thread = thread::spawn(work);
    assert_eq!(work(), 7);
    assert_eq!(thread.join().unwrap(), 7);
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
}
