//! Re-runs executions: a violation is reported only after it was reproduced on a fresh machine.

mod advice;
mod parts;
mod placed;

use crate::ending;
use crate::verdict::{Trace, TraceStep, ViolationKind, Waiting};
use crate::watch::Watch;
pub use advice::advise;
pub(crate) use parts::{Part, Whole};
use placed::GraphRun;
pub use placed::{Causes, needed};
use raddle_memory::axioms::{Inconsistency, PlainAccesses};
use raddle_memory::{
    Effect, Machine, MemoryModel, MicroStep, RaceDetector, RaceInfo, Readiness, StepEnd,
    UninitDetector,
};
use raddle_program::{Fault, LocId, Op, Program, SrcId, Stop, Tables, ThreadId, ThreadName, Value};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleStep<T = ThreadId> {
    /// The thread does its next operation, or a whole atomic block, and chooses this on the way.
    Run { thread: T, choices: Vec<u32> },
    /// A delayed store of the thread reaches memory: the one at this position among those it has then, oldest first. Always
    /// 0 under TSO.
    Flush { thread: T, position: u32 },
    /// Under C11 every event is one operation. Steps are in an order in which reads come after the writes that they read from and
    /// a thread's operations after each other (`sb` and `rf` are part of it; `mo` need not be).
    Place {
        thread: T,
        choices: Vec<u32>,
        /// The step whose write it reads; none for the initial value, for operations that read nothing, and for plain reads whose bytes come
        /// from several writes (each from the last step before that writes it).
        reads: Option<u32>,
        /// The write goes right behind that of this step in the modification order of its location, as far as that consists of earlier
        /// steps; none: right behind the initial value.
        after: Option<u32>,
    },
}

impl<T> ScheduleStep<T> {
    /// The same event with the thread said in another way, if it has one.
    pub fn with_thread<U>(&self, say: impl FnOnce(&T) -> Option<U>) -> Option<ScheduleStep<U>> {
        Some(match self {
            Self::Run { thread, choices } => ScheduleStep::Run {
                thread: say(thread)?,
                choices: choices.clone(),
            },
            Self::Flush { thread, position } => ScheduleStep::Flush {
                thread: say(thread)?,
                position: *position,
            },
            Self::Place {
                thread,
                choices,
                reads,
                after,
            } => ScheduleStep::Place {
                thread: say(thread)?,
                choices: choices.clone(),
                reads: *reads,
                after: *after,
            },
        })
    }
}

impl ScheduleStep {
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        match *self {
            Self::Run { thread, .. } | Self::Flush { thread, .. } | Self::Place { thread, .. } => {
                thread
            }
        }
    }
}

/// Whether there is time left is looked at after so many events.
const EVENTS_BETWEEN_LOOKS: usize = 64;

/// All that is needed to repeat an execution: in this process, or with names of threads (`Schedule<ThreadName>`) in any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule<T = ThreadId> {
    pub memory: MemoryModel,
    pub steps: Vec<ScheduleStep<T>>,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self {
            memory: MemoryModel::default(),
            steps: Vec::new(),
        }
    }
}

impl Schedule {
    /// The schedule in names, which mean the same in every process.
    #[must_use]
    pub fn named(&self, tables: &Tables) -> Schedule<ThreadName> {
        let name = |thread: &ThreadId| Some(tables.thread_info(*thread).name.clone());
        let steps = self.steps.iter();
        Schedule {
            memory: self.memory,
            steps: steps.filter_map(|step| step.with_thread(name)).collect(),
        }
    }

    /// The schedule of micro-steps; `ends` are the lengths of the execution after each event.
    #[must_use]
    pub fn of(program: &Program, memory: MemoryModel, steps: &[MicroStep], ends: &[u32]) -> Self {
        let mut start = 0;
        let mut schedule = Self {
            memory,
            steps: Vec::with_capacity(ends.len()),
        };
        // Delayed stores in the order in which they were done.
        let mut delayed: Vec<(ThreadId, u32)> = Vec::new();
        for &end in ends {
            let event = &steps[start..end as usize];
            let Some(first) = event.first() else {
                continue;
            };
            let thread = first.thread;
            schedule.steps.push(match first.effect {
                Effect::Flushed { store } => ScheduleStep::Flush {
                    thread,
                    position: take(&mut delayed, thread, store),
                },
                Effect::Whole | Effect::Delayed | Effect::Abandoned => ScheduleStep::Run {
                    thread,
                    choices: choices(program, event),
                },
            });
            if first.effect == Effect::Delayed {
                delayed.push((thread, start as u32));
            }
            start = end as usize;
        }
        schedule
    }
}

fn choices(program: &Program, event: &[MicroStep]) -> Vec<u32> {
    event
        .iter()
        .filter(|step| matches!(program.op(step.state), Op::Choice { .. }))
        .map(|step| step.value as u32)
        .collect()
}

/// Removes a delayed store, and says which of its thread's it was.
fn take(delayed: &mut Vec<(ThreadId, u32)>, thread: ThreadId, store: u32) -> u32 {
    let own = delayed.iter().filter(|(of, _)| *of == thread);
    let position = own.take_while(|&&(_, other)| other != store).count();
    delayed.retain(|&entry| entry != (thread, store));
    position as u32
}

/// How a replay differed from what it should have repeated: a mistake in Raddle, unless there was no time for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The thread cannot take this step.
    NotReady {
        step: usize,
        thread: ThreadId,
    },
    /// The step is to read, or to follow, a step that writes something else.
    NoSuchWrite {
        step: usize,
    },
    /// The memory model does not allow the execution.
    Inconsistent {
        step: usize,
        why: Inconsistency,
    },
    /// Another fault, or none.
    Fault {
        found: Option<Fault>,
    },
    /// The two accesses do not race.
    NoRace,
    NoDeadlock,
    NoLivelock,
    /// No thread stopped there.
    NoStop,
    /// It was told to stop.
    NoTime,
}

/// An execution that was run.
pub struct Replayed {
    pub machine: Machine,
    pub trace: Trace,
    /// The fault of the last step, if memory found one.
    pub fault: Option<Fault>,
    /// All faults that memory found, and the steps that committed them. Where executions are sequences only that of the last step.
    pub faults: Vec<(usize, Fault)>,
    pub races: Vec<RaceInfo>,
    /// What depends on memory that nobody has written, and the step that does.
    pub uninitialised: Vec<(usize, Fault)>,
    /// Number of micro-steps after each event.
    pub ends: Vec<u32>,
}

/// An execution that is being run.
struct Run {
    machine: Machine,
    detector: RaceDetector,
    races: Vec<RaceInfo>,
    uninit: UninitDetector,
    uninitialised: Vec<(usize, Fault)>,
    ends: Vec<u32>,
    fault: Option<Fault>,
}

impl Run {
    fn new(program: &Program, memory: MemoryModel) -> Self {
        Self {
            machine: Machine::with_model(program, memory),
            detector: RaceDetector::new(),
            races: Vec::new(),
            uninit: UninitDetector::new(),
            uninitialised: Vec::new(),
            ends: Vec::new(),
            fault: None,
        }
    }

    /// Does the next event, if that is possible.
    fn step(&mut self, program: &mut Program, step: &ScheduleStep) -> Option<()> {
        self.fault = match do_step(program, &mut self.machine, step)? {
            StepEnd::Fault(fault) => Some(fault),
            StepEnd::Done | StepEnd::EndlessBlock => None,
        };
        for &step in &self.machine.steps()[self.detector.len()..] {
            self.races.extend(self.detector.push(program, step));
            let found = self.uninit.push(program, &step);
            let found = found.map(|fault| (self.uninit.len() - 1, fault));
            self.uninitialised.extend(found);
        }
        self.ends.push(self.machine.steps().len() as u32);
        Some(())
    }

    fn finish(self, program: &Program) -> Replayed {
        let steps = self.machine.steps();
        let done = steps.len() - usize::from(self.fault.is_some());
        Replayed {
            trace: trace(program, steps, done),
            machine: self.machine,
            faults: self
                .fault
                .iter()
                .map(|fault| (done, fault.clone()))
                .collect(),
            fault: self.fault,
            races: self.races,
            uninitialised: self.uninitialised,
            ends: self.ends,
        }
    }
}

/// Runs a schedule from the start.
pub fn replay(program: &mut Program, schedule: &Schedule) -> Result<Replayed, Mismatch> {
    replay_in_time(program, schedule, &Watch::default())
}

/// Runs a schedule from the start, if there is time.
pub fn replay_in_time(
    program: &mut Program,
    schedule: &Schedule,
    watch: &Watch,
) -> Result<Replayed, Mismatch> {
    if schedule.memory == MemoryModel::C11 {
        return replay_graph(program, schedule, PlainAccesses::Race, watch);
    }
    let mut run = Run::new(program, schedule.memory);
    for (index, step) in schedule.steps.iter().enumerate() {
        if index.is_multiple_of(EVENTS_BETWEEN_LOOKS) && watch.is_over() {
            return Err(Mismatch::NoTime);
        }
        run.step(program, step).ok_or(Mismatch::NotReady {
            step: index,
            thread: step.thread(),
        })?;
    }
    Ok(run.finish(program))
}

/// Builds the graph that a schedule describes.
fn replay_graph(
    program: &mut Program,
    schedule: &Schedule,
    plain: PlainAccesses,
    watch: &Watch,
) -> Result<Replayed, Mismatch> {
    let mut run = GraphRun::new(program, plain);
    for (index, step) in schedule.steps.iter().enumerate() {
        if index.is_multiple_of(EVENTS_BETWEEN_LOOKS) && watch.is_over() {
            return Err(Mismatch::NoTime);
        }
        run.step(program, step)?;
    }
    run.finish(program)
}

/// The same of another process, as far as this program has such an execution.
fn replay_named_graph(
    program: &mut Program,
    schedule: &Schedule<ThreadName>,
    plain: PlainAccesses,
) -> (Schedule, Replayed) {
    let mut run = GraphRun::new(program, plain);
    let mut done = Schedule {
        memory: schedule.memory,
        steps: Vec::with_capacity(schedule.steps.len()),
    };
    for step in &schedule.steps {
        let tables = program.tables();
        let Some(step) = step.with_thread(|name| tables.thread_named(name)) else {
            break;
        };
        if run.step(program, &step).is_err() {
            break;
        }
        done.steps.push(step);
    }
    done.steps.truncate(run.consistent_steps());
    // What was done once can be done again.
    let mut run = GraphRun::new(program, plain);
    let again = done
        .steps
        .iter()
        .try_for_each(|step| run.step(program, step));
    match again.and_then(|()| run.finish(program)) {
        Ok(replayed) => (done, replayed),
        Err(_) => {
            done.steps.clear();
            (done, Run::new(program, schedule.memory).finish(program))
        }
    }
}

/// Runs the schedule of another process from the start, as far as this program has such an execution. Also returns the part
/// that was run. Under C11 `plain` says what plain accesses are: relaxed ones if nobody looked for races.
pub fn replay_named(
    program: &mut Program,
    schedule: &Schedule<ThreadName>,
    plain: PlainAccesses,
) -> (Schedule, Replayed) {
    if schedule.memory == MemoryModel::C11 {
        return replay_named_graph(program, schedule, plain);
    }
    let mut run = Run::new(program, schedule.memory);
    let mut done = Schedule {
        memory: schedule.memory,
        steps: Vec::with_capacity(schedule.steps.len()),
    };
    for step in &schedule.steps {
        // Threads get their ids as the execution starts them.
        let tables = program.tables();
        let Some(step) = step.with_thread(|name| tables.thread_named(name)) else {
            break;
        };
        if run.step(program, &step).is_none() {
            break;
        }
        done.steps.push(step);
    }
    (done, run.finish(program))
}

/// Something wrong in an execution that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: ViolationKind,
    pub thread: ThreadId,
    pub at: SrcId,
}

/// Everything that is wrong in an execution: faults of threads, races, and what the end of it means.
pub fn violations(program: &mut Program, replayed: &mut Replayed) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, fault) in replayed.faults.iter().rev() {
        let step = replayed.machine.steps()[*index];
        found.push(Found {
            kind: ViolationKind::Fault(fault.clone()),
            thread: step.thread,
            at: program.at(step.state),
        });
    }
    for thread in ending::threads(&replayed.machine) {
        let Some(Stop::Fault(fault)) = stop_of(program, &replayed.machine, thread) else {
            continue;
        };
        let kind = ViolationKind::Fault(fault.clone());
        let state = replayed.machine.thread_state(thread);
        let at = state.map_or(SrcId::NOWHERE, |state| program.at(state));
        found.push(Found { kind, thread, at });
    }
    for (index, fault) in &replayed.uninitialised {
        let step = replayed.machine.steps()[*index];
        found.push(Found {
            kind: ViolationKind::Fault(fault.clone()),
            thread: step.thread,
            at: program.at(step.state),
        });
    }
    for race in &replayed.races {
        let (thread, at) = (race.second.thread, race.second.at);
        let kind = ViolationKind::Race(race.clone());
        found.push(Found { kind, thread, at });
    }
    let waiting = stuck(program, &mut replayed.machine);
    let deadlock = waiting.map(|waiting| ViolationKind::Deadlock { waiting });
    let spinning = ending::livelock(program, &mut replayed.machine);
    let livelock = spinning.map(|spinning| ViolationKind::Livelock { spinning });
    for kind in [deadlock, livelock].into_iter().flatten() {
        if let ViolationKind::Deadlock { waiting: stuck }
        | ViolationKind::Livelock { spinning: stuck } = &kind
        {
            let (thread, at) = (stuck[0].thread, stuck[0].at);
            found.push(Found { kind, thread, at });
        }
    }
    found
}

/// Does one event, if it can be done.
pub(crate) fn do_step(
    program: &mut Program,
    machine: &mut Machine,
    step: &ScheduleStep,
) -> Option<StepEnd> {
    match step {
        ScheduleStep::Run { thread, choices } => {
            let is_ready = machine.readiness(program, *thread) == Readiness::Ready;
            is_ready.then(|| machine.step(program, *thread, choices))
        }
        &ScheduleStep::Flush { thread, position } => {
            let position = position as usize;
            let is_ready = machine.may_flush(thread, position);
            is_ready.then(|| machine.flush(program, thread, position))
        }
        ScheduleStep::Place { .. } => None,
    }
}

/// Reproduces a violation, and tells its execution, if there is time.
pub fn confirm(
    program: &mut Program,
    schedule: &Schedule,
    kind: &ViolationKind,
    thread: ThreadId,
    watch: &Watch,
) -> Result<Trace, Mismatch> {
    let replayed = replay_in_time(program, schedule, watch);
    let shown = replayed.and_then(|replayed| show(program, replayed, kind, thread));
    match (&shown, kind) {
        (Err(Mismatch::NoTime), _) | (_, ViolationKind::Race(_)) => shown,
        // Where nobody looks for races plain accesses are relaxed ones, and order more.
        (Err(_), _) if schedule.memory == MemoryModel::C11 => {
            let replayed = replay_graph(program, schedule, PlainAccesses::AreRelaxed, watch)?;
            show(program, replayed, kind, thread)
        }
        _ => shown,
    }
}

/// The execution, if it shows the violation.
fn show(
    program: &mut Program,
    mut replayed: Replayed,
    kind: &ViolationKind,
    thread: ThreadId,
) -> Result<Trace, Mismatch> {
    match kind {
        ViolationKind::Fault(expected) => {
            // A thread that has stopped may still have a delayed store that goes wrong.
            let stopped = match stop_of(program, &replayed.machine, thread) {
                Some(Stop::Fault(fault)) => Some(fault.clone()),
                _ => None,
            };
            let is_read = |(_, found): &(usize, Fault)| found == expected;
            if replayed.uninitialised.iter().any(is_read) || replayed.faults.iter().any(is_read) {
                return Ok(replayed.trace);
            }
            if stopped.as_ref() != Some(expected) {
                let found = stopped.or(replayed.fault);
                return Err(Mismatch::Fault { found });
            }
        }
        ViolationKind::Race(race) => {
            if !replayed.races.contains(race) {
                return Err(Mismatch::NoRace);
            }
        }
        ViolationKind::Deadlock { waiting } => {
            if stuck(program, &mut replayed.machine).as_ref() != Some(waiting) {
                return Err(Mismatch::NoDeadlock);
            }
        }
        ViolationKind::Livelock { spinning } => {
            if ending::livelock(program, &mut replayed.machine).as_ref() != Some(spinning) {
                return Err(Mismatch::NoLivelock);
            }
        }
    }
    Ok(replayed.trace)
}

/// The threads that wait for good. An execution need not be shown to its end for that: others may be ready that cannot help.
fn stuck(program: &mut Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    ending::deadlock(program, machine).or_else(|| ending::circle(program, machine))
}

/// Why a thread stopped by itself.
#[inline]
#[must_use]
pub fn stop_of<'a>(program: &'a Program, machine: &Machine, thread: ThreadId) -> Option<&'a Stop> {
    match program.op(machine.thread_state(thread)?) {
        Op::Stop(stop) => Some(program.tables().stop_info(*stop)),
        _ => None,
    }
}

/// Adds to the steps of an execution where its reads came from, and what its writes wrote. Of the steps only the first
/// `done` took effect.
#[must_use]
pub fn trace(program: &Program, steps: &[MicroStep], done: usize) -> Trace {
    let mut writers = Writers::default();
    let mut trace = Trace::default();
    // Behind the last event there is nobody who could see that it was taken back: it is told as the thread saw it.
    let last_event = steps.last().map_or(0, |last| {
        let is_other =
            |step: &MicroStep| step.effect != Effect::Abandoned || step.thread != last.thread;
        steps
            .iter()
            .rposition(is_other)
            .map_or(0, |other| other + 1)
    });
    for (index, &step) in steps.iter().enumerate() {
        let mut told = TraceStep {
            thread: step.thread,
            state: step.state,
            value: step.value,
            effect: if index < last_event {
                step.effect
            } else {
                Effect::Whole
            },
            reads_from: None,
            wrote: None,
            stale: None,
            older_than: None,
        };
        if index < done {
            told.reads_from = writers.step(program, index, &step);
            told.wrote = written(program, step).filter(|_| told.effect != Effect::Abandoned);
        }
        trace.steps.push(told);
    }
    trace
}

/// The steps that wrote what memory and the store buffers hold.
#[derive(Default)]
struct Writers {
    /// Of each byte of memory.
    memory: FxHashMap<u32, usize>,
    /// Stores that only their thread sees: thread, bytes, step. Delayed ones, and those of atomic blocks that were abandoned.
    delayed: Vec<(ThreadId, Range<u32>, usize)>,
}

impl Writers {
    /// The step whose write this step read, and what it writes itself.
    fn step(&mut self, program: &Program, index: usize, step: &MicroStep) -> Option<usize> {
        let mut reads_from = None;
        let mut writer = index;
        if let Effect::Flushed { store } = step.effect {
            writer = store as usize;
            self.delayed.retain(|&(_, _, delayed)| delayed != writer);
        }
        if let (Effect::Delayed, Op::Store { loc, .. }) = (step.effect, *program.op(step.state)) {
            let entry = (step.thread, bytes_of(program, loc), index);
            self.delayed.push(entry);
        }
        let is_abandoned = step.effect == Effect::Abandoned;
        raddle_memory::attempted(program, step, |access| {
            if is_life(program, access.loc) {
                return;
            }
            for byte in bytes_of(program, access.loc) {
                if access.mode.reads() {
                    reads_from = reads_from.max(self.writer_of(step.thread, byte));
                }
                if access.mode.writes() && !is_abandoned {
                    self.memory.insert(byte, writer);
                }
            }
            if access.mode.writes() && is_abandoned {
                let entry = (step.thread, bytes_of(program, access.loc), index);
                self.delayed.push(entry);
            }
        });
        reads_from
    }

    /// Where the thread finds a byte: the newest of its own delayed stores, else memory.
    fn writer_of(&self, thread: ThreadId, byte: u32) -> Option<usize> {
        let own = self
            .delayed
            .iter()
            .rfind(|(of, bytes, _)| *of == thread && bytes.contains(&byte));
        own.map(|&(_, _, index)| index)
            .or_else(|| self.memory.get(&byte).copied())
    }
}

/// The bytes of a location in the arena.
fn bytes_of(program: &Program, loc: LocId) -> Range<u32> {
    let info = program.tables().loc_info(loc);
    let size = if info.is_sync() {
        8
    } else {
        u32::from(info.size)
    };
    info.arena..info.arena + size
}

fn is_life(program: &Program, loc: LocId) -> bool {
    let tables = program.tables();
    tables.object_info(tables.loc_info(loc).object).life == Some(loc)
}

/// What a step wrote to memory that is not a synchronisation object.
fn written(program: &Program, step: MicroStep) -> Option<(LocId, Value)> {
    let op = program.op(step.state);
    Some((op.accessed()?, op.written(program.tables(), step.value)?))
}
