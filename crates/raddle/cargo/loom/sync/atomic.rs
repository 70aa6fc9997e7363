//! Atomics, with what loom adds: access without synchronisation, in which Raddle looks for races.

use std::fmt;
use std::ops::Deref;

pub use std::sync::atomic::{Ordering, compiler_fence, fence};

pub fn spin_loop_hint() {
    std::hint::spin_loop();
}

/// The strongest order of a failure that goes with one of a success.
fn failure(order: Ordering) -> Ordering {
    match order {
        Ordering::AcqRel => Ordering::Acquire,
        Ordering::Release => Ordering::Relaxed,
        order => order,
    }
}

macro_rules! atomics {
    ($($name:ident: $type:ty,)*) => {$(
        #[derive(Default)]
        #[repr(transparent)]
        pub struct $name(std::sync::atomic::$name);

        impl $name {
            pub const fn new(value: $type) -> Self {
                Self(std::sync::atomic::$name::new(value))
            }

            /// # Safety
            /// No other thread may write to it meanwhile.
            pub unsafe fn unsync_load(&self) -> $type {
                unsafe { *self.0.as_ptr() }
            }

            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $type) -> R) -> R {
                f(self.0.get_mut())
            }

            pub fn compare_and_swap(&self, current: $type, new: $type, order: Ordering) -> $type {
                match self.0.compare_exchange(current, new, order, failure(order)) {
                    Ok(old) | Err(old) => old,
                }
            }

            pub fn into_inner(self) -> $type {
                self.0.into_inner()
            }
        }

        impl Deref for $name {
            type Target = std::sync::atomic::$name;
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl From<$type> for $name {
            fn from(value: $type) -> Self {
                Self::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

atomics! {
    AtomicBool: bool,
    AtomicI8: i8,
    AtomicI16: i16,
    AtomicI32: i32,
    AtomicI64: i64,
    AtomicIsize: isize,
    AtomicU8: u8,
    AtomicU16: u16,
    AtomicU32: u32,
    AtomicU64: u64,
    AtomicUsize: usize,
}

#[repr(transparent)]
pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    pub const fn new(value: *mut T) -> Self {
        Self(std::sync::atomic::AtomicPtr::new(value))
    }

    /// # Safety
    /// No other thread may write to it meanwhile.
    pub unsafe fn unsync_load(&self) -> *mut T {
        unsafe { *self.0.as_ptr() }
    }

    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut *mut T) -> R) -> R {
        f(self.0.get_mut())
    }

    pub fn compare_and_swap(&self, current: *mut T, new: *mut T, order: Ordering) -> *mut T {
        match self.0.compare_exchange(current, new, order, failure(order)) {
            Ok(old) | Err(old) => old,
        }
    }

    pub fn into_inner(self) -> *mut T {
        self.0.into_inner()
    }
}

impl<T> Deref for AtomicPtr<T> {
    type Target = std::sync::atomic::AtomicPtr<T>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(value: *mut T) -> Self {
        Self::new(value)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
