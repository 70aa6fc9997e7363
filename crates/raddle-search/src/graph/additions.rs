//! Fetch-and-adds whose results nobody uses, at locations that are not looked at meanwhile: their order makes no difference.
//!
//! Such an addition is one event: it reads nothing and stands behind all writes that are there. What the location holds is found out by whoever
//! reads it. All other accesses of the location happen before the addition, or after it: that is looked at with each event, as for data
//! races, and if it is not so the search begins anew and tells the additions of this location apart (docs/engines/graph.md, additions).

use super::counts::Weighed;
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
    fn is_addition(&mut self, program: &mut Program, state: StateId, place: Place) -> bool {
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
            // It learns nothing. Under C11 it is in no order of all sequentially consistent events, either.
            MemoryModel::Sc => !self.minds_knowledge() || !order.acquires(),
            MemoryModel::C11 => !order.acquires(),
            MemoryModel::Tso | MemoryModel::Pso => false,
        };
        let info = *program.tables().loc_info(loc);
        // It depends on what nobody has written.
        let is_unwritten = info.life != NO_SLOT && self.graph.writes(place).is_empty();
        self.rules.reductions.ifaa
            && orders
            && operand != 0
            && !info.mixed
            && !is_unwritten
            && !program.tells_additions_apart(loc)
            && (program.ignores_result(state) || self.counts(program, state, place))
    }

    /// Does it make a difference what threads know of each other? Under sequential consistency only to races.
    fn minds_knowledge(&self) -> bool {
        self.judge.memory == MemoryModel::C11 || !self.plain_is_relaxed
    }

    /// Is the result of an addition used, but perhaps only to ask whether it was the last?
    fn counts(&mut self, program: &mut Program, state: StateId, place: Place) -> bool {
        self.judge.memory == MemoryModel::C11 && {
            let last = self.graph.last_write(place);
            let found = self.graph.value_from(program, place, last);
            self.may_count(program, state, found)
        }
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
        if self.meet_others(program, thread, place).is_break() {
            // Whoever has a part of this search must know.
            self.has_commuted = true;
            return ControlFlow::Break(());
        }
        match self.weigh(program, thread, place) {
            Weighed::Commute => {}
            Weighed::Alone => return ControlFlow::Continue(None),
            Weighed::Last(ends) => {
                let first = self.pool.len();
                self.offer_last(program, thread, place, &ends);
                let step = self.branch(program, frame, thread, first);
                return step.map_continue(Some);
            }
            Weighed::Apart => return Self::tell_apart(program, place),
        }
        let after = self.after_addition(program, thread, place);
        let write = self.add_addition(program, thread, place, after)?;
        self.look_at_write(program, frame, write)?;
        ControlFlow::Continue(Some(Step::Done))
    }

    fn tell_apart<T>(program: &mut Program, place: Place) -> ControlFlow<(), T> {
        if let Some(loc) = place.loc() {
            program.tell_additions_apart(loc);
        }
        ControlFlow::Break(())
    }

    /// Adds the next event of a thread, an addition behind all writes that are there.
    pub(super) fn add_addition(
        &mut self,
        program: &mut Program,
        thread: usize,
        place: Place,
        after: StateId,
    ) -> ControlFlow<(), Ev> {
        self.meet_fences(program, thread, place)?;
        self.has_commuted = true;
        let state = self.graph.threads[thread].cursor.state;
        let index = self.graph.threads[thread].events.len();
        let mut event = Event::new(state, 0, Kind::Write);
        self.graph.inherit(&mut event, thread, index);
        event.place = place;
        event.is_addition = true;
        event.order = match *program.op(state) {
            Op::Rmw { order, .. } => order,
            _ => Order::Relaxed,
        };
        self.graph.publish(program, &mut event, thread, index, None);
        let cursor = Cursor {
            state: after,
            part: 0,
            halt: Halt::No,
        };
        let position = self.graph.writes(place).len() + 1;
        let write = self.graph.add(program, thread, event, position, cursor);
        ControlFlow::Continue(write)
    }

    /// What comes behind a fence that acquires may depend on what an addition before it found, and so on an addition that comes later and is not known to it.
    fn meet_fences(&self, program: &mut Program, thread: usize, place: Place) -> ControlFlow<()> {
        if !self.minds_knowledge() {
            return ControlFlow::Continue(());
        }
        let known = self.graph.known(thread);
        for other in (0..self.graph.threads.len()).filter(|&other| other != thread) {
            let mut at = self.graph.last_here(place, other);
            while let Some(event) = at {
                if self.graph.is_known(event, known) {
                    break;
                }
                let later = &self.graph.threads[other].events[event.at()..];
                let acquires = |event: &Event| event.kind == Kind::Fence && event.order.acquires();
                if self.graph.event(event).is_addition && later.iter().any(acquires) {
                    return Self::tell_apart(program, place);
                }
                at = self.graph.before_here(event);
            }
        }
        ControlFlow::Continue(())
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
                    return Self::tell_apart(program, place);
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

    /// A fence that acquires makes its thread learn from what its additions found: from all that may have come before these. Under C11, one that is sequentially consistent
    /// also puts events before and behind it into one order; all additions are told apart in a program with such fences.
    pub(super) fn meet_fence(
        &mut self,
        program: &mut Program,
        thread: usize,
        order: Order,
    ) -> ControlFlow<()> {
        if !order.acquires() || !self.minds_knowledge() {
            return ControlFlow::Continue(());
        }
        if order != Order::SeqCst || self.judge.memory != MemoryModel::C11 {
            return self.meet_acquire_fence(program, thread);
        }
        let is_new = program.tell_all_additions_apart();
        if is_new && self.has_commuted {
            return ControlFlow::Break(());
        }
        program.learn_additions();
        ControlFlow::Continue(())
    }

    fn meet_acquire_fence(&mut self, program: &mut Program, thread: usize) -> ControlFlow<()> {
        let Some(&last) = self.graph.threads[thread].events.last() else {
            return ControlFlow::Continue(());
        };
        let known = self.graph.clocks.joined(last.known, last.pending);
        for index in 0..self.graph.threads[thread].events.len() {
            let own = self.graph.threads[thread].events[index];
            if !own.is_addition {
                continue;
            }
            for at in 0..self.graph.writes(own.place).len() {
                let other = self.graph.writes(own.place)[at];
                let event = *self.graph.event(other);
                if event.is_addition
                    && other.of() != thread
                    && !self.graph.is_known(other, known)
                    && self.graph.clocks.joined(known, event.message) != known
                {
                    return Self::tell_apart(program, own.place);
                }
            }
        }
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
            let op = program.op(self.event(addition).state);
            op.written(program.tables(), value).unwrap_or(value)
        })
    }
}
