//! Memory from the heap. Raddle sees what is freed twice or used afterwards; it does not look for what is never freed.

pub use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};

#[derive(Debug, Default)]
pub struct Track<T>(T);

impl<T> Track<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    pub fn get_ref(&self) -> &T {
        &self.0
    }

    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    pub fn into_inner(self) -> T {
        self.0
    }
}
