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
use raddle_program::{LocId, Op, Order, Program, RmwKind, StateId, Value};
use smallvec::SmallVec;
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
        let is_unwritten =
            program.tables().starts_unwritten(&info) && self.graph.writes(place).is_empty();
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
        self.look_at_block(program, place, write)?;
        ControlFlow::Continue(write)
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

    // ---- fences that acquire

    /// Under C11, a fence that is sequentially consistent puts events before and behind it into one order: all additions are told apart in a program with such
    /// fences.
    pub(super) fn meet_fence(&mut self, program: &mut Program, order: Order) -> ControlFlow<()> {
        if order != Order::SeqCst || self.judge.memory != MemoryModel::C11 {
            return ControlFlow::Continue(());
        }
        let is_new = program.tell_all_additions_apart();
        if is_new && self.has_commuted {
            return ControlFlow::Break(());
        }
        program.learn_additions();
        ControlFlow::Continue(())
    }

    /// Looks at the additions before a fence of their thread.
    pub(super) fn look_at_fence(&self, program: &mut Program, fence: Ev) -> ControlFlow<()> {
        if !self.has_commuted || !self.graph.event(fence).order.acquires() {
            return ControlFlow::Continue(());
        }
        let mut seen: Option<&[Ev]> = None;
        for (index, event) in self.graph.threads[fence.of()].events.iter().enumerate() {
            let own = Ev::new(fence.of(), index);
            if event.is_addition && !seen.is_some_and(|block| block.contains(&own)) {
                self.look_at_block(program, event.place, own)?;
                seen = Some(self.graph.block_of(event.place, own));
            }
        }
        ControlFlow::Continue(())
    }

    /// A fence that acquires makes its thread learn from what its additions found. Blocks have orders in which no fence learns anything by that, or the additions are
    /// told apart (docs/engines/graph.md, additions). `member` is one of a block that is new, or before a fence that is.
    fn look_at_block(&self, program: &mut Program, place: Place, member: Ev) -> ControlFlow<()> {
        if !self.minds_knowledge() {
            return ControlFlow::Continue(());
        }
        let mut deaf = Deaf::new();
        let block = self.graph.block_of(place, member);
        if !self.graph.find_deaf(block, &mut deaf) {
            return Self::tell_apart(program, place);
        }
        if deaf.is_empty() {
            return ControlFlow::Continue(());
        }
        if self.judge.memory != MemoryModel::C11 {
            return Self::tell_apart(program, place);
        }
        let others = self.graph.locations.iter();
        for location in others.filter(|location| location.has_additions()) {
            let is_addition = |write: &Ev| self.graph.event(*write).is_addition;
            for other in location
                .writes
                .chunk_by(|a, b| is_addition(a) && is_addition(b))
            {
                if is_addition(&other[0]) && other[0] != block[0] {
                    self.graph.find_deaf(other, &mut deaf);
                }
            }
        }
        for &(later, _) in &deaf {
            let Event { stamp, known, .. } = *self.graph.event(later);
            let is_bad = |&(fence, own): &(Ev, Ev)| {
                fence.thread != later.thread
                    && self.graph.event(fence).stamp < stamp
                    && !self.graph.is_known(own, known)
            };
            if deaf.iter().any(is_bad) {
                return Self::tell_apart(program, place);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Fences that would learn from additions behind those of their own thread, and the last of these in a block.
type Deaf = SmallVec<[(Ev, Ev); 4]>;

impl Graph {
    /// The additions that no other access separates from one.
    pub(super) fn block_of(&self, place: Place, addition: Ev) -> &[Ev] {
        let writes = self.writes(place);
        let at = self.position(place, addition) - 1;
        let is_other = |write: &Ev| !self.event(*write).is_addition;
        let start = writes[..at]
            .iter()
            .rposition(is_other)
            .map_or(0, |other| other + 1);
        let end = writes[at..]
            .iter()
            .position(is_other)
            .map_or(writes.len(), |other| at + other);
        &writes[start..end]
    }

    /// Adds the fences behind additions of a block that are deaf to others of it. False if one depends on what it is deaf to.
    fn find_deaf(&self, block: &[Ev], deaf: &mut Deaf) -> bool {
        for (at, &first) in block.iter().enumerate() {
            if block[..at].iter().any(|other| other.thread == first.thread) {
                continue;
            }
            let mut own = first;
            for index in first.at() + 1..self.threads[first.of()].events.len() {
                let fence = Ev::new(first.of(), index);
                let event = self.event(fence);
                if event.is_addition && block.contains(&fence) {
                    own = fence;
                }
                if event.kind != Kind::Fence || !event.order.acquires() {
                    continue;
                }
                let mut unheard = block.iter().filter(|&&other| self.is_deaf_to(fence, other));
                let depends = |other: &Ev| other.index < self.clocks.get(event.past, other.thread);
                if let Some(other) = unheard.next() {
                    if depends(other) || unheard.any(depends) {
                        return false;
                    }
                    deaf.push((fence, own));
                }
            }
        }
        true
    }

    /// Does an event know neither an addition of another thread nor what it publishes?
    fn is_deaf_to(&self, event: Ev, addition: Ev) -> bool {
        let known = self.event(event).known;
        addition.thread != event.thread
            && !self.is_known(addition, known)
            && !self.clocks.covers(known, self.event(addition).message)
    }

    /// Must the first of two additions of a block come before the second, because a fence behind the first acquires nothing from the second?
    pub(super) fn comes_first(&self, first: Ev, second: Ev) -> bool {
        let events = self.threads[first.of()].events.iter().enumerate();
        let mut later = events.skip(first.at() + 1);
        later.any(|(index, event)| {
            let acquires = event.kind == Kind::Fence && event.order.acquires();
            acquires && self.is_deaf_to(Ev::new(first.of(), index), second)
        })
    }

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
