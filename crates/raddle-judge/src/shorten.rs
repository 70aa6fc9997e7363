//! Looks for a shorter execution that shows the same violation: one without threads and rounds of loops that have nothing to
//! do with it.
//!
//! A schedule is a list of threads. Leaving some of its events out gives another schedule of the same program, in which the
//! threads concerned get less far, and read something else. Whether that shows the violation as well is found out by running
//! it: on the machine ([`sequences`]), or, where executions are graphs, by the axioms ([`graphs`]). So this is delta debugging (Zeller and Hildebrandt), with the parts that have a meaning here tried first:
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

mod graphs;
mod sequences;
mod target;

use crate::replay::{Found, Schedule};
use crate::verdict::ViolationKind;
use raddle_memory::MemoryModel;
use raddle_program::{Program, SrcId, ThreadId};
use rustc_hash::FxHashMap;
use std::ops::Range;
use target::Target;

/// How much may be done. An event counts 1.
pub struct Effort<'a> {
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
    pub fn new(schedule: &Schedule, is_over: &'a mut dyn FnMut() -> bool) -> Self {
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
struct Shown<M> {
    schedule: Schedule,
    found: Found,
    /// Who does each event, and where.
    places: Vec<(ThreadId, SrcId)>,
    /// What is needed to run parts of it.
    made_of: M,
}

/// Runs parts of executions.
trait Runs {
    type MadeOf;

    /// Runs these events of an execution, in this order and up to the violation, without those that cannot be done.
    fn run(
        &mut self,
        program: &mut Program,
        whole: &Shown<Self::MadeOf>,
        kept: &[usize],
        target: &Target<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<Shown<Self::MadeOf>>;
}

impl<M> Shown<M> {
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
pub fn shorten(
    program: &mut Program,
    schedule: &Schedule,
    wanted: &Found,
    effort: &mut Effort<'_>,
) -> Option<(Schedule, Found)> {
    // Threads that spin for good are all threads: what they did before matters to each other.
    if matches!(wanted.kind, ViolationKind::Livelock { .. }) {
        return None;
    }
    let target = Target::new(wanted);
    if schedule.memory != MemoryModel::C11 {
        let runs = sequences::Sequences::new(program, schedule.memory);
        let whole = Shown {
            schedule: schedule.clone(),
            found: wanted.clone(),
            places: Vec::new(),
            made_of: (),
        };
        return plainer(program, runs, &whole, &target, effort);
    }
    graphs::PLAIN_ACCESSES.into_iter().find_map(|plain| {
        let whole = graphs::whole(program, schedule, wanted, plain)?;
        plainer(program, graphs::Graphs { plain }, &whole, &target, effort)
    })
}

/// The execution closest to a graph that is none, if it shows the same.
///
/// An engine meets a violation while it adds to a graph: the update that is in it may have been read from before, or another thread may stand at an
/// operation that the engine refuses. What it needs of the graph is an execution all the same, mostly.
pub fn nearest(
    program: &mut Program,
    schedule: &Schedule,
    wanted: &Found,
    effort: &mut Effort<'_>,
) -> Option<(Schedule, Found)> {
    let target = Target::new(wanted);
    let all: Vec<usize> = (0..schedule.steps.len()).collect();
    let needed = graphs::needed_for(program, schedule, wanted);
    graphs::PLAIN_ACCESSES.into_iter().find_map(|plain| {
        let whole = graphs::whole(program, schedule, wanted, plain)?;
        let mut runs = graphs::Graphs { plain };
        let shown = [&all, &needed]
            .into_iter()
            .find_map(|kept| runs.run(program, &whole, kept, &target, effort))?;
        Some((shown.schedule, shown.found))
    })
}

fn plainer<R: Runs>(
    program: &mut Program,
    runs: R,
    whole: &Shown<R::MadeOf>,
    target: &Target<'_>,
    effort: &mut Effort<'_>,
) -> Option<(Schedule, Found)> {
    let length = whole.schedule.steps.len();
    let mut search = Search {
        runs,
        target,
        effort,
    };
    let all: Vec<usize> = (0..length).collect();
    let mut best = search.run(program, whole, &all)?;
    let cost = best.cost();
    while search.improve(program, &mut best) {}
    let is_shorter = best.schedule.steps.len() < length;
    (is_shorter || best.cost() < cost).then_some((best.schedule, best.found))
}

struct Search<'a, 'e, R> {
    runs: R,
    target: &'a Target<'a>,
    effort: &'a mut Effort<'e>,
}

impl<R: Runs> Search<'_, '_, R> {
    /// Goes once through everything that could be left out. Was anything?
    fn improve(&mut self, program: &mut Program, best: &mut Shown<R::MadeOf>) -> bool {
        let cost = best.cost();
        self.without_threads(program, best);
        self.without_rounds_of_threads(program, best);
        self.without_ends(program, best);
        self.without_rounds(program, best);
        self.without_turns(program, best);
        self.without_interruptions(program, best);
        best.cost() < cost
    }

    fn without_threads(&mut self, program: &mut Program, best: &mut Shown<R::MadeOf>) {
        for thread in threads_of(best) {
            let own = events_of(best, thread);
            self.without(program, best, &own);
        }
    }

    /// The last events of each thread: all but a few first, then fewer and fewer.
    fn without_ends(&mut self, program: &mut Program, best: &mut Shown<R::MadeOf>) {
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
    fn without_rounds_of_threads(&mut self, program: &mut Program, best: &mut Shown<R::MadeOf>) {
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
    fn without_rounds(&mut self, program: &mut Program, best: &mut Shown<R::MadeOf>) {
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
    fn without_turns(&mut self, program: &mut Program, best: &mut Shown<R::MadeOf>) {
        let mut turn = 0;
        while let Some((_, events)) = best.turns().into_iter().nth(turn) {
            let events: Vec<usize> = events.collect();
            if !self.without(program, best, &events) {
                turn += 1;
            }
        }
    }

    /// Lets a thread do at once what it does in its next turn, or all of that then.
    fn without_interruptions(&mut self, program: &mut Program, best: &mut Shown<R::MadeOf>) {
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
            let (before, after) = (0..events.start, next.end..best.places.len());
            let between = events.end..next.start;
            let (first, second) = (events.clone(), next.clone());
            let early = [&before, &first, &second, &between, &after];
            let late = [&before, &between, &first, &second, &after];
            let [early, late] = [early, late]
                .map(|parts| parts.into_iter().cloned().flatten().collect::<Vec<usize>>());
            if !self.accept(program, best, &early) && !self.accept(program, best, &late) {
                turn += 1;
            }
        }
    }

    /// Leaves these events out if the violation stays. Did it?
    fn without(
        &mut self,
        program: &mut Program,
        best: &mut Shown<R::MadeOf>,
        left_out: &[usize],
    ) -> bool {
        if left_out.is_empty() || left_out.len() == best.places.len() {
            return false;
        }
        let mut skipped = left_out.iter().copied().peekable();
        let kept: Vec<usize> = (0..best.places.len())
            .filter(|index| skipped.next_if_eq(index).is_none())
            .collect();
        self.accept(program, best, &kept)
    }

    /// Takes the events for the best if they show the violation and are plainer. Are they?
    fn accept(
        &mut self,
        program: &mut Program,
        best: &mut Shown<R::MadeOf>,
        kept: &[usize],
    ) -> bool {
        if self.effort.is_spent() {
            return false;
        }
        match self.run(program, best, kept) {
            Some(shown) if shown.cost() < best.cost() => {
                *best = shown;
                true
            }
            _ => false,
        }
    }

    fn run(
        &mut self,
        program: &mut Program,
        whole: &Shown<R::MadeOf>,
        kept: &[usize],
    ) -> Option<Shown<R::MadeOf>> {
        let known = program.state_count();
        let shown = self
            .runs
            .run(program, whole, kept, self.target, self.effort);
        let new = (program.state_count() - known) as u64;
        self.effort.spend(1 + NEW_STATE * new);
        shown
    }
}

/// The threads that do anything, those with the most events first. Main starts all others: it comes last.
fn threads_of<M>(shown: &Shown<M>) -> Vec<ThreadId> {
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

fn events_of<M>(shown: &Shown<M>, thread: ThreadId) -> Vec<usize> {
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
