//! New-source detection: lines 4-11 of algorithm 1, and what section 7 adds for read-modify-writes and locks.
//!
//! Events that are not complex have alternatives by one cell only, their primary one. How an event's operation may be
//! replaced is said by its [`Branching`]:
//! - `Reads`: the operation never waits. Its alternatives read the cell from another event: directly from one that is not
//!   causally after it, or from one that comes after it now only because it updates the same cell (the two are swapped).
//! - `Successor`: the operation could have had to wait, so that in another execution it may never be done. What is certain is
//!   that somebody updates the cell after the same update: the alternatives are the other candidates.

use super::Search;
use super::event::{
    Branching, Cell, EXTRA, Event, NO_EVENT, Pos, Read, is_life, is_mixed, may_wait, sync_of,
};
use super::simulate::{Plan, Start};
use crate::listener::Listener;
use raddle_memory::Readiness;
use raddle_memory::consistency::CellId;
use raddle_program::{Op, Program, ThreadId};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Reads as an event of the trace did, but for one cell.
pub(super) struct Follow {
    reads: SmallVec<[Read; 2]>,
    choice: u32,
    extra: Option<Event>,
}

impl Follow {
    pub(super) fn new(reads: &[Read], cell: Cell, source: Pos, extra: Option<Event>) -> Self {
        let mut reads: SmallVec<[Read; 2]> = reads.into();
        reads.retain(|read| read.cell != cell);
        reads.push(Read { cell, source });
        Self {
            reads,
            choice: 0,
            extra,
        }
    }
}

impl Plan for Follow {
    fn source(&mut self, _: &mut Search, _: &Program, cell: Cell) -> Option<Pos> {
        let read = self.reads.iter().find(|read| read.cell == cell);
        read.map(|read| read.source)
    }

    fn choose(&mut self, _: u32) -> u32 {
        self.choice
    }

    fn extra(&self) -> Option<&Event> {
        self.extra.as_ref()
    }
}

/// Something that a thread could do instead of an event: an event of the trace, or what it waits to do at the end.
pub(super) struct Rival {
    pub(super) start: Start,
    pub(super) reads: SmallVec<[Read; 2]>,
    pub(super) cell: Cell,
    pub(super) may_wait: bool,
}

impl Search {
    /// Finds all alternatives that the new events give rise to.
    pub(super) fn detect(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        for pos in self.first_new..self.trace.len() {
            if self.is_open(pos) && !self.awaits.is_outdated() {
                self.other_sources(program, pos);
            }
        }
        for position in 0..self.renewed.len() {
            self.news(program, self.renewed[position]);
        }
        for pos in self.first_new..self.trace.len() {
            self.news(program, pos);
        }
        for index in 0..self.machine.thread_count() {
            self.rivals_that_wait(program, ThreadId::from_index(index));
        }
        // What operations do that read from elsewhere is computed on the way, and may have made a chained location one of several cells.
        if self.awaits.is_outdated() {
            return ControlFlow::Continue(());
        }
        self.detect_complex(program, listener)?;
        self.refuse_complex(program);
        if !self.awaits.is_outdated() {
            self.detect_stuck(program);
        }
        ControlFlow::Continue(())
    }

    /// What a new event offers to older ones.
    fn news(&mut self, program: &mut Program, pos: Pos) {
        if self.awaits.is_outdated() {
            return;
        }
        self.offer(program, pos);
        self.rival_of_sources(program, pos);
    }

    /// May the event read several cells from different events, so that no single one decides?
    #[inline]
    pub(super) fn is_complex(&self, program: &Program, pos: Pos) -> bool {
        self.trace.event(pos).wide && self.is_wide_complex(program, pos)
    }

    fn is_wide_complex(&self, program: &Program, pos: Pos) -> bool {
        let event = self.trace.event(pos);
        event.is_block
            || event.reads.iter().any(|read| {
                let tables = program.tables();
                is_mixed(tables, read.cell)
                    || match read.cell {
                        Cell::Loc(loc) if is_life(tables, read.cell) => {
                            !event.writes(read.cell) && self.trace.is_freed(loc, Some(pos))
                        }
                        // The mutex of a wait on a condition variable.
                        Cell::Loc(loc) if tables.loc_info(loc).is_sync() => {
                            Some(read.cell) != event.primary && self.trace.is_intruded(loc, pos)
                        }
                        _ => false,
                    }
            })
    }

    /// Line 5 for a new read: every write that it could read from.
    fn other_sources(&mut self, program: &mut Program, pos: Pos) {
        let event = self.trace.event(pos);
        let op = *program.op(event.state);
        if let Op::Choice { count, .. } = op {
            return self.other_choices(program, pos, count);
        }
        let is_reading = matches!(event.branching, Branching::Reads | Branching::Chained);
        if !is_reading || self.is_complex(program, pos) {
            return;
        }
        let Some(cell) = event.primary else {
            return;
        };
        let source = event.source(cell);
        let id = self.trace.cells.one(program.tables(), cell);
        for write in self.readable(id, pos) {
            if Some(write) != source {
                self.read_from(program, pos, cell, write);
            }
        }
    }

    /// The writes of a cell that pass MAYREAD for a new event: those that it had to choose from when it was done, and later ones
    /// that are not causally after it. (Later ones cannot have been overwritten before it.)
    fn readable(&self, cell: CellId, pos: Pos) -> SmallVec<[Pos; 16]> {
        let mut found: SmallVec<[Pos; 16]> = SmallVec::new();
        found.extend_from_slice(&self.nodes[pos as usize].sources);
        if self.trace.event(pos).branching == Branching::Chained {
            return found;
        }
        for (_, writes) in self.trace.graph.writers(cell) {
            // What a thread writes after a write that is causally after the event is so, too.
            let first = writes.partition_point(|&write| write <= pos);
            let later = &writes[first..];
            let end = later.partition_point(|&write| !self.trace.before(pos, write));
            found.extend(later[..end].iter().rev().copied());
        }
        found
    }

    /// Line 5 for a new write: every older read that could read from it.
    fn offer(&mut self, program: &mut Program, write: Pos) {
        for id in self.trace.written_cells(program.tables(), write) {
            let mut readers: SmallVec<[Pos; 16]> = SmallVec::new();
            self.trace.for_reads(id, self.first_new, |read| {
                if read == write {
                    return true;
                }
                let after = self.trace.before(read, write);
                if !after {
                    readers.push(read);
                }
                !after
            });
            for read in readers {
                let event = self.trace.event(read);
                if let Some(cell) = event.primary
                    && event.source(cell) != Some(write)
                    && !self.is_complex(program, read)
                {
                    self.read_from(program, read, cell, write);
                }
            }
        }
    }

    /// Lines 7-11: lets the event at `pos` read `cell` from `write`.
    fn read_from(&mut self, program: &mut Program, pos: Pos, cell: Cell, write: Pos) {
        let event = self.trace.event(pos);
        let Some(old) = event.source(cell) else {
            return;
        };
        let fingerprint = event
            .fingerprint
            .wrapping_sub(self.trace.read_print(cell, old))
            .wrapping_add(self.trace.read_print(cell, write));
        if self.is_known(pos, fingerprint) {
            return;
        }
        let start = Start::of(event);
        let mut plan = Follow::new(&event.reads, cell, write, None);
        if let Some(first) = self.simulate(program, start, &mut plan) {
            debug_assert_eq!(first.fingerprint, fingerprint);
            self.propose(pos, first, None);
        }
    }

    fn other_choices(&mut self, program: &mut Program, pos: Pos, count: u32) {
        for choice in 0..count {
            let start = Start::of(self.trace.event(pos));
            let mut plan = Follow {
                reads: SmallVec::new(),
                choice,
                extra: None,
            };
            if let Some(first) = self.simulate(program, start, &mut plan) {
                self.propose(pos, first, None);
            }
        }
    }

    /// Section 7, read-modify-writes and locks: could an event that reads from an update have come before that update?
    fn rival_of_sources(&mut self, program: &mut Program, pos: Pos) {
        let event = self.trace.event(pos);
        let op = program.op(event.state);
        // A load updates nothing, whatever it reads.
        if matches!(op, Op::Load { .. }) {
            return;
        }
        let Some(cell) = event.primary else {
            return;
        };
        let Some(source) = event.source(cell) else {
            return;
        };
        let is_chained = matches!(cell, Cell::Loc(loc) if self.trace.is_chained(loc));
        let may_wait = sync_of(op).is_some() && may_wait(op);
        let is_hopeless = source == NO_EVENT || (!may_wait && !self.is_open(source));
        if (is_hopeless && !is_chained) || self.is_complex(program, pos) {
            return;
        }
        let rival = Rival {
            start: Start::of(event),
            reads: event.reads.clone(),
            cell,
            may_wait,
        };
        if is_chained {
            self.offer_update(program, &rival, source);
        } else {
            self.replace_updates(program, &rival, source);
        }
    }

    /// Section 7, threads blocked at the end: could a thread that waits have come before an update that makes it wait?
    fn rivals_that_wait(&mut self, program: &mut Program, thread: ThreadId) {
        if self.awaits.is_outdated()
            || self.machine.readiness(program, thread) != Readiness::Waiting
        {
            return;
        }
        let Some(state) = self.machine.thread_state(thread) else {
            return;
        };
        let Some((loc, _)) = sync_of(program.op(state)) else {
            return;
        };
        if self.machine.is_in_block(thread) {
            return;
        }
        let Some(rival) = self.rival_at_end(program, thread, loc) else {
            return;
        };
        let id = self.trace.cells.one(program.tables(), rival.cell);
        let source = self.trace.graph.last_writer(id);
        if self.trace.is_chained(loc) {
            return self.offer_update(program, &rival, source);
        }
        self.replace_updates(program, &rival, source);
    }

    /// Where the next event of a thread begins.
    pub(super) fn start_at(
        &self,
        thread: ThreadId,
        state: raddle_program::StateId,
        parent: Pos,
    ) -> Start {
        let last = self.trace.last_of(thread);
        Start {
            thread,
            index: last.map_or(1, |last| self.trace.event(last).index + 1),
            state,
            parent,
            inside: last.is_some_and(|last| self.trace.event(last).ends_inside),
        }
    }

    /// Tries a rival in place of the update that it reads from and, if it may have to wait, of those before it.
    fn replace_updates(&mut self, program: &mut Program, rival: &Rival, source: Pos) {
        let mut update = source;
        while update != NO_EVENT {
            let parent = rival.start.parent;
            if parent != NO_EVENT && self.trace.before(update, parent) {
                return;
            }
            if self.is_open(update) && self.can_replace(program, rival, update) {
                self.replace(program, rival, update);
            }
            if !rival.may_wait {
                return;
            }
            update = self
                .trace
                .event(update)
                .source(rival.cell)
                .unwrap_or(NO_EVENT);
        }
    }

    pub(super) fn can_replace(&self, program: &Program, rival: &Rival, update: Pos) -> bool {
        let event = self.trace.event(update);
        let is_after = |read: &Read| {
            read.cell != rival.cell
                && read.source != NO_EVENT
                && self.trace.before(update, read.source)
        };
        event.primary == Some(rival.cell)
            && !self.is_complex(program, update)
            && !rival.reads.iter().any(is_after)
    }

    /// Lets a rival read from where an update read from; an update that never waits then reads from the rival.
    pub(super) fn replace(&mut self, program: &mut Program, rival: &Rival, update: Pos) {
        let event = self.trace.event(update);
        let Some(source) = event.source(rival.cell) else {
            return;
        };
        let (start, reads) = (Start::of(event), event.reads.clone());
        let mut plan = Follow::new(&rival.reads, rival.cell, source, None);
        let Some(first) = self.simulate(program, rival.start, &mut plan) else {
            return;
        };
        if !first.writes(rival.cell) {
            return;
        }
        if let Some(replaced) = self.nodes[update as usize].update {
            debug_assert_eq!(replaced, (rival.cell, source));
            return self.propose(update, first, None);
        }
        let mut plan = Follow::new(&reads, rival.cell, EXTRA, Some(first));
        if let Some(second) = self.simulate(program, start, &mut plan) {
            self.propose(update, second, plan.extra);
        }
    }
}
