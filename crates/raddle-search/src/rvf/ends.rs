//! Calls of RVF-SMC up to their loop (lines 1-11), and executions that end.

use super::event::{Event, Read};
use super::signals::{Threads, Touches};
use super::{
    MapsMark, Node, Replaced, Search,
    effect::CellsChanged,
    outcomes::{Allowed, Path},
};
use crate::listener::Listener;
use crate::purity::{Attempt, completes_iteration};
use crate::rf::event::Cell;
use raddle_memory::consistency::CellId;
use raddle_memory::goodwrites::{EventId, INIT, NewEvent, Ordinals};
use raddle_memory::sync;
use raddle_program::{Op, Program, StateId, ThreadId};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// What becomes of a step that would only complete an iteration without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spin {
    /// It is not done: the thread waits.
    Waits,
    /// It is done, and the thread goes no further.
    Ends,
}

/// Can the operation at a state be without effect?
pub(super) fn can_await(program: &Program, state: StateId) -> bool {
    Attempt::of(program, state).is_some()
}

impl Search {
    /// What becomes of an event that would only complete an iteration without effect.
    pub(super) fn spin(&self, program: &Program, event: &Event) -> Option<Spin> {
        if !self.reductions.purity || !event.is_pure || event.waits {
            return None;
        }
        let attempt = Attempt::of(program, event.state)?;
        let done = self.problem.thread(event.thread.index()).iter().rev();
        let history = done.map(|&id| {
            let earlier = &self.events[id as usize];
            (earlier.state, earlier.is_pure)
        });
        if !completes_iteration(program, event.state, event.after, history) {
            return None;
        }
        let is_mixed = |read: &Read| match read.part.cell {
            Cell::Loc(loc) => program.tables().loc_info(loc).mixed,
            _ => false,
        };
        let can_wait = attempt.can_wait(program) && !event.reads.iter().any(is_mixed);
        if self.reductions.awaits && can_wait {
            Some(Spin::Waits)
        } else {
            Some(Spin::Ends)
        }
    }

    /// A new call: extends the trace by events that are no reads, as far as possible (line 1), and makes its node. `advanced`
    /// are the threads that may have such events.
    pub(super) fn enter(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        self.arrive(program, listener)?;
        if self.is_ended(program) {
            if let Some(node) = self.nodes.last_mut() {
                node.is_fruitful = true;
            }
            self.sync(program, listener)?;
            self.experience.executions += 1;
            return listener.ended(program, &mut self.machine);
        }
        if self.reductions.awaits && self.reductions.purity {
            return self.end_in_awaits(program, listener);
        }
        ControlFlow::Continue(())
    }

    /// Makes the node of a new call, at which nothing was explored yet.
    pub(super) fn arrive(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        while let Some(thread) = self.advanced.pop() {
            while self.is_pending(program, thread) && self.is_mere_write(program, thread) {
                // There may be no end to it.
                listener.busy()?;
                let Ok(mut event) = self.effect(program, thread, &mut Path::present()) else {
                    self.rebuild(program);
                    continue;
                };
                event.ends_thread |= self.spin(program, &event) == Some(Spin::Ends);
                self.advanced
                    .extend(event.spawned.iter().map(|spawned| spawned.0));
                let id = self.problem.len() as EventId;
                let consistent = self.push_to_problem(program, &event);
                debug_assert!(consistent, "what only writes can come last");
                self.problem.emit(id);
                self.note_event(program, event);
            }
            if self.is_pending(program, thread) {
                self.signal_attempt(program, thread);
            }
        }
        if self.needs_machine(program) {
            self.sync(program, listener)?;
        }
        listener.busy()?;
        self.find_ready(program);
        let mutate = self.enabled_reads(program);
        self.nodes.push(Node {
            mark: self.problem.mark(),
            maps: self.maps.mark(),
            child_maps: MapsMark::default(),
            mutate,
            explored: 0,
            defined: SmallVec::new(),
            mutation: None,
            signalled: Threads::default(),
            is_fruitful: false,
            replaced: Replaced::default(),
        });
        ControlFlow::Continue(())
    }

    /// Does the next operation of a thread not depend on memory?
    fn is_mere_write(&self, program: &Program, thread: ThreadId) -> bool {
        let place = self.threads[thread.index()];
        let op = program.op(place.state);
        let touches = Touches::of(program.tables(), op, place.inside);
        touches.reads.is_empty() && !touches.everything && !matches!(op, Op::Choice { .. })
    }

    /// The kind of a mutex that no call initialised is in bytes that the program may have written: then the machine has to have
    /// run the trace before operations on the mutex are looked at.
    fn needs_machine(&mut self, program: &Program) -> bool {
        (0..self.threads.len()).any(|index| {
            if !self.is_pending(program, ThreadId::from_index(index)) {
                return false;
            }
            match *program.op(self.threads[index].state) {
                Op::AtomicBegin => true,
                Op::Sync { cell, action } if action.reads_kind() => {
                    let id = self.cells.one(program.tables(), Cell::Loc(cell));
                    let write = (self.problem.active(id) as usize).checked_sub(1);
                    let word = write.map_or(0, |write| self.problem.writes(id)[write].value);
                    !sync::knows_kind(word)
                }
                _ => false,
            }
        })
    }

    /// Which threads could go on at the end of the trace?
    fn find_ready(&mut self, program: &mut Program) {
        self.ready.clear();
        for thread in (0..self.threads.len()).map(ThreadId::from_index) {
            let is_ready = self.is_pending(program, thread) && self.is_ready(program, thread);
            self.ready.push(is_ready);
        }
    }

    /// Lines 6-11: the threads whose next events are reads. Those without a causal map come first, since backtrack signals are
    /// of use to them only; of these, first the ones that others wait to read from, and the ones that got no signals so far.
    fn enabled_reads(&self, program: &Program) -> SmallVec<[ThreadId; 8]> {
        let mut reads: SmallVec<[(u8, ThreadId); 8]> = SmallVec::new();
        for index in 0..self.threads.len() {
            let thread = ThreadId::from_index(index);
            if !self.is_pending(program, thread) {
                continue;
            }
            let state = self.threads[index].state;
            let rank = if self.maps.of(thread).is_some() {
                4
            } else if !self.ready[index] {
                if matches!(program.op(state), Op::Join { .. }) {
                    // It waits for the end of a thread, which comes last.
                    continue;
                }
                3
            } else if self.maps.is_wanted(thread) {
                0
            } else {
                1 + u8::from(self.experience.expects_signal(state))
            };
            reads.push((rank, thread));
        }
        reads.sort();
        reads.into_iter().map(|(_, thread)| thread).collect()
    }

    /// Does an execution end with the present trace: does nobody go on but to complete iterations without effect?
    fn is_ended(&mut self, program: &mut Program) -> bool {
        (0..self.threads.len())
            .map(ThreadId::from_index)
            .all(|thread| !self.ready[thread.index()] || self.is_awaiting(program, thread))
    }

    /// Is the thread, which is ready, awaiting another value than memory holds at the end of the trace?
    fn is_awaiting(&mut self, program: &mut Program, thread: ThreadId) -> bool {
        let place = self.threads[thread.index()];
        if !self.reductions.awaits || place.inside || !can_await(program, place.state) {
            return false;
        }
        loop {
            match self.effect(program, thread, &mut Path::present()) {
                Ok(event) => return self.spin(program, &event) == Some(Spin::Waits),
                Err(CellsChanged) => self.rebuild(program),
            }
        }
    }

    /// What the memory holds at the end depends on the order of writes that nobody reads. Is there one in which everybody who
    /// could go on awaits something else? Then an execution ends there.
    fn end_in_awaits(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        let Some(reads) = self.wanted_at_end(program, listener)? else {
            return ControlFlow::Continue(());
        };
        let mark = self.problem.mark();
        let consistent = self.problem.push(NewEvent {
            thread: self.threads.len(),
            after: INIT,
            reads: &reads,
            writes: &[],
            is_end: true,
        });
        let found = if consistent {
            self.problem.solve(mark, &mut self.decisions)
        } else {
            None
        };
        let Some(from) = found else {
            self.problem.undo_to(mark);
            return ControlFlow::Continue(());
        };
        let old = self.problem.replaced().to_vec();
        self.problem.retract_to(mark.events());
        self.problem.undo_to(mark);
        self.synced = self.synced.min(from);
        self.sync(program, listener)?;
        self.experience.executions += 1;
        let flow = listener.ended(program, &mut self.machine);
        self.problem.retract_to(from);
        for event in old {
            self.problem.emit(event);
        }
        self.synced = self.synced.min(from);
        if let Some(node) = self.nodes.last_mut() {
            node.is_fruitful = true;
        }
        flow
    }

    /// The writes with which each pending read would have to wait, if there are some for each of them.
    fn wanted_at_end(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<(), Option<Vec<(CellId, Ordinals)>>> {
        let mut wanted: Vec<(CellId, Ordinals)> = Vec::new();
        for index in 0..self.threads.len() {
            let thread = ThreadId::from_index(index);
            if !self.ready[index] {
                continue;
            }
            let place = self.threads[index];
            if place.inside || !can_await(program, place.state) {
                return ControlFlow::Continue(None);
            }
            let outcomes = self.outcomes(program, listener, thread, Allowed::Everything)?;
            let Ok(outcomes) = outcomes else {
                self.rebuild(program);
                return self.wanted_at_end(program, listener);
            };
            let mut ways = outcomes.waiting.into_iter();
            let Some(Event { mut reads, .. }) = ways.next() else {
                return ControlFlow::Continue(None);
            };
            // They differ in the one location that is awaited.
            for (mine, read) in ways.flat_map(|way| way.reads.into_iter().enumerate()) {
                reads[mine].good.union(&read.good);
            }
            for read in reads {
                for (id, _) in self.ids(program.tables(), read.part) {
                    match wanted.iter_mut().find(|(other, _)| *other == id) {
                        Some((_, good)) => good.intersect(&read.good),
                        None => wanted.push((id, read.good.clone())),
                    }
                }
            }
        }
        let possible = wanted.iter().all(|(_, good)| !good.is_empty());
        ControlFlow::Continue((possible && !wanted.is_empty()).then_some(wanted))
    }
}
