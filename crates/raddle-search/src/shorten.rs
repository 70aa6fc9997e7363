//! Looks for a shorter execution that shows the same violation: one without threads and rounds of loops that have nothing to
//! do with it.
//!
//! A schedule is a list of threads. Leaving some of its events out gives another schedule of the same program, in which the
//! threads concerned get less far, and read something else. Whether that shows the violation as well is found out by running
//! it. So this is delta debugging (Zeller and Hildebrandt), with the parts that have a meaning here tried first:
//!
//! - all events of a thread, and the last ones;
//! - *rounds*: the events of a thread from one visit of a place in the code to another, and those of all threads between two
//!   moments at which each of them is about to do something at the same place;
//! - *turns*: what a thread does without being interrupted.
//!
//! In the same way it is tried to let a thread go on at once where it is interrupted for nothing.
//!
//! *The same violation* is one with the same [`ViolationKey`], of the same thread if it is a fault, of the same threads in
//! the same order if it is a race. Values may be others.
//!
//! A deadlock is shown as soon as threads wait for each other in a circle: nobody can help them whatever the others do. That
//! the others can run to their end without that becoming something else is tried, too: so what is shown is the beginning of
//! an execution that ends in this deadlock.
//!
//! The effort is counted in events and states, so that the answer does not depend on the machine.

use crate::driver::ViolationKey;
use crate::ending;
use crate::naive::{self, Next};
use crate::replay::{self, Found, Schedule, ScheduleStep};
use crate::verdict::ViolationKind;
use raddle_memory::race::RaceAccess;
use raddle_memory::{Machine, Mark, RaceDetector, StepEnd};
use raddle_program::{Program, SrcId, Stop, ThreadId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How much may be done. An event counts 1.
pub(crate) struct Effort<'a> {
    left: u64,
    /// Is there no more time?
    is_over: &'a mut dyn FnMut() -> bool,
}

/// What is allowed for one violation: so many events, and so many times the length of the execution.
const EVENTS: u64 = 200_000;
const TIMES: u64 = 20;
/// A state that was never met before has to be computed by running private code.
const NEW_STATE: u64 = 20;
/// Code that runs into a limit has run for long.
const LIMIT_REACHED: u64 = 20_000;

impl<'a> Effort<'a> {
    pub(crate) fn new(schedule: &Schedule, is_over: &'a mut dyn FnMut() -> bool) -> Self {
        let length = schedule.steps.len() as u64;
        Self {
            left: EVENTS + length.saturating_mul(TIMES),
            is_over,
        }
    }

    fn spend(&mut self, cost: u64) {
        self.left = self.left.saturating_sub(cost);
    }

    fn is_spent(&mut self) -> bool {
        if self.left > 0 && (self.is_over)() {
            self.left = 0;
        }
        self.left == 0
    }
}

/// An execution that shows the violation.
struct Shown {
    schedule: Schedule,
    found: Found,
    /// Who does each event, and where.
    places: Vec<(ThreadId, SrcId)>,
}

impl Shown {
    /// How far it is from being plain: its events, then its switches between threads.
    fn cost(&self) -> (usize, usize) {
        let pairs = self.places.windows(2);
        let switches = pairs.filter(|pair| pair[0].0 != pair[1].0);
        (self.places.len(), switches.count())
    }

    /// The turns: who does which events.
    fn turns(&self) -> Vec<(ThreadId, Range<usize>)> {
        let mut turns: Vec<(ThreadId, Range<usize>)> = Vec::new();
        for (index, &(thread, _)) in self.places.iter().enumerate() {
            match turns.last_mut() {
                Some((last, events)) if *last == thread => events.end = index + 1,
                _ => turns.push((thread, index..index + 1)),
            }
        }
        turns
    }
}

/// A plainer schedule that shows the violation, and the violation as it is there.
pub(crate) fn shorten(
    program: &mut Program,
    schedule: &Schedule,
    wanted: &Found,
    effort: &mut Effort<'_>,
) -> Option<(Schedule, Found)> {
    // Threads that spin for good are all threads: what they did before matters to each other.
    if matches!(wanted.kind, ViolationKind::Livelock { .. }) {
        return None;
    }
    let machine = Machine::with_model(program, schedule.memory);
    let mut search = Search {
        start: machine.mark(),
        machine,
        detector: RaceDetector::new(),
        key: ViolationKey::new(&wanted.kind, wanted.at),
        wanted,
        schedule,
        effort,
    };
    let mut best = search.run(program, &schedule.steps)?;
    let cost = best.cost();
    while search.improve(program, &mut best) {}
    let is_shorter = best.schedule.steps.len() < schedule.steps.len();
    (is_shorter || best.cost() < cost).then_some((best.schedule, best.found))
}

struct Search<'a, 'e> {
    machine: Machine,
    start: Mark,
    detector: RaceDetector,
    key: ViolationKey,
    wanted: &'a Found,
    schedule: &'a Schedule,
    effort: &'a mut Effort<'e>,
}

impl Search<'_, '_> {
    /// Goes once through everything that could be left out. Was anything?
    fn improve(&mut self, program: &mut Program, best: &mut Shown) -> bool {
        let cost = best.cost();
        self.without_threads(program, best);
        self.without_rounds_of_threads(program, best);
        self.without_ends(program, best);
        self.without_rounds(program, best);
        self.without_turns(program, best);
        self.without_interruptions(program, best);
        best.cost() < cost
    }

    fn without_threads(&mut self, program: &mut Program, best: &mut Shown) {
        for thread in threads_of(best) {
            let own = events_of(best, thread);
            self.without(program, best, &own);
        }
    }

    /// The last events of each thread: all but a few first, then fewer and fewer.
    fn without_ends(&mut self, program: &mut Program, best: &mut Shown) {
        for thread in threads_of(best) {
            let mut count = events_of(best, thread).len();
            while count > 0 {
                let own = events_of(best, thread);
                let first = own.len().saturating_sub(count);
                if !self.without(program, best, &own[first..]) {
                    count /= 2;
                }
            }
        }
    }

    /// The events of one thread between two visits of a place.
    fn without_rounds_of_threads(&mut self, program: &mut Program, best: &mut Shown) {
        for thread in threads_of(best) {
            let mut index = 0;
            loop {
                let own = events_of(best, thread);
                let Some(&event) = own.get(index) else {
                    break;
                };
                let place = best.places[event];
                let again: Vec<usize> = (index + 1..own.len())
                    .filter(|&other| best.places[own[other]] == place)
                    .collect();
                let shorter = fewer_and_fewer(again.len())
                    .any(|round| self.without(program, best, &own[index..again[round]]));
                if !shorter {
                    index += 1;
                }
            }
        }
    }

    /// The events of all threads between two moments at which each of them is about to do something at the same place.
    fn without_rounds(&mut self, program: &mut Program, best: &mut Shown) {
        let mut index = 0;
        while index < best.places.len() && !self.effort.is_spent() {
            let moments = moments(&best.places);
            let again: Vec<usize> = (index + 1..moments.len())
                .filter(|&other| moments[other] == moments[index])
                .collect();
            let shorter = fewer_and_fewer(again.len()).any(|round| {
                let events: Vec<usize> = (index..again[round]).collect();
                self.without(program, best, &events)
            });
            if !shorter {
                index += 1;
            }
        }
    }

    /// What a thread does in one go.
    fn without_turns(&mut self, program: &mut Program, best: &mut Shown) {
        let mut turn = 0;
        while let Some((_, events)) = best.turns().into_iter().nth(turn) {
            let events: Vec<usize> = events.collect();
            if !self.without(program, best, &events) {
                turn += 1;
            }
        }
    }

    /// Lets a thread do at once what it does in its next turn, or all of that then.
    fn without_interruptions(&mut self, program: &mut Program, best: &mut Shown) {
        let mut turn = 0;
        loop {
            let turns = best.turns();
            let Some((thread, events)) = turns.get(turn) else {
                break;
            };
            let next = turns[turn + 1..].iter().find(|(other, _)| other == thread);
            let Some((_, next)) = next else {
                turn += 1;
                continue;
            };
            let steps = &best.schedule.steps;
            let (before, after) = (&steps[..events.start], &steps[next.end..]);
            let between = &steps[events.end..next.start];
            let (first, second) = (&steps[events.clone()], &steps[next.clone()]);
            let early = [before, first, second, between, after].concat();
            let late = [before, between, first, second, after].concat();
            if !self.accept(program, best, &early) && !self.accept(program, best, &late) {
                turn += 1;
            }
        }
    }

    /// Leaves these events out if the violation stays. Did it?
    fn without(&mut self, program: &mut Program, best: &mut Shown, left_out: &[usize]) -> bool {
        if left_out.is_empty() || left_out.len() == best.places.len() {
            return false;
        }
        let mut skipped = left_out.iter().copied().peekable();
        let steps = best.schedule.steps.iter().enumerate();
        let kept: Vec<ScheduleStep> = steps
            .filter(|(index, _)| skipped.next_if_eq(index).is_none())
            .map(|(_, step)| step.clone())
            .collect();
        self.accept(program, best, &kept)
    }

    /// Takes the events for the best if they show the violation and are plainer. Are they?
    fn accept(&mut self, program: &mut Program, best: &mut Shown, steps: &[ScheduleStep]) -> bool {
        if self.effort.is_spent() {
            return false;
        }
        match self.run(program, steps) {
            Some(shown) if shown.cost() < best.cost() => {
                *best = shown;
                true
            }
            _ => false,
        }
    }

    /// Runs a schedule up to the violation, without the events that cannot be done.
    fn run(&mut self, program: &mut Program, steps: &[ScheduleStep]) -> Option<Shown> {
        self.machine.undo_to(self.start);
        self.detector.truncate(0);
        let known = program.state_count();
        let mut ends = Vec::with_capacity(steps.len());
        let mut places = Vec::with_capacity(steps.len());
        let found = self.run_up_to(program, steps, &mut ends, &mut places);
        let new = (program.state_count() - known) as u64;
        self.effort.spend(1 + ends.len() as u64 + NEW_STATE * new);
        let found = found?;
        let memory = self.schedule.memory;
        let schedule = Schedule::of(program, memory, self.machine.steps(), &ends);
        Some(Shown {
            schedule,
            found,
            places,
        })
    }

    fn run_up_to(
        &mut self,
        program: &mut Program,
        steps: &[ScheduleStep],
        ends: &mut Vec<u32>,
        places: &mut Vec<(ThreadId, SrcId)>,
    ) -> Option<Found> {
        for step in steps {
            let (first, thread) = (self.machine.steps().len(), step.thread());
            let Some(end) = replay::do_step(program, &mut self.machine, step) else {
                continue;
            };
            ends.push(self.machine.steps().len() as u32);
            places.push((thread, program.at(self.machine.steps()[first].state)));
            if let StepEnd::EndlessBlock = end {
                self.effort.spend(LIMIT_REACHED);
                return None;
            }
            if let Some(found) = self.fault(program, thread, end) {
                return self.is_wanted(&found).then_some(found);
            }
            if let ViolationKind::Race(_) = self.wanted.kind
                && let Some(found) = self.race(program)
            {
                return Some(found);
            }
        }
        match self.wanted.kind {
            ViolationKind::Deadlock { .. } => self.deadlock(program),
            _ => None,
        }
    }

    /// What went wrong with the last event: one of the thread that did it, or of one that it started.
    fn fault(&mut self, program: &Program, thread: ThreadId, end: StepEnd) -> Option<Found> {
        if let StepEnd::Fault(fault) = end {
            let last = self.machine.steps().last()?;
            let (kind, at) = (ViolationKind::Fault(fault), program.at(last.state));
            return Some(Found { kind, thread, at });
        }
        [thread, self.wanted.thread].into_iter().find_map(|thread| {
            let stop = replay::stop_of(program, &self.machine, thread)?;
            let state = self.machine.thread_state(thread)?;
            match stop {
                Stop::Fault(fault) => Some(Found {
                    kind: ViolationKind::Fault(fault.clone()),
                    thread,
                    at: program.at(state),
                }),
                Stop::Limit(_) | Stop::Unsupported(_) | Stop::WokenInVain | Stop::FailedInVain => {
                    self.effort.spend(LIMIT_REACHED);
                    None
                }
            }
        })
    }

    fn race(&mut self, program: &Program) -> Option<Found> {
        let mut wanted = None;
        while self.detector.len() < self.machine.steps().len() {
            let step = self.machine.steps()[self.detector.len()];
            if let Some(race) = self.detector.push(program, step) {
                let (thread, at) = (race.second.thread, race.second.at);
                let kind = ViolationKind::Race(race);
                let found = Found { kind, thread, at };
                wanted = wanted.or(self.is_wanted(&found).then_some(found));
            }
        }
        wanted
    }

    /// The deadlock that the machine is in, or is bound to come to.
    fn deadlock(&mut self, program: &mut Program) -> Option<Found> {
        let waiting = ending::circle(program, &mut self.machine)
            .or_else(|| ending::deadlock(program, &mut self.machine))?;
        let (thread, at) = (waiting.first()?.thread, waiting.first()?.at);
        let kind = ViolationKind::Deadlock { waiting };
        let found = Found { kind, thread, at };
        (self.is_wanted(&found) && self.ends_in_it(program)).then_some(found)
    }

    /// Lets everybody run on for as long as they can: is the end the deadlock?
    fn ends_in_it(&mut self, program: &mut Program) -> bool {
        const LONGEST: u64 = 10_000;
        let mark = self.machine.mark();
        let mut events = 0;
        let mut at_end = false;
        while events < LONGEST && !at_end {
            // Whoever only goes round a loop is not worth running.
            let mut possible = naive::possible(program, &mut self.machine).into_iter();
            let next = possible.find(|next| match *next {
                Next::Run(thread) => !ending::goes_round(program, &mut self.machine, thread),
                Next::Flush(..) => true,
            });
            match next {
                Some(next) => {
                    events += 1;
                    let end = next.step(program, &mut self.machine, &[]);
                    if !matches!(end, StepEnd::Done) {
                        break;
                    }
                }
                None => at_end = true,
            }
        }
        self.effort.spend(events);
        let waiting = if at_end {
            ending::deadlock(program, &mut self.machine)
        } else {
            None
        };
        self.machine.undo_to(mark);
        waiting.is_some_and(|waiting| {
            let at = waiting[0].at;
            ViolationKey::new(&ViolationKind::Deadlock { waiting }, at) == self.key
        })
    }

    fn is_wanted(&self, found: &Found) -> bool {
        let same_thread = match (&found.kind, &self.wanted.kind) {
            (ViolationKind::Fault(_), _) => found.thread == self.wanted.thread,
            (ViolationKind::Race(race), ViolationKind::Race(wanted)) => {
                let is_same = |a: &RaceAccess, b: &RaceAccess| (a.thread, a.at) == (b.thread, b.at);
                is_same(&race.first, &wanted.first) && is_same(&race.second, &wanted.second)
            }
            _ => true,
        };
        same_thread && ViolationKey::new(&found.kind, found.at) == self.key
    }
}

/// The threads that do anything, those with the most events first. Main starts all others: it comes last.
fn threads_of(shown: &Shown) -> Vec<ThreadId> {
    let mut counts: FxHashMap<ThreadId, usize> = FxHashMap::default();
    for (thread, _) in &shown.places {
        *counts.entry(*thread).or_default() += 1;
    }
    let mut threads: Vec<(ThreadId, usize)> = counts.into_iter().collect();
    threads.sort_by_key(|&(thread, count)| {
        (thread == ThreadId::MAIN, std::cmp::Reverse(count), thread)
    });
    threads.into_iter().map(|(thread, _)| thread).collect()
}

fn events_of(shown: &Shown, thread: ThreadId) -> Vec<usize> {
    let own = |&index: &usize| shown.places[index].0 == thread;
    (0..shown.places.len()).filter(own).collect()
}

/// Positions in a list of so many: the last, the one in the middle of what is before it, and so on.
fn fewer_and_fewer(count: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(count.checked_sub(1), |&last| (last > 0).then_some(last / 2))
}

/// For each event, a number that says where each thread goes on from then. Equal numbers are equal moments.
fn moments(places: &[(ThreadId, SrcId)]) -> Vec<u32> {
    let mut numbers: FxHashMap<Vec<(ThreadId, SrcId)>, u32> = FxHashMap::default();
    let mut next: Vec<(ThreadId, SrcId)> = Vec::new();
    let mut moments = vec![0; places.len()];
    for (index, &(thread, at)) in places.iter().enumerate().rev() {
        match next.binary_search_by_key(&thread, |&(thread, _)| thread) {
            Ok(found) => next[found].1 = at,
            Err(missing) => next.insert(missing, (thread, at)),
        }
        let new = numbers.len() as u32;
        moments[index] = *numbers.entry(next.clone()).or_insert(new);
    }
    moments
}

#[cfg(test)]
mod tests;
