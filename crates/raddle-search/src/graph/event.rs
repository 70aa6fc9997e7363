//! Events of an execution graph.

use super::clocks::Row;
use raddle_program::{LocId, Order, StateId, Value};

/// Which event: of which thread, and which of its events. The same in every graph that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ev {
    pub(super) thread: u32,
    pub(super) index: u32,
}

impl Ev {
    /// The write of the initial value.
    pub(super) const INIT: Self = Self {
        thread: u32::MAX,
        index: 0,
    };
    /// No event.
    pub(super) const NONE: Self = Self {
        thread: u32::MAX,
        index: 1,
    };

    #[inline]
    pub(super) fn new(thread: usize, index: usize) -> Self {
        Self {
            thread: thread as u32,
            index: index as u32,
        }
    }

    /// Is it an event of a thread?
    #[inline]
    pub(super) fn is_event(self) -> bool {
        self.thread != u32::MAX
    }

    #[inline]
    pub(super) fn of(self) -> usize {
        self.thread as usize
    }

    #[inline]
    pub(super) fn at(self) -> usize {
        self.index as usize
    }
}

/// Where an event reads or writes: a location of the tables, the lock of atomic blocks, or nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place(u32);

impl Place {
    pub(super) const NOWHERE: Self = Self(u32::MAX);
    /// What atomic blocks exclude each other by.
    pub(super) const BLOCKS: Self = Self(0);

    #[inline]
    pub(super) fn of(loc: LocId) -> Self {
        Self(loc.0 + 1)
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The location of the tables, if it is one.
    #[inline]
    pub(super) fn loc(self) -> Option<LocId> {
        (self.0 != u32::MAX && self.0 != 0).then(|| LocId(self.0 - 1))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Fence,
    /// Starting and joining threads, allocation, choices.
    Other,
}

/// One event. A read-modify-write is two, the read and then the write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// The local state whose operation it is part of, and which part: operations on condition variables have up to four.
    pub(super) state: StateId,
    pub(super) part: u8,
    pub(super) kind: Kind,
    pub(super) order: Order,
    /// Of a read: its write follows. Of a write: its read is the event before.
    pub(super) is_update: bool,
    /// Is it an access to a synchronisation object, or to the lock of atomic blocks?
    pub(super) is_cell: bool,
    /// Is it a whole read-modify-write that adds something, in any order with others ([`super::additions`])?
    pub(super) is_addition: bool,
    /// The thread goes no further: what it met is wrong.
    pub(super) is_fault: bool,
    /// The same, but only `graph` does not know what it met: it is no step of a schedule.
    pub(super) is_refused: bool,
    pub(super) place: Place,
    /// When it was added: the order `<` of the algorithm.
    pub(super) stamp: u32,
    /// What a read found, what a write wrote, what was chosen.
    pub(super) value: Value,
    /// The write that a read reads from; [`Ev::NONE`] if the thread waits for another one ([`super::reads`]). Of an access to memory that was freed:
    /// the free.
    pub(super) source: Ev,
    /// The write whose value makes the thread wait.
    pub(super) base: Ev,
    /// If the thread waits: it reads from none of the writes up to this stamp.
    pub(super) waits_since: u32,
    /// The read that the write was added for, by a backward revisit.
    pub(super) revisited: Ev,
    /// The thread's event before it at the same place, and the one before at the same object: 1 + index, 0 if there is none.
    pub(super) previous_here: u32,
    pub(super) previous_at_object: u32,
    /// What happens before what the thread does next: `hb`. It need not know of its own thread.
    pub(super) known: Row,
    /// What the event depends on: `sb` and `rf`.
    pub(super) past: Row,
    /// What the thread's last release fence publishes through relaxed writes.
    pub(super) fence: Row,
    /// What relaxed reads learnt, to be known after an acquire fence.
    pub(super) pending: Row,
    /// Of a write: what an acquiring read of it learns. Of a thread's start: what the new thread knows.
    pub(super) message: Row,
    /// Of a write to a synchronisation object: the number of its [`Released`](super::sync::Released).
    pub(super) released: u32,
    /// Of a write: what its thread published there, if later stores of the thread continue release sequences. Of a thread's start: what
    /// the new thread depends on.
    pub(super) head: Row,
}

impl Event {
    /// An event that does nothing yet.
    pub(super) fn new(state: StateId, part: u8, kind: Kind) -> Self {
        Self {
            state,
            part,
            kind,
            order: Order::Relaxed,
            is_update: false,
            is_cell: false,
            is_addition: false,
            is_fault: false,
            is_refused: false,
            place: Place::NOWHERE,
            stamp: 0,
            value: 0,
            source: Ev::NONE,
            base: Ev::NONE,
            waits_since: 0,
            revisited: Ev::NONE,
            previous_here: 0,
            previous_at_object: 0,
            known: Row::default(),
            past: Row::default(),
            fence: Row::default(),
            pending: Row::default(),
            message: Row::default(),
            released: 0,
            head: Row::default(),
        }
    }

    /// Does the thread wait at this read for another write?
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.base != Ev::NONE && self.source == Ev::NONE
    }

    /// The write that a read reads from, or waits at.
    #[inline]
    pub(super) fn reads_from(&self) -> Ev {
        match self.waits() {
            true => self.base,
            false => self.source,
        }
    }

    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.order == Order::Plain
    }
}
