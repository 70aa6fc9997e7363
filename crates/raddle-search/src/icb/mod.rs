//! `icb` and `bpor`: executions with few preemptions first.
//!
//! A *preemption* is a switch away from a thread that could have gone on. "Iterative context bounding for systematic testing
//! of multithreaded programs" (Musuvathi, Qadeer, PLDI 2007) explores all executions with no preemption, then those with one,
//! and so on; `icb` does just that. `bpor` ([`bounded`]) leaves out interleavings that differ only in the order of independent
//! events. Both are the baselines of the paper on maximal causality. A bound that forbids nothing ends the search.
//!
//! With each bound the search begins anew and tells only of executions with exactly as many preemptions: the others are known.
//! That costs less than keeping all prefixes in memory, because there are more executions with each further preemption.

pub(crate) mod bounded;

use crate::ending;
use crate::interleavings::other_choices;
use crate::listener::Listener;
use raddle_memory::{Machine, Mark, Readiness};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

/// A prefix of the present execution, and what is left to be explored after it.
struct Level {
    mark: Mark,
    /// Threads to be explored after the present one, the next at the end.
    threads: Vec<ThreadId>,
    /// The choices with which the last of `threads` is explored next.
    choices: Vec<u32>,
    preempted: Preempted,
}

/// What preemptions of a prefix depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preempted {
    count: u32,
    last: ThreadId,
}

impl Preempted {
    pub(crate) const NONE: Self = Self {
        count: 0,
        last: ThreadId::MAIN,
    };

    /// After another event, of `thread`. `can_go_on`: could the last thread have gone on?
    pub(crate) fn with(self, thread: ThreadId, can_go_on: bool) -> Self {
        Self {
            count: self.count + u32::from(can_go_on && thread != self.last),
            last: thread,
        }
    }
}

/// Explores every interleaving, those with fewer preemptions first.
pub(crate) fn explore(program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
    for bound in 0.. {
        let mut search = Search {
            machine: Machine::new(program),
            bound,
            was_cut: false,
        };
        search.run(program, listener)?;
        listener.undone(0);
        if !search.was_cut {
            break;
        }
    }
    ControlFlow::Continue(())
}

struct Search {
    machine: Machine,
    bound: u32,
    /// The bound kept something from being explored.
    was_cut: bool,
}

impl Search {
    fn run(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        let mut levels = Vec::new();
        self.descend(program, &mut levels, Preempted::NONE, listener)?;
        while let Some(present) = levels.last_mut() {
            let Some(&thread) = present.threads.last() else {
                levels.pop();
                continue;
            };
            if self.machine.mark() != present.mark {
                self.machine.undo_to(present.mark);
                listener.undone(present.mark.steps());
            }
            let can_go_on =
                self.machine.readiness(program, present.preempted.last) == Readiness::Ready;
            let preempted = present.preempted.with(thread, can_go_on);
            let choices = std::mem::take(&mut present.choices);
            let end = self.machine.step(program, thread, &choices);
            match other_choices(&self.machine) {
                Some(choices) => present.choices = choices,
                None => {
                    present.threads.pop();
                }
            }
            listener.stepped(program, &mut self.machine, thread, end)?;
            self.descend(program, &mut levels, preempted, listener)?;
        }
        ControlFlow::Continue(())
    }

    /// Begins with the prefix that the machine is at, unless the execution ends there.
    fn descend(
        &mut self,
        program: &mut Program,
        levels: &mut Vec<Level>,
        preempted: Preempted,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        let mut ready: Vec<ThreadId> = ending::threads(&self.machine)
            .filter(|&thread| self.machine.readiness(program, thread) == Readiness::Ready)
            .collect();
        if ready.is_empty() {
            return match preempted.count == self.bound {
                true => listener.ended(program, &mut self.machine),
                false => ControlFlow::Continue(()),
            };
        }
        let can_go_on = ready.contains(&preempted.last);
        if can_go_on && preempted.count == self.bound {
            self.was_cut |= ready.len() > 1;
            ready.retain(|&thread| thread == preempted.last);
        }
        // They are taken from the end: the last thread goes on first.
        ready.sort_unstable_by_key(|&thread| (thread == preempted.last, std::cmp::Reverse(thread)));
        levels.push(Level {
            mark: self.machine.mark(),
            threads: ready,
            choices: Vec::new(),
            preempted,
        });
        ControlFlow::Continue(())
    }
}
