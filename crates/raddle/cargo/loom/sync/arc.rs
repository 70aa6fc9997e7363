//! Counted references.

use std::borrow::Borrow;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::pin::Pin;

#[derive(Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arc<T: ?Sized>(std::sync::Arc<T>);

impl<T> Arc<T> {
    pub fn new(data: T) -> Self {
        Self(std::sync::Arc::new(data))
    }

    pub fn pin(data: T) -> Pin<Arc<T>> {
        // SAFETY: what is behind a counted reference does not move.
        unsafe { Pin::new_unchecked(Self::new(data)) }
    }

    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        std::sync::Arc::try_unwrap(this.0).map_err(Self)
    }

    pub fn into_inner(this: Self) -> Option<T> {
        std::sync::Arc::into_inner(this.0)
    }
}

impl<T: ?Sized> Arc<T> {
    pub fn from_std(arc: std::sync::Arc<T>) -> Self {
        Self(arc)
    }

    pub fn strong_count(this: &Self) -> usize {
        std::sync::Arc::strong_count(&this.0)
    }

    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        std::sync::Arc::get_mut(&mut this.0)
    }

    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&this.0, &other.0)
    }

    pub fn as_ptr(this: &Self) -> *const T {
        std::sync::Arc::as_ptr(&this.0)
    }

    pub fn into_raw(this: Self) -> *const T {
        std::sync::Arc::into_raw(this.0)
    }

    /// # Safety
    /// It comes from `into_raw`.
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        Self(unsafe { std::sync::Arc::from_raw(ptr) })
    }

    /// # Safety
    /// It comes from `into_raw`, and the value is still there.
    pub unsafe fn increment_strong_count(ptr: *const T) {
        let counted = ManuallyDrop::new(unsafe { Self::from_raw(ptr) });
        std::mem::forget(Self::clone(&counted));
    }

    /// # Safety
    /// It comes from `into_raw`, and the value is still there.
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        drop(unsafe { Self::from_raw(ptr) });
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Arc<T> {
    fn from(data: T) -> Self {
        Self::new(data)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
