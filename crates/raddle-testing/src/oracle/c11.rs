//! All executions of a small program under the memory model of C, C++ and Rust, by brute force: what engine `graph` is compared with.
//!
//! A graph is extended by one operation of any thread at a time, with every write that it could read from and every place in the modification
//! order; what [`axioms::judge`] calls inconsistent is given up (consistency is closed under prefixes). Each graph is made in one order of its operations
//! only ([`GraphOptions::in_order`]).
//!
//! A graph is *final* if no thread can go on: each has ended, or waits for something else than what comes last in the modification order of what
//! it looks at. An operation that waits (a lock, a join, a read in a loop that comes to nothing: [`Spins`]) is no event while it does.
//! There may be older values with which it would go on; graphs in which it does are others.
//!
//! Data races are undefined behaviour, so graphs with a race are not continued, unless plain accesses are taken for relaxed ones.

use raddle_judge::ViolationKey;
use raddle_judge::ending::{self, is_complete};
use raddle_judge::replay::{Schedule, ScheduleStep, stop_of};
use raddle_judge::verdict::ViolationKind;
use raddle_memory::axioms::{
    self, Done, End, EventId, ExecutionGraph, Pasts, Place, PlainAccesses, Reads, Source,
};
use raddle_memory::{
    AccessMode, Ending, Machine, MemoryModel, Placed, Placement, RaceAccess, RaceInfo, Readiness,
    StepEnd,
};
use raddle_program::{Fault, LocId, ObjectId, Op, Program, SrcId, StateId, Stop, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Which reads wait for another value where the one that they get leads their thread back to the state in which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spins {
    /// None: every round is events. A loop that waits has then no end.
    AreEvents,
    Loads,
    /// Loads, compare-exchanges that fail, attempts to lock that fail.
    Reads,
}

#[derive(Clone, Copy, Debug)]
pub struct GraphOptions {
    pub plain: PlainAccesses,
    pub spins: Spins,
    /// Of operations that need not wait and read nothing, add one at once, and do not try what others could do before: each final graph has
    /// it. False: trust that argument not.
    pub at_once: bool,
    /// Make each graph in one order only: of the operations that it has next, that of the first thread. False: in every order, and give up what has
    /// been met before.
    pub in_order: bool,
    /// Give up when there are more graphs, final or not, consistent or not.
    pub most: usize,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self {
            plain: PlainAccesses::Race,
            spins: Spins::Reads,
            at_once: true,
            in_order: true,
            most: 1_000_000,
        }
    }
}

/// An operation: its thread, and how many the thread had done before.
pub type OperationId = (ThreadId, u32);

/// One operation of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalOperation {
    /// The local state before it.
    pub state: StateId,
    /// What it returned; 0 if it went wrong.
    pub value: Value,
    /// The operation whose write it read, for loads, updates and operations on synchronisation cells (of `CondRelease`: what its condition
    /// variable's cell held). None for initial contents and for everything else. None, too, for plain reads where plain accesses
    /// can race: happens-before says what they read.
    pub source: Option<OperationId>,
}

/// A graph, in a form that is the same however it was found, in one process and for one [`Program`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalGraph {
    /// By thread, ascending, all that it did. Threads that did nothing are left out.
    pub threads: Vec<(ThreadId, Vec<CanonicalOperation>)>,
    /// By place, ascending, what wrote it, in the modification order. Places that nobody wrote are left out. An operation on a
    /// synchronisation cell writes it as `sync_mode` says, `CondRelease` both its cells; begin and end of atomic blocks write
    /// [`Place::Blocks`]. Where plain accesses can race, plain writes are left out: happens-before orders them.
    pub modification: Vec<(Place, Vec<OperationId>)>,
}

/// How a final graph ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphEnd {
    Complete,
    Blocked,
    /// A thread went wrong in an operation (misuse, use after free). Who is to blame may depend on the order in which the graph was made, so
    /// such graphs need not be the same in an engine; the violations must be.
    Faulted,
}

#[derive(Clone, Debug, Default)]
pub struct FinalGraphs {
    pub graphs: BTreeMap<CanonicalGraph, GraphEnd>,
    pub violations: FxHashMap<ViolationKey, Witness>,
    /// All graphs that were met, final or not, consistent or not.
    pub prefixes: usize,
}

/// A violation, and the first execution that was found to show it.
#[derive(Clone, Debug)]
pub struct Witness {
    pub kind: ViolationKind,
    pub thread: ThreadId,
    pub schedule: Schedule,
}

/// A final graph.
pub struct FinalGraph {
    pub end: GraphEnd,
    /// How to run it again.
    pub schedule: Schedule,
}

impl FinalGraphs {
    /// How many final graphs end like this?
    #[must_use]
    pub fn count(&self, end: GraphEnd) -> usize {
        self.graphs.values().filter(|&&other| other == end).count()
    }

    /// What is wrong, without how it is shown.
    #[must_use]
    pub fn violation_keys(&self) -> FxHashSet<ViolationKey> {
        self.violations.keys().cloned().collect()
    }

    #[must_use]
    pub fn has_race(&self) -> bool {
        let mut violations = self.violations.keys();
        violations.any(|key| matches!(key, ViolationKey::Race(..)))
    }
}

/// All final graphs of a program; none if there are too many, or if accesses of several sizes meet.
pub fn final_graphs(program: &mut Program, options: &GraphOptions) -> Option<FinalGraphs> {
    for_each_final_graph(program, options, |_, _, _| {})
}

/// The same; calls `end` with each of them. The machine holds what comes last in the modification orders.
pub fn for_each_final_graph(
    program: &mut Program,
    options: &GraphOptions,
    mut end: impl FnMut(&mut Program, &mut Machine, &FinalGraph),
) -> Option<FinalGraphs> {
    let rule = program.tables().release_sequences;
    let mut walk = Walk {
        options: *options,
        machine: Machine::with_model(program, MemoryModel::C11),
        graph: ExecutionGraph::new(rule, options.plain),
        pasts: Pasts::default(),
        operations: Vec::new(),
        of_event: Vec::new(),
        counts: Vec::new(),
        seen: FxHashSet::default(),
        met: 0,
        found: FinalGraphs::default(),
        end: &mut end,
    };
    walk.arrived(program, ThreadId::MAIN);
    walk.visit(program)?;
    walk.found.prefixes = walk.met;
    Some(walk.found)
}

/// An operation that was done.
#[derive(Clone, Copy, Debug)]
struct Operation {
    thread: ThreadId,
    index: u32,
    state: StateId,
    value: Value,
    source: Source,
    after: Source,
    choice: Option<u32>,
    wrote: Option<Value>,
    gave_up: Option<Value>,
}

/// A way to do the next operation of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    choice: Option<u32>,
    source: Source,
    found: Option<Value>,
    after: Source,
    is_old: bool,
    freed: Option<ObjectId>,
}

fn does_without_others(op: Op) -> bool {
    matches!(
        op,
        Op::Store { .. }
            | Op::Fence { .. }
            | Op::Spawn { .. }
            | Op::Alloc { .. }
            | Op::Free { .. }
            | Op::Choice { .. }
            | Op::AtomicEnd
    )
}

/// The thread that an operation is about.
fn thread_of(op: Op) -> Option<ThreadId> {
    match op {
        Op::Spawn { child, .. } => Some(child),
        Op::Join { thread } | Op::Detach { thread } => Some(thread),
        _ => None,
    }
}

struct Walk<'a> {
    options: GraphOptions,
    machine: Machine,
    graph: ExecutionGraph,
    pasts: Pasts,
    operations: Vec<Operation>,
    /// By event of the graph, its operation.
    of_event: Vec<usize>,
    /// By thread, how many operations it has done.
    counts: Vec<u32>,
    seen: FxHashSet<CanonicalGraph>,
    met: usize,
    found: FinalGraphs,
    end: &'a mut dyn FnMut(&mut Program, &mut Machine, &FinalGraph),
}

impl Walk<'_> {
    /// Explores all graphs that contain the present one. None: too many.
    fn visit(&mut self, program: &mut Program) -> Option<()> {
        if self.met > self.options.most || program.tables().has_mixed_sizes() {
            return None;
        }
        let threads: Vec<ThreadId> = ending::threads(&self.machine).collect();
        if self.options.at_once {
            let needs_nobody = |&thread: &ThreadId| self.needs_nobody(program, thread);
            if let Some(thread) = threads.iter().copied().find(needs_nobody) {
                return self.extend(program, thread);
            }
        }
        for thread in threads {
            self.extend(program, thread)?;
        }
        if self.is_final(program) && self.is_execution(program) {
            self.leaf(program);
        }
        Some(())
    }

    /// The thread's next operation, if it has one.
    fn next_op(&self, program: &Program, thread: ThreadId) -> Option<Op> {
        let op = *program.op(self.machine.thread_state(thread)?);
        (!op.is_terminal()).then_some(op)
    }

    /// Does it neither read nor wait, nor go wrong because of what others do?
    fn needs_nobody(&self, program: &Program, thread: ThreadId) -> bool {
        self.next_op(program, thread)
            .is_some_and(does_without_others)
            && !self.machine.has_faulted(thread)
    }

    fn extend(&mut self, program: &mut Program, thread: ThreadId) -> Option<()> {
        let Some(op) = self.next_op(program, thread) else {
            return Some(());
        };
        for way in self.ways(program, thread, op) {
            if self.options.in_order && self.comes_late(program, thread, op, way) {
                continue;
            }
            let mark = self.machine.mark();
            let length = self.graph.events.len();
            if self.go(program, thread, op, way) {
                self.visit(program)?;
            }
            if self.machine.steps().len() > mark.steps() {
                self.machine.undo_to(mark);
                self.operations.pop();
                self.counts[thread.index()] -= 1;
                self.graph.truncate(length);
                self.of_event.truncate(length);
                self.pasts.truncate(length);
            }
        }
        Some(())
    }

    /// Could the operation have been done before one of a later thread, so that the graph is made in that order? Operations that are done at once come
    /// before all others, whoever does them.
    fn comes_late(&self, program: &Program, thread: ThreadId, op: Op, way: Way) -> bool {
        if self.options.at_once && does_without_others(op) {
            return false;
        }
        let source = way.source.map(|event| self.of_event[event]);
        let about = thread_of(op);
        for (index, earlier) in self.operations.iter().enumerate().rev() {
            let op = *program.op(earlier.state);
            let is_needed = earlier.thread == thread
                || source == Some(index)
                || about == Some(earlier.thread)
                || thread_of(op).is_some_and(|other| other == thread || Some(other) == about);
            if is_needed {
                return false;
            }
            let at_once = self.options.at_once && does_without_others(op);
            if !at_once && earlier.thread > thread {
                return true;
            }
        }
        false
    }

    // ---- ways to do an operation

    fn ways(&mut self, program: &mut Program, thread: ThreadId, op: Op) -> Vec<Way> {
        let tables = program.tables();
        let object = match op {
            Op::Load { loc, .. }
            | Op::Store { loc, .. }
            | Op::Rmw { loc, .. }
            | Op::Cas { loc, .. }
            | Op::Sync { cell: loc, .. } => Some(tables.loc_info(loc).object),
            Op::Free { object } => Some(object),
            _ => None,
        };
        if let Some(object) = object
            && self.is_freed(object, thread)
        {
            return vec![Way {
                freed: Some(object),
                ..Way::default()
            }];
        }
        match op {
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                let mut ways = self.sources(program, loc);
                ways.retain(|way| !self.spins(program, thread, op, way.found.unwrap_or(0)));
                ways
            }
            Op::Sync { cell, .. } => {
                let mut ways = self.sources(program, cell);
                ways.retain(|way| !self.tries_in_vain(program, thread, op, way));
                ways
            }
            Op::Store { loc, .. } => {
                let order = self.order(Place::Loc(loc));
                let last = order.last().copied();
                let places = std::iter::once(None).chain(order.into_iter().map(Some));
                let way = |after| Way {
                    after,
                    is_old: after != last,
                    ..Way::default()
                };
                places.map(way).collect()
            }
            Op::AtomicBegin | Op::AtomicEnd => vec![Way {
                source: self.graph.last_write(Place::Blocks),
                ..Way::default()
            }],
            Op::Choice { count, .. } => {
                let way = |choice| Way {
                    choice: Some(choice),
                    ..Way::default()
                };
                (0..count).map(way).collect()
            }
            _ => vec![Way::default()],
        }
    }

    fn order(&self, place: Place) -> Vec<EventId> {
        self.graph
            .modification
            .get(&place)
            .cloned()
            .unwrap_or_default()
    }

    /// Every write of a location or cell, the initial one first.
    fn sources(&self, program: &Program, loc: LocId) -> Vec<Way> {
        let order = self.order(Place::Loc(loc));
        let last = order.last().copied();
        let sources = std::iter::once(None).chain(order.into_iter().map(Some));
        let way = |source: Source| Way {
            source,
            after: source,
            found: Some(match source {
                Some(event) => self.value_written(program, event, loc),
                None => Machine::initial_value(program.tables(), loc),
            }),
            is_old: source != last,
            ..Way::default()
        };
        sources.map(way).collect()
    }

    /// What an event wrote to a location or cell.
    fn value_written(&self, program: &Program, event: EventId, loc: LocId) -> Value {
        let operation = &self.operations[self.of_event[event]];
        match *program.op(operation.state) {
            Op::Sync { cell, .. } if cell != loc => operation.gave_up.unwrap_or(0),
            _ => operation.wrote.unwrap_or(0),
        }
    }

    fn is_freed(&self, object: ObjectId, thread: ThreadId) -> bool {
        let free = axioms::EventKind::Free(object);
        let events = self.graph.events.iter().enumerate();
        let mut frees = events.filter(|(_, event)| event.kind == free);
        frees.any(|(id, _)| self.pasts.is_known(id, thread))
    }

    /// Does the operation, a read, wait for another value?
    fn spins(&self, program: &mut Program, thread: ThreadId, op: Op, value: Value) -> bool {
        let reads = match op {
            Op::Load { .. } => self.options.spins != Spins::AreEvents,
            Op::Cas { expected, .. } => self.options.spins == Spins::Reads && value != expected,
            Op::Sync { action, .. } => {
                let mode = raddle_memory::access::sync_mode(action, value);
                self.options.spins == Spins::Reads && action.is_try() && mode == AccessMode::Read
            }
            _ => false,
        };
        let state = self.machine.thread_state(thread);
        reads && state.is_some_and(|state| program.after(state, value) == state)
    }

    fn tries_in_vain(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        op: Op,
        way: &Way,
    ) -> bool {
        let (Op::Sync { cell, action }, Some(stored)) = (op, way.found) else {
            return false;
        };
        let word = self
            .machine
            .known_word(program.tables(), cell, action, stored);
        let value = self.machine.outcome(word, action, thread);
        value.is_some_and(|value| self.spins(program, thread, op, value))
    }

    // ---- doing it

    /// Does the operation, and says whether to go on from there.
    fn go(&mut self, program: &mut Program, thread: ThreadId, op: Op, way: Way) -> bool {
        let Some(state) = self.machine.thread_state(thread) else {
            return false;
        };
        let placement = Placement {
            choices: way.choice.as_slice(),
            found: way.found,
            is_old: way.is_old,
            freed: way.freed,
        };
        let Some(placed) = self.machine.place(program, thread, placement) else {
            return false;
        };
        let Placed { end, value, .. } = placed;
        let done = Done {
            thread,
            value,
            end: match end {
                StepEnd::Done | StepEnd::EndlessBlock => End::Done,
                StepEnd::Fault(Fault::UseAfterFree { .. } | Fault::DoubleFree { .. }) => End::Freed,
                StepEnd::Fault(_) => End::Misused,
            },
        };
        let tables = program.tables();
        let info = |loc| *tables.loc_info(loc);
        self.graph
            .push(info, &op, done, Reads::One(way.source), way.after);
        if self.counts.len() <= thread.index() {
            self.counts.resize(thread.index() + 1, 0);
        }
        self.of_event
            .resize(self.graph.events.len(), self.operations.len());
        self.operations.push(Operation {
            thread,
            index: self.counts[thread.index()],
            state,
            value,
            source: way.source,
            after: way.after,
            choice: way.choice,
            wrote: placed.wrote,
            gave_up: placed.gave_up,
        });
        self.counts[thread.index()] += 1;
        self.pasts.follow(&self.graph);
        self.met += 1;
        // What was met before has been explored, or given up.
        let is_new = self.options.in_order || self.seen.insert(self.canonical(program, false));
        if !is_new || !self.may_go_on(program, op, way) {
            return false;
        }
        if let StepEnd::Fault(fault) = end {
            self.report(ViolationKind::Fault(fault), thread, program.at(state));
        }
        self.arrived(program, thread);
        if let Op::Spawn { child, .. } = op {
            self.arrived(program, child);
        }
        true
    }

    /// Is the graph consistent, and free of races, as far as it was looked at? Of an operation that comes last in memory and is not plain, that is found out where
    /// the graph is final, or something is wrong in it.
    fn may_go_on(&mut self, program: &Program, op: Op, way: Way) -> bool {
        let is_free = matches!(op, Op::Free { .. });
        let looks = !self.options.in_order || way.is_old || op.is_plain() || is_free;
        !looks || self.is_execution(program)
    }

    /// Is the graph consistent, and free of races?
    fn is_execution(&mut self, program: &Program) -> bool {
        let Ok(judged) = axioms::judge(&self.graph) else {
            return false;
        };
        let races = axioms::data_races(&self.graph, &judged.happens_before);
        for &(first, second) in &races {
            let (first, second) = (self.side(program, first), self.side(program, second));
            let (thread, at) = (second.thread, second.at);
            self.report(ViolationKind::Race(RaceInfo { first, second }), thread, at);
        }
        races.is_empty()
    }

    fn side(&self, program: &Program, event: EventId) -> RaceAccess {
        let step = self.of_event[event];
        let Operation { thread, state, .. } = self.operations[step];
        RaceAccess {
            thread,
            state,
            at: program.at(state),
            step,
        }
    }

    fn report(&mut self, kind: ViolationKind, thread: ThreadId, at: SrcId) {
        let key = ViolationKey::new(&kind, at);
        let is_execution = || axioms::judge(&self.graph).is_ok();
        if !self.found.violations.contains_key(&key) && is_execution() {
            let schedule = self.schedule();
            let witness = Witness {
                kind,
                thread,
                schedule,
            };
            self.found.violations.insert(key, witness);
        }
    }

    /// How to run the present graph again.
    fn schedule(&self) -> Schedule {
        let number = |event: EventId| self.of_event[event] as u32;
        let step = |operation: &Operation| ScheduleStep::Place {
            thread: operation.thread,
            choices: operation.choice.into_iter().collect(),
            reads: operation.source.map(number),
            after: operation.after.map(number),
        };
        Schedule {
            memory: MemoryModel::C11,
            steps: self.operations.iter().map(step).collect(),
        }
    }

    /// The thread is in a state in which it may have stopped at a fault.
    fn arrived(&mut self, program: &Program, thread: ThreadId) {
        if let (Some(state), Some(Stop::Fault(fault))) = (
            self.machine.thread_state(thread),
            stop_of(program, &self.machine, thread),
        ) {
            let kind = ViolationKind::Fault(fault.clone());
            self.report(kind, thread, program.at(state));
        }
    }

    // ---- ends

    fn is_final(&mut self, program: &mut Program) -> bool {
        let threads: Vec<ThreadId> = ending::threads(&self.machine).collect();
        threads.into_iter().all(|thread| {
            match self.machine.readiness(program, thread) {
                Readiness::Waiting | Readiness::Ended(_) | Readiness::NotStarted => return true,
                Readiness::Ready => {}
            }
            let Some(op) = self.next_op(program, thread) else {
                return true;
            };
            match op {
                Op::AtomicBegin => self.machine.is_any_in_block(program),
                Op::Load { loc, .. } | Op::Cas { loc, .. } => {
                    let last = self.machine.peek(program.tables(), loc);
                    self.spins(program, thread, op, last)
                }
                Op::Sync { cell, .. } => {
                    let way = Way {
                        found: Some(self.machine.peek(program.tables(), cell)),
                        ..Way::default()
                    };
                    self.tries_in_vain(program, thread, op, &way)
                }
                _ => false,
            }
        })
    }

    fn leaf(&mut self, program: &mut Program) {
        let complete = is_complete(program, &mut self.machine);
        if !complete && let Some(waiting) = ending::deadlock(program, &mut self.machine) {
            let (thread, at) = (waiting[0].thread, waiting[0].at);
            self.report(ViolationKind::Deadlock { waiting }, thread, at);
        }
        let threads: Vec<ThreadId> = ending::threads(&self.machine).collect();
        let faulted = threads.into_iter().any(|thread| {
            let readiness = self.machine.readiness(program, thread);
            readiness == Readiness::Ended(Ending::Faulted)
        });
        let end = match (faulted, complete) {
            (true, _) => GraphEnd::Faulted,
            (false, true) => GraphEnd::Complete,
            (false, false) => GraphEnd::Blocked,
        };
        let hides_plain = self.options.plain == PlainAccesses::Race;
        let graph = self.canonical(program, hides_plain);
        self.found.graphs.insert(graph, end);
        let schedule = self.schedule();
        (self.end)(program, &mut self.machine, &FinalGraph { end, schedule });
    }

    // ---- the form

    fn canonical(&self, program: &Program, hides_plain: bool) -> CanonicalGraph {
        let mut threads: BTreeMap<ThreadId, Vec<CanonicalOperation>> = BTreeMap::new();
        let name = |event: EventId| {
            let operation = &self.operations[self.of_event[event]];
            (operation.thread, operation.index)
        };
        let is_plain = |state: StateId| hides_plain && program.op(state).is_plain();
        for operation in &self.operations {
            let reads = matches!(
                program.op(operation.state),
                Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } | Op::Sync { .. }
            );
            let told = reads && !is_plain(operation.state);
            let source = operation.source.filter(|_| told).map(name);
            threads
                .entry(operation.thread)
                .or_default()
                .push(CanonicalOperation {
                    state: operation.state,
                    value: operation.value,
                    source,
                });
        }
        let mut modification = Vec::new();
        for (&place, order) in &self.graph.modification {
            let told = |&&event: &&EventId| {
                let operation = &self.operations[self.of_event[event]];
                !is_plain(operation.state)
            };
            let order: Vec<OperationId> = order.iter().filter(told).map(|&e| name(e)).collect();
            if !order.is_empty() {
                modification.push((place, order));
            }
        }
        CanonicalGraph {
            threads: threads.into_iter().collect(),
            modification,
        }
    }
}
