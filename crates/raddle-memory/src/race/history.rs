//! Who touched a location, and what an acquiring read of it learns.

use super::clock::Clock;
use raddle_program::ThreadId;
use smallvec::SmallVec;

/// How an access takes part in races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) writes: bool,
    pub(super) atomic: bool,
    /// Inside an atomic block.
    pub(super) in_block: bool,
}

impl Class {
    /// Do two accesses of these classes race if nothing orders them?
    pub(super) fn races(self, other: Self) -> bool {
        (self.writes || other.writes)
            && !(self.atomic && other.atomic)
            && !(self.in_block && other.in_block)
    }
}

/// The last access of one class by one thread. Earlier ones need not be kept: whatever is ordered after the last one is
/// ordered after them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) thread: ThreadId,
    pub(super) class: Class,
    /// Which step of its thread, from 1.
    pub(super) time: u32,
    /// Index in the execution.
    pub(super) step: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) slots: SmallVec<[Slot; 4]>,
}

impl History {
    /// Replaces the slot of the same thread and class; its place and what was there.
    pub(super) fn record(&mut self, slot: Slot) -> (u32, Option<Slot>) {
        let same = |old: &Slot| old.thread == slot.thread && old.class == slot.class;
        match self.slots.iter().position(same) {
            Some(index) => {
                let old = std::mem::replace(&mut self.slots[index], slot);
                (index as u32, Some(old))
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() as u32 - 1, None)
            }
        }
    }

    /// Takes a [`Self::record`] back; only the last one.
    pub(super) fn restore(&mut self, index: u32, old: Option<Slot>) {
        match old {
            Some(old) => self.slots[index as usize] = old,
            None => {
                self.slots.pop();
            }
        }
    }

    /// The latest access that races with one of this class, where `time_of` says how far each other thread is known.
    pub(super) fn racing(
        &self,
        thread: ThreadId,
        class: Class,
        known: &Clock,
    ) -> impl Iterator<Item = &Slot> {
        let known = known.clone();
        self.slots.iter().filter(move |slot| {
            slot.thread != thread && slot.class.races(class) && slot.time > known.get(slot.thread)
        })
    }
}

/// The last write through one location.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    /// One more than its step; 0: none yet.
    pub(super) stamp: u32,
    /// What an acquiring read of it learns: what its release sequences publish.
    pub(super) clock: Clock,
    /// The atomic block it is in, which publishes to reads in other blocks.
    pub(super) block: Option<u32>,
}

/// What a synchronisation object hands from releases to acquires.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Published by unlocks (of writers, for a read-write lock), posts, signals, arrivals of the present generation, ends.
    pub(super) released: Clock,
    /// Published by readers' unlocks: only writers acquire it.
    pub(super) readers: Clock,
    /// Who holds a read-write lock for writing.
    pub(super) writer: Option<ThreadId>,
    /// What the arrivals of each past generation of a barrier published.
    pub(super) generations: Vec<Clock>,
}
