//! Fetch-and-adds whose results nobody uses, at locations that are not looked at meanwhile: their order makes no difference.
//!
//! Such an addition is one event: it reads nothing and stands behind all writes that are there. What the location holds is found out by whoever
//! reads it. All other accesses of the location happen before the addition, or after it: that is looked at with each event, as for data
//! races, and if it is not so the search begins anew and tells the additions of this location apart (docs/engines/graph.md, additions).

use super::event::{Ev, Event, Kind, Place};
use super::store::{Cursor, Graph, Halt};
use super::{Search, Step};
use crate::frame::Frame;
use raddle_memory::MemoryModel;
use raddle_program::tables::NO_SLOT;
use raddle_program::{LocId, Op, Order, Program, RmwKind, StateId, Value};
use std::ops::ControlFlow;

impl Search {
    /// Does the operation of a state only add something to its location, in whatever order with other additions?
    fn is_addition(&self, program: &Program, state: StateId, place: Place) -> bool {
        let Op::Rmw {
            loc,
            kind: RmwKind::Add | RmwKind::Sub,
            operand,
            order,
        } = *program.op(state)
        else {
            return false;
        };
        let orders = match self.judge.memory {
            MemoryModel::Sc => true,
            // It learns nothing, and is in no order of all sequentially consistent events.
            MemoryModel::C11 => !order.acquires(),
            MemoryModel::Tso | MemoryModel::Pso => false,
        };
        let info = program.tables().loc_info(loc);
        // It depends on what nobody has written.
        let is_unwritten = info.life != NO_SLOT && self.graph.writes(place).is_empty();
        self.rules.reductions.ifaa
            && orders
            && operand != 0
            && program.ignores_result(state)
            && !info.mixed
            && !is_unwritten
            && !program.tells_additions_apart(loc)
    }

    /// Adds the next event of a thread, which accesses this place, if it is an addition.
    pub(super) fn extend_with_addition(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        place: Place,
    ) -> ControlFlow<(), Option<Step>> {
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        if part > 0 || !self.is_addition(program, state, place) {
            self.meet_additions(program, thread, place)?;
            return ControlFlow::Continue(None);
        }
        self.meet_others(program, thread, place)?;
        self.has_commuted = true;
        let index = self.graph.threads[thread].events.len();
        let mut event = Event::new(state, 0, Kind::Write);
        self.graph.inherit(&mut event, thread, index);
        event.place = place;
        event.is_addition = true;
        event.order = match *program.op(state) {
            Op::Rmw { order, .. } => order,
            _ => Order::Relaxed,
        };
        let cursor = Cursor {
            state: program.after(state, 0),
            part: 0,
            halt: Halt::No,
        };
        let position = self.graph.writes(place).len() + 1;
        let write = self.graph.add(program, thread, event, position, cursor);
        self.look_at_write(program, frame, write)?;
        ControlFlow::Continue(Some(Step::Done))
    }

    /// An access that is no addition: all additions must be known to its thread.
    pub(super) fn meet_additions(
        &self,
        program: &mut Program,
        thread: usize,
        place: Place,
    ) -> ControlFlow<()> {
        match self.graph.has_additions(place) {
            true => self.meet(program, thread, place, |event| event.is_addition),
            false => ControlFlow::Continue(()),
        }
    }

    /// An addition: all other accesses must be known to its thread.
    fn meet_others(&self, program: &mut Program, thread: usize, place: Place) -> ControlFlow<()> {
        self.meet(program, thread, place, |event| !event.is_addition)
    }

    fn meet(
        &self,
        program: &mut Program,
        thread: usize,
        place: Place,
        counts: impl Fn(&Event) -> bool,
    ) -> ControlFlow<()> {
        let known = self.graph.known(thread);
        let others = (0..self.graph.threads.len()).filter(|&other| other != thread);
        for other in others {
            let mut at = self.graph.last_here(place, other);
            while let Some(event) = at {
                if self.graph.is_known(event, known) {
                    break;
                }
                if counts(self.graph.event(event)) {
                    if let Some(loc) = place.loc() {
                        program.tell_additions_apart(loc);
                    }
                    return ControlFlow::Break(());
                }
                at = self.graph.before_here(event);
            }
        }
        ControlFlow::Continue(())
    }

    /// A location turns out to share bytes with others: what additions left there is told by its own accesses only.
    pub(super) fn meet_other_sizes(&self, program: &mut Program, loc: LocId) -> ControlFlow<()> {
        let overlaps = program.tables().overlaps(loc).iter().copied();
        let mut all = std::iter::once(loc).chain(overlaps);
        let found = all.find(|&loc| self.graph.has_additions(Place::of(loc)));
        match found {
            Some(loc) => {
                program.tell_additions_apart(loc);
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// A fence can make a thread learn from what its additions found, and puts events before and behind it into one order. All additions are told apart in a
    /// program with such fences.
    pub(super) fn meet_fence(&self, program: &mut Program, order: Order) -> ControlFlow<()> {
        if self.judge.memory != MemoryModel::C11 || !order.acquires() {
            return ControlFlow::Continue(());
        }
        let is_new = program.tell_all_additions_apart();
        if is_new && self.has_commuted {
            return ControlFlow::Break(());
        }
        program.learn_additions();
        ControlFlow::Continue(())
    }
}

impl Graph {
    /// What a location holds after an addition.
    #[cold]
    pub(super) fn sum(&self, program: &Program, place: Place, addition: Ev) -> Value {
        let mut position = self.position(place, addition);
        let end = position;
        while position > 0 && self.event(self.write_at(place, position)).is_addition {
            position -= 1;
        }
        let base = self.value_from(program, place, self.write_at(place, position));
        let additions = &self.writes(place)[position..end];
        additions.iter().fold(base, |value, &addition| {
            match *program.op(self.event(addition).state) {
                Op::Rmw {
                    loc, kind, operand, ..
                } => kind.apply(value, operand, program.tables().loc_info(loc).size),
                _ => value,
            }
        })
    }
}
