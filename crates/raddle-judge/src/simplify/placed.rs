//! Executions under C11 made plainer: what the violation does not depend on goes, and the processor changes hands as seldom as a greedy choice
//! finds. What is left is closed under program order and reads-from, so it is an execution as well.

use super::{Simplified, same_violation};
use crate::replay::{self, Causes, Schedule, needed};
use crate::verdict::ViolationKind;
use crate::watch::Watch;
use raddle_program::{Program, ThreadId};

/// See [`super::simplify`].
pub(super) fn simplify(
    program: &mut Program,
    schedule: &Schedule,
    kind: &ViolationKind,
    thread: ThreadId,
    watch: &Watch,
) -> Option<Simplified> {
    let mut causes = Causes::of(program, schedule)?;
    let length = schedule.steps.len();
    let wanted: Vec<usize> = match kind {
        ViolationKind::Fault(_) => {
            let of_thread = |&step: &usize| schedule.steps[step].thread() == thread;
            (0..length).filter(of_thread).collect()
        }
        ViolationKind::Race(race) => {
            let (first, second) = (race.first.step, race.second.step);
            // They stay in this order.
            causes.right_before.get_mut(second)?.push(first);
            vec![second]
        }
        ViolationKind::Deadlock { .. } | ViolationKind::Livelock { .. } => (0..length).collect(),
    };
    let order = few_switches(&causes, schedule, &needed(&causes, wanted)?);
    let simple = causes.part(schedule, &order);
    if simple == *schedule {
        return None;
    }
    let replayed = replay::replay_in_time(program, &simple, watch).ok()?;
    let kind = same_violation(replayed, kind)?;
    let trace = replay::confirm(program, &simple, &kind, thread, watch).ok()?;
    Some(Simplified {
        kind,
        schedule: simple,
        trace,
    })
}

/// A thread goes on for as long as it can; then the one whose next step came first.
fn few_switches(causes: &Causes, schedule: &Schedule, needed: &[bool]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..needed.len()).filter(|&step| needed[step]).collect();
    let mut is_done = vec![false; needed.len()];
    let mut order: Vec<usize> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let can_come = |step: usize| {
            causes.right_before[step]
                .iter()
                .all(|&cause| is_done[cause])
        };
        let last = order.last().map(|&last| schedule.steps[last].thread());
        let of_last = |&step: &usize| Some(schedule.steps[step].thread()) == last;
        let own = left
            .iter()
            .position(|step| of_last(step) && can_come(*step));
        // The first that is left depends on nothing that is.
        let next = own
            .or_else(|| left.iter().position(|&step| can_come(step)))
            .unwrap_or(0);
        let step = left.remove(next);
        is_done[step] = true;
        order.push(step);
    }
    order
}
