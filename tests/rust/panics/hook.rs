// A hook of the program's own is run.
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering};

static PANICS: AtomicU32 = AtomicU32::new(0);

fn main() {
    panic::set_hook(Box::new(|_| {
        PANICS.fetch_add(1, Ordering::SeqCst);
    }));
    let caught = panic::catch_unwind(|| panic!("told to the hook"));
    assert!(caught.is_err());
    if PANICS.load(Ordering::SeqCst) != 1 {
        std::process::abort();
    }
}
