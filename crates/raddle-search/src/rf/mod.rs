//! `rf`: READSFROM-SMC, one execution of each reads-from class under sequential consistency.
//!
//! Algorithm 1 of "Optimal Stateless Model Checking for Reads-From Equivalence under Sequential Consistency" (Abdulla, Atig,
//! Jonsson, Lång, Ngo, Sagonas, OOPSLA 2019), with the recursion on an explicit stack. Line numbers in comments are those of
//! algorithm 1. No execution is begun without a witness that it exists, and none is given up. See `docs/engines/rf.md` for
//! invariants, proofs and deviations.

mod awaits;
mod barriers;
pub(crate) mod cells;
mod codes;
mod complex;
mod detect;
pub(crate) mod event;
mod observe;
mod propose;
mod simulate;
mod store;
#[cfg(test)]
mod tests;
mod trace;
mod workers;

use crate::driver::Reductions;
use crate::listener::Listener;
use awaits::{Awaits, OpName, Spin};
use event::{Branching, Cell, ChoiceId, Event, Fingerprint, NO_EVENT, Pos};
use observe::{Before, note_values, parent_of};
use raddle_memory::consistency::Phases;
use raddle_memory::{Machine, Mark, Readiness, StepEnd};
use raddle_program::{Op, Program, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::ControlFlow;
use std::sync::Arc;
use store::StoreId;
use trace::Trace;
pub(crate) use workers::Plan;
use workers::{Company, Junction};

/// A way to go on from a prefix of the trace: a member of `schedules` (line 11), before its consistency is known. Parents and
/// sources are positions of the trace in which it was found.
#[derive(Debug)]
struct Alternative {
    /// Takes the place of the event at the node.
    first: StoreId,
    /// An event that reads otherwise than in the trace where the alternative was found; `first` reads from it.
    extra: Option<StoreId>,
    /// What these need, to be marked (line 9), in an order that respects causality, and where it was.
    needed: Box<[(Pos, StoreId)]>,
    /// Operations on chained locations that are postponed by it: see `awaits`.
    postponed: SmallVec<[OpName; 1]>,
}

/// A set that is nearly always small.
#[derive(Debug, Default)]
struct Seen {
    few: SmallVec<[Fingerprint; 2]>,
    many: Option<Box<FxHashSet<Fingerprint>>>,
}

/// Past so many members a set is hashed.
const FEW: usize = 16;

impl Seen {
    fn new(first: Fingerprint) -> Self {
        Self {
            few: SmallVec::from_elem(first, 1),
            many: None,
        }
    }

    fn contains(&self, print: Fingerprint) -> bool {
        match &self.many {
            None => self.few.contains(&print),
            Some(many) => many.contains(&print),
        }
    }

    fn insert(&mut self, print: Fingerprint) {
        if self.many.is_none() && self.few.len() < FEW {
            return self.few.push(print);
        }
        let many = self.many.get_or_insert_default();
        many.extend(self.few.drain(..));
        many.insert(print);
    }

    fn iter(&self) -> impl Iterator<Item = Fingerprint> {
        let many = self.many.iter().flat_map(|many| many.iter());
        self.few.iter().chain(many).copied()
    }
}

/// What is left to be explored from a prefix of the trace: `schedules(pre(τ', e))`.
#[derive(Debug)]
struct Node {
    /// How many events had been added to the trace before this one and what it needs.
    base: usize,
    /// If the event could have had to wait: the cell, and the update after which it updates the cell. All alternatives do
    /// that, apart from those of a chained location that read from elsewhere.
    update: Option<(Cell, Pos)>,
    /// The operation whose turn it was.
    op: OpName,
    /// Operations that are postponed by the alternative that is being explored.
    postponed: SmallVec<[OpName; 1]>,
    /// What was there to read from, when the event was new, for one that has a primary cell: all events before it that
    /// saturation let it read from.
    sources: SmallVec<[Pos; 4]>,
    /// What was explored here or will be, or was found inconsistent.
    seen: Seen,
    pending: Vec<Alternative>,
    /// How many ways to go on from here are behind us.
    explored: u32,
    /// Others may find alternatives here, too: who finds one first explores it.
    shared: Option<Arc<Junction>>,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            base: 0,
            update: None,
            op: (ThreadId::MAIN, 0),
            postponed: SmallVec::new(),
            sources: SmallVec::new(),
            seen: Seen::default(),
            pending: Vec::new(),
            explored: 0,
            shared: None,
        }
    }
}

impl Node {
    /// How many ways to go on from here are known.
    fn branches(&self) -> f64 {
        f64::from(self.explored) + 1.0 + self.pending.len() as f64
    }
}

fn note_spawn(spawned_by: &mut Vec<Pos>, child: ThreadId, pos: Pos) {
    if spawned_by.len() <= child.index() {
        spawned_by.resize(child.index() + 1, NO_EVENT);
    }
    spawned_by[child.index()] = pos;
}

/// The state of the exploration.
pub(crate) struct Search {
    machine: Machine,
    trace: Trace,
    /// For each position of the trace.
    nodes: Vec<Node>,
    /// The machine before each event of the witness that it has run.
    marks: Vec<Mark>,
    /// Events of the trace that the witness lacks, in the order that they had in the last one.
    tail: Vec<Pos>,
    spawned_by: Vec<Pos>,
    /// Threads that may be able to go on, ascending; while an execution is extended.
    unfinished: Vec<ThreadId>,
    /// Events from here on are new since the last execution (line 6: in Ê).
    first_new: Pos,
    /// Events before `first_new` that are new in the versions they have: their writes have not been seen by anybody.
    renewed: SmallVec<[Pos; 2]>,
    choices: Vec<Box<[u32]>>,
    choice_ids: FxHashMap<Box<[u32]>, ChoiceId>,
    phases: Phases,
    awaits: Awaits,
    /// It is for another engine to go on ([`Listener::order_matters`]).
    gives_up: bool,
    /// The alternatives of the execution that has ended are known: the next one begins with one of those that are pending.
    is_between: bool,
    /// Nodes before this position are shared with others, if this search explores a piece, and what they have pending is for all.
    cut: usize,
    /// Something was found there.
    found_above: bool,
    /// A thread was left in a loop at the end of an execution.
    left_in_loop: bool,
    /// How much of the search the piece is.
    share: f64,
    company: Option<Box<Company>>,
    /// Buffers of `try_alternative`.
    guide: Vec<Pos>,
    moved: Vec<Pos>,
    /// Buffer of `place`.
    new_positions: Vec<Pos>,
    /// Buffer of `needed`.
    clock: Vec<u32>,
}

impl Search {
    pub(crate) fn new(program: &Program, reductions: Reductions) -> Self {
        let none: Box<[u32]> = Box::default();
        let mut trace = Trace::default();
        trace.codes.refresh(program.tables());
        trace.codes.add_choices(&none);
        Self {
            machine: Machine::new(program),
            trace,
            nodes: Vec::new(),
            marks: Vec::new(),
            tail: Vec::new(),
            spawned_by: Vec::new(),
            unfinished: Vec::new(),
            guide: Vec::new(),
            moved: Vec::new(),
            new_positions: Vec::new(),
            clock: Vec::new(),
            first_new: 0,
            renewed: SmallVec::new(),
            choices: vec![none.clone()],
            choice_ids: std::iter::once((none, 0)).collect(),
            phases: Phases::default(),
            awaits: Awaits::new(reductions),
            gives_up: false,
            is_between: false,
            cut: 0,
            found_above: false,
            left_in_loop: false,
            share: 1.0,
            company: None,
        }
    }

    /// Explores one execution of every class.
    pub(crate) fn run(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        loop {
            if !std::mem::take(&mut self.is_between) {
                self.extend(program, listener)?;
                if !self.is_over() {
                    listener.ended(program, &mut self.machine)?;
                }
                self.look_back(program, listener)?;
            }
            if self.gives_up {
                return ControlFlow::Continue(());
            }
            if self.awaits.is_outdated() {
                // Others would have to know.
                if self.company.is_some() {
                    return ControlFlow::Continue(());
                }
                self.restart(program, listener);
                continue;
            }
            if !self.backtrack(program, listener)? {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Has something been found that ends the exploration as it is?
    fn is_over(&self) -> bool {
        self.gives_up || self.awaits.is_outdated()
    }

    /// Finds the alternatives that the execution gives rise to.
    fn look_back(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        if !self.is_over() {
            self.left_in_loop |= self.leaves_in_loop(program);
            self.detect(program, listener)?;
            if self.may_close_barrier(program) {
                listener.order_matters();
            }
            listener.explored(|| self.fraction());
        }
        if self.gives_up {
            listener.order_matters();
        }
        if self.found_above {
            self.tell_found(program);
        }
        ControlFlow::Continue(())
    }

    /// How much of the tree of executions has been explored, if all ways to go on from a prefix were equally large: Knuth's
    /// estimate along the present path. It counts alternatives that will be found inconsistent, and misses those that later
    /// executions add.
    fn fraction(&self) -> f64 {
        let (mut share, mut explored) = (1.0, 0.0);
        for node in self.nodes.iter().skip(self.cut) {
            let branches = node.branches();
            explored += share * f64::from(node.explored) / branches;
            share /= branches;
        }
        // The execution that just ended.
        1.0 - self.share * (1.0 - explored - share)
    }

    /// How often each phase of the consistency check decided.
    pub(crate) fn phases(&self) -> Phases {
        self.phases
    }

    pub(crate) fn choice_id(&mut self, choices: &[u32]) -> ChoiceId {
        if let Some(&id) = self.choice_ids.get(choices) {
            return id;
        }
        let id = self.choices.len() as ChoiceId;
        self.choices.push(choices.into());
        self.trace.codes.add_choices(choices);
        self.choice_ids.insert(choices.into(), id);
        id
    }

    /// Takes notice of locations that the program has discovered.
    fn refresh(&mut self, program: &Program) {
        self.trace.codes.refresh(program.tables());
        if self.trace.cells.refresh(program.tables()) {
            self.lose_mixed(program);
            self.trace.rebuild(program);
        }
    }

    /// Lines 2-3: extends the execution until no thread can go on. Its new events are unmarked.
    fn extend(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        self.first_new = self.trace.len();
        self.unfinished.clear();
        self.awaits.forget_waiting();
        let threads = 0..self.machine.thread_count();
        self.unfinished.extend(threads.map(ThreadId::from_index));
        while let Some(thread) = self.choose(program) {
            let Some((before, end, mut event)) = self.perform(program, thread, &[]) else {
                break;
            };
            match self.spins(program, &event) {
                Some(Spin::Waits) => {
                    self.machine.undo_to(before.mark);
                    self.note_waiting(program, thread, before.state);
                    if self.awaits.is_outdated() {
                        break;
                    }
                    continue;
                }
                Some(Spin::Ends) => event.ends_thread = true,
                None => {
                    if self.takes_back(program, &event) {
                        self.gives_up = true;
                        break;
                    }
                }
            }
            self.append(program, event, before.mark);
            listener.stepped(program, &mut self.machine, thread, end)?;
        }
        ControlFlow::Continue(())
    }

    /// Has the machine do the next event of a thread. None if the exploration has to start anew.
    #[inline]
    fn perform(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        choices: &[u32],
    ) -> Option<(Before, StepEnd, Event)> {
        let before = Before::new(&self.machine, thread)?;
        let end = self.machine.step(program, thread, choices);
        self.refresh(program);
        if self.awaits.is_outdated() {
            self.machine.undo_to(before.mark);
            return None;
        }
        let parent = parent_of(&self.trace, &self.spawned_by, thread);
        let mut event = self
            .trace
            .observe(program, &mut self.machine, &before, &end, parent);
        if !self.machine.chosen().is_empty() {
            let chosen = self.machine.chosen().iter();
            let taken: SmallVec<[u32; 4]> = chosen.map(|chosen| chosen.taken).collect();
            event.choices = self.choice_id(&taken);
            event.branching = event::branching(program.op(before.state), &event);
        }
        event.fingerprint = self.trace.fingerprint(&event, None);
        Some((before, end, event))
    }

    /// A thread that can go on: one whose operation does not read if there is one, so that reads find all that they could
    /// read from in place; `main`, which often looks at what the others leave, after them.
    fn choose(&mut self, program: &Program) -> Option<ThreadId> {
        let mut reading = None;
        let mut position = 0;
        while let Some(&thread) = self.unfinished.get(position) {
            match self.machine.readiness(program, thread) {
                Readiness::Ready => {}
                Readiness::Waiting => {
                    position += 1;
                    continue;
                }
                // Threads that are not started yet are added when they are.
                Readiness::Ended(_) | Readiness::NotStarted => {
                    self.unfinished.remove(position);
                    continue;
                }
            }
            position += 1;
            if self.is_waiting(program, thread) {
                continue;
            }
            let state = self.machine.thread_state(thread)?;
            let op = program.op(state);
            if matches!(op, Op::Store { .. } | Op::Spawn { .. } | Op::Fence { .. }) {
                return Some(thread);
            }
            if reading.is_none_or(|first| first == ThreadId::MAIN) {
                reading = Some(thread);
            }
        }
        reading
    }

    /// Adds an event that the machine has done to the end of trace and witness.
    #[inline]
    fn append(&mut self, program: &Program, event: Event, mark: Mark) {
        let pos = self.trace.len();
        let update = match event.branching {
            Branching::Successor | Branching::Chained => event
                .primary
                .and_then(|cell| Some((cell, event.source(cell)?))),
            _ => None,
        };
        let node = Node {
            base: self.trace.added(),
            update,
            op: (event.thread, event.index),
            postponed: SmallVec::new(),
            sources: self.sources_of(program, &event),
            seen: Seen::new(event.fingerprint),
            pending: Vec::new(),
            explored: 0,
            shared: None,
        };
        self.note_spawns(&event, pos);
        self.trace.place(event);
        self.nodes.push(node);
        let consistent = self.trace.add(program, pos);
        debug_assert!(consistent, "what the machine does is consistent");
        self.trace.graph.emit(pos);
        self.marks.push(mark);
    }

    fn sources_of(&mut self, program: &Program, event: &Event) -> SmallVec<[Pos; 4]> {
        let mut sources = SmallVec::new();
        if event.branching == Branching::Chained
            && let Some(cell) = event.primary
        {
            let op = (event.thread, event.index);
            return self.chained_sources(program, op, cell, event.parent);
        }
        if event.branching == Branching::Reads
            && !event.is_block
            && let Some(cell) = event.primary
            && !event::is_mixed(program.tables(), cell)
        {
            let id = self.trace.cells.one(program.tables(), cell);
            let graph = &self.trace.graph;
            graph.readable(id, event.parent, |source| sources.push(source));
        }
        sources
    }

    fn note_spawns(&mut self, event: &Event, pos: Pos) {
        for child in event.spawned() {
            note_spawn(&mut self.spawned_by, child, pos);
            let place = self.unfinished.partition_point(|&other| other < child);
            self.unfinished.insert(place, child);
        }
    }

    /// Lines 12-15: goes to the last prefix from which there is something left to explore, and begins with it. False if there
    /// is none. Inconsistent alternatives are sorted out on the way (line 10, deferred).
    fn backtrack(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<(), bool> {
        while let Some(pos) = self.nodes.iter().rposition(|node| !node.pending.is_empty()) {
            self.cut(pos as Pos);
            let Some(mut node) = self.nodes.pop() else {
                break;
            };
            while let Some(alternative) = node.pending.pop() {
                if let Some(kept) = self.try_alternative(program, &alternative, node.base) {
                    node.postponed = alternative.postponed;
                    node.explored += 1;
                    self.nodes.push(node);
                    self.nodes
                        .resize_with(self.trace.len() as usize, Node::default);
                    self.run_witness(program, kept, listener)?;
                    return ControlFlow::Continue(true);
                }
            }
        }
        ControlFlow::Continue(false)
    }

    /// Removes the event at `pos` and all that were added after it; its node stays. The witness loses these events and all that
    /// come after the first of them there: those that stay are kept in `tail`.
    fn cut(&mut self, pos: Pos) {
        let graph = &self.trace.graph;
        let first = (pos..self.trace.len())
            .filter_map(|event| graph.ordered(event))
            .min()
            .unwrap_or(graph.order().len());
        self.moved.clear();
        self.moved.append(&mut self.tail);
        let before = graph.order()[first..].iter().chain(&self.moved).copied();
        self.tail.extend(before.filter(|&event| event < pos));
        self.trace.graph.retract_to(first);
        let base = self.nodes[pos as usize].base;
        self.trace.remove_to(base);
        self.trace.truncate(pos);
        self.nodes.truncate(pos as usize + 1);
    }

    /// Line 10: is the trace with this alternative consistent? If so, trace and witness are extended by it, and the result is
    /// how much of the witness is as before; if not, they are as before.
    fn try_alternative(
        &mut self,
        program: &Program,
        alternative: &Alternative,
        base: usize,
    ) -> Option<usize> {
        let pos = self.trace.len();
        let mark = self.trace.graph.mark();
        self.place(alternative);
        let count = self.trace.len() - pos - 1;
        let causal = (pos + 1..=pos + count).chain(std::iter::once(pos));
        let saturated = causal.clone().all(|pos| self.trace.add(program, pos));
        if !saturated {
            self.phases.saturation += 1;
            self.trace.remove_to(base);
            self.trace.truncate(pos);
            return None;
        }
        let graph = &mut self.trace.graph;
        let kept = graph.keepable(mark);
        self.moved.clear();
        self.moved.extend_from_slice(&graph.order()[kept..]);
        self.guide.clear();
        let old = self.moved.iter().chain(&self.tail).copied();
        self.guide.extend(old.chain(causal));
        graph.retract_to(kept);
        let Some(kept) = graph.complete_witness(&self.guide, &mut self.phases) else {
            for &event in &self.moved {
                graph.emit(event);
            }
            self.trace.remove_to(base);
            self.trace.truncate(pos);
            return None;
        };
        self.tail.clear();
        self.renewed.clear();
        self.renewed.push(pos);
        if alternative.extra.is_some() {
            self.renewed.push(pos + count);
        }
        Some(kept)
    }

    /// Has the machine run the witness, of which it keeps the first `kept` events.
    fn run_witness(
        &mut self,
        program: &mut Program,
        kept: usize,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        if let Some(&mark) = self.marks.get(kept) {
            self.machine.undo_to(mark);
            self.marks.truncate(kept);
            listener.undone(mark.steps());
        }
        for place in kept..self.trace.graph.order().len() {
            let pos = self.trace.graph.order()[place];
            let Event {
                thread, choices, ..
            } = *self.trace.event(pos);
            let mark = self.machine.mark();
            debug_assert_eq!(self.machine.readiness(program, thread), Readiness::Ready);
            let end = self
                .machine
                .step(program, thread, &self.choices[choices as usize]);
            self.marks.push(mark);
            self.check_run(program, pos);
            listener.stepped(program, &mut self.machine, thread, end)?;
        }
        self.refresh(program);
        ControlFlow::Continue(())
    }

    /// Takes over what the machine made of an event.
    fn check_run(&mut self, program: &Program, pos: Pos) {
        let event = self.trace.event_mut(pos);
        let after = self.machine.thread_state(event.thread);
        debug_assert_eq!(after, Some(event.after), "{event:?} was simulated rightly");
        if self.renewed.contains(&pos) {
            note_values(program, &mut self.machine, event);
        }
        for child in self.trace.event(pos).spawned() {
            note_spawn(&mut self.spawned_by, child, pos);
        }
    }

    /// Has this position alternatives that are to be looked for?
    fn is_open(&self, pos: Pos) -> bool {
        let event = self.trace.event(pos);
        !event.marked && event.branching != Branching::None
    }
}
