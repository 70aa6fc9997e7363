//! Whom operations on synchronisation objects order: who learns what others have published.
//!
//! The operations that change an object's cell follow each other, so each hands on what the next may learn. `C` is whatever its user
//! has for clocks; clocks are joined by the user.

use raddle_program::{SyncAction, ThreadId, Value};

/// Does an operation that returned `value` learn from the cell?
#[must_use]
pub fn acquires(action: SyncAction, value: Value) -> bool {
    use SyncAction as A;
    match action {
        A::Lock { .. }
        | A::TryLock { .. }
        | A::SemWait
        | A::SemTryWait
        | A::CondAwait
        | A::CondTimeout
        | A::CondSpurious
        | A::CondPoll
        | A::ReadLock
        | A::TryReadLock
        | A::WriteLock
        | A::TryWriteLock => value == 0,
        // Who runs the initialiser first finds nothing that was released; who runs it again comes after the one who failed.
        A::OnceBegin | A::BarrierAwait { .. } => true,
        // The last arrival knows of all others.
        A::BarrierArrive => value & 1 == 1,
        _ => false,
    }
}

/// Does an operation that returned `value` publish what its thread knows?
#[must_use]
pub fn releases(action: SyncAction, value: Value) -> bool {
    use SyncAction as A;
    match action {
        A::Unlock { .. } => value == 0,
        A::SemPost
        | A::Signal
        | A::Broadcast
        | A::OnceEnd
        | A::OnceAbort
        | A::RwUnlock
        | A::BarrierArrive => true,
        _ => false,
    }
}

/// What operations on a cell have published so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Released<C> {
    /// By unlocks (of writers, for a read-write lock), posts, signals, arrivals of the present generation, ends.
    all: C,
    /// By readers' unlocks: only writers learn it.
    readers: C,
    /// Who holds a read-write lock for writing.
    writer: Option<ThreadId>,
    /// The last generation of a barrier that was opened: an index into the openings.
    opened: Option<u32>,
}

/// A past generation of a barrier, and what its arrivals published.
#[derive(Clone, Copy, Debug)]
pub struct Opening<C> {
    generation: u32,
    arrivals: C,
    /// The generation that the same barrier opened before.
    before: Option<u32>,
}

impl<C: Copy + Default> Released<C> {
    /// What an operation that returned `value` learns. `openings` are those of all barriers.
    pub fn learnt(
        &self,
        openings: &[Opening<C>],
        action: SyncAction,
        value: Value,
        join: impl FnOnce(C, C) -> C,
    ) -> C {
        if !acquires(action, value) {
            return C::default();
        }
        match action {
            SyncAction::WriteLock | SyncAction::TryWriteLock => join(self.all, self.readers),
            SyncAction::BarrierAwait { generation } => self.arrivals(openings, generation),
            _ => self.all,
        }
    }

    fn arrivals(&self, openings: &[Opening<C>], generation: u32) -> C {
        let mut next = self.opened;
        while let Some(index) = next {
            let opening = openings[index as usize];
            if opening.generation == generation {
                return opening.arrivals;
            }
            next = opening.before;
        }
        C::default()
    }

    /// The cell after an operation of `thread` that returned `value`; none if it is as it was. `published` joins a clock with what
    /// the thread knows. An operation that opens a barrier adds to `openings`.
    pub fn after(
        mut self,
        thread: ThreadId,
        action: SyncAction,
        value: Value,
        published: impl FnOnce(C) -> C,
        openings: &mut Vec<Opening<C>>,
    ) -> Option<Self> {
        use SyncAction as A;
        match action {
            A::WriteLock | A::TryWriteLock if value == 0 => self.writer = Some(thread),
            _ if !releases(action, value) => return None,
            A::RwUnlock if self.writer != Some(thread) => self.readers = published(self.readers),
            _ => self.all = published(self.all),
        }
        match action {
            A::RwUnlock if self.writer == Some(thread) => self.writer = None,
            A::BarrierArrive if value & 1 == 1 => {
                openings.push(Opening {
                    generation: (value >> 1) as u32,
                    arrivals: std::mem::take(&mut self.all),
                    before: self.opened,
                });
                self.opened = Some(openings.len() as u32 - 1);
            }
            _ => {}
        }
        Some(self)
    }
}
