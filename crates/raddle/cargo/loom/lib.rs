//! What `cargo raddle` compiles in place of the crate `loom`: the same names, made of the standard library.
//!
//! Raddle explores every interleaving of a program as it is, so nothing has to be simulated: [`model()`] runs its closure once, and types
//! are those of the standard library, with the few functions that loom adds to them. What bounds loom's search is without effect here.
#![allow(clippy::all, missing_docs, unsafe_op_in_unsafe_fn)]

pub mod alloc;
pub mod cell;
pub mod future;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

/// What spinning threads do.
pub mod hint {
    pub use std::hint::{black_box, spin_loop};

    /// # Safety
    /// Nothing may come here.
    #[track_caller]
    pub unsafe fn unreachable_unchecked() -> ! {
        unreachable!("unreachable_unchecked was reached!")
    }
}

#[doc(inline)]
pub use model::model;

/// How many threads loom allows: tests that start as many as there may be ask for it.
pub const MAX_THREADS: usize = 5;

/// Everything is explored anyway.
pub fn explore() {}

/// Everything is explored anyway.
pub fn stop_exploring() {}

/// Everything is explored anyway.
pub fn skip_branch() {}

#[macro_export]
macro_rules! thread_local {
    ($($tokens:tt)*) => {
        ::std::thread_local! { $($tokens)* }
    };
}

#[macro_export]
macro_rules! lazy_static {
    ($(#[$attribute:meta])* $visibility:vis static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attribute])*
        $visibility struct $name {
            __private: (),
        }
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        $visibility static $name: $name = $name { __private: () };
        impl ::std::ops::Deref for $name {
            type Target = $type;
            fn deref(&self) -> &$type {
                static LAZY: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(|| $init);
                LAZY.get()
            }
        }
        $crate::lazy_static! { $($rest)* }
    };
    () => {};
}
