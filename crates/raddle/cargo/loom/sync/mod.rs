//! What threads share.

pub mod atomic;

mod arc;

pub use arc::Arc;
pub use std::sync::{
    Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, Once, OnceLock,
    PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
    WaitTimeoutResult, mpsc,
};

/// A flag to wait for.
#[derive(Debug, Default)]
pub struct Notify {
    is_notified: Mutex<bool>,
    changed: Condvar,
}

impl Notify {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn notify(&self) {
        let mut is_notified = self
            .is_notified
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *is_notified = true;
        self.changed.notify_one();
    }

    pub fn wait(&self) {
        let mut is_notified = self
            .is_notified
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while !*is_notified {
            is_notified = self
                .changed
                .wait(is_notified)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *is_notified = false;
    }
}
