//! What operations on synchronisation objects do to their cells.
//!
//! Every object (mutex, condition variable, …) is one 64-bit cell, and every operation on it one atomic step: a
//! read-modify-write that may have to wait until the cell allows it. A fresh cell is 0 whatever it will be used as, so that
//! zero-initialised objects and static initialisers work.
//!
//! Cells that need more than 64 bits (queues, sets of readers) hold the id of an interned list; ids are never reused, so
//! undoing a step is writing the old word back.

pub mod order;

use raddle_program::errno::{EAGAIN, EBUSY, EDEADLK, EPERM, ETIMEDOUT};
use raddle_program::{Misuse, MutexKind, SyncAction, ThreadId, Value};
use rustc_hash::FxHashMap;

/// What an operation does to its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncStep {
    /// The thread must wait.
    Wait,
    /// The cell becomes `word`, the operation returns `value`.
    Done {
        word: u64,
        value: Value,
    },
    Misuse(Misuse),
}

const fn done(word: u64, value: Value) -> SyncStep {
    SyncStep::Done { word, value }
}

/// In a condition variable's queue: a signal, meant for any of the threads before it.
const SIGNAL: u32 = u32::MAX;

/// Interned lists, id 0 being the empty one.
#[derive(Clone, Debug)]
pub struct Lists {
    lists: Vec<Box<[u32]>>,
    ids: FxHashMap<Box<[u32]>, u32>,
}

impl Default for Lists {
    fn default() -> Self {
        let empty: Box<[u32]> = Box::default();
        Self {
            lists: vec![empty.clone()],
            ids: std::iter::once((empty, 0)).collect(),
        }
    }
}

impl Lists {
    fn get(&self, id: u32) -> &[u32] {
        &self.lists[id as usize]
    }

    fn intern(&mut self, list: Vec<u32>) -> u32 {
        if let Some(&id) = self.ids.get(list.as_slice()) {
            return id;
        }
        let id = self.lists.len() as u32;
        let list: Box<[u32]> = list.into();
        self.lists.push(list.clone());
        self.ids.insert(list, id);
        id
    }
}

/// A mutex: kind in bits 0-1 (0: not known yet), destroyed in bit 2, owner + 1 in bits 8-31, depth in bits 32-63.
#[derive(Clone, Copy)]
struct Mutex(u64);

impl Mutex {
    const DESTROYED: u64 = 4;

    fn new(kind: MutexKind) -> Self {
        Self(match kind {
            MutexKind::Normal => 1,
            MutexKind::Recursive => 2,
            MutexKind::ErrorCheck => 3,
        })
    }

    fn kind(self) -> MutexKind {
        match self.0 & 3 {
            2 => MutexKind::Recursive,
            3 => MutexKind::ErrorCheck,
            _ => MutexKind::Normal,
        }
    }

    fn owner(self) -> Option<ThreadId> {
        (((self.0 >> 8) & 0xFF_FFFF) as u32)
            .checked_sub(1)
            .map(ThreadId)
    }

    fn depth(self) -> u64 {
        self.0 >> 32
    }

    fn held(self, owner: ThreadId, depth: u64) -> u64 {
        (self.0 & 3) | (u64::from(owner.0) + 1) << 8 | depth << 32
    }

    fn free(self) -> u64 {
        self.0 & 3
    }

    /// `wait`: what a normal mutex of somebody else answers.
    fn acquire(self, thread: ThreadId, busy: SyncStep) -> SyncStep {
        match (self.owner(), self.kind()) {
            _ if self.0 & Self::DESTROYED != 0 => SyncStep::Misuse(Misuse::UseDestroyed),
            (None, _) => done(self.held(thread, 1), 0),
            (Some(owner), MutexKind::Recursive) if owner == thread => {
                done(self.held(thread, self.depth() + 1), 0)
            }
            (Some(owner), MutexKind::ErrorCheck) if owner == thread => match busy {
                SyncStep::Wait => done(self.0, EDEADLK),
                _ => busy,
            },
            _ => busy,
        }
    }

    fn release(self, thread: ThreadId) -> SyncStep {
        match self.owner() {
            _ if self.0 & Self::DESTROYED != 0 => SyncStep::Misuse(Misuse::UseDestroyed),
            Some(owner) if owner == thread && self.depth() > 1 => {
                done(self.held(thread, self.depth() - 1), 0)
            }
            Some(owner) if owner == thread => done(self.free(), 0),
            _ if self.kind() == MutexKind::ErrorCheck => done(self.0, EPERM),
            Some(_) => SyncStep::Misuse(Misuse::UnlockNotOwned),
            None => SyncStep::Misuse(Misuse::UnlockUnlocked),
        }
    }
}

/// The owner of a mutex cell, for explaining deadlocks.
#[must_use]
pub fn mutex_owner(word: u64) -> Option<ThreadId> {
    Mutex(word).owner()
}

/// The mutex cell after [`SyncAction::CondRelease`] gave it up: entirely, whatever its depth.
#[must_use]
pub fn release_for_wait(word: u64, thread: ThreadId) -> Option<u64> {
    let mutex = Mutex(word);
    (mutex.owner() == Some(thread) && word & Mutex::DESTROYED == 0).then(|| mutex.free())
}

/// Does a mutex cell know its kind? One that was never locked nor initialised by a call does not.
#[must_use]
pub fn knows_kind(word: u64) -> bool {
    word & 3 != 0
}

/// A mutex cell that was never initialised by a call takes its kind from the static initialiser's bytes.
#[must_use]
pub fn with_static_kind(word: u64, kind: MutexKind) -> u64 {
    if knows_kind(word) {
        word
    } else {
        word | Mutex::new(kind).0
    }
}

const DESTROYED: u64 = u64::MAX;

/// Set in a condition variable that was destroyed while threads that were woken had not left yet: they may.
const LEAVING: u64 = 1 << 32;

impl Lists {
    /// What `action` of `thread` does to its cell. `CondRelease` is about the condition variable's cell only: the mutex is
    /// [`release_for_wait`]'s.
    pub fn step(&mut self, word: u64, action: SyncAction, thread: ThreadId) -> SyncStep {
        use SyncAction as A;
        match action {
            A::MutexInit { kind } => done(Mutex::new(kind).0, 0),
            A::MutexDestroy => match Mutex(word).owner() {
                _ if word & Mutex::DESTROYED != 0 => SyncStep::Misuse(Misuse::UseDestroyed),
                Some(_) => SyncStep::Misuse(Misuse::DestroyLocked),
                None => done(word | Mutex::DESTROYED, 0),
            },
            A::Lock { .. } => Mutex(word).acquire(thread, SyncStep::Wait),
            A::TryLock { .. } => Mutex(word).acquire(thread, done(word, EBUSY)),
            A::Unlock { .. } => Mutex(word).release(thread),
            A::CondInit | A::RwInit => done(0, 0),
            A::SemInit { .. } | A::BarrierInit { .. } => Self::initialise(action),
            _ if word == DESTROYED => SyncStep::Misuse(Misuse::UseDestroyed),
            A::CondRelease { .. }
            | A::CondAwait
            | A::CondTimeout
            | A::CondSpurious
            | A::CondPoll
            | A::Signal
            | A::Broadcast
            | A::CondDestroy
                if word & LEAVING == 0 =>
            {
                self.condition(word as u32, action, thread)
            }
            A::CondAwait | A::CondTimeout | A::CondSpurious | A::CondPoll => {
                match self.condition(word as u32, action, thread) {
                    SyncStep::Done { word: 0, value } => done(DESTROYED, value),
                    SyncStep::Done { word, value } => done(word | LEAVING, value),
                    other => other,
                }
            }
            A::CondRelease { .. } | A::Signal | A::Broadcast | A::CondDestroy => {
                SyncStep::Misuse(Misuse::UseDestroyed)
            }
            A::RwDestroy
            | A::ReadLock
            | A::TryReadLock
            | A::WriteLock
            | A::TryWriteLock
            | A::RwUnlock => self.read_write_lock(word, action, thread),
            A::SemWait | A::SemTryWait | A::SemPost | A::SemGet | A::SemDestroy => {
                Self::semaphore(word, action)
            }
            A::BarrierDestroy | A::BarrierArrive | A::BarrierAwait { .. } => {
                Barrier(word).step(action)
            }
            // Fresh, running, done: 0, 1, 2.
            A::OnceBegin => match word {
                0 => done(1, 0),
                1 => SyncStep::Wait,
                _ => done(word, 1),
            },
            A::OnceEnd => done(2, 0),
            A::OnceAbort => done(0, 0),
        }
    }

    fn initialise(action: SyncAction) -> SyncStep {
        match action {
            SyncAction::SemInit { value } => done(u64::from(value), 0),
            SyncAction::BarrierInit { count: 0 } => SyncStep::Misuse(Misuse::BarrierCountZero),
            SyncAction::BarrierInit { count } => done(Barrier::new(count, 0, 0).0, 0),
            _ => done(0, 0),
        }
    }

    /// The queue holds waiting threads and signals in order of arrival. A signal wakes one of the threads *before* it:
    /// a thread that starts to wait later must not steal it. Invariant: before every position there are at least as many
    /// threads as signals, so each signal can be given a thread of its own.
    fn condition(&mut self, queue: u32, action: SyncAction, thread: ThreadId) -> SyncStep {
        let list = self.get(queue);
        let position = list.iter().position(|&entry| entry == thread.0);
        let signals = list.iter().filter(|&&entry| entry == SIGNAL).count();
        let unsignalled = list.len() - 2 * signals;
        match action {
            SyncAction::CondRelease { .. } => {
                let mut new = list.to_vec();
                new.push(thread.0);
                done(u64::from(self.intern(new)), 0)
            }
            SyncAction::CondAwait | SyncAction::CondPoll => {
                let Some(position) = position else {
                    return SyncStep::Misuse(Misuse::WrongKind);
                };
                let mut new = list.to_vec();
                let signal = list[position..].iter().position(|&entry| entry == SIGNAL);
                let value = match signal {
                    Some(distance) => {
                        new.remove(position + distance);
                        0
                    }
                    None if action == SyncAction::CondAwait => return SyncStep::Wait,
                    None => ETIMEDOUT,
                };
                new.remove(position);
                done(u64::from(self.intern(new)), value)
            }
            SyncAction::CondTimeout | SyncAction::CondSpurious => {
                let Some(position) = position else {
                    return SyncStep::Misuse(Misuse::WrongKind);
                };
                let mut new = list.to_vec();
                new.remove(position);
                let mut value = ETIMEDOUT;
                if let Some(orphan) = orphaned_signal(&new) {
                    // A signal was meant for this thread alone: it is woken, not timed out.
                    new.remove(orphan);
                    value = 0;
                }
                done(u64::from(self.intern(new)), value)
            }
            SyncAction::Signal | SyncAction::Broadcast => {
                let count = if action == SyncAction::Signal {
                    unsignalled.min(1)
                } else {
                    unsignalled
                };
                if count == 0 {
                    return done(u64::from(queue), 0);
                }
                let mut new = list.to_vec();
                new.extend(std::iter::repeat_n(SIGNAL, count));
                done(u64::from(self.intern(new)), 0)
            }
            _ if unsignalled > 0 => SyncStep::Misuse(Misuse::DestroyWithWaiters),
            _ if queue != 0 => done(LEAVING | u64::from(queue), 0),
            _ => done(DESTROYED, 0),
        }
    }

    /// Writer + 1 in bits 0-31, list of readers in bits 32-63.
    fn read_write_lock(&mut self, word: u64, action: SyncAction, thread: ThreadId) -> SyncStep {
        let writer = (word as u32).checked_sub(1).map(ThreadId);
        let readers = (word >> 32) as u32;
        let busy = match action {
            SyncAction::TryReadLock | SyncAction::TryWriteLock => done(word, EBUSY),
            _ => SyncStep::Wait,
        };
        match action {
            SyncAction::ReadLock | SyncAction::TryReadLock => match writer {
                Some(writer) if writer == thread && busy == SyncStep::Wait => done(word, EDEADLK),
                Some(_) => busy,
                None => {
                    let mut new = self.get(readers).to_vec();
                    new.push(thread.0);
                    new.sort_unstable();
                    done(u64::from(self.intern(new)) << 32, 0)
                }
            },
            SyncAction::WriteLock | SyncAction::TryWriteLock => match writer {
                Some(writer) if writer == thread && busy == SyncStep::Wait => done(word, EDEADLK),
                None if readers == 0 => done(u64::from(thread.0) + 1, 0),
                _ => busy,
            },
            SyncAction::RwUnlock => {
                if writer == Some(thread) {
                    return done(0, 0);
                }
                let mut new = self.get(readers).to_vec();
                match new.iter().position(|&reader| reader == thread.0) {
                    Some(position) => {
                        new.remove(position);
                        done(u64::from(self.intern(new)) << 32, 0)
                    }
                    None if word == 0 => SyncStep::Misuse(Misuse::UnlockUnlocked),
                    None => SyncStep::Misuse(Misuse::UnlockNotOwned),
                }
            }
            _ if word != 0 => SyncStep::Misuse(Misuse::DestroyLocked),
            _ => done(DESTROYED, 0),
        }
    }

    /// The threads that hold a read-write lock, for explaining deadlocks.
    #[must_use]
    pub fn lock_holders(&self, word: u64) -> Vec<ThreadId> {
        if word == DESTROYED {
            return Vec::new();
        }
        match (word as u32).checked_sub(1) {
            Some(writer) => vec![ThreadId(writer)],
            None => self
                .get((word >> 32) as u32)
                .iter()
                .map(|&reader| ThreadId(reader))
                .collect(),
        }
    }

    fn semaphore(word: u64, action: SyncAction) -> SyncStep {
        match action {
            SyncAction::SemWait if word == 0 => SyncStep::Wait,
            SyncAction::SemTryWait if word == 0 => done(word, EAGAIN),
            SyncAction::SemWait | SyncAction::SemTryWait => done(word - 1, 0),
            SyncAction::SemPost => done(word + 1, 0),
            SyncAction::SemGet => done(word, word),
            _ => done(DESTROYED, 0),
        }
    }
}

/// The first signal with fewer threads than signals up to it.
fn orphaned_signal(queue: &[u32]) -> Option<usize> {
    let mut waiting = 0i64;
    queue.iter().position(|&entry| {
        waiting += if entry == SIGNAL { -1 } else { 1 };
        waiting < 0
    })
}

/// A barrier: count in bits 0-19, arrived in bits 20-39, generation in bits 40-62.
#[derive(Clone, Copy)]
struct Barrier(u64);

impl Barrier {
    const FIELD: u64 = (1 << 20) - 1;

    fn new(count: u32, arrived: u64, generation: u64) -> Self {
        Self((u64::from(count) & Self::FIELD) | arrived << 20 | generation << 40)
    }

    fn step(self, action: SyncAction) -> SyncStep {
        let count = self.0 & Self::FIELD;
        let arrived = self.0 >> 20 & Self::FIELD;
        let generation = self.0 >> 40;
        match action {
            _ if count == 0 => SyncStep::Misuse(Misuse::WrongKind),
            SyncAction::BarrierArrive if arrived + 1 == count => done(
                Self::new(count as u32, 0, generation + 1).0,
                generation << 1 | 1,
            ),
            SyncAction::BarrierArrive => done(
                Self::new(count as u32, arrived + 1, generation).0,
                generation << 1,
            ),
            SyncAction::BarrierAwait { generation: past } if generation > u64::from(past) => {
                done(self.0, 0)
            }
            SyncAction::BarrierAwait { .. } => SyncStep::Wait,
            _ if arrived > 0 => SyncStep::Misuse(Misuse::DestroyWithWaiters),
            _ => done(DESTROYED, 0),
        }
    }
}

#[cfg(test)]
mod tests;
