//! Writes: their places in the modification order.

use super::event::{Ev, Event, Kind, Place};
use super::ops::{self, Found, Part};
use super::reads::action_of;
use super::store::{Cursor, Halt};
use super::{Alternative, Search, Step};
use crate::frame::Frame;
use crate::purity::is_private_store;
use raddle_program::{Order, Program, StateId};
use std::ops::ControlFlow;

/// A write that could be added.
pub(super) struct Writing {
    pub(super) event: Event,
    pub(super) cursor: Cursor,
}

impl Search {
    /// Puts the places that the next event of a thread, a write, can have into the pool, and the reads that it can revisit. `source`: what the update
    /// read from that it is part of.
    pub(super) fn offer_places(
        &mut self,
        program: &mut Program,
        thread: usize,
        place: Place,
        source: Option<Ev>,
    ) {
        // What is explored first comes last.
        self.offer_revisits(program, thread, place, source);
        let last = self.graph.writes(place).len();
        match source {
            Some(source) => {
                let position = self.graph.position(place, source);
                if !self.is_updated(place, position) {
                    self.pool.push(Alternative::Place(source));
                }
            }
            None => {
                let now = Ev::new(thread, self.graph.threads[thread].events.len());
                let floor = self.graph.floor(place, now, self.graph.known(thread));
                for position in floor..=last {
                    if !self.is_updated(place, position) {
                        let after = self.graph.write_at(place, position);
                        self.pool.push(Alternative::Place(after));
                    }
                }
            }
        }
    }

    /// Does an update stand right behind the write at this position, so that nothing can come between them?
    pub(super) fn is_updated(&self, place: Place, position: usize) -> bool {
        let next = self.graph.writes(place).get(position);
        next.is_some_and(|&next| {
            let event = self.graph.event(next);
            event.is_update && event.place == place
        })
    }

    /// The event that the next write of a thread is.
    pub(super) fn writing(&mut self, program: &mut Program, thread: usize) -> Writing {
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        let index = self.graph.threads[thread].events.len();
        let op = *program.op(state);
        let mut event = Event::new(state, part, Kind::Write);
        self.graph.inherit(&mut event, thread, index);
        let mut cursor = Cursor {
            state,
            part: 0,
            halt: Halt::No,
        };
        match ops::part(program, state, part) {
            Part::Store {
                place,
                value,
                order,
            } => {
                event.place = place;
                event.value = value;
                event.order = self.strengthened(program, place, order);
                self.graph.publish(program, &mut event, thread, index, None);
                cursor = match is_private_store(program, state) {
                    true => self.after_pure(program, thread, index, state, 0),
                    false => Cursor {
                        state: program.after(state, 0),
                        ..cursor
                    },
                };
            }
            Part::Update { place, is_cell } => {
                let read = *self.graph.event(Ev::new(thread, index - 1));
                let at = (state, part - 1);
                let this = Ev::new(thread, index - 1);
                let (_, found) = self.found(program, this, at, place, read.source);
                let Found::Writes { value, ends } = found else {
                    unreachable!("an update writes")
                };
                event.place = place;
                event.value = value;
                event.is_update = true;
                event.is_cell = is_cell;
                event.order = read.order;
                match action_of(&op, part) {
                    Some(action) => {
                        let returns = ends.unwrap_or(0);
                        let this = (thread, index);
                        self.graph
                            .publish_to_cell(&mut event, this, read.source, action, returns);
                    }
                    None => {
                        let source = Some(read.source);
                        self.graph
                            .publish(program, &mut event, thread, index, source);
                    }
                }
                match ends {
                    Some(returns) => {
                        cursor =
                            self.after_update(program, thread, state, returns, value == read.value)
                    }
                    None => cursor.part = part + 1,
                }
            }
            Part::Read { .. } | Part::Other => unreachable!("only writes write"),
        }
        Writing { event, cursor }
    }

    /// Where the thread is after an update; one that leaves the value as it was may end an iteration that came to nothing.
    fn after_update(
        &mut self,
        program: &mut Program,
        thread: usize,
        state: StateId,
        returns: u64,
        is_pure: bool,
    ) -> Cursor {
        if is_pure && !matches!(program.op(state), raddle_program::Op::Sync { .. }) {
            let index = self.graph.threads[thread].events.len() - 1;
            return self.after_pure(program, thread, index, state, returns);
        }
        Cursor {
            state: program.after(state, returns),
            part: 0,
            halt: Halt::No,
        }
    }

    /// A write right behind another one.
    pub(super) fn write(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        after: Ev,
    ) -> ControlFlow<(), Step> {
        let Writing { event, cursor } = self.writing(program, thread);
        let position = self.graph.position(event.place, after) + 1;
        let is_last = position > self.graph.writes(event.place).len();
        let write = self.graph.add(program, thread, event, position, cursor);
        if !is_last && !self.judge.accepts(program, &self.graph, &[write]) {
            return ControlFlow::Continue(Step::Dropped);
        }
        self.look_at_write(program, frame, write)?;
        ControlFlow::Continue(Step::Done)
    }

    pub(super) fn look_at_write(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        write: Ev,
    ) -> ControlFlow<()> {
        debug_assert!({
            let event = self.graph.event(write);
            event.order != Order::Acquire || event.is_update || event.is_addition
        });
        self.find_races(program, frame, write)?;
        if !self.graph.event(write).is_update {
            self.meet_lock_by_store(program, write)?;
        }
        self.leave_out_round(program, write)?;
        self.arrived(program, frame, write.of())
    }
}
