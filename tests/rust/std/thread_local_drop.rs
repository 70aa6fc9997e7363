// What threads keep for themselves is dropped when they end.
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static DROPS: AtomicU32 = AtomicU32::new(0);
struct D(u32);
impl Drop for D {
    fn drop(&mut self) {
        DROPS.fetch_add(self.0, SeqCst);
    }
}
thread_local! { static T: RefCell<D> = RefCell::new(D(0)); }
fn main() {
    let ts: Vec<_> = (1..3)
        .map(|i| thread::spawn(move || T.with(|d| d.borrow_mut().0 = i)))
        .collect();
    for t in ts {
        t.join().unwrap();
    }
    assert_eq!(DROPS.load(SeqCst), 3);
}
