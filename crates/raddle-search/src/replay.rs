//! Re-runs executions: a violation is reported only after it was reproduced on a fresh machine.

use crate::ending;
use crate::verdict::{Trace, TraceStep, ViolationKind};
use raddle_memory::{Machine, MicroStep, RaceDetector, RaceInfo, Readiness, StepEnd};
use raddle_program::{Fault, LocId, Op, Program, Stop, ThreadId, Value};
use rustc_hash::FxHashMap;

/// One event: who acts, and what it chooses on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleStep {
    pub thread: ThreadId,
    pub choices: Vec<u32>,
}

/// All that is needed to repeat an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    pub steps: Vec<ScheduleStep>,
}

impl Schedule {
    /// The schedule of micro-steps; `ends` are the lengths of the execution after each event.
    #[must_use]
    pub fn of(program: &Program, steps: &[MicroStep], ends: &[u32]) -> Self {
        let mut start = 0;
        let mut schedule = Self::default();
        for &end in ends {
            let event = &steps[start..end as usize];
            start = end as usize;
            let choices = event
                .iter()
                .filter(|step| matches!(program.op(step.state), Op::Choice { .. }))
                .map(|step| step.value as u32)
                .collect();
            if let Some(first) = event.first() {
                schedule.steps.push(ScheduleStep {
                    thread: first.thread,
                    choices,
                });
            }
        }
        schedule
    }
}

/// How a replay differed from what it should have repeated. Always a mistake in Raddle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The thread cannot take this step.
    NotReady {
        step: usize,
        thread: ThreadId,
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
}

/// An execution that was run.
pub struct Replayed {
    pub machine: Machine,
    pub trace: Trace,
    /// The fault of the last step, if memory found one.
    pub fault: Option<Fault>,
    pub races: Vec<RaceInfo>,
    /// Number of micro-steps after each event.
    pub ends: Vec<u32>,
}

/// Runs a schedule from the start.
pub fn replay(program: &mut Program, schedule: &Schedule) -> Result<Replayed, Mismatch> {
    let mut machine = Machine::new(program);
    let mut detector = RaceDetector::new();
    let mut races = Vec::new();
    let mut ends = Vec::new();
    let mut fault = None;
    for (step, ScheduleStep { thread, choices }) in schedule.steps.iter().enumerate() {
        let thread = *thread;
        if machine.readiness(program, thread) != Readiness::Ready {
            return Err(Mismatch::NotReady { step, thread });
        }
        fault = match machine.step(program, thread, choices) {
            StepEnd::Fault(fault) => Some(fault),
            StepEnd::Done | StepEnd::EndlessBlock => None,
        };
        for &step in &machine.steps()[detector.len()..] {
            races.extend(detector.push(program, step));
        }
        ends.push(machine.steps().len() as u32);
    }
    let done = machine.steps().len() - usize::from(fault.is_some());
    let trace = trace(program, machine.steps(), done);
    Ok(Replayed {
        machine,
        trace,
        fault,
        races,
        ends,
    })
}

/// Reproduces a violation, and tells its execution.
pub fn confirm(
    program: &mut Program,
    schedule: &Schedule,
    kind: &ViolationKind,
    thread: ThreadId,
) -> Result<Trace, Mismatch> {
    let mut replayed = replay(program, schedule)?;
    match kind {
        ViolationKind::Fault(expected) => {
            let stopped = stop_of(program, &replayed.machine, thread);
            let found = match stopped {
                Some(Stop::Fault(fault)) => Some(fault.clone()),
                _ => replayed.fault,
            };
            if found.as_ref() != Some(expected) {
                return Err(Mismatch::Fault { found });
            }
        }
        ViolationKind::Race(race) => {
            if !replayed.races.contains(race) {
                return Err(Mismatch::NoRace);
            }
        }
        ViolationKind::Deadlock { waiting } => {
            if ending::deadlock(program, &mut replayed.machine).as_ref() != Some(waiting) {
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

/// Why a thread stopped by itself.
pub(crate) fn stop_of<'a>(
    program: &'a Program,
    machine: &Machine,
    thread: ThreadId,
) -> Option<&'a Stop> {
    match program.op(machine.thread_state(thread)?) {
        Op::Stop(stop) => Some(program.tables().stop_info(*stop)),
        _ => None,
    }
}

/// Adds to the steps of an execution where its reads came from, and what its writes wrote. Of the steps only the first
/// `done` took effect.
#[must_use]
pub fn trace(program: &Program, steps: &[MicroStep], done: usize) -> Trace {
    let tables = program.tables();
    // Last writer of each byte of memory.
    let mut writers: FxHashMap<u32, usize> = FxHashMap::default();
    let mut trace = Trace::default();
    for (index, &step) in steps.iter().enumerate() {
        let MicroStep {
            thread,
            state,
            value,
        } = step;
        let mut told = TraceStep {
            thread,
            state,
            value,
            reads_from: None,
            wrote: None,
        };
        if index < done {
            raddle_memory::accesses(program, &step, |access| {
                let info = tables.loc_info(access.loc);
                if is_life(program, access.loc) {
                    return;
                }
                let size = if info.is_sync() {
                    8
                } else {
                    u32::from(info.size)
                };
                for byte in info.arena..info.arena + size {
                    if access.mode.reads() {
                        told.reads_from = told.reads_from.max(writers.get(&byte).copied());
                    }
                    if access.mode.writes() {
                        writers.insert(byte, index);
                    }
                }
            });
            told.wrote = written(program, step);
        }
        trace.steps.push(told);
    }
    trace
}

fn is_life(program: &Program, loc: LocId) -> bool {
    let tables = program.tables();
    tables.object_info(tables.loc_info(loc).object).life == Some(loc)
}

/// What a step wrote to memory that is not a synchronisation object.
fn written(program: &Program, step: MicroStep) -> Option<(LocId, Value)> {
    match *program.op(step.state) {
        Op::Store { loc, value, .. } => Some((loc, value)),
        Op::Rmw {
            loc, kind, operand, ..
        } => {
            let size = program.tables().loc_info(loc).size;
            Some((loc, kind.apply(step.value, operand, size)))
        }
        Op::Cas {
            loc, expected, new, ..
        } => (step.value == expected).then_some((loc, new)),
        _ => None,
    }
}
