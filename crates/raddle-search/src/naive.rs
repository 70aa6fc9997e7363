//! `naive`: every interleaving under sequential consistency, by depth-first search. The oracle of the other engines.

use crate::dpor::Listener;
use raddle_memory::{Machine, Mark, Readiness};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

/// Which thread goes first where several can. Must make no difference but to the order of executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    Ascending,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare the two"))]
    Descending,
}

/// A prefix of the current execution, and what is left to be explored after it.
struct Level {
    mark: Mark,
    /// Threads to be explored after the present one.
    threads: Vec<ThreadId>,
    /// The choices with which the last of `threads` is explored next.
    choices: Vec<u32>,
}

/// Explores every interleaving of events.
pub(crate) fn explore(
    program: &mut Program,
    sequence: Sequence,
    listener: &mut impl Listener,
) -> ControlFlow<()> {
    let mut machine = Machine::new(program);
    let mut levels = Vec::new();
    descend(program, &mut machine, sequence, &mut levels, listener)?;
    while let Some(present) = levels.last_mut() {
        let Some(&thread) = present.threads.last() else {
            levels.pop();
            continue;
        };
        if machine.mark() != present.mark {
            machine.undo_to(present.mark);
            listener.undone(present.mark.steps());
        }
        let choices = std::mem::take(&mut present.choices);
        let end = machine.step(program, thread, &choices);
        match other_choices(&machine) {
            Some(choices) => present.choices = choices,
            None => {
                present.threads.pop();
            }
        }
        listener.stepped(program, &mut machine, thread, end)?;
        descend(program, &mut machine, sequence, &mut levels, listener)?;
    }
    ControlFlow::Continue(())
}

/// Begins with the prefix that the machine is at, unless the execution ends there.
fn descend(
    program: &mut Program,
    machine: &mut Machine,
    sequence: Sequence,
    levels: &mut Vec<Level>,
    listener: &mut impl Listener,
) -> ControlFlow<()> {
    let next = level(program, machine, sequence);
    if next.threads.is_empty() {
        return listener.ended(program, machine);
    }
    levels.push(next);
    ControlFlow::Continue(())
}

/// The choices to be taken next, in the order of counting; none after the last. The lists are prefixes: what follows is 0.
pub(crate) fn other_choices(machine: &Machine) -> Option<Vec<u32>> {
    let chosen = machine.chosen();
    let last = chosen
        .iter()
        .rposition(|chosen| chosen.taken + 1 < chosen.count)?;
    let mut choices: Vec<u32> = chosen[..=last].iter().map(|chosen| chosen.taken).collect();
    choices[last] += 1;
    Some(choices)
}

fn level(program: &Program, machine: &mut Machine, sequence: Sequence) -> Level {
    let mut threads: Vec<ThreadId> = crate::ending::threads(machine)
        .filter(|&thread| machine.readiness(program, thread) == Readiness::Ready)
        .collect();
    // They are taken from the end.
    if sequence == Sequence::Ascending {
        threads.reverse();
    }
    Level {
        mark: machine.mark(),
        threads,
        choices: Vec::new(),
    }
}
