//! Reference counts: additions whose results are used, but only to ask "was I the last?".
//!
//! Additions to one location that no other access separates are a *block*. The results of its members depend on their order, which is any that contains
//! happens-before. If each of them leads its thread to the same state in all these orders, they commute. If not, and nobody finds less
//! than what the last one finds, then only the last one finds that: the order makes a difference only in who comes last. The last one is an ordinary update, which
//! reads from all others; each that can be is, in a graph of its own (docs/engines/graph.md, reference counts).

use super::event::{Ev, Event, Place};
use super::revisit::New;
use super::store::Graph;
use super::{Alternative, Search, Step};
use crate::frame::Frame;
use raddle_program::{Op, Program, RmwKind, StateId, Value};
use std::ops::ControlFlow;

/// More values are not tried.
const WIDEST: i128 = 64;

/// What a block of additions is with a new member.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Weighed {
    /// The order makes no difference.
    Commute,
    /// It makes one in who is the last; these can be, besides the new one.
    Last(Vec<Ev>),
    /// It is an addition as any update is: nobody else is there.
    Alone,
    Apart,
}

/// An addition of a block, the new one included.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// None: the new one.
    event: Option<Ev>,
    state: StateId,
    adds: i128,
    /// What it can find, at least and at most.
    low: i128,
    high: i128,
}

/// What an operation adds, if it is an addition.
fn amount(program: &Program, state: StateId) -> Option<i128> {
    let Op::Rmw {
        loc, kind, operand, ..
    } = *program.op(state)
    else {
        return None;
    };
    let unused = 64 - 8 * u32::from(program.tables().loc_info(loc).size).min(8);
    let signed = i128::from(((operand << unused) as i64) >> unused);
    match kind {
        RmwKind::Add => Some(signed),
        RmwKind::Sub => Some(-signed),
        _ => None,
    }
}

/// Does the thread go on in the same way whatever of these the operation finds?
fn is_same(program: &mut Program, state: StateId, low: i128, high: i128) -> bool {
    if program.ignores_result(state) || low >= high {
        return true;
    }
    if low < 0 || high - low > WIDEST {
        return false;
    }
    let first = program.after(state, low as Value);
    (low + 1..=high).all(|value| program.after(state, value as Value) == first)
}

impl Search {
    /// May the result of an addition be one that only asks for the last? What it finds now, and one more, must lead to the same state.
    pub(super) fn may_count(
        &mut self,
        program: &mut Program,
        state: StateId,
        found: Value,
    ) -> bool {
        let found = i128::from(found);
        match amount(program, state) {
            Some(1) => is_same(program, state, found, found + 1),
            Some(-1) if found > 1 => is_same(program, state, found, found + 1),
            Some(-1) => found == 1,
            _ => false,
        }
    }

    /// The additions that no other access separates from the next one.
    fn block(&self, place: Place) -> &[Ev] {
        let writes = self.graph.writes(place);
        let is_addition = |write: &Ev| self.graph.event(*write).is_addition;
        let other = writes.iter().rposition(|write| !is_addition(write));
        &writes[other.map_or(0, |other| other + 1)..]
    }

    /// What becomes of a block if the next event of a thread is an addition to it.
    pub(super) fn weigh(&mut self, program: &mut Program, thread: usize, place: Place) -> Weighed {
        let state = self.graph.threads[thread].cursor.state;
        let block: Vec<Ev> = self.block(place).to_vec();
        let states = block.iter().map(|&event| self.graph.event(event).state);
        if states
            .chain([state])
            .all(|state| program.ignores_result(state))
        {
            return Weighed::Commute;
        }
        let Some(members) = self.members(program, thread, place, &block) else {
            return Weighed::Apart;
        };
        let base = self.graph.writes(place).len() - block.len();
        let base = self.graph.write_at(place, base);
        let base = i128::from(self.graph.value_from(program, place, base));
        let total = base + members.iter().map(|member| member.adds).sum::<i128>();
        let differ = |program: &mut Program, member: &Member| {
            !is_same(program, member.state, member.low, member.high)
        };
        if !members.iter().any(|member| differ(program, member)) {
            return Weighed::Commute;
        }
        // Whoever comes last finds the least, and nobody else does.
        let least = total + 1;
        let all_are_above = members.iter().all(|member| member.low >= least);
        // One that adds may find the least and not be the last.
        let only_last = members.iter().all(|member| {
            !differ(program, member)
                || member.adds == -1 && is_same(program, member.state, least + 1, member.high)
        });
        if total < 0 || !all_are_above || !only_last {
            return Weighed::Apart;
        }
        let ends: Vec<Member> = members
            .iter()
            .filter(|member| !self.comes_before_any(thread, member, &members))
            .copied()
            .collect();
        if !ends
            .iter()
            .all(|end| end.adds == -1 && differ(program, end))
        {
            return Weighed::Apart;
        }
        match block.is_empty() {
            true => Weighed::Alone,
            false => Weighed::Last(ends.iter().filter_map(|end| end.event).collect()),
        }
    }

    fn members(
        &self,
        program: &Program,
        thread: usize,
        place: Place,
        block: &[Ev],
    ) -> Option<Vec<Member>> {
        let new = self.graph.threads[thread].cursor.state;
        let old = block
            .iter()
            .map(|&event| (Some(event), self.graph.event(event).state));
        let members: Option<Vec<Member>> = old
            .chain([(None, new)])
            .map(|(event, state)| {
                Some(Member {
                    event,
                    state,
                    adds: amount(program, state)?,
                    low: 0,
                    high: 0,
                })
            })
            .collect();
        let mut members = members?;
        let base = self.graph.writes(place).len() - block.len();
        let base = self.graph.write_at(place, base);
        let base = i128::from(self.graph.value_from(program, place, base));
        for index in 0..members.len() {
            let (low, high) = self.range(thread, &members, index);
            (members[index].low, members[index].high) = (base + low, base + high);
        }
        Some(members)
    }

    /// Does the first happen before the second?
    fn is_before(&self, thread: usize, first: &Member, second: &Member) -> bool {
        let Some(first) = first.event else {
            return false;
        };
        match second.event {
            Some(second) => self.graph.happens_before(first, second),
            None => first.of() == thread || self.graph.is_known(first, self.graph.known(thread)),
        }
    }

    fn comes_before_any(&self, thread: usize, member: &Member, members: &[Member]) -> bool {
        let mut others = members.iter();
        others.any(|other| self.is_before(thread, member, other))
    }

    /// What others can have added before a member, at least and at most. One that takes away counts only once for one that adds as much and happens
    /// before it.
    fn range(&self, thread: usize, members: &[Member], index: usize) -> (i128, i128) {
        let member = &members[index];
        let is_before =
            |first: usize, second: usize| self.is_before(thread, &members[first], &members[second]);
        let others = || (0..members.len()).filter(|&other| other != index);
        let before: i128 = others()
            .filter(|&other| is_before(other, index))
            .map(|other| members[other].adds)
            .sum();
        let beside: Vec<usize> = others()
            .filter(|&other| !is_before(other, index) && !is_before(index, other))
            .collect();
        let (mut low, mut high) = (before, before);
        let mut taken = vec![false; members.len()];
        for &other in &beside {
            let adds = members[other].adds;
            if adds > 0 {
                high += adds;
                continue;
            }
            // The last one: the others may be all that those have who know of fewer.
            let matching =
                beside.iter().copied().rev().find(|&inc| {
                    members[inc].adds >= -adds && !taken[inc] && is_before(inc, other)
                });
            match matching {
                Some(inc) => taken[inc] = true,
                None => low += adds,
            }
        }
        debug_assert!(member.event.is_some() || index + 1 == members.len());
        (low, high)
    }

    // ---- the last one

    /// Puts the ways into the pool: the next event of a thread is the last of its block, or another one is, and is made to be.
    pub(super) fn offer_last(
        &mut self,
        program: &mut Program,
        thread: usize,
        place: Place,
        ends: &[Ev],
    ) {
        let last = self.graph.last_write(place);
        self.pool.push(Alternative::Read(last));
        for &end in ends {
            let new = self.new_before(thread, place, end);
            let depends = self.block(place).iter().any(|&other| {
                other != end
                    && end.index
                        < self
                            .graph
                            .clocks
                            .get(self.graph.event(other).past, end.thread)
                    || other.of() == end.of() && other.index > end.index
            });
            let depends = depends
                || end.of() == thread
                || end.index < self.graph.clocks.get(self.graph.past(thread), end.thread);
            if !depends && self.is_removable(program, new, end) {
                self.pool.push(Alternative::Last(end));
            }
        }
    }

    /// What stays if an addition comes behind all others of its block: what these depend on, and the next event of a thread.
    fn new_before(&mut self, thread: usize, place: Place, end: Ev) -> New {
        let mut past = self.graph.past(thread);
        for at in 0..self.block(place).len() {
            let other = self.block(place)[at];
            if other != end {
                let of_other = self.graph.event(other).past;
                let (thread, count) = (other.thread, other.index + 1);
                past = self.graph.clocks.joined_with(past, of_other, thread, count);
            }
        }
        New {
            thread,
            count: u32::MAX,
            past,
        }
    }

    /// Adds the next event of a thread, an addition, and lets another one of its block come behind all others.
    pub(super) fn make_last(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        end: Ev,
    ) -> ControlFlow<(), Step> {
        let Event {
            place,
            state,
            stamp,
            ..
        } = *self.graph.event(end);
        let new = self.new_before(thread, place, end);
        self.remove_behind(program, new, end);
        self.graph.remove_last(program, end.of());
        let found = self
            .graph
            .value_from(program, place, self.graph.last_write(place));
        // It finds as much as any other that is not the last one.
        let own = self.graph.threads[thread].cursor.state;
        let after = program.after(own, found);
        let write = self.add_addition(program, thread, place, after)?;
        let source = self.graph.last_write(place);
        let mut reading = self.reading(program, end.of(), end.at(), (state, 0), source);
        reading.event.stamp = stamp;
        self.graph
            .add_stamped(program, end.of(), reading.event, 0, reading.cursor);
        if !self.judge.accepts(program, &self.graph, &[write, end]) {
            return ControlFlow::Continue(Step::Dropped);
        }
        self.look_at_write(program, frame, write)?;
        self.look_at_read(program, frame, end, reading.fault)?;
        ControlFlow::Continue(Step::Done)
    }

    /// Is an addition one of those that a last one reads from which was there before it?
    pub(super) fn is_read_by_earlier(&self, place: Place, addition: Ev) -> bool {
        let writes = self.graph.writes(place);
        let at = self.graph.position(place, addition);
        let is_other = |write: &&Ev| !self.graph.event(**write).is_addition;
        let last = writes[at..].iter().find(is_other);
        last.is_some_and(|&last| {
            let event = self.graph.event(last);
            let stamp = self.graph.event(addition).stamp;
            event.is_update
                && last.index > 0
                && self.graph.event(Ev::new(last.of(), last.at() - 1)).stamp < stamp
        })
    }

    /// Were all additions of the block there that a read reads from, or does the new write depend on them?
    pub(super) fn was_block_there(&self, new: New, place: Place, source: Ev, stamp: u32) -> bool {
        let mut additions = self.graph.additions_up_to(place, source).iter();
        additions.all(|&addition| self.was_there(new, addition, stamp))
    }

    /// The cursor behind an addition whose order makes no difference.
    pub(super) fn after_addition(
        &mut self,
        program: &mut Program,
        thread: usize,
        place: Place,
    ) -> StateId {
        let state = self.graph.threads[thread].cursor.state;
        if program.ignores_result(state) {
            return program.after(state, 0);
        }
        let found = self
            .graph
            .value_from(program, place, self.graph.last_write(place));
        program.after(state, found)
    }
}

impl Graph {
    /// The additions of a block up to one.
    pub(super) fn additions_up_to(&self, place: Place, addition: Ev) -> &[Ev] {
        if !addition.is_event() || !self.event(addition).is_addition {
            return &[];
        }
        let end = self.position(place, addition);
        let writes = &self.writes(place)[..end];
        let other = writes
            .iter()
            .rposition(|&write| !self.event(write).is_addition);
        &writes[other.map_or(0, |other| other + 1)..]
    }
}
