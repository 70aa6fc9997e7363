//! `states`: goes through every state of the machine once.
//!
//! Other engines tell executions apart by what happened; here only what is there counts. A program whose executions are beyond all measure may have few
//! states: counters, buffers, locks that are taken again and again. What is wrong with a state (a thread that goes wrong in its next step, threads of which none can
//! go on) does not depend on the way there. Data races do, so they are not looked for.
//!
//! A state is known by its fingerprint of 128 bits ([`Machine::fingerprint`]). Under sequential consistency most events are done at once, without a look at what
//! other threads could do instead: those that nobody else can be in the way of ([`discipline`]).

mod discipline;

use crate::ending;
use crate::interleavings::{Next, other_choices, possible};
use crate::listener::Listener;
use discipline::Discipline;
use raddle_memory::{Machine, Mark, MemoryModel};
use raddle_program::Program;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// After so many events that were done at once, other threads have their turn: a thread may do nothing else for ever.
const MOST_AT_ONCE: usize = 1 << 10;

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
    /// Events to be explored after the present one, the next at the end.
    next: Vec<Next>,
    /// The choices with which the last of `next` is explored next.
    choices: Vec<u32>,
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

/// Goes through all states, or so many that they have `most` words together: threads, and words of memory. A state of many threads takes longer than one of few.
pub(crate) fn explore(
    program: &mut Program,
    memory: MemoryModel,
    most: Option<u64>,
    listener: &mut impl Listener,
) -> Explored {
    let mut discipline = (memory == MemoryModel::Sc).then(Discipline::default);
    let mut words_left = most.unwrap_or(u64::MAX);
    loop {
        let mut search = Search {
            machine: Machine::with_model(program, memory),
            discipline,
            visits: FxHashMap::default(),
            levels: Vec::new(),
            cycles: Cycles::None,
            exits: false,
            words_left,
            has_more: false,
        };
        let flow = search.run(program, listener);
        discipline = search.discipline;
        words_left = search.words_left;
        let is_kept = discipline.as_mut().is_none_or(Discipline::is_kept);
        if flow.is_break() || is_kept {
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
    words_left: u64,
    has_more: bool,
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
            }
            let choices = std::mem::take(&mut present.choices);
            self.step(program, next, &choices, listener)?;
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
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        let mark = self.machine.mark();
        if let Some(discipline) = &mut self.discipline {
            discipline.begin_event(program, &mut self.machine, next.thread());
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
            discipline.end_event(program, &self.machine, mark);
        }
        listener.stepped(program, &mut self.machine, next.thread(), end)
    }

    /// Does what nobody can be in the way of, and begins with the state that is come to, unless it is known.
    fn arrive(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        for _ in 0..MOST_AT_ONCE {
            let Some(discipline) = &mut self.discipline else {
                break;
            };
            let Some(thread) = discipline.undisturbed(program, &mut self.machine) else {
                break;
            };
            let end = self.machine.step(program, thread, &[]);
            listener.stepped(program, &mut self.machine, thread, end)?;
        }
        let fingerprint = self.machine.fingerprint(program) ^ listener.remembered();
        match self.visits.get(&fingerprint) {
            Some(Visit::Done) => return ControlFlow::Continue(()),
            Some(Visit::UnderWay) => {
                self.cycles = Cycles::Some;
                return ControlFlow::Continue(());
            }
            None => {}
        }
        let words = self.machine.thread_count() + program.tables().arena().len() / 8;
        self.words_left = self.words_left.saturating_sub(words as u64);
        if self.words_left == 0 {
            self.has_more = true;
            return ControlFlow::Break(());
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
            next,
            choices: Vec::new(),
        });
        ControlFlow::Continue(())
    }
}
