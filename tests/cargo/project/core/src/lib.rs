//! What all parts of the shop share.

use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Default)]
pub struct Till(AtomicU32);

impl Till {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&self, price: u32) {
        self.0.fetch_add(price, Ordering::SeqCst);
    }

    pub fn set(&self, sum: u32) {
        self.0.store(sum, Ordering::SeqCst);
    }

    pub fn sum(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn a_new_till_is_empty() {
    assert_eq!(Till::new().sum(), 0);
}
