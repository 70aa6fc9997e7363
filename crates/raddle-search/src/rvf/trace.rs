//! The trace of a node: its events in the problem, in the tables of the search, and in the machine.

use super::contest::{self, Access, Contest, Name};
use super::event::{Event, NO_EVENT, Part};
use super::{NOWHERE, Place, Search};
use crate::listener::Listener;
use crate::rf::event::Cell;
use raddle_memory::Readiness;
use raddle_memory::goodwrites::{EventId, NewEvent};
use raddle_program::op::mask;
use raddle_program::{Op, Program};
use smallvec::SmallVec;
use std::ops::ControlFlow;

impl Search {
    /// Adds an event to the problem.
    pub(super) fn push_to_problem(&mut self, program: &Program, event: &Event) -> bool {
        let (mut reads, mut writes) = (
            std::mem::take(&mut self.reads),
            std::mem::take(&mut self.writes),
        );
        reads.clear();
        writes.clear();
        for read in &event.reads {
            for (id, _) in self.ids(program.tables(), read.part) {
                reads.push((id, read.good.clone()));
            }
        }
        for write in &event.writes {
            let ids = self.ids(program.tables(), write.part);
            let end = write.part.first + write.part.count;
            let ends = ids.iter().skip(1).map(|next| next.1);
            for (&(id, byte), end) in ids.iter().zip(ends.chain(std::iter::once(end))) {
                let bytes = write.value >> (8 * u32::from(byte - write.part.first));
                writes.push((id, bytes & mask(end - byte)));
            }
        }
        let consistent = self.problem.push(NewEvent {
            thread: event.thread.index(),
            after: event.parent,
            reads: &reads,
            writes: &writes,
            is_end: false,
        });
        (self.reads, self.writes) = (reads, writes);
        consistent
    }

    /// Takes over an event that was added to the problem.
    pub(super) fn note_event(&mut self, program: &Program, event: Event) {
        let id = self.events.len() as EventId;
        let place = &mut self.threads[event.thread.index()];
        place.state = event.after;
        place.inside = event.ends_inside;
        place.is_stopped = event.faulted || event.ends_thread;
        for &(child, start) in &event.spawned {
            if let Some(company) = &mut self.company {
                company.meet(child);
            }
            if self.threads.len() <= child.index() {
                self.threads.resize(child.index() + 1, NOWHERE);
            }
            self.threads[child.index()] = Place {
                state: start,
                is_started: true,
                spawned_by: id,
                ..NOWHERE
            };
        }
        self.note_causes(program, &event);
        for position in 0..event.writes.len() {
            for (cell, _) in self.ids(program.tables(), event.writes[position].part) {
                self.signal_write(cell, event.thread, id);
            }
        }
        self.events.push(event);
        if self.options.races && !self.by_source && program.has_plain_accesses() {
            self.look_for_contest(program);
        }
    }

    pub(super) fn forget_event(&mut self) {
        if let Some(event) = self.events.pop() {
            for &(child, _) in &event.spawned {
                self.threads[child.index()] = NOWHERE;
            }
            let place = &mut self.threads[event.thread.index()];
            place.state = event.state;
            place.inside = event.began_inside;
            place.is_stopped = false;
        }
    }

    fn look_for_contest(&mut self, program: &Program) {
        while self.contest.len() < self.events.len() {
            let id = self.contest.len();
            let mut accesses = std::mem::take(&mut self.accesses);
            accesses.clear();
            let event = &self.events[id];
            let op = program.op(event.state);
            let (name, is_block) = (Name::of(event), event.is_block);
            let is_plain = contest::is_plain(op, is_block);
            let reads = event.reads.iter().map(|read| (read.part, false));
            let writes = event.writes.iter().map(|write| (write.part, true));
            let touched: SmallVec<[(Part, bool); 4]> = reads.chain(writes).collect();
            for (part, writes) in touched {
                let is_memory = matches!(part.cell, Cell::Loc(_));
                for (cell, _) in self.ids(program.tables(), part) {
                    accesses.push(Access {
                        cell,
                        writes,
                        is_plain: is_plain && is_memory,
                        in_block: is_block,
                    });
                }
            }
            let joined = match *op {
                Op::Join { thread } => self.problem.thread(thread.index()).last().copied(),
                _ => None,
            };
            self.is_contested |= self
                .contest
                .push(name, joined.unwrap_or(NO_EVENT), &accesses);
            self.accesses = accesses;
        }
    }

    /// Builds everything anew that depends on which bytes are cells of their own.
    pub(super) fn rebuild(&mut self, program: &Program) {
        self.was_rebuilt = true;
        let order = self.problem.order().to_vec();
        self.problem = self.new_problem();
        self.contest = Contest::default();
        let mut marks = Vec::with_capacity(self.events.len() + 1);
        let events = std::mem::take(&mut self.events);
        for event in &events {
            marks.push(self.problem.mark());
            let consistent = self.push_to_problem(program, event);
            debug_assert!(consistent, "finer cells make no contradiction");
        }
        marks.push(self.problem.mark());
        self.events = events;
        for event in order {
            self.problem.emit(event);
        }
        for place in 0..self.nodes.len() {
            let node = &mut self.nodes[place];
            node.mark = marks[node.mark.events()];
        }
        self.watch_again(program);
    }

    /// Has the machine run the trace.
    pub(super) fn sync(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        if let Some(&mark) = self.marks.get(self.synced) {
            self.machine.undo_to(mark);
            self.marks.truncate(self.synced);
            listener.undone(mark.steps());
        }
        while self.synced < self.problem.order().len() {
            let id = self.problem.order()[self.synced];
            self.marks.push(self.machine.mark());
            self.synced += 1;
            let event = &self.events[id as usize];
            let thread = event.thread;
            debug_assert_eq!(
                self.machine.readiness(program, thread),
                Readiness::Ready,
                "{event:?}"
            );
            let end = self.machine.step(program, thread, &event.choices);
            listener.stepped(program, &mut self.machine, thread, end)?;
        }
        ControlFlow::Continue(())
    }
}
