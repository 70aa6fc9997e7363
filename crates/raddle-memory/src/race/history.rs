//! Who touched a location, and what an acquiring read of it learns.

use super::clock::Clock;
use raddle_program::ThreadId;
use smallvec::SmallVec;
use std::num::NonZeroU32;

/// How an access takes part in races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

const WRITES: u8 = 1;
const ATOMIC: u8 = 2;
const IN_BLOCK: u8 = 4;

impl Class {
    #[inline]
    pub(super) fn new(writes: bool, atomic: bool, in_block: bool) -> Self {
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        Self(bit(writes, WRITES) | bit(atomic, ATOMIC) | bit(in_block, IN_BLOCK))
    }

    fn writes(self) -> bool {
        self.0 & WRITES != 0
    }

    fn is_atomic(self) -> bool {
        self.0 & ATOMIC != 0
    }

    /// Do two accesses of these classes race if nothing orders them?
    #[inline]
    fn races(self, other: Self) -> bool {
        (self.0 | other.0) & WRITES != 0 && self.0 & other.0 & (ATOMIC | IN_BLOCK) == 0
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
    slots: SmallVec<[Slot; 4]>,
    /// How many slots are of plain accesses, and how many of writes: most accesses need not look at the slots.
    plain: u32,
    writes: u32,
}

impl History {
    /// Replaces the slot of the same thread and class; its place and what was there.
    #[inline]
    pub(super) fn record(&mut self, slot: Slot) -> (u32, Option<Slot>) {
        let same = |old: &Slot| old.thread == slot.thread && old.class == slot.class;
        match self.slots.iter().position(same) {
            Some(index) => {
                let old = std::mem::replace(&mut self.slots[index], slot);
                (index as u32, Some(old))
            }
            None => {
                self.plain += u32::from(!slot.class.is_atomic());
                self.writes += u32::from(slot.class.writes());
                self.slots.push(slot);
                (self.slots.len() as u32 - 1, None)
            }
        }
    }

    /// Takes a [`Self::record`] back; only the last one.
    #[inline]
    pub(super) fn restore(&mut self, index: u32, old: Option<Slot>) {
        match old {
            Some(old) => self.slots[index as usize] = old,
            None => {
                if let Some(slot) = self.slots.pop() {
                    self.plain -= u32::from(!slot.class.is_atomic());
                    self.writes -= u32::from(slot.class.writes());
                }
            }
        }
    }

    /// The step of the latest access that races with one of this class by `thread`, which knows each thread up to `known`.
    #[inline]
    pub(super) fn racing(&self, thread: ThreadId, class: Class, known: &[u32]) -> Option<u32> {
        if class.is_atomic() && self.plain == 0 || !class.writes() && self.writes == 0 {
            return None;
        }
        let races = |slot: &&Slot| {
            slot.thread != thread
                && slot.class.races(class)
                && slot.time > known[slot.thread.index()]
        };
        self.slots.iter().filter(races).map(|slot| slot.step).max()
    }
}

/// The last write through one location.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message {
    /// One more than its step; 0: none yet.
    pub(super) stamp: u32,
    /// What an acquiring read of it learns: what its release sequences publish.
    pub(super) clock: Clock,
    /// Who publishes that, if writes of the same thread continue release sequences: the last of [`Head`].
    pub(super) heads: Option<NonZeroU32>,
    /// The atomic block it is in, which publishes to reads in other blocks.
    pub(super) block: Option<u32>,
}

/// A write that begins a release sequence, and what it publishes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) thread: ThreadId,
    pub(super) clock: Clock,
    /// Another one whose sequence reaches as far: one more than its position.
    pub(super) below: Option<NonZeroU32>,
}
