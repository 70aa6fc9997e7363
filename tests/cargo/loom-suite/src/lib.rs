//! A flag with a value, on loom's types when loom looks at it.

#[cfg(loom)]
use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(not(loom))]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

pub struct Flag {
    is_set: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Flag {}

impl Flag {
    pub fn new() -> Self {
        Self {
            is_set: AtomicBool::new(false),
            value: UnsafeCell::new(0),
        }
    }

    /// Once only.
    pub fn set(&self, value: u32, order: Ordering) {
        self.value.with_mut(|place| unsafe { *place = value });
        self.is_set.store(true, order);
    }

    pub fn get(&self) -> Option<u32> {
        if self.is_set.load(Ordering::Acquire) {
            Some(self.value.with(|place| unsafe { *place }))
        } else {
            None
        }
    }
}
