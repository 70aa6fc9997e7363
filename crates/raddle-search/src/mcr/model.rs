//! The maximal causal model of an execution, as data: what the solver is told. No program is needed to work with it, so
//! models are solved by any number of workers.
//!
//! Section 3.2 of the paper: the events of the trace in program order, spawns before the spawned, ends before joins, and for
//! each read the values it may get so that its thread goes on as it did. Locks are cells like others: taking one reads that
//! it is free.

use super::can_await;
use super::observe::{Acquires, Cell, Event, How, Read, Releases, initial};
use super::paths::{Class, Node, Paths, Vector};
use super::plain::is_weak;
use crate::purity::{Attempt, completes_iteration};
use raddle_memory::Machine;
use raddle_memory::cells::life::ALIVE;
use raddle_memory::sync::SyncStep;
use raddle_program::{
    LocId, Op, Program, ReleaseSequences, SrcId, StateId, Stop, SyncAction, ThreadId, Value,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// An event, by its place in the execution.
pub(super) type Index = u32;

/// Another class that a read may be made to have.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) class: Class,
    /// The values of this class.
    pub(super) values: Vec<Value>,
    /// The thread would commit a fault then.
    pub(super) is_fault: bool,
    /// The event may write something then: nothing that is known may come after it.
    pub(super) may_write: bool,
    /// A cell that the event has not looked at, and what must be there so that the event need not wait then.
    pub(super) goes_on_with: Option<(u32, Vec<Value>)>,
}

#[derive(Clone, Debug)]
pub(super) struct ModelRead {
    /// None: nobody but its thread writes there, or it is a choice.
    pub(super) cell: Option<u32>,
    /// The values with which its thread goes on as it did.
    pub(super) allowed: Vec<Value>,
    pub(super) targets: Vec<Target>,
    /// The path before the read.
    pub(super) before: Node,
    pub(super) is_choice: bool,
    /// The event by which its thread learns what the write released.
    pub(super) acquired_by: Option<Index>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ModelWrite {
    pub(super) cell: u32,
    /// It releases what happened before this event, and that.
    pub(super) releases: Option<Index>,
    /// See [`super::observe::Write::continues`].
    pub(super) continues: bool,
}

/// When a thread cannot do its next event.
#[derive(Clone, Debug)]
pub(super) enum Waits {
    Never,
    /// While these cells hold one of these values.
    While(Vec<(u32, Vec<Value>)>),
    /// Until this event, the last of a thread, has happened; for good if there is none.
    Until(Option<Index>),
}

#[derive(Clone, Debug)]
pub(super) struct ModelEvent {
    pub(super) thread: u32,
    /// The event before it in its thread; the spawn for a first event.
    pub(super) parent: Option<Index>,
    /// The last events of threads that it joins.
    pub(super) after: Vec<Index>,
    pub(super) reads: Vec<ModelRead>,
    /// Only cells that several threads access.
    pub(super) writes: Vec<ModelWrite>,
    pub(super) is_block: bool,
    /// What it accesses depends on what it reads.
    pub(super) is_conditional: bool,
    pub(super) choices: Vec<u32>,
    pub(super) waits: Waits,
    /// The length of its thread's path before and after it.
    pub(super) depth: (u32, u32),
}

#[derive(Clone, Debug, Default)]
pub(super) struct ModelCell {
    pub(super) initial: Value,
    /// In the order of the execution.
    pub(super) writes: Vec<(Index, Value)>,
}

/// Two accesses that race if nothing orders them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) first: Index,
    pub(super) second: Index,
    /// Their places, the smaller first.
    pub(super) at: (SrcId, SrcId),
    /// What one of them does depends on what its event reads.
    pub(super) is_conditional: bool,
}

pub(super) struct Model {
    /// In the order of the execution.
    pub(super) events: Vec<ModelEvent>,
    /// What threads that wait at the end wait to do.
    pub(super) pending: Vec<ModelEvent>,
    pub(super) cells: Vec<ModelCell>,
    pub(super) vector: Vector,
    pub(super) pairs: Vec<Pair>,
    /// Some operation lets a thread know of another without being ordered after it.
    pub(super) is_weak: bool,
}

/// What a thread was doing since it last changed something: states that a pure iteration would come back to.
#[derive(Default)]
struct PureRun {
    states: Vec<StateId>,
}

/// Everything that a model is made from.
pub(super) struct Builder<'a> {
    pub(super) program: &'a mut Program,
    pub(super) machine: &'a mut Machine,
    pub(super) paths: &'a mut Paths,
    /// Threads wait instead of completing pure iterations.
    pub(super) awaits: bool,
    pub(super) races: bool,
}

#[derive(Default)]
struct Cells {
    ids: FxHashMap<Cell, u32>,
    cells: Vec<ModelCell>,
    /// The only thread that accesses the cell, or none.
    owner: Vec<Option<ThreadId>>,
    /// All values that the cell has at some time, each once.
    values: Vec<Vec<Value>>,
}

impl Cells {
    fn note(&mut self, program: &Program, cell: Cell, thread: ThreadId) -> u32 {
        let next = self.cells.len() as u32;
        let id = *self.ids.entry(cell).or_insert(next);
        if id == next {
            self.cells.push(ModelCell {
                initial: initial(program.tables(), cell),
                writes: Vec::new(),
            });
            self.owner.push(Some(thread));
        } else if self.owner[id as usize] != Some(thread) {
            self.owner[id as usize] = None;
        }
        id
    }

    /// All events are noted.
    fn complete(&mut self) {
        self.values = self
            .cells
            .iter()
            .map(|cell| values_of(cell, None))
            .collect();
    }

    /// All values that a cell has at some time, each once, but for what the event `own` writes there.
    fn values_for(&self, cell: u32, event: &Event, own: Option<Index>) -> Cow<'_, [Value]> {
        if own.is_some() && !event.writes.is_empty() {
            Cow::Owned(values_of(&self.cells[cell as usize], own))
        } else {
            Cow::Borrowed(&self.values[cell as usize])
        }
    }

    /// The number of a cell that several threads access.
    fn shared(&self, cell: Cell) -> Option<u32> {
        let id = *self.ids.get(&cell)?;
        self.owner[id as usize].is_none().then_some(id)
    }
}

impl Builder<'_> {
    /// The model of an execution. `pending` are the events that waiting threads would do.
    pub(super) fn build(mut self, events: &[Event], pending: &[Event]) -> Model {
        let mut cells = Cells::default();
        for (index, event) in events.iter().enumerate() {
            for cell in event.reads.iter().filter_map(|read| read.cell) {
                cells.note(self.program, cell, event.thread);
            }
            for write in &event.writes {
                let id = cells.note(self.program, write.cell, event.thread);
                let writes = &mut cells.cells[id as usize].writes;
                writes.push((index as Index, write.value));
            }
            if let Some(unseen) = self.unseen(event) {
                let id = cells.note(self.program, unseen.word, event.thread);
                cells.owner[id as usize] = None;
            }
        }
        for event in pending {
            for cell in event.reads.iter().filter_map(|read| read.cell) {
                cells.note(self.program, cell, event.thread);
            }
        }
        cells.complete();
        let mut state = Building {
            last: FxHashMap::default(),
            spawned_by: FxHashMap::default(),
            ended_by: FxHashMap::default(),
            nodes: Vec::new(),
            pure_run: FxHashMap::default(),
            fences: FxHashMap::default(),
            released: FxHashMap::default(),
            relaxed: Vec::new(),
        };
        let mut model = Model {
            events: Vec::with_capacity(events.len()),
            pending: Vec::new(),
            cells: Vec::new(),
            vector: Vector::default(),
            pairs: Vec::new(),
            is_weak: false,
        };
        for (index, event) in events.iter().enumerate() {
            let built = self.event(&cells, &mut state, event, Some(index as Index));
            model.events.push(built);
        }
        for &(_, event, read, fence) in &state.relaxed {
            model.events[event as usize].reads[read].acquired_by = fence;
        }
        for event in pending {
            let built = self.event(&cells, &mut state, event, None);
            model.pending.push(built);
        }
        if self.races {
            model.pairs = self.pairs(events);
            let mut steps = self.machine.steps().iter();
            model.is_weak = steps.any(|step| is_weak(self.program.op(step.state), step.value));
        }
        model.vector = trimmed(state.nodes.into_iter().map(Vec::into_boxed_slice).collect());
        model.cells = cells.cells;
        model
    }

    fn event(
        &mut self,
        cells: &Cells,
        state: &mut Building,
        event: &Event,
        index: Option<Index>,
    ) -> ModelEvent {
        let thread = event.thread;
        while state.nodes.len() <= thread.index() {
            state.nodes.push(Vec::new());
        }
        let parent = state.last.get(&thread).copied();
        let parent = parent.or_else(|| state.spawned_by.get(&thread).copied());
        let start = state.nodes[thread.index()].len() as u32;
        let mut pure_run = std::mem::take(state.pure_run.entry(thread).or_default());
        let mut node = match state.nodes[thread.index()].last() {
            Some(&node) => node,
            None => self.paths.root(thread.index()),
        };
        let mut reads = Vec::with_capacity(event.reads.len());
        for read in &event.reads {
            reads.push(self.read(cells, event, read, node, &pure_run, index));
            if index.is_some() {
                let class = self.class(event, read.how, read.value);
                node = self.paths.child(node, class);
                state.nodes[thread.index()].push(node);
            }
        }
        let waits = self.waits(cells, state, event, &pure_run);
        if let Some(index) = index {
            state.last.insert(thread, index);
            for &child in &event.spawns {
                state.spawned_by.insert(child, index);
            }
            for write in &event.writes {
                if let Cell::End(ended) = write.cell {
                    state.ended_by.insert(ended, index);
                }
            }
            self.note_fences(state, event, index);
            if event.is_pure {
                pure_run.states.push(event.state);
            } else {
                pure_run.states.clear();
            }
        }
        state.pure_run.insert(thread, pure_run);
        let joined = event.joins.iter();
        let sequences = self.program.tables().release_sequences;
        let begun = |loc: Option<LocId>| match sequences {
            ReleaseSequences::UpdatesOnly => None,
            ReleaseSequences::SameThread => state.released.get(&(thread, loc?)).copied(),
        };
        let model = ModelEvent {
            thread: thread.0,
            parent,
            after: joined
                .filter_map(|joined| state.ended_by.get(joined).copied())
                .collect(),
            reads,
            writes: event
                .writes
                .iter()
                .filter_map(|write| {
                    Some(ModelWrite {
                        cell: cells.shared(write.cell)?,
                        releases: match write.releases {
                            Releases::Nothing => None,
                            Releases::All => index,
                            // The later one releases what the earlier one does.
                            Releases::Fence => {
                                state.fences.get(&thread).copied().max(begun(write.loc))
                            }
                        },
                        continues: write.continues,
                    })
                })
                .collect(),
            is_block: event.is_block,
            is_conditional: event.is_block
                || matches!(self.program.op(event.state), Op::Cas { .. }),
            choices: event.choices.clone(),
            waits,
            depth: (start, start + event.reads.len() as u32),
        };
        for write in &event.writes {
            if let (Releases::All, Some(loc), Some(index)) = (write.releases, write.loc, index) {
                state.released.insert((thread, loc), index);
            }
        }
        model
    }

    /// Fences make relaxed accesses of their thread acquire and release.
    fn note_fences(&self, state: &mut Building, event: &Event, index: Index) {
        for (position, read) in event.reads.iter().enumerate() {
            if read.acquires == Acquires::AtFence {
                state.relaxed.push((event.thread, index, position, None));
            }
        }
        for step in event.steps.clone() {
            let Op::Fence { order } = *self.program.op(self.machine.steps()[step].state) else {
                continue;
            };
            if order.acquires() {
                for (thread, _, _, fence) in &mut state.relaxed {
                    if *thread == event.thread {
                        fence.get_or_insert(index);
                    }
                }
            }
            if order.releases() {
                state.fences.insert(event.thread, index);
            }
        }
    }

    /// What a read may read, and what it might have read instead.
    fn read(
        &mut self,
        cells: &Cells,
        event: &Event,
        read: &Read,
        before: Node,
        pure_run: &PureRun,
        index: Option<Index>,
    ) -> ModelRead {
        let mut model = ModelRead {
            cell: None,
            allowed: vec![read.value],
            targets: Vec::new(),
            before,
            is_choice: matches!(read.how, How::Choice(_)),
            acquired_by: index.filter(|_| read.acquires == Acquires::Now),
        };
        let values: Cow<'_, [Value]> = match (read.cell, read.how) {
            (_, How::Choice(count)) => (0..u64::from(count)).collect(),
            (Some(cell), _) => match cells.shared(cell) {
                Some(id) => {
                    model.cell = Some(id);
                    cells.values_for(id, event, index)
                }
                None => return model,
            },
            (None, _) => return model,
        };
        // An event that waits has no class yet, but for what it read before it had to wait.
        let has_class = index.is_some() || matches!(read.how, How::Exact(None));
        let own = has_class.then(|| self.class(event, read.how, read.value));
        for &value in &*values {
            if value == read.value && own.is_some() {
                continue;
            }
            if self.would_wait(event, read.how, value, pure_run) {
                continue;
            }
            let class = self.class(event, read.how, value);
            if Some(class) == own {
                model.allowed.push(value);
                continue;
            }
            match model
                .targets
                .iter_mut()
                .find(|target| target.class == class)
            {
                Some(target) => target.values.push(value),
                None => {
                    let is_fault = self.is_fault(event, read.how, value);
                    let may_write = match class {
                        Class::State(_) => false,
                        Class::Update(..) | Class::Rewrite(..) => true,
                        Class::Exact(_) => !matches!(self.program.op(event.state), Op::Load { .. }),
                    };
                    model.targets.push(Target {
                        class,
                        values: vec![value],
                        is_fault,
                        may_write,
                        goes_on_with: None,
                    });
                }
            }
        }
        let unseen = self.unseen(event).filter(|_| !model.targets.is_empty());
        if let Some((id, unseen)) = unseen.and_then(|it| Some((cells.shared(it.word)?, it))) {
            let values = cells.values[id as usize].iter().copied();
            let goes_on = values.filter(|&value| !self.waits_with(event, &unseen, value));
            let goes_on: Vec<Value> = goes_on.collect();
            for target in &mut model.targets {
                target.goes_on_with = Some((id, goes_on.clone()));
            }
        }
        model
    }

    /// What an operation has not looked at because it found its synchronisation object dead. If that had been alive, the thread might have had to wait.
    fn unseen(&self, event: &Event) -> Option<Unseen> {
        let Op::Sync { cell: loc, action } = *self.program.op(event.state) else {
            return None;
        };
        let word = Cell::Whole(self.program.tables().loc_info(loc).arena, 8);
        let mut reads = event.reads.iter();
        (!reads.any(|read| read.cell == Some(word))).then_some(Unseen { word, loc, action })
    }

    fn waits_with(&mut self, event: &Event, unseen: &Unseen, value: Value) -> bool {
        let &Unseen { loc, action, .. } = unseen;
        let tables = self.program.tables();
        let word = self.machine.known_word(tables, loc, action, value);
        self.machine.would_wait(word, action, event.thread)
    }

    /// The class of a value that the read does not have to wait with.
    fn class(&mut self, event: &Event, how: How, value: Value) -> Class {
        match how {
            How::Exact(_) | How::Choice(_) => Class::Exact(value),
            How::Access(state) => {
                let written = self.program.op(state).written(self.program.tables(), value);
                let next = self.program.after(state, value).0;
                match written {
                    // It may be part of a pure iteration, unlike one that changes something.
                    Some(written) if written == value => Class::Rewrite(next, written),
                    Some(written) => Class::Update(next, written),
                    None => Class::State(next),
                }
            }
            How::Sync(state, loc, action) => {
                let tables = self.program.tables();
                let word = self.machine.known_word(tables, loc, action, value);
                match self.machine.sync_step(word, action, event.thread) {
                    SyncStep::Done { word: new, value } => {
                        let next = self.program.after(state, value).0;
                        if new == word {
                            Class::State(next)
                        } else {
                            Class::Update(next, new)
                        }
                    }
                    SyncStep::Wait | SyncStep::Misuse(_) => Class::Exact(value),
                }
            }
        }
    }

    /// Would the event have to wait if the read got this value?
    fn would_wait(&mut self, event: &Event, how: How, value: Value, pure_run: &PureRun) -> bool {
        match how {
            How::Exact(Some((loc, action))) | How::Sync(_, loc, action) => {
                let tables = self.program.tables();
                let word = self.machine.known_word(tables, loc, action, value);
                if self.machine.would_wait(word, action, event.thread) {
                    return true;
                }
            }
            _ => {}
        }
        match how {
            How::Access(state) | How::Sync(state, ..) => {
                self.closes(event.thread, state, value, pure_run)
            }
            _ => false,
        }
    }

    /// Would the operation complete a pure iteration?
    fn closes(
        &mut self,
        thread: ThreadId,
        state: StateId,
        held: Value,
        pure_run: &PureRun,
    ) -> bool {
        self.awaits
            && Attempt::of(self.program, state)
                .is_some_and(|attempt| can_await(self.program, attempt))
            && closes(
                self.program,
                self.machine,
                (thread, state),
                held,
                &pure_run.states,
            )
    }

    /// Is it known that the thread commits a fault if it reads this?
    fn is_fault(&mut self, event: &Event, how: How, value: Value) -> bool {
        let next = match how {
            How::Access(state) => self.program.after(state, value),
            How::Sync(_, loc, action) => {
                let tables = self.program.tables();
                let word = self.machine.known_word(tables, loc, action, value);
                return matches!(
                    self.machine.sync_step(word, action, event.thread),
                    SyncStep::Misuse(_)
                );
            }
            _ => return false,
        };
        match *self.program.op(next) {
            Op::Stop(stop) => {
                matches!(self.program.tables().stop_info(stop), Stop::Fault(_))
            }
            _ => false,
        }
    }

    fn waits(
        &mut self,
        cells: &Cells,
        state: &Building,
        event: &Event,
        pure_run: &PureRun,
    ) -> Waits {
        if let Op::Join { thread } = *self.program.op(event.state) {
            return Waits::Until(state.ended_by.get(&thread).copied());
        }
        if let Some(unseen) = self.unseen(event) {
            return self.waits_if_alive(cells, event, &unseen);
        }
        let mut conditions = Vec::new();
        let mut can_wait = false;
        for read in &event.reads {
            let is_waiting_read = match read.how {
                How::Sync(..) | How::Access(_) | How::Exact(Some(_)) => true,
                How::Exact(None) | How::Choice(_) => false,
            };
            let values = match read.cell.and_then(|cell| cells.shared(cell)) {
                Some(id) => &cells.values[id as usize][..],
                None => std::slice::from_ref(&read.value),
            };
            let waiting: Vec<Value> = if is_waiting_read {
                values
                    .iter()
                    .copied()
                    .filter(|&value| self.would_wait(event, read.how, value, pure_run))
                    .collect()
            } else {
                // The object must be alive: otherwise the thread goes on, into a fault.
                vec![read.value]
            };
            if waiting.is_empty() {
                return Waits::Never;
            }
            can_wait |= is_waiting_read;
            if let Some(id) = read.cell.and_then(|cell| cells.shared(cell)) {
                conditions.push((id, waiting));
            }
            if is_waiting_read {
                break;
            }
            if event.is_block && matches!(self.program.op(event.state), Op::AtomicBegin) {
                return Waits::Never;
            }
        }
        if can_wait {
            Waits::While(conditions)
        } else {
            Waits::Never
        }
    }

    /// The same for an operation that found its object dead.
    fn waits_if_alive(&mut self, cells: &Cells, event: &Event, unseen: &Unseen) -> Waits {
        let life = event.reads.first().and_then(|read| read.cell);
        let life = life.and_then(|cell| cells.shared(cell));
        let (Some(life), Some(word)) = (life, cells.shared(unseen.word)) else {
            return Waits::Never;
        };
        let values = cells.values[word as usize].iter().copied();
        let waiting: Vec<Value> = values
            .filter(|&value| self.waits_with(event, unseen, value))
            .collect();
        match waiting.is_empty() {
            true => Waits::Never,
            false => Waits::While(vec![(life, vec![ALIVE]), (word, waiting)]),
        }
    }
}

/// The word of a synchronisation object, and the operation that would look at it.
struct Unseen {
    word: Cell,
    loc: LocId,
    action: SyncAction,
}

/// What is known while a model is built.
struct Building {
    /// The last event of each thread so far.
    last: FxHashMap<ThreadId, Index>,
    spawned_by: FxHashMap<ThreadId, Index>,
    ended_by: FxHashMap<ThreadId, Index>,
    nodes: Vec<Vec<Node>>,
    pure_run: FxHashMap<ThreadId, PureRun>,
    /// The last fence that releases, of each thread.
    fences: FxHashMap<ThreadId, Index>,
    /// The last release of each thread at a location.
    released: FxHashMap<(ThreadId, LocId), Index>,
    /// Reads that acquire at the next fence of their thread: thread, event, read, and the fence when it is known.
    relaxed: Vec<(ThreadId, Index, usize, Option<Index>)>,
}

/// Without threads at the end that read nothing.
pub(super) fn trimmed(mut paths: Vec<Box<[Node]>>) -> Vector {
    while paths.last().is_some_and(|path| path.is_empty()) {
        paths.pop();
    }
    paths.into()
}

/// All values that a cell has at some time, each once, but for what `own` writes there.
fn values_of(cell: &ModelCell, own: Option<Index>) -> Vec<Value> {
    let mut values = vec![cell.initial];
    values.extend(
        cell.writes
            .iter()
            .filter(|&&(event, _)| Some(event) != own)
            .map(|&(_, value)| value),
    );
    values.sort_unstable();
    values.dedup();
    values
}

/// Would the operation at `state` bring the thread back to one of `states`, or to `state`, without changing anything, if its
/// location held `held`?
pub(super) fn closes(
    program: &mut Program,
    machine: &mut Machine,
    (thread, state): (ThreadId, StateId),
    held: Value,
    states: &[StateId],
) -> bool {
    let Some(attempt) = Attempt::of(program, state) else {
        return false;
    };
    let Some(result) = attempt.pure_result(program, machine, thread, held) else {
        return false;
    };
    let next = program.after(state, result);
    let history = states.iter().rev().map(|&left| (left, true));
    completes_iteration(program, state, next, history)
}
