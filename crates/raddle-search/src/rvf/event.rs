//! Events of a trace: which writes they may read from, what they wrote.

use crate::rf::event::Cell;
use raddle_memory::goodwrites::{EventId, INIT, Ordinals};
use raddle_program::{StateId, ThreadId, Value};
use smallvec::SmallVec;

/// No event.
pub(super) const NO_EVENT: EventId = INIT;

/// Some bytes of a location that belong to one cell; or something that is a cell by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) cell: Cell,
    pub(super) first: u8,
    pub(super) count: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) part: Part,
    /// What every good write wrote, unless reads were merged.
    pub(super) value: Value,
    pub(super) good: Ordinals,
    /// Its sources are told apart even if they wrote the same.
    pub(super) is_exact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) part: Part,
    pub(super) value: Value,
}

/// What a thread does in one step, given what it reads.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) thread: ThreadId,
    /// Counts the thread's events from 1.
    pub(super) index: u32,
    /// The local state it left.
    pub(super) state: StateId,
    /// The local state it led to.
    pub(super) after: StateId,
    /// The event before it in its thread; the spawn for a first event.
    pub(super) parent: EventId,
    pub(super) reads: SmallVec<[Read; 2]>,
    pub(super) writes: SmallVec<[Write; 2]>,
    pub(super) choices: SmallVec<[u32; 2]>,
    /// The thread that it spawned last.
    pub(super) spawned: SmallVec<[(ThreadId, StateId); 1]>,
    /// An atomic block, or the rest of one that had to wait.
    pub(super) is_block: bool,
    /// It began in the middle of a block, or left the thread there.
    pub(super) began_inside: bool,
    pub(super) ends_inside: bool,
    /// Memory found it wrong: the thread goes no further.
    pub(super) faulted: bool,
    /// It would have had to wait at once, with what it reads: it is no event.
    pub(super) waits: bool,
    /// It can have changed nothing in memory, and nothing but memory and its own thread.
    pub(super) is_pure: bool,
    /// It completed an iteration without effect, and with `--no-await` the thread goes no further.
    pub(super) ends_thread: bool,
}

impl Event {
    /// Do two ways to do the same operation have the same effect?
    pub(super) fn does_the_same(&self, other: &Self) -> bool {
        self.after == other.after
            && self.writes == other.writes
            && self.choices == other.choices
            && self.spawned == other.spawned
            && self.ends_inside == other.ends_inside
            && self.faulted == other.faulted
            && self.waits == other.waits
            && self.is_pure == other.is_pure
            && self.ends_thread == other.ends_thread
    }
}
