//! Makes a violating execution as plain as it can be: shorter, if [`crate::shorten`] finds one, and then without becoming
//! another one.
//!
//! That is two steps, both on the events of one schedule:
//!
//! 1. *Drop* what the violation does not need. A fault needs the events of its thread, the events that these read from,
//!    the starts and ends of threads that they rely on, and so on. What is left, in the old order, reads the same values:
//!    the last writer before each read is still there. A deadlock or a livelock is about all threads, so nothing is dropped.
//! 2. *Reorder* events that do not depend on each other, so that the processor changes hands as seldom as possible. A
//!    schedule is a sequence of turns of threads. Once a thread has its turn it may as well go on for as long as it can: what
//!    it does early nobody has to wait for later. So a breadth-first search over maximal turns finds the fewest switches.
//!
//! Under TSO and PSO a thread is two chains: what it does, and its delayed stores reaching memory. In its turn every store
//! reaches memory as soon as it may, so that only those are delayed that have to be.
//!
//! Under C11 executions are graphs: [`placed`].
//!
//! Whatever comes out is run again and must show the same violation; otherwise the original is kept.

mod placed;

use crate::replay::{self, Found, Replayed, Schedule, ScheduleStep};
use crate::shorten::{Effort, shorten};
use crate::verdict::{Trace, Violation, ViolationKind};
use crate::watch::Watch;
use raddle_memory::race::{RaceAccess, RaceInfo};
use raddle_memory::{Effect, Machine, MemoryModel, MicroStep, StepEnd};
use raddle_program::{Op, Program, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The breadth-first search gives up after so many positions, and goes on greedily.
const SEARCH_BUDGET: usize = 20_000;
/// Whether there is time left is looked at after so many events.
const EVENTS_BETWEEN_LOOKS: usize = 64;

/// The violation with the plainest execution that is found for it. `watch` says when to be content.
pub fn plainest(program: &mut Program, violation: Violation, watch: &Watch) -> Violation {
    let mut plainest = simplified(program, violation, watch);
    // What is left out of an execution without detours shows which rounds it consists of.
    let found = Found {
        kind: plainest.kind.clone(),
        thread: plainest.thread,
        at: plainest.at,
    };
    let mut is_time_up = || watch.is_over();
    let mut effort = Effort::new(&plainest.schedule, &mut is_time_up);
    if let Some((schedule, found)) = shorten(program, &plainest.schedule, &found, &mut effort)
        && let Ok(trace) = replay::confirm(program, &schedule, &found.kind, found.thread, watch)
    {
        let shorter = Violation {
            kind: found.kind,
            thread: found.thread,
            at: found.at,
            schedule,
            trace,
            advice: None,
        };
        plainest = simplified(program, shorter, watch);
    }
    plainest
}

fn simplified(program: &mut Program, violation: Violation, watch: &Watch) -> Violation {
    match simplify(
        program,
        &violation.schedule,
        &violation.kind,
        violation.thread,
        watch,
    ) {
        Some(simple) => Violation {
            kind: simple.kind,
            schedule: simple.schedule,
            trace: simple.trace,
            ..violation
        },
        None => violation,
    }
}

/// A violation with the execution that shows it best.
pub struct Simplified {
    pub kind: ViolationKind,
    pub schedule: Schedule,
    pub trace: Trace,
}

/// The simplest equivalent of an execution that shows a violation of `thread`, if it is another one and shows it too. None, too,
/// if there is no time to find it.
pub fn simplify(
    program: &mut Program,
    schedule: &Schedule,
    kind: &ViolationKind,
    thread: ThreadId,
    watch: &Watch,
) -> Option<Simplified> {
    if schedule.memory == MemoryModel::C11 {
        return placed::simplify(program, schedule, kind, thread, watch);
    }
    let events = Events::run(program, schedule, watch)?;
    let needed = match kind {
        ViolationKind::Fault(_) => {
            // A delayed store may be what goes wrong: then it is the last event.
            let last = events.list.len().checked_sub(1);
            let last = last.filter(|&last| events.list[last].is_flush_of(thread));
            events.past_of(events.last.get(&thread).copied().into_iter().chain(last))
        }
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
    let kept: Vec<usize> = (0..events.list.len())
        .filter(|&event| needed[event])
        .collect();
    let kept = events.part(schedule, &kept)?;
    // What is left is run anew: who must not overtake whom may have gone through events that were dropped.
    let events = Events::run(program, &kept, watch)?;
    let simple = events.part(&kept, &fewest_switches(&events, watch)?)?;
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

/// The violation as it is in the new execution: the steps of a race have other numbers there.
fn same_violation(replayed: Replayed, kind: &ViolationKind) -> Option<ViolationKind> {
    let ViolationKind::Race(old) = kind else {
        return Some(kind.clone());
    };
    let is_same = |a: &RaceAccess, b: &RaceAccess| (a.thread, a.state) == (b.thread, b.state);
    let same =
        |race: &RaceInfo| is_same(&race.first, &old.first) && is_same(&race.second, &old.second);
    let race = replayed.races.into_iter().rfind(same)?;
    Some(ViolationKind::Race(race))
}

/// One event of the schedule, and the events before it that it relies on.
struct Event {
    thread: ThreadId,
    /// Is it a store that is delayed?
    is_delayed: bool,
    /// The delayed store that reaches memory here.
    flushes: Option<usize>,
    /// Its predecessor in its chain, or the start of its thread.
    program_order: Option<usize>,
    /// The writers of what it reads, the last event of a thread that it joins, the stores that it had to wait for.
    sources: Vec<usize>,
    /// Those that it must not overtake, besides all of these.
    conflicts: Vec<usize>,
}

impl Event {
    fn is_flush_of(&self, thread: ThreadId) -> bool {
        self.flushes.is_some() && self.thread == thread
    }
}

#[derive(Default)]
struct Events {
    list: Vec<Event>,
    /// The last thing that each thread did, or its start.
    last: FxHashMap<ThreadId, usize>,
    /// The last store of each thread that reached memory late.
    last_flush: FxHashMap<ThreadId, usize>,
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
    fn run(program: &mut Program, schedule: &Schedule, watch: &Watch) -> Option<Self> {
        let mut machine = Machine::with_model(program, schedule.memory);
        let mut events = Self::default();
        let mut bytes: FxHashMap<u32, Byte> = FxHashMap::default();
        for (index, step) in schedule.steps.iter().enumerate() {
            if index.is_multiple_of(EVENTS_BETWEEN_LOOKS) && watch.is_over() {
                return None;
            }
            let (start, thread) = (machine.steps().len(), step.thread());
            let had_delayed = !machine.delayed(thread).is_empty();
            let end = replay::do_step(program, &mut machine, step)?;
            // An atomic block that had to wait in its middle depends on what it found there.
            if end == StepEnd::EndlessBlock || machine.suspended().is_some() {
                return None;
            }
            let steps = &machine.steps()[start..];
            let event = events.event(program, thread, had_delayed, steps, &mut bytes)?;
            events.list.push(event);
            events.ends.push(machine.steps().len());
        }
        Some(events)
    }

    /// The next event, which consists of these steps.
    fn event(
        &mut self,
        program: &Program,
        thread: ThreadId,
        had_delayed: bool,
        steps: &[MicroStep],
        bytes: &mut FxHashMap<u32, Byte>,
    ) -> Option<Event> {
        let index = self.list.len();
        let effect = steps.first()?.effect;
        let mut event = Event {
            thread,
            is_delayed: effect == Effect::Delayed,
            flushes: None,
            program_order: None,
            sources: Vec::new(),
            conflicts: Vec::new(),
        };
        if let Effect::Flushed { store } = effect {
            let store = self.at_step(store as usize)?;
            event.flushes = Some(store);
            event.sources.push(store);
            event.program_order = self.last_flush.insert(thread, index);
        } else {
            event.program_order = self.last.insert(thread, index);
            // It may be one that waits until nothing is delayed.
            if !had_delayed {
                event.sources.extend(self.last_flush.get(&thread));
            }
        }
        for step in steps {
            touch(program, step, index, bytes, &self.list, &mut event);
            match *program.op(step.state) {
                Op::Spawn { child, .. } => {
                    self.last.insert(child, index);
                }
                Op::Join { thread } => {
                    event.sources.extend(self.last.get(&thread));
                    event.sources.extend(self.last_flush.get(&thread));
                }
                _ => {}
            }
        }
        Some(event)
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

    /// The schedule of some of the events, in this order.
    fn part(&self, schedule: &Schedule, order: &[usize]) -> Option<Schedule> {
        // Delayed stores in the order in which they were done: a flush names its own by its position among them.
        let mut delayed: FxHashMap<ThreadId, Vec<usize>> = FxHashMap::default();
        let mut steps = Vec::with_capacity(order.len());
        for &index in order {
            let event = &self.list[index];
            let buffer = delayed.entry(event.thread).or_default();
            if event.is_delayed {
                buffer.push(index);
            }
            steps.push(match event.flushes {
                None => schedule.steps[index].clone(),
                Some(store) => {
                    let position = buffer.iter().position(|&other| other == store)?;
                    buffer.remove(position);
                    ScheduleStep::Flush {
                        thread: event.thread,
                        position: position as u32,
                    }
                }
            });
        }
        Some(Schedule {
            memory: schedule.memory,
            steps,
        })
    }
}

/// Enters what a step touches.
fn touch(
    program: &Program,
    step: &MicroStep,
    index: usize,
    bytes: &mut FxHashMap<u32, Byte>,
    before: &[Event],
    event: &mut Event,
) {
    let tables = program.tables();
    let (thread, is_flush) = (event.thread, event.flushes.is_some());
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
                // A thread reads its own delayed stores: they may well reach memory before.
                let matters = |&reader: &usize| {
                    reader != index && !(is_flush && before[reader].thread == thread)
                };
                event
                    .conflicts
                    .extend(byte.readers.drain(..).filter(matters));
                byte.writer = Some(index);
            }
        }
    });
}

/// The events in an order that respects what depends on what, with as few switches between threads as possible. None if there
/// is no time to find it.
fn fewest_switches(events: &Events, watch: &Watch) -> Option<Vec<usize>> {
    let chains = Chains::new(events);
    let turns = match chains.search(watch) {
        Some(turns) => turns,
        None => chains.greedy(watch)?,
    };
    let mut position = chains.start();
    let mut order = Vec::with_capacity(events.list.len());
    for turn in turns {
        chains.take_turn(&mut position, turn, |event| order.push(event));
    }
    let old: Vec<usize> = (0..events.list.len()).collect();
    let cost = |order: &[usize]| (switches(events, order), delays(events, order));
    let is_better = order.len() == old.len() && cost(&order) < cost(&old);
    Some(if is_better { order } else { old })
}

/// A store that reaches memory while another thread runs interrupts that thread as well, as far as a reader is concerned.
fn switches(events: &Events, order: &[usize]) -> usize {
    let thread = |event: usize| events.list[event].thread;
    order
        .windows(2)
        .filter(|pair| thread(pair[0]) != thread(pair[1]))
        .count()
}

/// Delayed stores that do not reach memory at once.
fn delays(events: &Events, order: &[usize]) -> usize {
    let stores = order.iter().filter(|&&it| events.list[it].is_delayed);
    let at_once = order
        .windows(2)
        .filter(|pair| events.list[pair[1]].flushes == Some(pair[0]));
    stores.count() - at_once.count()
}

/// The events: for each thread the chain of what it does, then that of its delayed stores reaching memory. A *position*
/// says how many of each chain were done.
struct Chains {
    lists: Vec<Vec<usize>>,
    /// For each event of each chain: how many of each chain must have been done before it.
    needs: Vec<Vec<Box<[u32]>>>,
}

type Position = Box<[u32]>;

impl Chains {
    fn new(events: &Events) -> Self {
        let mut threads: Vec<ThreadId> = events.list.iter().map(|event| event.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let count = 2 * threads.len();
        let mut chains = Self {
            lists: vec![Vec::new(); count],
            needs: vec![Vec::new(); count],
        };
        // Chain and place in it, of each event.
        let mut places: Vec<(usize, u32)> = Vec::with_capacity(events.list.len());
        for (index, event) in events.list.iter().enumerate() {
            let mut need = vec![0; count].into_boxed_slice();
            let before = event.sources.iter().chain(&event.conflicts);
            for &other in before.chain(&event.program_order) {
                let (chain, place) = places[other];
                need[chain] = need[chain].max(place + 1);
            }
            let thread = threads
                .binary_search(&event.thread)
                .expect("the threads of all events were collected");
            let chain = 2 * thread + usize::from(event.flushes.is_some());
            places.push((chain, chains.lists[chain].len() as u32));
            chains.lists[chain].push(index);
            chains.needs[chain].push(need);
        }
        chains
    }

    fn start(&self) -> Position {
        vec![0; self.lists.len()].into()
    }

    /// The threads, by the place of their first chain.
    fn turns(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.lists.len()).step_by(2)
    }

    fn is_ready(&self, position: &Position, chain: usize) -> bool {
        let need = self.needs[chain].get(position[chain] as usize);
        need.is_some_and(|need| need.iter().zip(position).all(|(need, done)| need <= done))
    }

    /// Lets a thread go on for as long as it can without the others.
    fn take_turn(&self, position: &mut Position, turn: usize, mut event: impl FnMut(usize)) {
        let (run, flush) = (turn, turn + 1);
        loop {
            let chain = if self.is_ready(position, flush) {
                flush
            } else if self.is_ready(position, run) {
                run
            } else {
                return;
            };
            event(self.lists[chain][position[chain] as usize]);
            position[chain] += 1;
        }
    }

    fn is_end(&self, position: &Position) -> bool {
        self.lists
            .iter()
            .zip(position)
            .all(|(list, &done)| list.len() == done as usize)
    }

    /// The shortest sequence of maximal turns, unless that takes too long to find.
    fn search(&self, watch: &Watch) -> Option<Vec<usize>> {
        // Positions in the order they were found, with the turn that led there.
        let mut found: Vec<(usize, usize)> = vec![(0, 0)];
        let mut seen: FxHashSet<Position> = FxHashSet::default();
        seen.insert(self.start());
        let mut open = VecDeque::from([(0, self.start())]);
        while let Some((id, position)) = open.pop_front() {
            if self.is_end(&position) {
                let mut turns = Vec::new();
                let mut at = id;
                while at != 0 {
                    let (before, turn) = found[at];
                    turns.push(turn);
                    at = before;
                }
                turns.reverse();
                return Some(turns);
            }
            if watch.is_over() {
                return None;
            }
            for turn in self.turns() {
                let mut next = position.clone();
                self.take_turn(&mut next, turn, |_| ());
                if next != position && seen.insert(next.clone()) {
                    if seen.len() > SEARCH_BUDGET {
                        return None;
                    }
                    found.push((id, turn));
                    open.push_back((found.len() - 1, next));
                }
            }
        }
        None
    }

    /// Always the longest turn.
    fn greedy(&self, watch: &Watch) -> Option<Vec<usize>> {
        let mut position = self.start();
        let mut turns = Vec::new();
        while !self.is_end(&position) {
            if watch.is_over() {
                return None;
            }
            let length = |turn: usize| {
                let (mut next, mut length) = (position.clone(), 0);
                self.take_turn(&mut next, turn, |_| length += 1);
                length
            };
            let best = self.turns().max_by_key(|&turn| (length(turn), !turn));
            let Some(turn) = best.filter(|&turn| length(turn) > 0) else {
                break;
            };
            self.take_turn(&mut position, turn, |_| ());
            turns.push(turn);
        }
        Some(turns)
    }
}

#[cfg(test)]
mod tests;
