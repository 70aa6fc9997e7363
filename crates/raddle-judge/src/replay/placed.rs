//! Executions under C11, which are graphs: each step says what it reads and where its write goes ([`ScheduleStep::Place`]).
//!
//! The automata are walked along the schedule, and the graph that comes of it is written down and judged by the axioms
//! ([`raddle_memory::axioms`]), which share nothing with the engine that found it. The machine's memory holds what comes last in the modification orders,
//! so that it can be asked in the end who waits for good.

use super::{Mismatch, Replayed, Schedule, ScheduleStep};
use crate::verdict::{Stale, Trace, TraceStep};
use raddle_memory::axioms::{
    self, Done, End, EventId, EventKind, ExecutionGraph, Inconsistency, Pasts, Place,
    PlainAccesses, Reads, Relation, Source,
};
use raddle_memory::{Effect, Machine, MemoryModel, Placement, RaceAccess, RaceInfo, StepEnd};
use raddle_program::op::mask;
use raddle_program::{
    Fault, LocId, LocInfo, ObjectId, Op, Order, Program, StateId, SyncAction, ThreadId, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A step that was done.
#[derive(Clone, Debug)]
pub(super) struct Did {
    pub(super) thread: ThreadId,
    pub(super) state: StateId,
    pub(super) value: Value,
    /// The value that it wrote, or the new word of its cell.
    wrote: Option<Value>,
    /// The new word of the mutex that it gave up.
    gave_up: Option<Value>,
    /// Its first event in the graph.
    pub(super) event: EventId,
    pub(super) reads: Reads,
}

/// An execution that is being run.
pub(super) struct GraphRun {
    machine: Machine,
    pub(super) graph: ExecutionGraph,
    pasts: Pasts,
    pub(super) steps: Vec<Did>,
    /// By event, its step.
    pub(super) of_event: Vec<usize>,
    /// By object, the events that free it, and those that access its memory.
    frees: FxHashMap<ObjectId, Vec<EventId>>,
    accesses: FxHashMap<ObjectId, Vec<EventId>>,
    /// Objects whose memory was allocated full of zeroes.
    zeroed: FxHashSet<ObjectId>,
    faults: Vec<(usize, Fault)>,
    uninitialised: Vec<(usize, Fault)>,
}

impl GraphRun {
    pub(super) fn new(program: &Program, plain: PlainAccesses) -> Self {
        let rule = program.tables().release_sequences;
        Self {
            machine: Machine::with_model(program, MemoryModel::C11),
            graph: ExecutionGraph::new(rule, plain),
            pasts: Pasts::default(),
            steps: Vec::new(),
            of_event: Vec::new(),
            frees: FxHashMap::default(),
            accesses: FxHashMap::default(),
            zeroed: FxHashSet::default(),
            faults: Vec::new(),
            uninitialised: Vec::new(),
        }
    }

    /// Does the next operation of a thread, if it can be done as the schedule says.
    pub(super) fn step(
        &mut self,
        program: &mut Program,
        step: &ScheduleStep,
    ) -> Result<(), Mismatch> {
        let index = self.steps.len();
        let not_ready = Mismatch::NotReady {
            step: index,
            thread: step.thread(),
        };
        let ScheduleStep::Place {
            thread,
            choices,
            reads,
            after,
        } = step
        else {
            return Err(not_ready);
        };
        let thread = *thread;
        let Some(state) = self.machine.thread_state(thread) else {
            return Err(not_ready);
        };
        let op = *program.op(state);
        let no_write = Mismatch::NoSuchWrite { step: index };
        let mut freed = self.freed(program, Some(thread), op);
        let (mut reads, found) = match freed {
            Some(_) => (Reads::One(None), None),
            None => self
                .source(program, thread, op, *reads)
                .ok_or(no_write.clone())?,
        };
        let after = match (op, freed) {
            (Op::Store { loc, order, .. }, None) => {
                self.place_of(thread, loc, order, *after).ok_or(no_write)?
            }
            (Op::Rmw { loc, .. } | Op::Cas { loc, .. }, None) => self.behind(loc, reads.byte(0)),
            (Op::Rmw { .. } | Op::Cas { .. } | Op::Sync { .. }, _) => reads.byte(0),
            _ => None,
        };
        let placement = Placement {
            choices,
            found,
            is_old: location(op).is_some_and(|loc| self.is_old(Place::Loc(loc), after)),
            freed,
        };
        let mut placed = self.machine.place(program, thread, placement);
        if placed.is_none() && matches!(op, Op::Sync { .. }) {
            // It waits at an object that somebody frees meanwhile.
            freed = self.freed(program, None, op);
            if freed.is_some() {
                reads = Reads::One(None);
                let placement = Placement { freed, ..placement };
                placed = self.machine.place(program, thread, placement);
            }
        }
        let Some(placed) = placed else {
            return Err(not_ready);
        };
        let end = match placed.end {
            StepEnd::Done | StepEnd::EndlessBlock => End::Done,
            StepEnd::Fault(_) if freed.is_some() => End::Freed,
            StepEnd::Fault(_) => End::Misused,
        };
        let value = placed.value;
        let event = self.graph.events.len();
        let info = |loc| *program.tables().loc_info(loc);
        let done = Done { thread, value, end };
        self.graph.push(info, &op, done, reads.clone(), after);
        self.pasts.follow(&self.graph);
        self.of_event.resize(self.graph.events.len(), index);
        match &self.graph.events[event].kind {
            EventKind::Free(object) => self.frees.entry(*object).or_default().push(event),
            EventKind::Memory(access) => {
                self.accesses.entry(access.object).or_default().push(event);
            }
            _ => {}
        }
        if let Op::Alloc { object } = op
            && program.zeroes(state)
        {
            self.zeroed.insert(object);
        }
        self.steps.push(Did {
            thread,
            state,
            value,
            wrote: placed.wrote,
            gave_up: placed.gave_up,
            event,
            reads,
        });
        match placed.end {
            StepEnd::Fault(fault) => self.faults.push((index, fault)),
            _ => self.look_for_uninitialised(program, index, op),
        }
        Ok(())
    }

    /// The object that the operation is about, if it has been freed, and the thread knows. Whether a race is to blame is asked only where plain accesses can
    /// race.
    fn freed(&self, program: &Program, thread: Option<ThreadId>, op: Op) -> Option<ObjectId> {
        let tables = program.tables();
        let object_of = |loc| tables.loc_info(loc).object;
        let objects = match op {
            Op::Free { object } => [Some(object), None],
            Op::Sync {
                cell,
                action: SyncAction::CondRelease { mutex },
            } => [Some(object_of(cell)), Some(object_of(mutex))],
            _ => [location(op).map(object_of), None],
        };
        objects.into_iter().flatten().find(|&object| {
            let mut frees = self.frees.get(&object).into_iter().flatten();
            let is_relaxed = self.graph.plain == PlainAccesses::AreRelaxed;
            let is_known = |id| thread.is_none_or(|thread| self.pasts.is_known(id, thread));
            frees.any(|&id| is_relaxed || is_known(id))
        })
    }

    /// Does a write to this place that comes right behind this one have newer ones behind it?
    fn is_old(&self, place: Place, after: Source) -> bool {
        self.graph.last_write(place) != after
    }

    // ---- what is read

    /// Where an operation reads from, and what it finds there. None: the schedule names a step that writes something else.
    fn source(
        &self,
        program: &Program,
        thread: ThreadId,
        op: Op,
        reads: Option<u32>,
    ) -> Option<(Reads, Option<Value>)> {
        let tables = program.tables();
        let (loc, order) = match op {
            Op::Load { loc, order } | Op::Rmw { loc, order, .. } => (loc, order),
            Op::Cas { loc, success, .. } => (loc, success),
            Op::Sync { cell, .. } => {
                let source = match reads {
                    Some(step) => Some(self.write_of(step, Place::Loc(cell))?),
                    None => None,
                };
                let word = match source {
                    Some(event) => self.word_written(program, event, cell),
                    None => Machine::initial_value(tables, cell),
                };
                return Some((Reads::One(source), Some(word)));
            }
            Op::AtomicBegin | Op::AtomicEnd => {
                return Some((Reads::One(self.graph.last_write(Place::Blocks)), None));
            }
            _ => return Some((Reads::One(None), None)),
        };
        let info = *tables.loc_info(loc);
        let can_race = self.graph.plain == PlainAccesses::Race;
        let reads = match reads {
            // Its bytes may come from several writes, of which the schedule names one.
            Some(_) if info.mixed && order == Order::Plain => self.latest(thread, None, &info),
            Some(step) => {
                let event = self.steps.get(step as usize)?.event;
                self.around(thread, event, &info)
            }
            None if info.mixed || order == Order::Plain && can_race => {
                self.latest(thread, None, &info)
            }
            None => Reads::One(None),
        };
        let found = self.value_read(program, loc, &info, &reads)?;
        Some((reads, Some(found)))
    }

    /// Where bytes come from if some of them come from this write, and it is a smaller one: the others are as the thread knows them, or whoever wrote it.
    fn around(&self, thread: ThreadId, write: EventId, info: &LocInfo) -> Reads {
        let access = self.graph.memory(write).filter(|_| info.mixed);
        let is_its = |offset: u64| access.is_none_or(|it| it.touches(info.object, offset));
        let offsets = || (info.offset..).take(info.size.into());
        if offsets().all(is_its) || !offsets().any(is_its) {
            return Reads::One(Some(write));
        }
        let others = self.latest(thread, Some(write), info);
        let byte = |(k, offset): (usize, u64)| match is_its(offset) {
            true => Some(write),
            false => others.byte(k),
        };
        Reads::Bytes(offsets().enumerate().map(byte).collect())
    }

    /// The event of a step that writes a place.
    pub(super) fn write_of(&self, step: u32, place: Place) -> Source {
        let event = self.steps.get(step as usize)?.event;
        let order = self.graph.modification.get(&place)?;
        let is_its = |other: &&EventId| self.of_event[**other] == step as usize && **other >= event;
        order.iter().find(is_its).copied()
    }

    /// The new word that an operation left in a cell.
    fn word_written(&self, program: &Program, event: EventId, cell: LocId) -> Value {
        let did = &self.steps[self.of_event[event]];
        match *program.op(did.state) {
            Op::Sync { cell: own, .. } if own != cell => did.gave_up.unwrap_or(0),
            _ => did.wrote.unwrap_or(0),
        }
    }

    /// The last write of each byte that a thread knows of, or has read from; also those that happen before a write. Where plain accesses are relaxed ones: that there is.
    fn latest(&self, thread: ThreadId, write: Source, info: &LocInfo) -> Reads {
        let bytes: Vec<Source> = (info.offset..)
            .take(info.size.into())
            .map(|offset| self.latest_of_byte(thread, write, info.object, offset))
            .collect();
        match bytes.iter().all(|source| *source == bytes[0]) {
            true => Reads::One(bytes[0]),
            false => Reads::Bytes(bytes),
        }
    }

    fn latest_of_byte(
        &self,
        thread: ThreadId,
        write: Source,
        object: ObjectId,
        offset: u64,
    ) -> Source {
        let all = self.graph.plain == PlainAccesses::AreRelaxed;
        let is_seen = |event: EventId| {
            all || self.pasts.is_known(event, thread)
                || write.is_some_and(|write| self.pasts.ordered(event, write))
        };
        let mut latest = None;
        for &event in self.accesses.get(&object).into_iter().flatten() {
            let Some(access) = self.graph.memory(event) else {
                continue;
            };
            if !access.touches(object, offset) || !is_seen(event) {
                continue;
            }
            let read = access.reads.as_ref();
            let read = read.and_then(|reads| reads.byte((offset - access.offset) as usize));
            let written = access.writes.then_some(event);
            for write in [read, written].into_iter().flatten() {
                if latest.is_none_or(|latest| self.is_newer(write, latest)) {
                    latest = Some(write);
                }
            }
        }
        latest
    }

    /// The write to a location behind which that of an update comes which reads from this one: the same, or, if that is one to another location, the last before it.
    fn behind(&self, loc: LocId, source: Source) -> Source {
        let of = |event: EventId| self.graph.memory(event).map(|access| access.loc);
        let source = source?;
        if of(source) == Some(loc) {
            return Some(source);
        }
        let order = self.graph.modification.get(&Place::Loc(loc))?;
        let mut before = order.iter().rev();
        before
            .find(|&&write| self.pasts.ordered(write, source))
            .copied()
    }

    /// Does a write come behind another one that it shares bytes with? Those to other locations come in the order in which they are listed.
    fn is_newer(&self, write: EventId, other: EventId) -> bool {
        let place = |event| self.graph.memory(event).map(|access| access.loc);
        match (place(write), place(other)) {
            (Some(loc), Some(same)) if loc == same => {
                let order = self.graph.modification.get(&Place::Loc(loc));
                let position = |event| order?.iter().position(|&write| write == event);
                position(write) > position(other)
            }
            _ => write > other,
        }
    }

    /// None if a source does not write what is read.
    fn value_read(
        &self,
        program: &Program,
        loc: LocId,
        info: &LocInfo,
        reads: &Reads,
    ) -> Option<Value> {
        let initial = Machine::initial_value(program.tables(), loc).to_le_bytes();
        let mut bytes = [0; 8];
        for k in 0..usize::from(info.size) {
            bytes[k] = match reads.byte(k) {
                None => initial[k],
                Some(event) => {
                    let access = self.graph.memory(event).filter(|access| access.writes)?;
                    let offset = info.offset + k as u64;
                    if !access.touches(info.object, offset) {
                        return None;
                    }
                    let wrote = self.steps[self.of_event[event]].wrote?;
                    wrote.to_le_bytes()[(offset - access.offset) as usize]
                }
            };
        }
        Some(Value::from_le_bytes(bytes) & mask(info.size))
    }

    /// The write right behind which a store comes. A plain one comes behind all that its thread knows of.
    fn place_of(
        &self,
        thread: ThreadId,
        loc: LocId,
        order: Order,
        after: Option<u32>,
    ) -> Option<Source> {
        let place = Place::Loc(loc);
        match after {
            Some(step) => self.write_of(step, place).map(Some),
            None if order == Order::Plain => {
                let writes = self.graph.modification.get(&place);
                let mut writes = writes.into_iter().flatten().rev();
                Some(
                    writes
                        .find(|&&write| self.pasts.is_known(write, thread))
                        .copied(),
                )
            }
            None => Some(None),
        }
    }

    /// See [`raddle_memory::UninitDetector`]: does something depend on memory that nobody has written?
    fn look_for_uninitialised(&mut self, program: &Program, index: usize, op: Op) {
        let did = &self.steps[index];
        let (Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. }) = op else {
            return;
        };
        let info = program.tables().loc_info(loc);
        let object = program.tables().object_info(info.object);
        let is_written = did.reads.sources().any(|source| source.is_some());
        if is_written
            || !program.tables().starts_unwritten(info)
            || object.init.is_some()
            || !program.needs_contents(did.state)
        {
            return;
        }
        if !self.zeroed.contains(&info.object) {
            let fault = Fault::Uninitialised {
                object: Some(info.object),
                offset: info.offset as i64,
            };
            self.uninitialised.push((index, fault));
        }
    }

    // ---- the end

    /// The execution, if it is one.
    pub(super) fn finish(self, program: &Program) -> Result<Replayed, Mismatch> {
        let judged = axioms::judge(&self.graph).map_err(|why| self.mismatch(why))?;
        Ok(Replayed {
            races: self.races(program, &judged.happens_before),
            trace: self.trace(program, &judged.happens_before),
            ends: (1..=self.steps.len() as u32).collect(),
            fault: self.faults.last().map(|(_, fault)| fault.clone()),
            faults: self.faults,
            uninitialised: self.uninitialised,
            machine: self.machine,
        })
    }

    pub(super) fn races(&self, program: &Program, happens_before: &Relation) -> Vec<RaceInfo> {
        let races = axioms::data_races(&self.graph, happens_before).into_iter();
        let races = races.map(|(first, second)| RaceInfo {
            first: self.side(program, first),
            second: self.side(program, second),
        });
        races.collect()
    }

    /// What memory found wrong with a step.
    pub(super) fn faults_of(&self, step: usize) -> impl Iterator<Item = &Fault> {
        let all = self.faults.iter().chain(&self.uninitialised);
        all.filter(move |(index, _)| *index == step)
            .map(|(_, fault)| fault)
    }

    pub(super) fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Where a thread is.
    pub(super) fn state_of(&self, thread: ThreadId) -> Option<StateId> {
        self.machine.thread_state(thread)
    }

    /// How many steps are an execution: consistency is closed under prefixes.
    pub(super) fn consistent_steps(&self) -> usize {
        let is_consistent = |steps: usize| {
            let events = match self.steps.get(steps) {
                Some(next) => next.event,
                None => self.graph.events.len(),
            };
            axioms::judge(&self.graph.prefix(events)).is_ok()
        };
        if is_consistent(self.steps.len()) {
            return self.steps.len();
        }
        let (mut good, mut bad) = (0, self.steps.len());
        while good + 1 < bad {
            let middle = usize::midpoint(good, bad);
            if is_consistent(middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    }

    fn mismatch(&self, why: Inconsistency) -> Mismatch {
        let event = match why {
            Inconsistency::Coherence { first, second } => first.max(second),
            Inconsistency::Atomicity { update, between } => update.max(between),
            Inconsistency::SeqCst { event } | Inconsistency::Malformed { event } => event,
        };
        Mismatch::Inconsistent {
            step: self.of_event.get(event).copied().unwrap_or(0),
            why,
        }
    }

    fn side(&self, program: &Program, event: EventId) -> RaceAccess {
        let step = self.of_event[event];
        let Did { thread, state, .. } = self.steps[step];
        RaceAccess {
            thread,
            state,
            at: program.at(state),
            step,
        }
    }

    fn trace(&self, program: &Program, happens_before: &Relation) -> Trace {
        let steps = self.steps.iter().enumerate().map(|(index, did)| {
            let wrote = match *program.op(did.state) {
                Op::Store { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                    did.wrote.map(|value| (loc, value))
                }
                _ => None,
            };
            let is_block = matches!(program.op(did.state), Op::AtomicBegin | Op::AtomicEnd);
            let sources = did.reads.sources().flatten().filter(|_| !is_block);
            TraceStep {
                thread: did.thread,
                state: did.state,
                value: did.value,
                effect: Effect::Whole,
                reads_from: sources.map(|source| self.of_event[source]).max(),
                wrote,
                stale: self.newer(index).map(|newest| Stale {
                    newest: self.of_event[newest],
                    because: self.unsynchronised(newest, did.event, happens_before),
                }),
                older_than: self
                    .newer_write(did.event)
                    .map(|event| self.of_event[event]),
            }
        });
        Trace {
            steps: steps.collect(),
        }
    }

    /// The write of an earlier step that comes right behind that of an event, if there is one.
    fn newer_write(&self, event: EventId) -> Source {
        let access = self.graph.memory(event).filter(|access| access.writes)?;
        let order = self.graph.modification.get(&Place::Loc(access.loc))?;
        let mut behind = order.iter().skip_while(|&&write| write != event);
        behind.find(|&&write| write < event).copied()
    }

    /// The newest write of an earlier step, if the step read an older one.
    fn newer(&self, index: usize) -> Source {
        let did = &self.steps[index];
        let access = self.graph.memory(did.event)?;
        let Reads::One(source) = access.reads.as_ref()? else {
            return None;
        };
        let order = self.graph.modification.get(&Place::Loc(access.loc))?;
        let newest = order.iter().rev().find(|&&write| write < did.event);
        let newest = newest.copied().filter(|newest| Some(*newest) != *source)?;
        // A source of another size is in another order: plain reads, which are not stale.
        let is_same = |source: EventId| order.contains(&source);
        source.is_none_or(is_same).then_some(newest)
    }
}

/// The location or cell that an operation is about.
pub(super) fn location(op: Op) -> Option<LocId> {
    match op {
        Op::Load { loc, .. }
        | Op::Store { loc, .. }
        | Op::Rmw { loc, .. }
        | Op::Cas { loc, .. } => Some(loc),
        Op::Sync { cell, .. } => Some(cell),
        _ => None,
    }
}

/// What a schedule of C11 consists of, for making it plainer.
pub struct Causes {
    /// By step, the steps that it comes right after, by the order of threads and by what is read.
    pub right_before: Vec<Vec<usize>>,
    run: GraphRun,
}

impl Causes {
    /// None if there is no such execution.
    pub fn of(program: &mut Program, schedule: &Schedule) -> Option<Self> {
        let mut run = GraphRun::new(program, PlainAccesses::Race);
        for step in &schedule.steps {
            run.step(program, step).ok()?;
        }
        let steps = run.steps.iter().enumerate();
        let right_before = steps.map(|(index, did)| run.right_before(program, index, did));
        Some(Self {
            right_before: right_before.collect(),
            run,
        })
    }

    /// The part of the execution that these steps are, in this order. Each must come after those that it comes right after.
    #[must_use]
    pub fn part(&self, schedule: &Schedule, kept: &[usize]) -> Schedule {
        let mut new = vec![None; self.run.steps.len()];
        let mut part = Schedule {
            memory: schedule.memory,
            steps: Vec::with_capacity(kept.len()),
        };
        for (number, &old) in kept.iter().enumerate() {
            if let ScheduleStep::Place {
                thread, choices, ..
            } = &schedule.steps[old]
            {
                let did = &self.run.steps[old];
                let number_of = |event: EventId| new[self.run.of_event[event]];
                let reads = match (&did.reads, &schedule.steps[old]) {
                    (Reads::One(Some(source)), ScheduleStep::Place { reads: Some(_), .. }) => {
                        number_of(*source)
                    }
                    _ => None,
                };
                part.steps.push(ScheduleStep::Place {
                    thread: *thread,
                    choices: choices.clone(),
                    reads,
                    after: self.run.right_behind(did.event, number_of),
                });
            }
            new[old] = Some(number as u32);
        }
        part
    }
}

/// Those steps and all that they depend on.
#[must_use]
pub fn needed(causes: &Causes, mut wanted: Vec<usize>) -> Option<Vec<bool>> {
    let mut needed = vec![false; causes.right_before.len()];
    while let Some(step) = wanted.pop() {
        if !std::mem::replace(needed.get_mut(step)?, true) {
            wanted.extend(&causes.right_before[step]);
        }
    }
    Some(needed)
}

impl GraphRun {
    fn right_before(&self, program: &Program, index: usize, did: &Did) -> Vec<usize> {
        let earlier = |thread: ThreadId| {
            let mut steps = self.steps[..index].iter();
            steps.rposition(|other| other.thread == thread)
        };
        let starts = |thread: ThreadId| {
            let mut steps = self.steps[..index].iter();
            steps.position(
                |other| matches!(*program.op(other.state), Op::Spawn { child, .. } if child == thread),
            )
        };
        let mut all: Vec<usize> = earlier(did.thread)
            .or_else(|| starts(did.thread))
            .into_iter()
            .collect();
        if let Op::Join { thread } = *program.op(did.state) {
            all.extend(earlier(thread).or_else(|| starts(thread)));
        }
        all.extend(
            did.reads
                .sources()
                .flatten()
                .map(|source| self.of_event[source]),
        );
        // The mutex that a wait gives up.
        let parts = self.graph.events.get(did.event + 1..).unwrap_or_default();
        let parts = parts.iter().zip(&self.of_event[did.event + 1..]);
        for (part, _) in parts.take_while(|(_, step)| **step == index) {
            if let EventKind::Cell(access) = &part.kind {
                all.extend(access.reads.map(|source| self.of_event[source]));
            }
        }
        all
    }

    /// The step behind whose write that of an event comes, of those that have a number.
    pub(super) fn right_behind(
        &self,
        event: EventId,
        number_of: impl Fn(EventId) -> Option<u32>,
    ) -> Option<u32> {
        let access = self.graph.memory(event).filter(|access| access.writes)?;
        let order = self.graph.modification.get(&Place::Loc(access.loc))?;
        let position = order.iter().position(|&write| write == event)?;
        order[..position]
            .iter()
            .rev()
            .find_map(|&write| number_of(write))
    }
}
