//! `rvf`: RVF-SMC, at most one execution of each reads-value-from class under sequential consistency.
//!
//! Algorithm 2 of "Stateless Model Checking Under a Reads-Value-From Equivalence" (Agarwal, Chatterjee, Pathak, Pavlogiannis,
//! Toman, CAV 2021), with the recursion on an explicit stack. Line numbers in comments are those of algorithm 2. Whether a
//! read can get a value is decided by VerifySC (`raddle_memory::goodwrites`). See `docs/engines/rvf.md` for invariants, proofs and
//! deviations.
//!
//! Names: the *trace* of a node is σ̃, an execution of all its events. A *read* is any event whose effect depends on memory:
//! read-modify-writes, operations on synchronisation objects and atomic blocks are reads that may also write.

mod clocks;
mod contest;
mod effect;
mod ends;
mod event;
mod maps;
mod outcomes;
mod signals;
#[cfg(test)]
mod tests;
mod trace;
mod workers;

pub(crate) use workers::Plan;

use crate::driver::Reductions;
use crate::listener::Listener;
use crate::rf::cells::Cells;
use crate::rf::event::may_wait;
use clocks::Clocks;
use contest::{Access, Contest};
use effect::CellsChanged;
use ends::can_await;
use event::{Event, NO_EVENT};
use maps::{Maps, MapsMark};
use outcomes::{Allowed, Outcomes, Path};
use raddle_memory::consistency::CellId;
use raddle_memory::goodwrites::{Decisions, EventId, Heuristics, Ordinals, Problem, ProblemMark};
use raddle_memory::{Machine, Mark};
use raddle_program::{Program, StateId, ThreadId};
use signals::{Experience, Threads, Touches, Watchers};
use smallvec::SmallVec;
use std::ops::ControlFlow;
use std::time::Instant;
use workers::Company;

/// What can be switched off to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RvfHeuristics {
    /// VerifySC starts from the closure of its problem.
    pub closure: bool,
    /// VerifySC is guided by the trace at hand.
    pub guidance: bool,
    /// Backtrack signals say which reads need not be explored from a trace.
    pub signals: bool,
    /// Values that make no difference to what the reading thread does are not told apart.
    pub merging: bool,
    /// With how many executions and dead ends behind it the exploration learns nothing any more of the order in which reads are better explored.
    pub learning: u64,
}

impl Default for RvfHeuristics {
    fn default() -> Self {
        Self {
            closure: true,
            guidance: true,
            signals: true,
            merging: true,
            learning: signals::LEARNING,
        }
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RvfOptions {
    pub(crate) reductions: Reductions,
    pub(crate) heuristics: RvfHeuristics,
    /// Data races are looked for.
    pub(crate) races: bool,
}

/// Where a thread is, after all events of the present node.
#[derive(Clone, Copy, Debug)]
struct Place {
    state: StateId,
    is_started: bool,
    /// In the middle of a block.
    inside: bool,
    /// A fault, or a completed iteration without effect: it goes no further.
    is_stopped: bool,
    spawned_by: EventId,
}

const NOWHERE: Place = Place {
    state: StateId(u32::MAX),
    is_started: false,
    inside: false,
    is_stopped: false,
    spawned_by: NO_EVENT,
};

/// How the trace of a node was changed for the sake of a child: from here on, and what was there.
#[derive(Debug, Default)]
struct Replaced {
    from: usize,
    events: Vec<EventId>,
}

/// The read that is explored at a node, one outcome after the other (lines 14-30).
#[derive(Debug)]
struct Mutation {
    thread: ThreadId,
    /// It is this event of its thread, from 1.
    index: u32,
    /// The local state it leaves.
    state: StateId,
    /// Still to be tried, the next one last.
    outcomes: Vec<Event>,
    /// How many there were.
    count: usize,
    /// The outcomes from this one on are explored elsewhere.
    end: usize,
    /// It watches for signals; if there is none it is the last one explored at the node.
    watching: Option<Touches>,
    has_child: bool,
}

impl Mutation {
    /// The outcome that comes next.
    fn next(&self) -> usize {
        self.end - self.outcomes.len()
    }
}

/// A call of RVF-SMC.
#[derive(Debug)]
struct Node {
    /// The events of its trace are those before this.
    mark: ProblemMark,
    maps: MapsMark,
    /// The causal maps before the present child.
    child_maps: MapsMark,
    /// Threads whose next events are enabled reads, in the order in which they are explored (lines 6-11), and how many of
    /// them were.
    mutate: SmallVec<[ThreadId; 8]>,
    explored: usize,
    /// For each read that was explored: who signalled, if the read has a causal map since.
    defined: SmallVec<[Option<Threads>; 2]>,
    mutation: Option<Mutation>,
    /// The present read's backtrack signal: who may write something new for it.
    signalled: Threads,
    /// An execution ended with the trace of the node, or further down.
    is_fruitful: bool,
    replaced: Replaced,
}

impl Node {
    /// The next read to be explored. One that others wait to read from comes first: without it they cannot be done.
    fn next_read(&mut self, maps: &Maps) -> Option<ThreadId> {
        let rest = self.mutate.get_mut(self.explored..)?;
        if let Some(wanted) = rest.iter().position(|&thread| maps.is_wanted(thread)) {
            rest[..=wanted].rotate_right(1);
        }
        let next = rest.first().copied()?;
        self.explored += 1;
        Some(next)
    }
}

/// The state of the exploration.
pub(crate) struct Search {
    options: RvfOptions,
    reductions: Reductions,
    machine: Machine,
    problem: Problem,
    cells: Cells,
    events: Vec<Event>,
    threads: Vec<Place>,
    nodes: Vec<Node>,
    maps: Maps,
    watchers: Watchers,
    experience: Experience,
    /// What is causally before each event in any case.
    causes: Clocks,
    /// The machine before each event that it has run; the first `synced` are those of the problem's order.
    marks: Vec<Mark>,
    synced: usize,
    contest: Contest,
    /// A race is possible: see `contest`.
    is_contested: bool,
    /// Sources of synchronising reads are told apart.
    by_source: bool,
    is_begun: bool,
    /// Which bytes are cells of their own was found out on the way: what is pending was computed for others.
    was_rebuilt: bool,
    /// With several workers: what is shared with others.
    company: Option<Box<Company>>,
    /// How many threads were known when there were workers.
    known_threads: usize,
    decisions: Decisions,
    /// After how many reads another one was explored at the same node, of how many: for the estimate of what is left.
    followed: u64,
    finished: u64,
    /// Buffers.
    reads: Vec<(CellId, Ordinals)>,
    writes: Vec<(CellId, u64)>,
    accesses: Vec<Access>,
    /// For each thread, whether it has a next event that could be done at the end of the trace: of the node that is made.
    ready: Vec<bool>,
    advanced: SmallVec<[ThreadId; 4]>,
}

impl Search {
    pub(crate) fn new(program: &Program, options: RvfOptions) -> Self {
        let mut search = Self {
            options,
            reductions: options.reductions,
            machine: Machine::new(program),
            problem: Problem::default(),
            cells: Cells::default(),
            events: Vec::new(),
            threads: Vec::new(),
            nodes: Vec::new(),
            maps: Maps::default(),
            watchers: Watchers::default(),
            experience: Experience::default(),
            causes: Clocks::default(),
            marks: Vec::new(),
            synced: 0,
            contest: Contest::default(),
            is_contested: false,
            by_source: false,
            is_begun: false,
            was_rebuilt: false,
            company: None,
            known_threads: 0,
            decisions: Decisions::default(),
            followed: 0,
            finished: 0,
            reads: Vec::new(),
            writes: Vec::new(),
            accesses: Vec::new(),
            ready: Vec::new(),
            advanced: SmallVec::new(),
        };
        search.reset(program);
        search
    }

    /// Back to the beginning.
    fn reset(&mut self, program: &Program) {
        self.problem = self.new_problem();
        self.cells.refresh(program.tables());
        self.events.clear();
        self.nodes.clear();
        self.threads.clear();
        self.threads.push(Place {
            state: program.main(),
            is_started: true,
            ..NOWHERE
        });
        self.maps = Maps::default();
        self.watchers = Watchers::default();
        self.was_rebuilt = false;
        self.advanced.clear();
        self.causes = Clocks::default();
        self.contest = Contest::default();
        self.synced = 0;
    }

    fn new_problem(&self) -> Problem {
        Problem::new(Heuristics {
            closure: self.options.heuristics.closure,
            guidance: self.options.heuristics.guidance,
        })
    }

    /// How problems were decided.
    pub(crate) fn decisions(&self) -> Decisions {
        self.decisions
    }

    /// Explores at least one execution for every set of events with values that an execution can have. Goes on where it was stopped.
    pub(crate) fn run(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        self.run_while(program, listener, |_| true)
    }

    /// Explores as long as it is wanted.
    fn run_while(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        wanted: impl Fn(&Self) -> bool,
    ) -> ControlFlow<()> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.begin(program, listener)?;
        }
        while wanted(self)
            && let Some(node) = self.nodes.last_mut()
        {
            let is_contested = self.is_contested && !self.by_source;
            if is_contested || self.experience.advises_restart() {
                if self.company.is_some() {
                    // One worker begins anew.
                    return ControlFlow::Continue(());
                }
                self.by_source |= is_contested;
                self.reset(program);
                self.experience.start_anew();
                listener.restarted();
                self.begin(program, listener)?;
                continue;
            }
            let outcome = node
                .mutation
                .as_mut()
                .and_then(|mutation| mutation.outcomes.pop());
            match outcome {
                Some(event) => self.try_outcome(program, event, listener)?,
                None if self.is_at_junction() => {
                    if !self.take_over() {
                        return ControlFlow::Continue(());
                    }
                }
                None => self.go_on(program, listener)?,
            }
            self.experience
                .settle_after(self.options.heuristics.learning);
            listener.explored(|| self.fraction());
        }
        if self.nodes.is_empty() {
            listener.undone(0);
        }
        ControlFlow::Continue(())
    }

    /// How much of the tree of executions has been explored, if all reads of a node and all outcomes of a read lead to equally
    /// many: Knuth's estimate along the present path. How many reads will be explored at a node is guessed from how it was
    /// so far; outcomes that no execution has are counted.
    fn fraction(&self) -> f64 {
        match &self.company {
            Some(company) => 1.0 - self.left_of_piece(company),
            None => self.explored_behind(0),
        }
    }

    /// How much of what begins with a node on the present path has been explored.
    fn explored_behind(&self, first: usize) -> f64 {
        let again = self.followed as f64 / self.finished.max(1) as f64;
        let (mut share, mut explored) = (1.0, 0.0);
        for (place, node) in self.nodes.iter().enumerate().skip(first) {
            let Some(mutation) = node.mutation.as_ref().filter(|it| it.count > 0) else {
                continue;
            };
            let begun = mutation.count - mutation.outcomes.len();
            let is_open = place + 1 < self.nodes.len();
            let done = begun.saturating_sub(usize::from(is_open)) as f64 / mutation.count as f64;
            let later = (node.mutate.len() - node.explored) as i32;
            let expected: f64 = (1..=later).map(|nth| again.powi(nth)).sum();
            let reads = node.explored as f64 + expected;
            explored += share * (node.explored as f64 - 1.0 + done) / reads;
            share /= reads * mutation.count as f64;
        }
        explored
    }

    fn begin(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        self.sync(program, listener)?;
        self.advanced.push(ThreadId::MAIN);
        self.enter(program, listener)
    }

    /// The present read has no outcomes left: goes on with the next read, or leaves the node.
    fn go_on(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        let backtrack = self.finish_mutation(program);
        let Some(node) = self.nodes.last_mut() else {
            return ControlFlow::Continue(());
        };
        self.finished += 1;
        if backtrack && let Some(thread) = node.next_read(&self.maps) {
            self.followed += 1;
            return self.start_mutation(program, listener, thread);
        }
        let is_fruitful = node.is_fruitful;
        if !is_fruitful {
            // Every read that could come next was explored elsewhere.
            self.decisions.dead_ends += 1;
            self.experience.dead_ends += 1;
            listener.busy()?;
        }
        if let Some(node) = self.nodes.pop() {
            self.maps.undo_to(node.maps);
        }
        self.leave_child(is_fruitful);
        ControlFlow::Continue(())
    }

    /// Ends the exploration of a read at the present node. Is another one to be explored (line 13)?
    fn finish_mutation(&mut self, program: &Program) -> bool {
        let Some(place) = self.nodes.len().checked_sub(1) else {
            return false;
        };
        let node = &mut self.nodes[place];
        let Some(mutation) = node.mutation.take() else {
            return true;
        };
        let thread = mutation.thread;
        let backtrack =
            mutation.watching.is_none() || !node.signalled.is_empty() || !mutation.has_child;
        let writers = match mutation.watching {
            Some(_) => node.signalled,
            None => Threads::default(),
        };
        if let Some(touches) = &mutation.watching {
            self.unwatch(program, thread, touches);
        }
        if mutation.watching.is_some() && backtrack {
            self.experience.expect_signal(mutation.state);
        }
        let is_defined = backtrack && mutation.has_child;
        let defined = &mut self.nodes[place].defined;
        defined.push(is_defined.then_some(writers));
        if is_defined {
            self.define_map(thread, writers);
        }
        backtrack
    }

    /// Everything that is there is old to the next event of a thread.
    fn define_map(&mut self, thread: ThreadId, writers: Threads) {
        let problem = &self.problem;
        let counts = (0..self.threads.len()).map(|thread| problem.thread(thread).len() as u32);
        self.maps.define(thread, writers, counts);
    }

    /// Begins with the next event of a thread.
    fn start_mutation(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        thread: ThreadId,
    ) -> ControlFlow<()> {
        let Outcomes {
            mut events,
            waiting,
        } = self.all_outcomes(program, listener, thread)?;
        let state = self.threads[thread.index()].state;
        let place = self.nodes.len() - 1;
        let is_prunable = self.options.heuristics.signals
            && self.maps.of(thread).is_none()
            && (waiting.is_empty() || !can_await(program, state))
            && !events.is_empty()
            && self.is_ready(program, thread);
        self.nodes[place].signalled = Threads::default();
        let index = self.problem.thread(thread.index()).len() as u32 + 1;
        let mut watching = None;
        if is_prunable {
            let mut touches = self.touches(program, thread);
            // A block that reads nothing reads nothing new.
            touches.everything &= events.iter().any(|event| !event.reads.is_empty());
            self.watch(program, place, (thread, index), &touches);
            for other in (0..self.threads.len()).map(ThreadId::from_index) {
                if other != thread && self.is_pending(program, other) {
                    self.signal_attempt(program, other);
                }
            }
            watching = Some(touches);
        }
        events.reverse();
        self.nodes[place].mutation = Some(Mutation {
            thread,
            index,
            state,
            count: events.len(),
            end: events.len(),
            outcomes: events,
            watching,
            has_child: false,
        });
        ControlFlow::Continue(())
    }

    /// Has the thread a next event?
    fn is_pending(&self, program: &Program, thread: ThreadId) -> bool {
        let place = &self.threads[thread.index()];
        place.is_started && !place.is_stopped && !program.op(place.state).is_terminal()
    }

    fn all_outcomes(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        thread: ThreadId,
    ) -> ControlFlow<(), Outcomes> {
        loop {
            match self.outcomes(program, listener, thread, Allowed::ByCausalMap)? {
                Ok(outcomes) => return ControlFlow::Continue(outcomes),
                Err(CellsChanged) => self.rebuild(program),
            }
        }
    }

    /// Could the next event of a thread be done at the end of the present trace?
    fn is_ready(&mut self, program: &mut Program, thread: ThreadId) -> bool {
        let state = self.threads[thread.index()].state;
        if !may_wait(program.op(state)) {
            return true;
        }
        loop {
            match self.effect(program, thread, &mut Path::present()) {
                Ok(event) => return !event.waits,
                Err(CellsChanged) => self.rebuild(program),
            }
        }
    }

    /// The event before the next one of a thread.
    fn parent_of(&self, thread: ThreadId) -> EventId {
        let last = self.problem.thread(thread.index()).last().copied();
        last.unwrap_or(self.threads[thread.index()].spawned_by)
    }

    // ---- children

    /// Lines 20-26: explores what follows if the read has this outcome.
    fn try_outcome(
        &mut self,
        program: &mut Program,
        event: Event,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        match self.add_outcome(program, event) {
            true => self.enter(program, listener),
            false => ControlFlow::Continue(()),
        }
    }

    /// Is there an execution in which the read has this outcome? Then the trace is one of them.
    fn add_outcome(&mut self, program: &Program, event: Event) -> bool {
        let mark = self.problem.mark();
        let length = self.problem.order().len();
        let at_hand = self.is_at_hand(program, &event);
        let started = (!at_hand).then(Instant::now);
        let consistent = self.push_to_problem(program, &event);
        debug_assert!(consistent || !at_hand, "the trace at hand is an execution");
        let replaced = if at_hand {
            self.decisions.at_hand += 1;
            self.problem.emit(mark.events() as EventId);
            Some(length)
        } else if consistent {
            self.problem.solve(mark, &mut self.decisions)
        } else {
            self.decisions.closure += 1;
            None
        };
        if let Some(started) = started {
            self.decisions.time += started.elapsed();
        }
        let Some(from) = replaced else {
            self.problem.undo_to(mark);
            return false;
        };
        let Some(node) = self.nodes.last_mut() else {
            return false;
        };
        node.child_maps = self.maps.mark();
        node.replaced.from = from;
        node.replaced.events.clear();
        if !at_hand {
            let old = self.problem.replaced();
            node.replaced.events.extend_from_slice(old);
            self.synced = self.synced.min(from);
        }
        if let Some(mutation) = &mut node.mutation {
            mutation.has_child = true;
        }
        let thread = event.thread;
        self.note_event(program, event);
        self.maps.clear(thread);
        self.advanced.push(thread);
        true
    }

    /// Does the trace at hand give the read one of its good writes for each cell?
    fn is_at_hand(&mut self, program: &Program, event: &Event) -> bool {
        event.reads.iter().all(|read| {
            let ids = self.ids(program.tables(), read.part);
            ids.iter()
                .all(|&(id, _)| read.good.contains(self.problem.active(id)))
        })
    }

    /// Returns from a child to the last node.
    fn leave_child(&mut self, is_fruitful: bool) {
        let Some(node) = self.nodes.last_mut() else {
            return;
        };
        node.is_fruitful |= is_fruitful;
        let (mark, from) = (node.mark, node.replaced.from);
        self.maps.undo_to(node.child_maps);
        self.problem.retract_to(from);
        self.problem.undo_to(mark);
        for &event in &node.replaced.events {
            self.problem.emit(event);
        }
        self.synced = self.synced.min(from);
        self.contest.truncate(mark.events());
        self.causes.truncate(mark.events());
        while self.events.len() > mark.events() {
            self.forget_event();
        }
    }
}
