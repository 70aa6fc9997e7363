//! Threads that wait in loops: purity and awaits for reads-from classes.
//!
//! A step that would only complete an iteration without effect is not done ([`crate::purity`]): the thread waits for another
//! value, so that value is no possible source of the read. Algorithm 1 relies on every read having some source at any time
//! (lemma 6.3), which is not so for one that waits. What saves it are *chained* locations: the locations that threads wait
//! for. Every write of such a location reads it, too, as a read-modify-write does, so that the writes of the location are a
//! chain, which is part of the trace. Take an operation on a chained location when its turn comes, after the prefix τ, with
//! `u` the last write of the chain in τ. Every longer trace falls into exactly one of these classes:
//! 1. The operation reads from something in τ.
//! 2. It does not. Then `u` is not the last write of the trace: with `u` in place the operation would not have to wait, or
//!    would have read a later write. So somebody else updates `u`: one class for each who does. In these classes the
//!    operation is *postponed*: it no longer reads from anything in τ.
//!
//! The updates of case 2 are found in the traces of case 1, because what leads to such an update can come before the operation,
//! and the operation before the update. And no trace of case 2 is a dead end: in the end the operation is done, or the last
//! write is one that makes it wait. The same holds at the end of an execution for the threads that wait then (`stuck`): the
//! first of them that reads from the trace does, those before it are postponed.
//!
//! Which locations are chained is found out on the way. When there is a new one the exploration starts anew.

use super::detect::{Follow, Rival};
use super::event::{Branching, Cell, Event, NO_EVENT, Pos, Read, sync_of};
use super::observe::parent_of;
use super::simulate::Start;
use super::{Alternative, Node, Search};
use crate::driver::Reductions;
use crate::listener::Listener;
use crate::purity::{
    Attempt, Did, comes_to_nothing, completes_iteration, fails_or_not, seems_to_change,
};
use raddle_memory::consistency::Phases;
use raddle_memory::{Machine, Readiness};
use raddle_program::{LocId, Op, Order, Program, StateId, ThreadId, Value};
use smallvec::SmallVec;

/// What becomes of a step that would only complete an iteration without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spin {
    /// It is not done: the thread waits.
    Waits,
    /// It is done, and the thread goes no further.
    Ends,
}

/// An operation of a thread: the thread, and the index its event has.
pub(super) type OpName = (ThreadId, u32);

/// A thread that waits in a loop for another value than a location holds.
struct Waiting {
    thread: ThreadId,
    loc: LocId,
    held: Value,
}

#[derive(Default)]
pub(super) struct Awaits {
    reductions: Reductions,
    /// Locations that threads wait for but that are not chained: accessed by events with several sources. Threads that spin on
    /// them go no further.
    pub(super) refused: Vec<LocId>,
    /// Locations that are to be chained, or not any more, from the next start on.
    found: Vec<LocId>,
    lost: Vec<LocId>,
    /// Threads that wait, while an execution is extended and after that.
    waiting: Vec<Waiting>,
    pub(super) any_ended: bool,
}

impl Awaits {
    pub(super) fn new(reductions: Reductions) -> Self {
        Self {
            reductions,
            ..Self::default()
        }
    }

    pub(super) fn reductions(&self) -> Reductions {
        self.reductions
    }

    /// Has something been found that makes it necessary to start anew?
    pub(super) fn is_outdated(&self) -> bool {
        !self.found.is_empty() || !self.lost.is_empty()
    }

    pub(super) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }
}

impl Search {
    /// Starts anew, with what has been found out about waiting.
    pub(super) fn restart(&mut self, program: &Program, listener: &mut impl Listener) {
        let mut chained = self.trace.chained().to_vec();
        let awaits = &mut self.awaits;
        chained.append(&mut awaits.found);
        chained.retain(|loc| !awaits.lost.contains(loc));
        awaits.refused.append(&mut awaits.lost);
        awaits.waiting.clear();
        self.machine = Machine::new(program);
        self.trace = self.trace.renewed(chained);
        self.nodes.clear();
        self.marks.clear();
        self.tail.clear();
        self.spawned_by.clear();
        self.renewed.clear();
        self.phases = Phases::default();
        listener.restarted();
    }

    /// Does the event only complete an iteration without effect?
    pub(super) fn spins(&mut self, program: &Program, event: &Event) -> Option<Spin> {
        if !event.is_pure || !self.awaits.reductions.purity || !self.trace.comes_back(event) {
            return None;
        }
        let attempt = Attempt::of(program, event.state)?;
        let history = self.history(event.thread, event.parent);
        completes_iteration(program, event.state, event.after, history)
            .then(|| self.spin(program, attempt))
    }

    /// Does the event seem to complete an iteration that takes something and gives it back? Whether others saw that is for an engine to say that orders
    /// all accesses.
    pub(super) fn takes_back(&self, program: &Program, event: &Event) -> bool {
        let Reductions {
            purity, net_effect, ..
        } = self.awaits.reductions;
        if !purity || !net_effect || event.is_block || !self.trace.comes_back(event) {
            return false;
        }
        let mut after = event.after;
        let mut did = |state: StateId, is_pure: bool| {
            let to = std::mem::replace(&mut after, state);
            // What a store found is not told: it may give back what was taken.
            let is_store =
                matches!(program.op(state), Op::Store { order, .. } if *order != Order::Plain);
            match is_pure && !is_store || fails_or_not(program, state) {
                true => (state, Did::Nothing),
                false => (state, seems_to_change(program, state, to)),
            }
        };
        let last = did(event.state, event.is_pure);
        let history = self.history(event.thread, event.parent);
        let history = history.map(|(state, is_pure)| did(state, is_pure));
        comes_to_nothing(program, last, event.after, history).is_some()
    }

    fn spin(&mut self, program: &Program, attempt: Attempt) -> Spin {
        let loc = attempt.loc;
        let can_wait = attempt.can_wait(program) && !program.tables().loc_info(loc).mixed;
        if !self.awaits.reductions.awaits || !can_wait || self.awaits.refused.contains(&loc) {
            self.awaits.any_ended = true;
            return Spin::Ends;
        }
        if !self.trace.is_chained(loc) && !self.awaits.found.contains(&loc) {
            self.awaits.found.push(loc);
        }
        Spin::Waits
    }

    /// The events of a thread from `last` back: which state each left, and whether it was pure.
    fn history(&self, thread: ThreadId, last: Pos) -> impl Iterator<Item = (StateId, bool)> {
        let mut pos = last;
        std::iter::from_fn(move || {
            if pos == NO_EVENT {
                return None;
            }
            let event = self.trace.event(pos);
            pos = event.parent;
            (event.thread == thread).then_some((event.state, event.is_pure))
        })
    }

    /// Notes that a thread, which is ready, waits in a loop.
    pub(super) fn note_waiting(&mut self, program: &Program, thread: ThreadId, state: StateId) {
        if let Some(attempt) = Attempt::of(program, state) {
            let held = self.machine.peek(program.tables(), attempt.loc);
            self.awaits.waiting.push(Waiting {
                thread,
                loc: attempt.loc,
                held,
            });
        }
    }

    /// Does a thread, which is ready, wait in a loop? As far as is known: whether one does is found out by trying.
    pub(super) fn is_waiting(&mut self, program: &Program, thread: ThreadId) -> bool {
        let awaits = &mut self.awaits;
        if awaits.any_ended
            && let Some(last) = self.trace.last_of(thread)
            && self.trace.event(last).ends_thread
        {
            return true;
        }
        let is_it = |waiting: &Waiting| waiting.thread == thread;
        let Some(position) = awaits.waiting.iter().position(is_it) else {
            return false;
        };
        let Waiting { loc, held, .. } = awaits.waiting[position];
        let still = self.machine.peek(program.tables(), loc) == held;
        if !still {
            awaits.waiting.remove(position);
        }
        still
    }

    /// Is a thread left in a loop, at the end of an execution?
    pub(super) fn leaves_in_loop(&mut self, program: &Program) -> bool {
        let machine = &mut self.machine;
        (self.awaits.any_ended || !self.awaits.waiting.is_empty())
            && crate::ending::threads(machine)
                .any(|thread| machine.readiness(program, thread) == Readiness::Ready)
    }

    /// A chained location is one cell. From the moment that another one is known to share bytes with it nothing is right any more: who wrote it last, which is
    /// what its next write is said to read, is not one event.
    pub(super) fn lose_mixed(&mut self, program: &Program) {
        let is_mixed = |loc: &&LocId| program.tables().loc_info(**loc).mixed;
        let mixed = self.trace.chained().iter().filter(is_mixed);
        self.awaits.lost.extend(mixed);
    }

    /// Chained locations must not be accessed by events with several sources, whose alternatives are found in another way.
    pub(super) fn refuse_complex(&mut self, program: &Program) {
        if self.trace.chained().is_empty() {
            return;
        }
        for pos in 0..self.trace.len() {
            let event = self.trace.event(pos);
            if !event.wide || !self.is_complex(program, pos) {
                continue;
            }
            let reads = event.reads.iter().map(|read| read.cell);
            for cell in reads.chain(event.writes.iter().map(|write| write.cell)) {
                if let Cell::Loc(loc) = cell
                    && self.trace.is_chained(loc)
                {
                    self.awaits.lost.push(loc);
                }
            }
        }
    }

    /// Was an operation postponed? Then it reads from nothing before this position.
    fn postponed_to(&self, op: OpName) -> Option<Pos> {
        let is_postponed = |node: &Node| node.postponed.contains(&op);
        self.nodes.iter().rposition(is_postponed).map(|p| p as Pos)
    }

    /// What an operation on a chained location could read from, as far as saturation knows: case 1.
    pub(super) fn chained_sources(
        &mut self,
        program: &Program,
        op: OpName,
        cell: Cell,
        parent: Pos,
    ) -> SmallVec<[Pos; 4]> {
        let bound = self.postponed_to(op);
        let id = self.trace.cells.one(program.tables(), cell);
        let mut sources = SmallVec::new();
        self.trace.graph.readable(id, parent, |source| {
            let is_excluded = |bound: Pos| source == NO_EVENT || source < bound;
            if !bound.is_some_and(is_excluded) {
                sources.push(source);
            }
        });
        sources
    }

    /// Case 2: offers a rival as the next update after each write of the chain, from the one it reads from back.
    pub(super) fn offer_update(&mut self, program: &mut Program, rival: &Rival, source: Pos) {
        let id = self.trace.cells.one(program.tables(), rival.cell);
        let parent = rival.start.parent;
        let mut updated = source;
        loop {
            let readers: SmallVec<[Pos; 8]> = self
                .trace
                .graph
                .readers_of(updated, id)
                .filter(|&reader| self.can_precede(program, rival, reader, updated))
                .collect();
            for reader in readers {
                self.replace(program, rival, reader);
            }
            if updated == NO_EVENT || (parent != NO_EVENT && self.trace.before(updated, parent)) {
                return;
            }
            let before = self.trace.event(updated).source(rival.cell);
            let Some(before) = before else { return };
            updated = before;
        }
    }

    /// Can a rival come before the event at `node`, as the next update after `updated`?
    fn can_precede(&self, program: &Program, rival: &Rival, node: Pos, updated: Pos) -> bool {
        let event = self.trace.event(node);
        let start = rival.start;
        let parent = start.parent;
        let is_itself = (event.thread, event.index) == (start.thread, start.index);
        let is_after = |pos: Pos| pos != NO_EVENT && self.trace.before(node, pos);
        let update = self.nodes[node as usize].update;
        self.is_open(node)
            && !is_itself
            && !is_after(parent)
            && match update {
                Some(update) => update == (rival.cell, updated),
                None => event.writes(rival.cell),
            }
            && self.can_replace(program, rival, node)
    }

    /// At the end of an execution: what the threads that wait in loops could do.
    pub(super) fn detect_stuck(&mut self, program: &mut Program) {
        if self.awaits.waiting.is_empty() {
            return;
        }
        let mut waiting: Vec<(ThreadId, LocId)> = Vec::new();
        for found in &self.awaits.waiting {
            waiting.push((found.thread, found.loc));
        }
        waiting.sort_unstable();
        let mut node = Node {
            base: self.trace.added(),
            ..Node::default()
        };
        let mut earlier: SmallVec<[OpName; 1]> = SmallVec::new();
        for (thread, loc) in waiting {
            if self.machine.readiness(program, thread) == Readiness::Ready
                && let Some(rival) = self.rival_at_end(program, thread, loc)
            {
                self.alternatives_at_end(program, &rival, &mut node, &earlier);
                earlier.push((thread, rival.start.index));
                let id = self.trace.cells.one(program.tables(), rival.cell);
                let source = self.trace.graph.last_writer(id);
                self.offer_update(program, &rival, source);
            }
        }
        if !node.pending.is_empty() {
            self.nodes.push(node);
        }
    }

    fn alternatives_at_end(
        &mut self,
        program: &mut Program,
        rival: &Rival,
        node: &mut Node,
        earlier: &[OpName],
    ) {
        let Start {
            thread,
            index,
            parent,
            ..
        } = rival.start;
        for source in self.chained_sources(program, (thread, index), rival.cell, parent) {
            let mut plan = Follow::new(&rival.reads, rival.cell, source, None);
            if let Some(mut first) = self.simulate(program, rival.start, &mut plan) {
                first.branching = Branching::None;
                let first = self.trace.store.insert(first);
                node.pending.push(Alternative {
                    first,
                    extra: None,
                    needed: Box::default(),
                    postponed: earlier.into(),
                });
            }
        }
    }

    /// What a thread waits to do on a location at the end of an execution. Nothing if the location may have died.
    pub(super) fn rival_at_end(
        &mut self,
        program: &Program,
        thread: ThreadId,
        loc: LocId,
    ) -> Option<Rival> {
        let state = self.machine.thread_state(thread)?;
        let tables = program.tables();
        let mut reads: SmallVec<[Read; 2]> = SmallVec::new();
        let info = tables.loc_info(loc);
        if info.life != raddle_program::tables::NO_SLOT
            && let Some(life) = tables.object_info(info.object).life
        {
            if self.trace.is_freed(life, None) {
                return None;
            }
            let id = self.trace.cells.one(tables, Cell::Loc(life));
            reads.push(Read {
                cell: Cell::Loc(life),
                source: self.trace.graph.last_writer(id),
            });
        }
        let parent = parent_of(&self.trace, &self.spawned_by, thread);
        Some(Rival {
            start: self.start_at(thread, state, parent),
            reads,
            cell: Cell::Loc(loc),
            may_wait: sync_of(program.op(state)).is_some(),
        })
    }
}
