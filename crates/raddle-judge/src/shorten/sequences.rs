//! Executions that are sequences of events, run on the machine.

use super::{Effort, LIMIT_REACHED, Runs, Shown, Target};
use crate::replay::{self, Found, Schedule};
use crate::verdict::ViolationKind;
use raddle_memory::{Machine, Mark, MemoryModel, RaceDetector, StepEnd};
use raddle_program::{Program, SrcId, Stop, ThreadId};

pub(super) struct Sequences {
    machine: Machine,
    start: Mark,
    detector: RaceDetector,
    memory: MemoryModel,
}

impl Sequences {
    pub(super) fn new(program: &Program, memory: MemoryModel) -> Self {
        let machine = Machine::with_model(program, memory);
        Self {
            start: machine.mark(),
            machine,
            detector: RaceDetector::new(),
            memory,
        }
    }
}

impl Runs for Sequences {
    type MadeOf = ();

    fn run(
        &mut self,
        program: &mut Program,
        whole: &Shown<()>,
        kept: &[usize],
        target: &Target<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<Shown<()>> {
        self.machine.undo_to(self.start);
        self.detector.truncate(0);
        let mut events = Events::default();
        let found = self.run_up_to(program, whole, kept, target, effort, &mut events);
        effort.spend(events.ends.len() as u64);
        let found = found?;
        let schedule = Schedule::of(program, self.memory, self.machine.steps(), &events.ends);
        Some(Shown {
            schedule,
            found,
            places: events.places,
            made_of: (),
        })
    }
}

/// The events that were done.
#[derive(Default)]
struct Events {
    ends: Vec<u32>,
    places: Vec<(ThreadId, SrcId)>,
}

impl Sequences {
    fn run_up_to(
        &mut self,
        program: &mut Program,
        whole: &Shown<()>,
        kept: &[usize],
        target: &Target<'_>,
        effort: &mut Effort<'_>,
        events: &mut Events,
    ) -> Option<Found> {
        for &index in kept {
            let step = &whole.schedule.steps[index];
            let (first, thread) = (self.machine.steps().len(), step.thread());
            let Some(end) = replay::do_step(program, &mut self.machine, step) else {
                continue;
            };
            events.ends.push(self.machine.steps().len() as u32);
            let place = (thread, program.at(self.machine.steps()[first].state));
            events.places.push(place);
            if let StepEnd::EndlessBlock = end {
                effort.spend(LIMIT_REACHED);
                return None;
            }
            if let Some(found) = self.fault(program, thread, end, target, effort) {
                return target.is(&found).then_some(found);
            }
            if let ViolationKind::Race(_) = target.wanted.kind
                && let Some(found) = self.race(program, target)
            {
                return Some(found);
            }
        }
        match target.wanted.kind {
            ViolationKind::Deadlock { .. } => target.deadlock(program, &mut self.machine, effort),
            _ => None,
        }
    }

    /// What went wrong with the last event: one of the thread that did it, or of one that it started.
    fn fault(
        &mut self,
        program: &Program,
        thread: ThreadId,
        end: StepEnd,
        target: &Target<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<Found> {
        if let StepEnd::Fault(fault) = end {
            let last = self.machine.steps().last()?;
            let (kind, at) = (ViolationKind::Fault(fault), program.at(last.state));
            return Some(Found { kind, thread, at });
        }
        fault_of_threads(
            program,
            &self.machine,
            [thread, target.wanted.thread],
            effort,
        )
    }

    fn race(&mut self, program: &Program, target: &Target<'_>) -> Option<Found> {
        let mut wanted = None;
        while self.detector.len() < self.machine.steps().len() {
            let step = self.machine.steps()[self.detector.len()];
            if let Some(race) = self.detector.push(program, step) {
                let (thread, at) = (race.second.thread, race.second.at);
                let kind = ViolationKind::Race(race);
                let found = Found { kind, thread, at };
                wanted = wanted.or(target.is(&found).then_some(found));
            }
        }
        wanted
    }
}

/// What one of these threads stopped at by itself.
pub(super) fn fault_of_threads(
    program: &Program,
    machine: &Machine,
    threads: [ThreadId; 2],
    effort: &mut Effort<'_>,
) -> Option<Found> {
    threads.into_iter().find_map(|thread| {
        let stop = replay::stop_of(program, machine, thread)?;
        let state = machine.thread_state(thread)?;
        match stop {
            Stop::Fault(fault) => Some(Found {
                kind: ViolationKind::Fault(fault.clone()),
                thread,
                at: program.at(state),
            }),
            Stop::Limit(_)
            | Stop::Unsupported(_)
            | Stop::WokenInVain
            | Stop::FailedInVain
            | Stop::Noticed => {
                effort.spend(LIMIT_REACHED);
                None
            }
        }
    })
}
