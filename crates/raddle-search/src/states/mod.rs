//! `states`: goes through every state of the machine once.
//!
//! Other engines tell executions apart by what happened; here only what is there counts. A program whose executions are beyond all measure may have few
//! states: counters, buffers, locks that are taken again and again. What is wrong with a state (a thread that goes wrong in its next step, threads of which none can
//! go on) does not depend on the way there. Data races do, so they are not looked for.
//!
//! A state is known by its fingerprint of 128 bits ([`Machine::fingerprint`]). Under sequential consistency most events are done at once, without a look at what
//! other threads could do instead: those that nobody else can be in the way of ([`discipline`]).

mod discipline;
mod passing;

use crate::ending;
use crate::interleavings::{Next, other_choices, possible};
use crate::listener::Listener;
use discipline::Discipline;
use passing::Passing;
use raddle_memory::{Machine, Mark, MemoryModel, MemoryNumber};
use raddle_program::Program;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// After so many events that were done at once, other threads have their turn: a thread may do nothing else for ever.
const MOST_AT_ONCE: usize = 1 << 10;

/// What was assumed does not hold: exploration goes on for so many times as long as it has, to find out more, but at least for so long, before it begins again.
const TIMES_AS_LONG: u64 = 2;
const AT_LEAST: u64 = 1 << 14;

/// Is a state on the present way?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    UnderWay,
    Done,
}

/// A state of the present way, and what is left to be explored from there.
struct Level {
    mark: Mark,
    fingerprint: u128,
    memory: MemoryNumber,
    /// Events to be explored after the present one, the next at the end.
    next: Vec<Next>,
    /// The choices with which the last of `next` is explored next.
    choices: Vec<u32>,
    passing: Passing,
    /// Somebody's next event may be undisturbed here.
    is_hurried: bool,
}

/// Whether states come again on ways from themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cycles {
    None,
    Some,
}

/// How exploration ended.
pub(crate) struct Explored {
    pub(crate) flow: ControlFlow<()>,
    pub(crate) cycles: Cycles,
    /// The process exits somewhere while there are threads that could go on.
    pub(crate) exits: bool,
    /// So many were come to.
    pub(crate) states: u64,
    /// There are more states than may be gone through.
    pub(crate) has_more: bool,
}

/// Goes through all states, or as many as come with an effort of `most`: operations that are done, and for each way to a state its threads. A state of many threads takes longer than one of few.
pub(crate) fn explore(
    program: &mut Program,
    memory: MemoryModel,
    most: Option<u64>,
    listener: &mut impl Listener,
) -> Explored {
    let mut discipline = (memory == MemoryModel::Sc).then(Discipline::default);
    let mut effort_left = most.unwrap_or(u64::MAX);
    loop {
        let mut search = Search {
            machine: Machine::with_model(program, memory),
            discipline,
            visits: FxHashMap::default(),
            levels: Vec::new(),
            cycles: Cycles::None,
            exits: false,
            effort: 0,
            effort_left,
            again_at: None,
            begins_again: false,
            has_more: false,
            scratch: Vec::new(),
        };
        let flow = search.run(program, listener);
        discipline = search.discipline;
        effort_left = search.effort_left;
        let is_kept = discipline.as_mut().is_none_or(Discipline::is_kept);
        if is_kept || flow.is_break() && !search.begins_again {
            return Explored {
                flow,
                cycles: search.cycles,
                exits: search.exits,
                states: search.visits.len() as u64,
                has_more: search.has_more,
            };
        }
        listener.restarted();
    }
}

struct Search {
    machine: Machine,
    /// What is assumed of how threads use memory; none where every event counts.
    discipline: Option<Discipline>,
    visits: FxHashMap<u128, Visit>,
    levels: Vec<Level>,
    cycles: Cycles,
    exits: bool,
    /// What was done, and what may still be done ([`explore`]).
    effort: u64,
    effort_left: u64,
    /// After this effort exploration begins again.
    again_at: Option<u64>,
    begins_again: bool,
    has_more: bool,
    scratch: Vec<(u32, u64)>,
}

impl Search {
    fn run(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        self.arrive(program, listener)?;
        while let Some(present) = self.levels.last_mut() {
            let Some(&next) = present.next.last() else {
                self.visits.insert(present.fingerprint, Visit::Done);
                self.levels.pop();
                continue;
            };
            if self.machine.mark() != present.mark {
                self.machine.undo_to(present.mark);
                listener.undone(present.mark.steps());
                if let Some(discipline) = &mut self.discipline {
                    discipline.set_passing(present.passing.clone());
                }
            }
            let choices = std::mem::take(&mut present.choices);
            let is_hurried = present.is_hurried;
            self.step(program, next, &choices, is_hurried, listener)?;
            self.arrive(program, listener)?;
        }
        listener.undone(0);
        ControlFlow::Continue(())
    }

    /// Does an event that others could have come before.
    fn step(
        &mut self,
        program: &mut Program,
        next: Next,
        choices: &[u32],
        is_hurried: bool,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        let mark = self.machine.mark();
        let mut is_undisturbed = false;
        if let Some(discipline) = &mut self.discipline {
            let thread = next.thread();
            is_undisturbed =
                is_hurried && discipline.is_undisturbed(program, &mut self.machine, thread);
            if !is_undisturbed {
                discipline.begin_event(program, &mut self.machine, thread);
                discipline.decides(thread);
            }
        }
        let end = next.step(program, &mut self.machine, choices);
        if let (Some(present), others) = (self.levels.last_mut(), other_choices(&self.machine)) {
            match others {
                Some(choices) => present.choices = choices,
                None => {
                    present.next.pop();
                }
            }
        }
        if let Some(discipline) = &mut self.discipline {
            match is_undisturbed {
                true => discipline.follow(program, &mut self.machine, mark),
                false => discipline.end_event(program, &mut self.machine, mark),
            }
        }
        listener.stepped(program, &mut self.machine, next.thread(), end)
    }

    /// Does what is undisturbed, and begins with the state that is come to, unless it is known.
    fn arrive(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        let is_hurried = self.hurry(program, listener)?;
        let passing = self.discipline.as_ref().map(Discipline::passing);
        let passing = passing.cloned().unwrap_or_default();
        let (mark, memory) = match self.levels.last() {
            Some(before) => (before.mark, before.memory),
            None => (Mark::default(), MemoryNumber::default()),
        };
        let memory = self.machine.memory_number(mark, memory, &mut self.scratch);
        let fingerprint = self.machine.fingerprint(program, memory) ^ listener.remembered();
        let fingerprint = fingerprint.wrapping_add(passing.fingerprint());
        self.take_trouble(mark)?;
        match self.visits.get(&fingerprint) {
            Some(Visit::Done) => return ControlFlow::Continue(()),
            Some(Visit::UnderWay) => {
                self.cycles = Cycles::Some;
                return ControlFlow::Continue(());
            }
            None => {}
        }
        let mut next = possible(program, &mut self.machine);
        if next.is_empty() {
            self.visits.insert(fingerprint, Visit::Done);
            return listener.ended(program, &mut self.machine);
        }
        self.visits.insert(fingerprint, Visit::UnderWay);
        self.exits = self.exits || ending::is_complete(program, &mut self.machine);
        // They are taken from the end.
        next.reverse();
        self.levels.push(Level {
            mark: self.machine.mark(),
            fingerprint,
            memory,
            next,
            choices: Vec::new(),
            passing,
            is_hurried,
        });
        ControlFlow::Continue(())
    }

    /// Counts what was done since `mark`. Is there a reason to stop?
    fn take_trouble(&mut self, mark: Mark) -> ControlFlow<()> {
        let steps = self.machine.steps().len() - mark.steps();
        let effort = (self.machine.thread_count() + steps) as u64;
        self.effort += effort;
        self.effort_left = self.effort_left.saturating_sub(effort);
        self.has_more = self.effort_left == 0;
        let is_broken = self.discipline.as_ref().is_some_and(Discipline::is_broken);
        if is_broken {
            let more = AT_LEAST.max(self.effort.saturating_mul(TIMES_AS_LONG));
            let again_at = *self.again_at.get_or_insert(self.effort + more);
            self.begins_again = !self.has_more && self.effort >= again_at;
        }
        match self.has_more || self.begins_again {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Does what nobody can be in the way of. Is there more of it?
    fn hurry(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<(), bool> {
        for _ in 0..MOST_AT_ONCE {
            let Some(discipline) = &mut self.discipline else {
                return ControlFlow::Continue(false);
            };
            let Some(thread) = discipline.undisturbed(program, &mut self.machine) else {
                return ControlFlow::Continue(false);
            };
            let mark = self.machine.mark();
            let end = self.machine.step(program, thread, &[]);
            discipline.follow(program, &mut self.machine, mark);
            listener.stepped(program, &mut self.machine, thread, end)?;
        }
        ControlFlow::Continue(true)
    }
}
