//! Locks and condition variables of Rust's standard library, which are made of futexes.
//!
//! Where waiting is a loop that is left out, nobody sleeps in a lock: a thread looks until it gets it. Where the library is entered
//! at another place (it may have inlined what is replaced here), its own code does with the same words what it always does, and both
//! understand each other: words have the library's meaning, and queues are those of futexes.

use super::super::{ModelResult, Outcome, Pause, Script};
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

/// May threads that wait for such locks, those of parking_lot included, just look again and again? Not if the program tries to get one: it fails also while nobody has the
/// lock, if somebody was woken for it or is in the queue.
pub(in super::super) fn has_plain_rwlocks(module: &Module) -> bool {
    const TRIES: [&str; 3] = ["8try_read", "9try_write", "18try_lock_exclusive"];
    let mut names = module.functions.iter().map(|it| &it.name);
    !names.any(|name| name.contains("rwlock") && TRIES.iter().any(|part| name.contains(part)))
}
