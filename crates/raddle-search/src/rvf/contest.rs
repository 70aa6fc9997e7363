//! Could there be a data race? Then the order in which threads synchronise matters.
//!
//! Executions that differ only in who wrote the value that a read got may differ in what happens before what: one class may
//! hold an execution with a race and one without. But what program order, spawns and joins order is ordered in all of them.
//! As long as every two accesses that could race are ordered by these alone, no execution has a race. The first pair that is
//! not makes the search begin anew, and tell the sources of synchronising reads apart.

use super::clocks::Clocks;
use super::event::{Event, NO_EVENT};
use raddle_memory::consistency::CellId;
use raddle_memory::goodwrites::EventId;
use raddle_program::{Op, ThreadId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) cell: CellId,
    pub(super) writes: bool,
    pub(super) is_plain: bool,
    pub(super) in_block: bool,
}

/// What is to be known of an event, but for its accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    thread: ThreadId,
    index: u32,
    parent: EventId,
}

impl Name {
    pub(super) fn of(event: &Event) -> Self {
        Self {
            thread: event.thread,
            index: event.index,
            parent: event.parent,
        }
    }
}

/// The last access of a kind by a thread.
#[derive(Clone, Copy, Debug)]
struct Slot {
    thread: ThreadId,
    access: Access,
    index: u32,
}

/// What was there before an access was noted.
#[derive(Clone, Copy, Debug)]
struct Noted {
    cell: CellId,
    slot: u32,
    old: Option<Slot>,
}

/// Follows the events of a trace.
#[derive(Debug, Default)]
pub(super) struct Contest {
    /// By program order, spawns and joins.
    clocks: Clocks,
    cells: Vec<Vec<Slot>>,
    noted: Vec<Noted>,
    /// Length of `noted` before each event.
    marks: Vec<u32>,
}

impl Contest {
    /// How many events it knows.
    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    pub(super) fn truncate(&mut self, events: usize) {
        let Some(&mark) = self.marks.get(events) else {
            return;
        };
        for noted in self.noted.drain(mark as usize..).rev() {
            let slots = &mut self.cells[noted.cell as usize];
            match noted.old {
                Some(old) => slots[noted.slot as usize] = old,
                None => {
                    slots.pop();
                }
            }
        }
        self.marks.truncate(events);
        self.clocks.truncate(events);
    }

    /// Takes the next event of the trace. `joined` is the last event of a thread that it joined. True if one of its accesses
    /// could race with an earlier one.
    pub(super) fn push(&mut self, event: Name, joined: EventId, accesses: &[Access]) -> bool {
        let thread = event.thread;
        self.marks.push(self.noted.len() as u32);
        let id = self.clocks.push(thread.index());
        for before in [event.parent, joined] {
            if before != NO_EVENT {
                self.clocks.learn(id, before);
            }
        }
        self.clocks.set(id, thread.index(), event.index);
        let mut races = false;
        for access in accesses {
            races |= self.races(id, thread, access);
            self.note(Slot {
                thread,
                access: *access,
                index: event.index,
            });
        }
        races
    }

    fn races(&self, event: EventId, thread: ThreadId, access: &Access) -> bool {
        let clock = self.clocks.of(event);
        let slots = self.cells.get(access.cell as usize);
        slots.into_iter().flatten().any(|slot| {
            slot.thread != thread
                && (slot.access.writes || access.writes)
                && (slot.access.is_plain || access.is_plain)
                && !(slot.access.in_block && access.in_block)
                && clock
                    .get(slot.thread.index())
                    .is_none_or(|&known| slot.index > known)
        })
    }

    fn note(&mut self, new: Slot) {
        let cell = new.access.cell;
        if self.cells.len() <= cell as usize {
            self.cells.resize(cell as usize + 1, Vec::new());
        }
        let slots = &mut self.cells[cell as usize];
        let same = |slot: &Slot| slot.thread == new.thread && slot.access == new.access;
        let (slot, old) = match slots.iter().position(same) {
            Some(slot) => (slot, Some(std::mem::replace(&mut slots[slot], new))),
            None => {
                slots.push(new);
                (slots.len() - 1, None)
            }
        };
        self.noted.push(Noted {
            cell,
            slot: slot as u32,
            old,
        });
    }
}

/// Is the access to memory that an operation makes plain? What blocks do counts as plain.
pub(super) fn is_plain(op: &Op, is_block: bool) -> bool {
    is_block || op.is_plain()
}
