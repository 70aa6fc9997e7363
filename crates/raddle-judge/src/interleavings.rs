//! What can come next, and every interleaving, by depth-first search: what engine `naive` explores.
//!
//! Under TSO and PSO an interleaving also says when each delayed store reaches memory. Nothing is left out there.

use crate::ending;
use crate::listener::Listener;
use raddle_memory::{Machine, Mark, MemoryModel, Readiness, StepEnd};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

/// Which thread goes first where several can. Must make no difference but to the order of executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    Ascending,
    Descending,
}

/// An event that can come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Run(ThreadId),
    /// The delayed store at this position reaches memory.
    Flush(ThreadId, usize),
}

impl Next {
    pub fn thread(self) -> ThreadId {
        match self {
            Self::Run(thread) | Self::Flush(thread, _) => thread,
        }
    }

    /// Does it.
    pub fn step(self, program: &mut Program, machine: &mut Machine, choices: &[u32]) -> StepEnd {
        match self {
            Self::Run(thread) => machine.step(program, thread, choices),
            Self::Flush(thread, position) => machine.flush(program, thread, position),
        }
    }
}

/// A prefix of the current execution, and what is left to be explored after it.
struct Level {
    mark: Mark,
    /// Events to be explored after the present one.
    next: Vec<Next>,
    /// The choices with which the last of `next` is explored next.
    choices: Vec<u32>,
    /// How many events can come next, those that were tried included.
    count: usize,
}

/// Explores every interleaving of events.
pub fn explore(
    program: &mut Program,
    memory: MemoryModel,
    sequence: Sequence,
    listener: &mut impl Listener,
) -> ControlFlow<()> {
    let mut machine = Machine::with_model(program, memory);
    let mut levels = Vec::new();
    descend(program, &mut machine, sequence, &mut levels, listener)?;
    while let Some(present) = levels.last_mut() {
        let Some(&next) = present.next.last() else {
            levels.pop();
            continue;
        };
        if machine.mark() != present.mark {
            machine.undo_to(present.mark);
            listener.undone(present.mark.steps());
        }
        let choices = std::mem::take(&mut present.choices);
        let end = next.step(program, &mut machine, &choices);
        match other_choices(&machine) {
            Some(choices) => present.choices = choices,
            None => {
                present.next.pop();
            }
        }
        listener.stepped(program, &mut machine, next.thread(), end)?;
        descend(program, &mut machine, sequence, &mut levels, listener)?;
        listener.explored(|| fraction(&levels));
    }
    ControlFlow::Continue(())
}

/// How much of the tree has been explored, if all branches of a prefix are equally large.
fn fraction(levels: &[Level]) -> f64 {
    let (mut share, mut explored) = (1.0, 0.0);
    for (index, level) in levels.iter().enumerate() {
        let begun = level.count - level.next.len();
        // Below all but the last level there is a branch that is not finished; with choices left it does not count as begun.
        let is_open = index + 1 < levels.len() && level.choices.is_empty();
        let done = begun - usize::from(is_open);
        explored += share * done as f64 / level.count as f64;
        share /= level.count as f64;
    }
    explored
}

/// Begins with the prefix that the machine is at, unless the execution ends there.
fn descend(
    program: &mut Program,
    machine: &mut Machine,
    sequence: Sequence,
    levels: &mut Vec<Level>,
    listener: &mut impl Listener,
) -> ControlFlow<()> {
    let mut next = possible(program, machine);
    if next.is_empty() {
        return listener.ended(program, machine);
    }
    // They are taken from the end.
    if sequence == Sequence::Ascending {
        next.reverse();
    }
    levels.push(Level {
        mark: machine.mark(),
        count: next.len(),
        next,
        choices: Vec::new(),
    });
    ControlFlow::Continue(())
}

/// The choices to be taken next, in the order of counting; none after the last. The lists are prefixes: what follows is 0.
pub fn other_choices(machine: &Machine) -> Option<Vec<u32>> {
    let chosen = machine.chosen();
    let last = chosen
        .iter()
        .rposition(|chosen| chosen.taken + 1 < chosen.count)?;
    let mut choices: Vec<u32> = chosen[..=last].iter().map(|chosen| chosen.taken).collect();
    choices[last] += 1;
    Some(choices)
}

/// All events that can come next, by thread; a thread's own operation before its delayed stores.
pub fn possible(program: &Program, machine: &mut Machine) -> Vec<Next> {
    let mut next = Vec::new();
    for thread in ending::threads(machine) {
        if machine.readiness(program, thread) == Readiness::Ready {
            next.push(Next::Run(thread));
        }
        let delayed = machine.delayed(thread).len();
        let flushes = (0..delayed).filter(|&position| machine.may_flush(thread, position));
        next.extend(flushes.map(|position| Next::Flush(thread, position)));
    }
    next
}
