//! Makes a violating execution as plain as it can be without becoming another one.
//!
//! Two steps, both on the events of one schedule under sequential consistency:
//!
//! 1. *Drop* what the violation does not need. A fault needs the events of its thread, the events that these read from,
//!    the starts and ends of threads that they rely on, and so on. What is left, in the old order, reads the same values:
//!    the last writer before each read is still there. A deadlock or a livelock is about all threads, so nothing is dropped.
//! 2. *Reorder* events that do not depend on each other, so that the processor changes hands as seldom as possible. A
//!    schedule is a sequence of runs of threads. Once a thread has its turn it may as well go on for as long as it can: what
//!    it does early nobody has to wait for later. So a breadth-first search over maximal runs finds the fewest switches.
//!
//! Whatever comes out is run again and must show the same violation; otherwise the original is kept.

use crate::replay::{self, Replayed, Schedule, ScheduleStep};
use crate::verdict::{Trace, ViolationKind};
use raddle_memory::race::{RaceAccess, RaceInfo};
use raddle_memory::{Machine, MemoryModel, MicroStep, StepEnd};
use raddle_program::{Op, Program, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The breadth-first search gives up after so many positions, and goes on greedily.
const SEARCH_BUDGET: usize = 20_000;

/// A violation with the execution that shows it best.
pub struct Simplified {
    pub kind: ViolationKind,
    pub schedule: Schedule,
    pub trace: Trace,
}

/// The simplest equivalent of an execution that shows a violation of `thread`, if it is another one and shows it too.
pub fn simplify(
    program: &mut Program,
    schedule: &Schedule,
    kind: &ViolationKind,
    thread: ThreadId,
) -> Option<Simplified> {
    if schedule.memory != MemoryModel::Sc {
        return None;
    }
    let events = Events::run(program, schedule)?;
    let needed = match kind {
        ViolationKind::Fault(_) => events.past_of(events.last_of(thread)),
        ViolationKind::Race(race) => {
            let (first, second) = (
                events.at_step(race.first.step)?,
                events.at_step(race.second.step)?,
            );
            events.past_of([first, second])
        }
        ViolationKind::Deadlock { .. } | ViolationKind::Livelock { .. } => {
            vec![true; events.list.len()]
        }
    };
    let kept = (0..events.list.len()).filter(|&event| needed[event]);
    let kept = part(schedule, kept);
    // What is left is run anew: who must not overtake whom may have gone through events that were dropped.
    let order = fewest_switches(&Events::run(program, &kept)?);
    let simple = part(&kept, order);
    if simple == *schedule {
        return None;
    }
    let replayed = replay::replay(program, &simple).ok()?;
    let kind = same_violation(program, replayed, kind, thread)?;
    let trace = replay::confirm(program, &simple, &kind, thread).ok()?;
    Some(Simplified {
        kind,
        schedule: simple,
        trace,
    })
}

fn part(schedule: &Schedule, events: impl IntoIterator<Item = usize>) -> Schedule {
    let steps = events
        .into_iter()
        .map(|event| schedule.steps[event].clone());
    Schedule {
        memory: schedule.memory,
        steps: steps.collect(),
    }
}

/// The violation as it is in the new execution: the steps of a race have other numbers there.
fn same_violation(
    program: &Program,
    replayed: Replayed,
    kind: &ViolationKind,
    thread: ThreadId,
) -> Option<ViolationKind> {
    let ViolationKind::Race(old) = kind else {
        return Some(kind.clone());
    };
    debug_assert_eq!(program.thread(old.second.state), thread);
    let is_same = |a: &RaceAccess, b: &RaceAccess| (a.thread, a.state) == (b.thread, b.state);
    let same =
        |race: &RaceInfo| is_same(&race.first, &old.first) && is_same(&race.second, &old.second);
    let race = replayed.races.into_iter().rfind(same)?;
    Some(ViolationKind::Race(race))
}

/// One event of the schedule, and the events before it that it relies on.
struct Event {
    thread: ThreadId,
    /// Its predecessor in its thread, or the start of it.
    program_order: Option<usize>,
    /// The writers of what it reads, and the last event of a thread that it joins.
    sources: Vec<usize>,
    /// Those that it must not overtake, besides all of these.
    conflicts: Vec<usize>,
}

struct Events {
    list: Vec<Event>,
    /// The last event of each thread, or its start, by thread.
    last: FxHashMap<ThreadId, usize>,
    /// Number of micro-steps after each event.
    ends: Vec<usize>,
}

/// Who touched a byte of memory, or a cell, last.
#[derive(Default)]
struct Byte {
    writer: Option<usize>,
    readers: Vec<usize>,
}

impl Events {
    /// Runs the schedule and finds out which of its events depend on each other. None where that is not plain to see.
    fn run(program: &mut Program, schedule: &Schedule) -> Option<Self> {
        let mut machine = Machine::new(program);
        let mut events = Self {
            list: Vec::with_capacity(schedule.steps.len()),
            last: FxHashMap::default(),
            ends: Vec::new(),
        };
        let mut bytes: FxHashMap<u32, Byte> = FxHashMap::default();
        for step in &schedule.steps {
            let ScheduleStep::Run { thread, choices } = step else {
                return None;
            };
            let start = machine.steps().len();
            let end = machine.step(program, *thread, choices);
            // An atomic block that had to wait in its middle depends on what it found there.
            if end == StepEnd::EndlessBlock || machine.suspended().is_some() {
                return None;
            }
            let index = events.list.len();
            let mut event = Event {
                thread: *thread,
                program_order: events.last.insert(*thread, index),
                sources: Vec::new(),
                conflicts: Vec::new(),
            };
            for step in &machine.steps()[start..] {
                touch(program, step, index, &mut bytes, &mut event);
                match *program.op(step.state) {
                    Op::Spawn { child, .. } => {
                        events.last.insert(child, index);
                    }
                    Op::Join { thread } => event.sources.extend(events.last.get(&thread)),
                    _ => {}
                }
            }
            events.list.push(event);
            events.ends.push(machine.steps().len());
        }
        Some(events)
    }

    /// What a thread did last, or what started it.
    fn last_of(&self, thread: ThreadId) -> Option<usize> {
        self.last.get(&thread).copied()
    }

    /// The event that a micro-step belongs to.
    fn at_step(&self, step: usize) -> Option<usize> {
        let event = self.ends.partition_point(|&end| end <= step);
        (event < self.ends.len()).then_some(event)
    }

    /// The events that these rely on, and they themselves.
    fn past_of(&self, targets: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut needed = vec![false; self.list.len()];
        let mut open: Vec<usize> = targets.into_iter().collect();
        while let Some(event) = open.pop() {
            if !std::mem::replace(&mut needed[event], true) {
                open.extend(self.list[event].program_order);
                open.extend(&self.list[event].sources);
            }
        }
        needed
    }
}

/// Enters what a step touches.
fn touch(
    program: &Program,
    step: &MicroStep,
    index: usize,
    bytes: &mut FxHashMap<u32, Byte>,
    event: &mut Event,
) {
    let tables = program.tables();
    raddle_memory::accesses(program, step, |access| {
        let info = tables.loc_info(access.loc);
        // Cells are touched as a whole.
        let size = u32::from(info.size.max(1));
        for at in info.arena..info.arena + size {
            let byte = bytes.entry(at).or_default();
            let writer = byte.writer.filter(|&writer| writer != index);
            if access.mode.reads() {
                event.sources.extend(writer);
                byte.readers.push(index);
            }
            if access.mode.writes() {
                event.conflicts.extend(writer);
                let others = byte.readers.drain(..).filter(|&reader| reader != index);
                event.conflicts.extend(others);
                byte.writer = Some(index);
            }
        }
    });
}

/// The events in an order that respects what depends on what, with as few switches between threads as possible.
fn fewest_switches(events: &Events) -> Vec<usize> {
    let chains = Chains::new(events);
    let old: Vec<usize> = (0..events.list.len()).collect();
    let runs = chains.search().unwrap_or_else(|| chains.greedy());
    let mut position = vec![0; chains.lists.len()];
    let mut order = Vec::with_capacity(old.len());
    for chain in runs {
        let end = chains.run_from(&position, chain);
        order.extend(&chains.lists[chain][position[chain] as usize..end as usize]);
        position[chain] = end;
    }
    if order.len() == old.len() && switches(events, &order) < switches(events, &old) {
        order
    } else {
        old
    }
}

fn switches(events: &Events, order: &[usize]) -> usize {
    order
        .windows(2)
        .filter(|pair| events.list[pair[0]].thread != events.list[pair[1]].thread)
        .count()
}

/// The events, one chain a thread. A *position* says how many of each chain were done.
struct Chains {
    lists: Vec<Vec<usize>>,
    /// For each event of each chain: how many of each chain must have been done before it.
    needs: Vec<Vec<Box<[u32]>>>,
}

impl Chains {
    fn new(events: &Events) -> Self {
        let mut threads: Vec<ThreadId> = events.list.iter().map(|event| event.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let mut chains = Self {
            lists: vec![Vec::new(); threads.len()],
            needs: vec![Vec::new(); threads.len()],
        };
        // Chain and place in it, of each event.
        let mut places: Vec<(usize, u32)> = Vec::with_capacity(events.list.len());
        for (index, event) in events.list.iter().enumerate() {
            let mut need = vec![0; threads.len()].into_boxed_slice();
            let before = event.sources.iter().chain(&event.conflicts);
            for &other in before.chain(&event.program_order) {
                let (chain, place) = places[other];
                need[chain] = need[chain].max(place + 1);
            }
            let chain = threads
                .binary_search(&event.thread)
                .expect("the threads of all events were collected");
            places.push((chain, chains.lists[chain].len() as u32));
            chains.lists[chain].push(index);
            chains.needs[chain].push(need);
        }
        chains
    }

    /// How far `chain` comes without any other.
    fn run_from(&self, position: &[u32], chain: usize) -> u32 {
        let mut end = position[chain];
        while let Some(need) = self.needs[chain].get(end as usize) {
            let met = |other: usize| other == chain || need[other] <= position[other];
            if !(0..position.len()).all(met) {
                break;
            }
            end += 1;
        }
        end
    }

    fn is_end(&self, position: &[u32]) -> bool {
        self.lists
            .iter()
            .zip(position)
            .all(|(list, &done)| list.len() == done as usize)
    }

    /// The shortest sequence of maximal runs, unless that takes too long to find.
    fn search(&self) -> Option<Vec<usize>> {
        // Positions in the order they were found, with the run that led there.
        let start: Box<[u32]> = vec![0; self.lists.len()].into();
        let mut found: Vec<(usize, usize)> = vec![(0, 0)];
        let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
        seen.insert(start.clone());
        let mut open = VecDeque::from([(0, start)]);
        while let Some((id, position)) = open.pop_front() {
            if self.is_end(&position) {
                let mut runs = Vec::new();
                let mut at = id;
                while at != 0 {
                    let (before, chain) = found[at];
                    runs.push(chain);
                    at = before;
                }
                runs.reverse();
                return Some(runs);
            }
            for chain in 0..self.lists.len() {
                let end = self.run_from(&position, chain);
                if end == position[chain] {
                    continue;
                }
                let mut next = position.clone();
                next[chain] = end;
                if seen.insert(next.clone()) {
                    if seen.len() > SEARCH_BUDGET {
                        return None;
                    }
                    found.push((id, chain));
                    open.push_back((found.len() - 1, next));
                }
            }
        }
        None
    }

    /// Always the longest run.
    fn greedy(&self) -> Vec<usize> {
        let mut position = vec![0; self.lists.len()];
        let mut runs = Vec::new();
        while !self.is_end(&position) {
            let length = |chain: usize| self.run_from(&position, chain) - position[chain];
            let best = (0..self.lists.len()).max_by_key(|&chain| (length(chain), !chain));
            let Some(chain) = best.filter(|&chain| length(chain) > 0) else {
                break;
            };
            position[chain] = self.run_from(&position, chain);
            runs.push(chain);
        }
        runs
    }
}

#[cfg(test)]
mod tests;
