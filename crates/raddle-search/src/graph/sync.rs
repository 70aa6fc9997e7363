//! What operations on synchronisation objects publish and learn.
//!
//! The operations that change an object's cell are updates, so its modification order is one chain, and each of them can hand on what the
//! next may learn. Who learns what is the same as in the race detector of other engines (`raddle_memory::race`).

use super::clocks::{Clocks, Row};
use raddle_program::{SyncAction, Value};

/// What operations on a cell have published up to one of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Released {
    /// Unlocks, posts, signals, arrivals at a barrier.
    all: Row,
    /// Readers that gave a read-write lock back.
    readers: Row,
    /// 1 + the thread that holds a read-write lock for writing.
    writer: u32,
    /// 1 + the number of the barrier's last opening.
    opened: u32,
}

/// A generation of a barrier that all have arrived at.
#[derive(Clone, Copy, Debug)]
struct Opening {
    generation: u32,
    arrivals: Row,
    /// 1 + the number of the one before.
    before: u32,
}

#[derive(Debug)]
pub(super) struct Cells {
    /// Number 0 is what fresh cells have.
    released: Vec<Released>,
    openings: Vec<Opening>,
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            released: vec![Released::default()],
            openings: Vec::new(),
        }
    }
}

impl Cells {
    pub(super) fn len(&self) -> (u32, u32) {
        (self.released.len() as u32, self.openings.len() as u32)
    }

    pub(super) fn truncate(&mut self, (released, openings): (u32, u32)) {
        self.released.truncate(released as usize);
        self.openings.truncate(openings as usize);
    }

    /// What an operation that returns `value` learns from a cell.
    pub(super) fn learnt(
        &self,
        clocks: &mut Clocks,
        from: u32,
        action: SyncAction,
        value: Value,
    ) -> Row {
        use SyncAction as A;
        let failed = value != 0;
        let Released {
            all,
            readers,
            mut opened,
            ..
        } = self.released[from as usize];
        match action {
            A::Lock { .. }
            | A::TryLock { .. }
            | A::SemWait
            | A::SemTryWait
            | A::CondTimeout
            | A::CondSpurious
            | A::CondPoll
            | A::ReadLock
            | A::TryReadLock
                if !failed =>
            {
                all
            }
            A::CondAwait => all,
            A::OnceBegin => all,
            A::WriteLock | A::TryWriteLock if !failed => clocks.joined(all, readers),
            // The last arrival knows of all others.
            A::BarrierArrive if value & 1 == 1 => all,
            A::BarrierAwait { generation } => {
                while let Some(index) = opened.checked_sub(1) {
                    let opening = self.openings[index as usize];
                    if opening.generation == generation {
                        return opening.arrivals;
                    }
                    opened = opening.before;
                }
                Row::default()
            }
            _ => Row::default(),
        }
    }

    /// What is published after an operation of `thread` that found `from` and knows `present`.
    pub(super) fn publish(
        &mut self,
        clocks: &mut Clocks,
        from: u32,
        action: SyncAction,
        value: Value,
        (thread, present): (u32, impl FnOnce(&mut Clocks) -> Row),
    ) -> u32 {
        use SyncAction as A;
        let failed = value != 0;
        let mut new = self.released[from as usize];
        match action {
            A::Unlock { .. } if failed => return from,
            A::Unlock { .. }
            | A::SemPost
            | A::Signal
            | A::Broadcast
            | A::OnceEnd
            | A::OnceAbort => {
                let present = present(clocks);
                new.all = clocks.joined(new.all, present);
            }
            A::WriteLock | A::TryWriteLock if !failed => new.writer = thread + 1,
            A::RwUnlock if new.writer == thread + 1 => {
                let present = present(clocks);
                new.all = clocks.joined(new.all, present);
                new.writer = 0;
            }
            A::RwUnlock => {
                let present = present(clocks);
                new.readers = clocks.joined(new.readers, present);
            }
            A::BarrierArrive => {
                let present = present(clocks);
                new.all = clocks.joined(new.all, present);
                if value & 1 == 1 {
                    self.openings.push(Opening {
                        generation: (value >> 1) as u32,
                        arrivals: new.all,
                        before: new.opened,
                    });
                    new.all = Row::default();
                    new.opened = self.openings.len() as u32;
                }
            }
            _ => return from,
        }
        self.released.push(new);
        self.released.len() as u32 - 1
    }
}
