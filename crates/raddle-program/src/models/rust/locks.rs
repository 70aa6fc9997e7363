//! Locks and condition variables of Rust's standard library, which are made of futexes, and what parking_lot waits by.
//!
//! Where waiting is a loop that is left out, nobody sleeps in a lock: a thread looks until it gets it. Where the library is entered
//! at another place (it may have inlined what is replaced here), its own code does with the same words what it always does, and both
//! understand each other: words have the library's meaning, and queues are those of futexes.

use super::super::{ModelId, ModelResult, Outcome, Pause, Script};
use super::path_of;
use crate::fault::Stop;
use crate::op::{Order, RmwKind, SyncAction};
use raddle_ir::Module;

// ---- mutexes

const FREE: u64 = 0;
const TAKEN: u64 = 1;
const CONTENDED: u64 = 2;

/// Locks a mutex that another thread holds. The word is 0 if it is free, 1 if it is taken, 2 if somebody may sleep until it is free.
///
/// Where waiting is a loop that is left out, nobody sleeps: the thread tries until it succeeds. Otherwise it does what the library
/// does, without first looking a hundred times.
pub(super) fn lock_contended(cx: &mut Script<'_, '_>) -> ModelResult {
    let word = cx.arg(0);
    if cx.leaves_out_pure_iterations() {
        cx.lock_word(word)?;
        return Ok(Outcome::Void);
    }
    loop {
        let old = cx.rmw(word, 4, RmwKind::Exchange, CONTENDED, Order::Acquire)?;
        if old == FREE {
            return Ok(Outcome::Void);
        }
        cx.futex_wait(word, CONTENDED, false)?;
        cx.checkpoint();
    }
}

impl Script<'_, '_> {
    /// Tries to lock a mutex until that succeeds. What steps returned before is forgotten.
    fn lock_word(&mut self, word: u64) -> Result<(), Pause> {
        loop {
            let orders = (Order::Acquire, Order::Relaxed);
            if self.cas(word, 4, (FREE, TAKEN), orders)? == FREE {
                return Ok(());
            }
            self.checkpoint();
        }
    }
}

// ---- condition variables

/// `(condition variable, mutex)`: gives the mutex up and enters the queue in one step, waits to be woken, and takes the mutex again.
/// The thread may also wake up spuriously, as with other condition variables.
pub(super) fn cond_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    /// How far it has come.
    const PHASE: usize = 0;
    const WAITS: u64 = 0;
    const IS_WOKEN: u64 = 1;
    const WAKES_SPURIOUSLY: u64 = 2;
    let (cond, mutex) = (cx.arg(0), cx.arg(1));
    let Some(queue) = cx.queue_of(cond)? else {
        return Err(cx.unsupported("a condition variable that no other thread can see"));
    };
    if cx.var(PHASE) == WAITS {
        cx.stop_if_woken_in_vain()?;
        cx.atomic_begin()?;
        cx.enter_queue(queue)?;
        let old = cx.rmw(mutex, 4, RmwKind::Exchange, FREE, Order::Release)?;
        cx.atomic_end()?;
        if old == CONTENDED {
            cx.futex_wake(mutex, 1)?;
        }
        let mut phase = IS_WOKEN;
        if !cx.wakes_spuriously()? {
            cx.sync(queue, SyncAction::CondAwait)?;
        } else if cx.leaves_out_vain_wakeups() {
            phase = WAKES_SPURIOUSLY;
        } else {
            cx.leave_queue(queue, SyncAction::CondSpurious)?;
        }
        cx.set_var(PHASE, phase);
        cx.checkpoint();
    }
    cx.lock_word(mutex)?;
    if cx.var(PHASE) == WAKES_SPURIOUSLY {
        if cx.leave_queue(queue, SyncAction::CondSpurious)? == 0 {
            // There was a signal for it.
            return Err(Pause::Stop(Stop::WokenInVain));
        }
        cx.note_spurious_wakeup()?;
    }
    Ok(Outcome::Void)
}

pub(super) fn notify_one(cx: &mut Script<'_, '_>) -> ModelResult {
    notify(cx, 1)
}

pub(super) fn notify_all(cx: &mut Script<'_, '_>) -> ModelResult {
    notify(cx, u64::MAX)
}

/// Counts, which whoever is about to wait by the library's own code sees, and wakes so many at most: in one step.
fn notify(cx: &mut Script<'_, '_>, most: u64) -> ModelResult {
    let word = cx.arg(0);
    let queue = cx.queue_of(word)?;
    cx.atomic_begin()?;
    cx.rmw(word, 4, RmwKind::Add, 1, Order::Relaxed)?;
    if let Some(queue) = queue {
        cx.wake_in_queue(queue, most)?;
    }
    cx.atomic_end()?;
    Ok(Outcome::Void)
}

// ---- locks for reading and writing

/// The word of such a lock: how many read, or that somebody writes, and whether others wait.
mod rwlock {
    pub(super) const MASK: u64 = (1 << 30) - 1;
    pub(super) const WRITE_LOCKED: u64 = MASK;
    pub(super) const MAX_READERS: u64 = MASK - 1;
    pub(super) const READERS_WAITING: u64 = 1 << 30;
    pub(super) const WRITERS_WAITING: u64 = 1 << 31;

    pub(super) fn is_unlocked(state: u64) -> bool {
        state & MASK == 0
    }

    /// Whoever waits comes first.
    pub(super) fn is_read_lockable(state: u64) -> bool {
        state & MASK < MAX_READERS && state & (READERS_WAITING | WRITERS_WAITING) == 0
    }
}

/// Waits until nobody writes, or waits to.
pub(super) fn read_contended(cx: &mut Script<'_, '_>) -> ModelResult {
    let word = cx.arg(0);
    loop {
        let state = cx.load(word, 4, Order::Relaxed)?;
        if rwlock::is_read_lockable(state) {
            let orders = (Order::Acquire, Order::Relaxed);
            if cx.cas(word, 4, (state, state + 1), orders)? == state {
                return Ok(Outcome::Void);
            }
        }
        cx.checkpoint();
    }
}

/// Says that it waits, which keeps new readers out, and waits until nobody reads or writes.
pub(super) fn write_contended(cx: &mut Script<'_, '_>) -> ModelResult {
    /// What it says of others when it has the lock: that some wait, if it had to itself.
    const OTHERS: usize = 0;
    let word = cx.arg(0);
    loop {
        let state = cx.load(word, 4, Order::Relaxed)?;
        if rwlock::is_unlocked(state) {
            let new = state | rwlock::WRITE_LOCKED | cx.var(OTHERS);
            let orders = (Order::Acquire, Order::Relaxed);
            if cx.cas(word, 4, (state, new), orders)? == state {
                return Ok(Outcome::Void);
            }
        } else if state & rwlock::WRITERS_WAITING == 0 {
            let waiting = state | rwlock::WRITERS_WAITING;
            let orders = (Order::Relaxed, Order::Relaxed);
            if cx.cas(word, 4, (state, waiting), orders)? == state {
                cx.set_var(OTHERS, rwlock::WRITERS_WAITING);
            }
        } else {
            cx.set_var(OTHERS, rwlock::WRITERS_WAITING);
        }
        cx.checkpoint();
    }
}

/// `(lock, state)`: nobody holds it any more, and somebody waits. Those who wait to write look by themselves; the note that there are some goes,
/// as the library has it, and whoever still waits makes it again.
pub(super) fn wake_writer_or_readers(cx: &mut Script<'_, '_>) -> ModelResult {
    let (word, state) = (cx.arg(0), cx.arg(1) & 0xFFFF_FFFF);
    if state & rwlock::READERS_WAITING != 0 {
        return Ok(Outcome::Original);
    }
    if state == rwlock::WRITERS_WAITING {
        let orders = (Order::Relaxed, Order::Relaxed);
        cx.cas(word, 4, (state, FREE), orders)?;
    }
    Ok(Outcome::Void)
}

/// May threads that wait for such locks just look again and again? Not if the program tries to get one: it fails also while nobody has the
/// lock, if somebody was woken for it.
pub(in super::super) fn has_plain_rwlocks(module: &Module) -> bool {
    const TRIES: [&str; 2] = ["6RwLock8try_read", "6RwLock9try_write"];
    let mut names = module.functions.iter().map(|it| &it.name);
    !names.any(|name| TRIES.iter().any(|part| name.contains(part)))
}

// ---- parking_lot

/// A thread of parking_lot's waits until another one sets the word to 0, and is then woken. It looks again whatever woke it.
pub(super) fn park_until_zero(cx: &mut Script<'_, '_>) -> ModelResult {
    loop {
        if cx.load(cx.arg(0), 4, Order::Acquire)? == 0 {
            return Ok(Outcome::Void);
        }
        cx.checkpoint();
    }
}

/// The slow path of parking_lot's mutex.
pub(super) const PARKING_LOT_MUTEX: &str = "parking_lot::raw_mutex::RawMutex::lock_slow";

/// What calls it where the first attempt, a weak compare-exchange, has failed.
const PARKING_LOT_LOCK: &str =
    "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock";

/// `(mutex, deadline)`, the deadline in seconds and nanoseconds: locks a mutex of parking_lot's that another thread holds. One bit of its
/// byte says that it is taken, another one that somebody is in the queue of those who wait for it. The thread does not enter that queue: it tries
/// until it succeeds. Others may be there: who waits with a deadline, and who was notified by a condition variable.
pub(super) fn parking_lot_mutex(cx: &mut Script<'_, '_>) -> ModelResult {
    /// Stands where nanoseconds would.
    const NO_DEADLINE: u64 = 1_000_000_000;
    if cx.arg(2) & 0xFFFF_FFFF != NO_DEADLINE {
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

/// Is it the first attempt to lock a mutex of parking_lot's? The functions are those that the thread is in, the innermost first.
pub(crate) fn is_first_attempt<'a>(symbols: impl IntoIterator<Item = &'a str>) -> bool {
    /// Its mangled name has these parts.
    const PARTS: [&str; 2] = ["raw_mutex", "4lock"];
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
            return PARTS.iter().all(|part| symbol.contains(part)) && path == PARKING_LOT_LOCK;
        }
    }
    false
}

/// Is it the model that the first attempt is followed by?
pub(crate) fn is_next_attempt(model: ModelId) -> bool {
    super::super::get(model).name == PARKING_LOT_MUTEX
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
