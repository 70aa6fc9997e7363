//! Loop iterations without effect, seen in the automata of threads.
//!
//! A thread is an automaton, and local states that agree on everything live are the same state. So an iteration without
//! side effects shows as coming back to a state that the thread was in, with nothing but pure steps since: steps that
//! changed no memory. Deleting such an iteration from an execution changes neither memory nor the thread's state, so
//! executions without pure iterations reach all that executions with them reach (theorem 1 of "Awaiting for Godot",
//! FMCAD 2022). The last step of the iteration is therefore an await: it waits until memory holds a value with which it
//! leads elsewhere. This is the rewrite of loads, exchanges and compare-exchanges followed by `assume` in the paper's
//! section III, found in the automaton instead of the text, so that the shape of the loop does not matter.

use raddle_memory::Machine;
use raddle_program::{LocId, Op, Program, StateId, ThreadId, Value};

/// An operation that changes memory only if it succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) loc: LocId,
    op: Op,
}

impl Attempt {
    /// The operation at `state`, if it is one that may be pure.
    #[inline]
    pub(crate) fn of(program: &Program, state: StateId) -> Option<Self> {
        let op = *program.op(state);
        let loc = match op {
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => loc,
            Op::Sync { cell, action } if action.is_try() => cell,
            _ => return None,
        };
        Some(Self { loc, op })
    }

    /// May a thread wait here, instead of doing what leads nowhere?
    ///
    /// Not where sizes are mixed, other than by the first thread while it is alone: who could tell when to go on? And not where the read might race with a plain store, and learn
    /// of that store from something written to the location later: waiting for that would hide the race.
    #[inline]
    pub(crate) fn can_wait(self, program: &Program) -> bool {
        let acquires = match self.op {
            Op::Load { order, .. } | Op::Rmw { order, .. } => order.acquires(),
            Op::Cas {
                success, failure, ..
            } => success.acquires() || failure.acquires(),
            _ => false,
        };
        !(program.is_mixed(self.loc) || acquires && program.is_plainly_written(self.loc))
    }

    /// What it returns if the location holds `held`; `None` if it then changes memory.
    pub(crate) fn pure_result(
        self,
        program: &Program,
        machine: &mut Machine,
        thread: ThreadId,
        held: Value,
    ) -> Option<Value> {
        match self.op {
            Op::Load { .. } => Some(held),
            Op::Rmw {
                loc, kind, operand, ..
            } => (kind.apply(held, operand, program.tables().loc_info(loc).size) == held)
                .then_some(held),
            Op::Cas { expected, new, .. } => (held != expected || new == held).then_some(held),
            Op::Sync { action, .. } => machine
                .outcome(held, action, thread)
                .filter(|&value| value != 0),
            _ => None,
        }
    }
}

/// Does a pure step from `state` to `next` complete a pure iteration that can be left out? `history` tells of the thread's
/// events before it, the last one first: which state each left, and whether it was pure.
///
/// An iteration is not left out for the first time if one of its accesses can be in a data race. Whoever races with it may do so
/// because of what the thread does later: other iterations need not make that access. Once is enough: of an execution with a
/// race, all pure iterations can be left out but the one that the race is about, and then no state is left for the third time.
///
/// The first access of an iteration, the one at `next`, makes no difference. Whenever the thread goes on it makes that access
/// again; what was not ordered after the first access is not ordered after the second, nor before it unless the thread learnt
/// something in between, and then it had not left the iteration. For the same reason nothing is to be minded if the
/// iteration is one access.
pub(crate) fn completes_iteration(
    program: &Program,
    state: StateId,
    next: StateId,
    history: impl Iterator<Item = (StateId, bool)>,
) -> bool {
    if !program.is_reentered(next) {
        return false;
    }
    if next == state {
        return true;
    }
    let mut may_race = program.may_race(state);
    let mut was_left = false;
    for (left, is_pure) in history {
        if !is_pure {
            return false;
        }
        if left == next {
            if was_left || !may_race {
                return true;
            }
            was_left = true;
        } else if !was_left {
            may_race |= program.may_race(left);
        }
    }
    false
}
