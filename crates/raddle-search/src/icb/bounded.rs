//! `bpor`: bounded partial-order reduction.
//!
//! "Bounded partial-order reduction" (Coons, Musuvathi, McKinley, OOPSLA 2013): the dynamic partial-order reduction of
//! Flanagan and Godefroid (POPL 2005) with backtrack sets, in which a backtrack point that costs a preemption is
//! accompanied by one where the thread that is preempted there was switched to, because another thread may be able to run
//! there at no cost. Without these points a bound and the reduction together miss executions.

use super::Preempted;
use crate::ending;
use crate::listener::Listener;
use raddle_memory::access::{Access, AccessMode, conflict};
use raddle_memory::{Machine, Mark, MicroStep, Readiness, accesses};
use raddle_program::{Op, Program, Tables, ThreadId};
use std::ops::ControlFlow;

/// What an event does to others.
#[derive(Clone, Debug, Default)]
struct Footprint {
    accesses: Vec<Access>,
    /// Threads that it spawns, joins or detaches.
    threads: Vec<ThreadId>,
}

#[derive(Debug)]
struct Event {
    thread: ThreadId,
    footprint: Footprint,
    /// For each thread, how many of its events happen before this one, itself included.
    clock: Vec<u32>,
    /// Counts the events of its thread from 1.
    index: u32,
}

/// A prefix of the present execution.
struct Level {
    mark: Mark,
    preempted: Preempted,
    ready: Vec<ThreadId>,
    /// Threads to be explored from here.
    backtrack: Vec<ThreadId>,
    done: Vec<ThreadId>,
    /// The thread whose choices are not all explored yet, and the next of them.
    choices: Option<(ThreadId, Vec<u32>)>,
}

struct Search {
    machine: Machine,
    bound: u32,
    was_cut: bool,
    levels: Vec<Level>,
    /// One less than levels, except at the end of an execution.
    events: Vec<Event>,
}

/// Explores one execution at least of each Mazurkiewicz class, those with fewer preemptions first.
pub(crate) fn explore(program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
    for bound in 0.. {
        let mut search = Search {
            machine: Machine::new(program),
            bound,
            was_cut: false,
            levels: Vec::new(),
            events: Vec::new(),
        };
        search.run(program, listener)?;
        listener.undone(0);
        if !search.was_cut {
            break;
        }
    }
    ControlFlow::Continue(())
}

impl Search {
    fn run(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        self.descend(program, Preempted::NONE, listener)?;
        while let Some(position) = self.levels.len().checked_sub(1) {
            let Some((thread, choices)) = self.next(position) else {
                self.levels.pop();
                continue;
            };
            self.events.truncate(position);
            let level = &self.levels[position];
            if self.machine.mark() != level.mark {
                self.machine.undo_to(level.mark);
                listener.undone(level.mark.steps());
            }
            let can_go_on = level.ready.contains(&level.preempted.last);
            let preempted = level.preempted.with(thread, can_go_on);
            let end = self.machine.step(program, thread, &choices);
            let others = crate::interleavings::other_choices(&self.machine);
            self.levels[position].choices = others.map(|choices| (thread, choices));
            self.push(program, thread);
            listener.stepped(program, &mut self.machine, thread, end)?;
            self.descend(program, preempted, listener)?;
        }
        ControlFlow::Continue(())
    }

    /// What to explore next from a level: the rest of the choices of a thread, or another thread that the bound admits.
    fn next(&mut self, position: usize) -> Option<(ThreadId, Vec<u32>)> {
        let bound = self.bound;
        let level = &mut self.levels[position];
        if let Some(next) = level.choices.take() {
            return Some(next);
        }
        let can_go_on = level.ready.contains(&level.preempted.last);
        while let Some(&thread) = level
            .backtrack
            .iter()
            .find(|thread| !level.done.contains(thread))
        {
            level.done.push(thread);
            if level.preempted.with(thread, can_go_on).count > bound {
                self.was_cut = true;
                continue;
            }
            return Some((thread, Vec::new()));
        }
        None
    }

    fn descend(
        &mut self,
        program: &mut Program,
        preempted: Preempted,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        let ready: Vec<ThreadId> = ending::threads(&self.machine)
            .filter(|&thread| self.machine.readiness(program, thread) == Readiness::Ready)
            .collect();
        self.find_races(program, &ready);
        if ready.is_empty() {
            return match preempted.count == self.bound {
                true => listener.ended(program, &mut self.machine),
                false => ControlFlow::Continue(()),
            };
        }
        let first = if ready.contains(&preempted.last) {
            preempted.last
        } else {
            ready[0]
        };
        self.levels.push(Level {
            mark: self.machine.mark(),
            preempted,
            ready,
            backtrack: vec![first],
            done: Vec::new(),
            choices: None,
        });
        ControlFlow::Continue(())
    }

    // ---- happens-before

    /// Adds the event that the machine has just done.
    fn push(&mut self, program: &Program, thread: ThreadId) {
        let start = self.levels.last().map_or(0, |level| level.mark.steps());
        let footprint = footprint(
            program,
            &self.machine.steps()[start..],
            self.suspended(program),
        );
        let mut clock = self.clock_of(thread);
        for event in &self.events {
            if depends(
                program.tables(),
                &event.footprint,
                event.thread,
                &footprint,
                thread,
            ) {
                join(&mut clock, &event.clock);
            }
        }
        let index = self.count_of(thread) + 1;
        if clock.len() <= thread.index() {
            clock.resize(thread.index() + 1, 0);
        }
        clock[thread.index()] = index;
        self.events.push(Event {
            thread,
            footprint,
            clock,
            index,
        });
    }

    /// What a block that had to wait has looked at.
    fn suspended(&self, program: &Program) -> Footprint {
        self.machine
            .suspended()
            .map_or_else(Footprint::default, |state| {
                waiting(program, *program.op(state))
            })
    }

    fn count_of(&self, thread: ThreadId) -> u32 {
        let last = self
            .events
            .iter()
            .rev()
            .find(|event| event.thread == thread);
        last.map_or(0, |event| event.index)
    }

    /// What happens before the next event of a thread, as far as it is known before it is done.
    fn clock_of(&self, thread: ThreadId) -> Vec<u32> {
        let last = self
            .events
            .iter()
            .rev()
            .find(|event| event.thread == thread || event.footprint.threads.contains(&thread));
        last.map_or_else(Vec::new, |event| event.clock.clone())
    }

    // ---- races

    /// For the next event of each thread, whether it can be done or not: adds backtrack points before the events that it
    /// depends on and that do not happen before it.
    fn find_races(&mut self, program: &mut Program, ready: &[ThreadId]) {
        for thread in ending::threads(&self.machine) {
            let Some(state) = self.machine.thread_state(thread) else {
                continue;
            };
            let next = if ready.contains(&thread) {
                self.look_ahead(program, thread)
            } else {
                waiting(program, *program.op(state))
            };
            let clock = self.clock_of(thread);
            let is_before = |event: &Event| {
                clock
                    .get(event.thread.index())
                    .is_some_and(|&known| known >= event.index)
            };
            let tables = program.tables();
            // Events that cannot come next together with the thread's, such as the unlock before a lock, hide those before
            // them; and what an atomic block accesses depends on what it reads, so that run before the last event it may not
            // depend on the others any more. Then all are looked at, and the last one elsewhere.
            let is_block =
                self.machine.is_in_block(thread) || matches!(program.op(state), Op::AtomicBegin);
            let mut last_access = None;
            let mut points = Vec::new();
            for (position, event) in self.events.iter().enumerate() {
                if event.thread == thread
                    || is_before(event)
                    || !depends(tables, &event.footprint, event.thread, &next, thread)
                {
                    continue;
                }
                let is_plain = !is_block
                    && next.threads.is_empty()
                    && next
                        .accesses
                        .iter()
                        .all(|access| !tables.loc_info(access.loc).is_sync());
                if is_plain {
                    last_access = Some(position);
                } else {
                    points.push(position);
                }
            }
            points.extend(last_access);
            for position in points {
                self.backtrack(position, thread);
            }
        }
    }

    /// What the next event of a thread that is ready would do, whatever it chooses first.
    fn look_ahead(&mut self, program: &mut Program, thread: ThreadId) -> Footprint {
        let mark = self.machine.mark();
        let mut all = Footprint::default();
        let mut next = Some(Vec::new());
        while let Some(choices) = next {
            self.machine.step(program, thread, &choices);
            next = crate::interleavings::other_choices(&self.machine);
            let steps = &self.machine.steps()[mark.steps()..];
            let one = footprint(program, steps, self.suspended(program));
            all.accesses.extend(one.accesses);
            all.threads.extend(one.threads);
            self.machine.undo_to(mark);
        }
        all
    }

    /// `thread` should also be run before the event at `position`, and where the thread of that event was switched to.
    fn backtrack(&mut self, position: usize, thread: ThreadId) {
        self.add_point(position, thread);
        let owner = self.events[position].thread;
        let switched = (0..position)
            .rev()
            .find(|&earlier| self.events[earlier].thread != owner)
            .map_or(0, |earlier| earlier + 1);
        if switched < position {
            self.add_point(switched, thread);
        }
    }

    fn add_point(&mut self, position: usize, thread: ThreadId) {
        let level = &mut self.levels[position];
        if level.ready.contains(&thread) {
            if !level.backtrack.contains(&thread) {
                level.backtrack.push(thread);
            }
        } else {
            for &other in &level.ready {
                if !level.backtrack.contains(&other) {
                    level.backtrack.push(other);
                }
            }
        }
    }
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

fn footprint(program: &Program, steps: &[MicroStep], waits: Footprint) -> Footprint {
    let mut footprint = waits;
    for step in steps {
        // Whether it fails depends on when it is run.
        let strong = matches!(program.op(step.state), Op::Cas { .. } | Op::Sync { .. });
        accesses(program, step, |mut access| {
            if strong && access.loc == main_loc(program, step) {
                access.mode = AccessMode::Update;
            }
            footprint.accesses.push(access);
        });
        if let Op::Spawn { child: thread, .. } | Op::Join { thread } | Op::Detach { thread } =
            *program.op(step.state)
        {
            footprint.threads.push(thread);
        }
    }
    footprint
}

fn main_loc(program: &Program, step: &MicroStep) -> raddle_program::LocId {
    match *program.op(step.state) {
        Op::Cas { loc, .. } => loc,
        Op::Sync { cell, .. } => cell,
        _ => raddle_program::LocId(u32::MAX),
    }
}

/// What an operation that has to wait waits for.
fn waiting(program: &Program, op: Op) -> Footprint {
    let mut footprint = Footprint::default();
    match op {
        Op::Sync { cell, .. } => {
            footprint.accesses.push(Access {
                loc: cell,
                mode: AccessMode::Update,
            });
            let object = program.tables().loc_info(cell).object;
            if let Some(loc) = program.tables().object_info(object).life {
                let mode = AccessMode::Read;
                footprint.accesses.push(Access { loc, mode });
            }
        }
        Op::Join { thread } => footprint.threads.push(thread),
        _ => {}
    }
    footprint
}

/// Does the order of two events of different threads matter?
fn depends(
    tables: &Tables,
    a: &Footprint,
    a_thread: ThreadId,
    b: &Footprint,
    b_thread: ThreadId,
) -> bool {
    a_thread == b_thread
        || a.threads.contains(&b_thread)
        || b.threads.contains(&a_thread)
        || a.threads.iter().any(|thread| b.threads.contains(thread))
        || a.accesses.iter().any(|&first| {
            b.accesses
                .iter()
                .any(|&second| conflict(tables, first, second))
        })
}
