//! What `cargo raddle` compiles in place of the crate `shuttle`: the same names, made of the standard library.
//!
//! Raddle explores every interleaving of a program as it is, so nothing has to be scheduled: whatever checks a closure runs it once. Schedulers,
//! numbers of iterations and depths are without effect. There is no `rand`: chance is no part of a program whose executions are all explored.
#![allow(clippy::all, missing_docs)]

pub mod future;
pub mod model;
mod threads;

pub use model::{
    Config, FailurePersistence, MaxSteps, PortfolioRunner, Runner, check, check_dfs, check_pct,
    check_random, check_random_with_seed, check_uncontrolled_nondeterminism, check_urw, replay,
    replay_from_file, scheduler,
};

pub mod hint {
    pub use std::hint::{black_box, spin_loop};
}

pub mod sync {
    pub use std::sync::{
        Arc, Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, Once, OnceState,
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
        WaitTimeoutResult, Weak, mpsc,
    };
    pub mod atomic {
        pub use std::sync::atomic::*;
    }
}

/// Threads that nobody joins are waited for when the closure has returned.
pub mod thread {
    pub use crate::__thread_local as thread_local;
    pub use crate::threads::*;
    pub use std::thread::{Scope, ScopedJoinHandle, scope};
}

pub mod lazy_static {
    pub use std::sync::LazyLock as Lazy;
}

#[macro_export]
macro_rules! thread_local {
    ($($tokens:tt)*) => {
        ::std::thread_local! { $($tokens)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __thread_local {
    ($($tokens:tt)*) => {
        ::std::thread_local! { $($tokens)* }
    };
}

#[macro_export]
macro_rules! lazy_static {
    ($(#[$attribute:meta])* $visibility:vis static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $(#[$attribute])*
        $visibility static $name: ::std::sync::LazyLock<$type> = ::std::sync::LazyLock::new(|| $init);
        $crate::lazy_static! { $($rest)* }
    };
    () => {};
}
