//! Executions that are graphs, built operation by operation and judged by the axioms.

use super::sequences::fault_of_threads;
use super::{Effort, Runs, Shown, Target};
use crate::replay::{Causes, Found, Part, Schedule, Whole, needed};
use crate::verdict::ViolationKind;
use raddle_memory::axioms::PlainAccesses;
use raddle_program::{Program, SrcId, ThreadId};

/// What plain accesses may be: relaxed ones only where nobody looks for races.
pub(super) const PLAIN_ACCESSES: [PlainAccesses; 2] =
    [PlainAccesses::Race, PlainAccesses::AreRelaxed];

/// Judging a graph takes time that grows with the third power of its size: so many events take as long as running one.
const EVENTS_JUDGED: u64 = 20;

pub(super) struct Graphs {
    pub(super) plain: PlainAccesses,
}

/// The execution as it was found.
pub(super) fn whole(
    program: &mut Program,
    schedule: &Schedule,
    wanted: &Found,
    plain: PlainAccesses,
) -> Option<Shown<Whole>> {
    Some(Shown {
        made_of: Whole::of(program, schedule, plain)?,
        schedule: schedule.clone(),
        found: wanted.clone(),
        places: Vec::new(),
    })
}

/// The steps that a violation depends on.
pub(super) fn needed_for(program: &mut Program, schedule: &Schedule, wanted: &Found) -> Vec<usize> {
    let length = schedule.steps.len();
    let of_thread = |&step: &usize| schedule.steps[step].thread() == wanted.thread;
    let targets: Vec<usize> = match &wanted.kind {
        ViolationKind::Fault(_) => (0..length).filter(of_thread).collect(),
        ViolationKind::Race(race) => vec![race.first.step, race.second.step],
        ViolationKind::Deadlock { .. } | ViolationKind::Livelock { .. } => (0..length).collect(),
    };
    let causes = Causes::of(program, schedule);
    let needed = causes.and_then(|causes| needed(&causes, targets));
    let needed = needed.unwrap_or_default().into_iter().enumerate();
    needed
        .filter_map(|(step, is_needed)| is_needed.then_some(step))
        .collect()
}

impl Runs for Graphs {
    type MadeOf = Whole;

    fn run(
        &mut self,
        program: &mut Program,
        whole: &Shown<Whole>,
        kept: &[usize],
        target: &Target<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<Shown<Whole>> {
        let mut part = Part::new(program, &whole.made_of, self.plain);
        let mut places = Vec::with_capacity(kept.len());
        let fault = up_to_fault(program, &mut part, kept, target, effort, &mut places);
        let length = places.len() as u64;
        effort.spend(length);
        if matches!(target.wanted.kind, ViolationKind::Fault(_)) && fault.is_none() {
            return None;
        }
        effort.spend((length / EVENTS_JUDGED).pow(3));
        let races = part.judge(program)?;
        let found = match target.wanted.kind {
            ViolationKind::Fault(_) => fault,
            ViolationKind::Race(_) => {
                let found = races.into_iter().map(|race| Found {
                    thread: race.second.thread,
                    at: race.second.at,
                    kind: ViolationKind::Race(race),
                });
                found.into_iter().find(|found| target.is(found))
            }
            // Blocks are run as a whole from here on: none may have been begun.
            ViolationKind::Deadlock { .. } if !part.machine().is_any_in_block(program) => {
                target.deadlock(program, part.machine(), effort)
            }
            ViolationKind::Deadlock { .. } | ViolationKind::Livelock { .. } => None,
        }?;
        let (schedule, made_of) = part.finish();
        Some(Shown {
            schedule,
            found,
            places,
            made_of,
        })
    }
}

/// Runs these events up to the fault that is wanted, if that is met.
fn up_to_fault(
    program: &mut Program,
    part: &mut Part<'_>,
    kept: &[usize],
    target: &Target<'_>,
    effort: &mut Effort<'_>,
    places: &mut Vec<(ThreadId, SrcId)>,
) -> Option<Found> {
    for &index in kept {
        let Some((thread, at)) = part.step(program, index) else {
            continue;
        };
        places.push((thread, at));
        let memory = part.last_faults().map(|fault| Found {
            kind: ViolationKind::Fault(fault.clone()),
            thread,
            at,
        });
        let memory: Vec<Found> = memory.collect();
        let own = fault_of_threads(
            program,
            part.machine(),
            [thread, target.wanted.thread],
            effort,
        );
        let mut all = memory.into_iter().chain(own);
        let found = all.find(|found| target.is(found));
        if found.is_some() {
            return found;
        }
    }
    None
}
