//! What the locks of parking_lot wait by, and how they are taken where threads that wait just look again.
//!
//! Others may be in parking_lot's queues: who waits with a deadline, and who was notified by a condition variable. The bits that say so are left as they
//! are found.

use super::super::{ModelId, ModelResult, Outcome, Script};
use super::path_of;
use crate::op::Order;

/// A thread of parking_lot's waits until another one sets the word to 0, and is then woken. It looks again whatever woke it.
pub(super) fn park_until_zero(cx: &mut Script<'_, '_>) -> ModelResult {
    loop {
        if cx.load(cx.arg(0), 4, Order::Acquire)? == 0 {
            return Ok(Outcome::Void);
        }
        cx.checkpoint();
    }
}

/// Slow paths of its locks, and what calls them where the first attempt, a weak compare-exchange, has failed.
const SLOW_PATHS: [(&str, &[&str]); 3] = [
    (
        MUTEX,
        &["<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock"],
    ),
    (
        WRITE,
        &["<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::lock_exclusive"],
    ),
    (
        READ,
        &[
            "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::lock_shared",
            "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLockRecursive>::lock_shared_recursive",
            "<parking_lot::raw_rwlock::RawRwLock>::try_lock_shared_fast",
        ],
    ),
];

pub(super) const MUTEX: &str = "parking_lot::raw_mutex::RawMutex::lock_slow";
pub(super) const WRITE: &str = "parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow";
pub(super) const READ: &str = "parking_lot::raw_rwlock::RawRwLock::lock_shared_slow";

const FREE: u64 = 0;

/// A deadline is passed in seconds and nanoseconds: is there none?
fn has_deadline(cx: &Script<'_, '_>, nanoseconds: usize) -> bool {
    /// Stands where nanoseconds would.
    const NO_DEADLINE: u64 = 1_000_000_000;
    cx.arg(nanoseconds) & 0xFFFF_FFFF != NO_DEADLINE
}

/// `(mutex, deadline)`: locks a mutex that another thread holds. One bit of its
/// byte says that it is taken, another one that somebody is in the queue of those who wait for it. The thread does not enter that queue: it tries
/// until it succeeds.
pub(super) fn lock(cx: &mut Script<'_, '_>) -> ModelResult {
    const TAKEN: u64 = 1;
    if has_deadline(cx, 2) {
        return Ok(Outcome::Original);
    }
    let word = cx.arg(0);
    let orders = (Order::Acquire, Order::Relaxed);
    loop {
        let found = cx.cas(word, 1, (FREE, TAKEN), orders)?;
        if found == FREE {
            return Ok(Outcome::Return(1));
        }
        // Nobody has it, but somebody waits.
        if found & TAKEN == 0 && cx.cas(word, 1, (found, found | TAKEN), orders)? == found {
            return Ok(Outcome::Return(1));
        }
        cx.checkpoint();
    }
}

/// The word of a lock for reading and writing: who waits for it in a queue, who has it, and how many read.
mod rwlock {
    pub(super) const UPGRADABLE: u64 = 1 << 2;
    pub(super) const WRITER: u64 = 1 << 3;
    pub(super) const ONE_READER: u64 = 1 << 4;

    /// Nobody reads.
    pub(super) fn is_unread(state: u64) -> bool {
        state < ONE_READER
    }
}

/// `(lock, deadline)`: says that it writes as soon as nobody else does, or may soon, and waits until nobody reads any more.
pub(super) fn lock_exclusive(cx: &mut Script<'_, '_>) -> ModelResult {
    /// Has it said so?
    const IS_SAID: usize = 0;
    if has_deadline(cx, 2) {
        return Ok(Outcome::Original);
    }
    let word = cx.arg(0);
    let orders = (Order::Acquire, Order::Relaxed);
    while cx.var(IS_SAID) == 0 {
        let found = cx.cas(word, 8, (FREE, rwlock::WRITER), orders)?;
        if found == FREE {
            return Ok(Outcome::Return(1));
        }
        let is_free = found & (rwlock::WRITER | rwlock::UPGRADABLE) == 0;
        if is_free && cx.cas(word, 8, (found, found | rwlock::WRITER), orders)? == found {
            cx.set_var(IS_SAID, 1);
        }
        cx.checkpoint();
    }
    loop {
        if rwlock::is_unread(cx.load(word, 8, Order::Acquire)?) {
            return Ok(Outcome::Return(1));
        }
        cx.checkpoint();
    }
}

/// `(lock, is recursive, deadline)`: waits until nobody writes, or has said that he will. Whoever reads already may do so again meanwhile, if he says so.
pub(super) fn lock_shared(cx: &mut Script<'_, '_>) -> ModelResult {
    if has_deadline(cx, 3) {
        return Ok(Outcome::Original);
    }
    let (word, is_recursive) = (cx.arg(0), cx.arg(1) & 1 != 0);
    loop {
        let state = cx.load(word, 8, Order::Relaxed)?;
        let may_read = state & rwlock::WRITER == 0 || is_recursive && !rwlock::is_unread(state);
        let Some(new) = state.checked_add(rwlock::ONE_READER) else {
            return Ok(Outcome::Original);
        };
        let orders = (Order::Acquire, Order::Relaxed);
        if may_read && cx.cas(word, 8, (state, new), orders)? == state {
            return Ok(Outcome::Return(1));
        }
        cx.checkpoint();
    }
}

/// Is it the first attempt at a lock of parking_lot's? The functions are those that the thread is in, the innermost first.
pub(crate) fn is_first_attempt<'a>(symbols: impl IntoIterator<Item = &'a str>) -> bool {
    /// Their mangled names have these parts.
    const PARTS: [&str; 2] = ["raw_mutex", "raw_rwlock"];
    let paths = symbols.into_iter().map(|symbol| {
        let demangled = rustc_demangle::try_demangle(symbol).ok();
        (symbol, demangled.map(|it| format!("{it:#}")))
    });
    for (symbol, path) in paths {
        let Some(path) = path else {
            return false;
        };
        if !path
            .trim_start_matches('<')
            .starts_with("core::sync::atomic::")
        {
            let mut callers = SLOW_PATHS.iter().flat_map(|(_, callers)| *callers);
            return PARTS.iter().any(|part| symbol.contains(part))
                && callers.any(|caller| *caller == path);
        }
    }
    false
}

/// Is it a model that a first attempt is followed by?
pub(crate) fn is_next_attempt(model: ModelId) -> bool {
    let name = super::super::get(model).name;
    SLOW_PATHS.iter().any(|(slow, _)| *slow == name)
}

/// May the caller look once more before it sleeps? It looks up to ten times, at the same word; what a later look finds, the first one
/// finds if the thread is slow. Others than parking_lot might count them.
pub(super) fn spin(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(match is_called_by_parking_lot(cx) {
        true => Outcome::Return(0),
        false => Outcome::Original,
    })
}

/// The same where nothing is asked.
pub(super) fn spin_without_asking(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(match is_called_by_parking_lot(cx) {
        true => Outcome::Void,
        false => Outcome::Original,
    })
}

fn is_called_by_parking_lot(cx: &Script<'_, '_>) -> bool {
    let module = &cx.machine.world.module;
    let caller = cx.machine.caller().map(|id| &module.function(id).name);
    let path = caller.and_then(|name| path_of(name));
    path.is_some_and(|path| {
        path.starts_with("parking_lot_core::") || path.starts_with("parking_lot::")
    })
}
