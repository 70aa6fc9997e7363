//! Awaits: reads that would only complete a pure loop iteration are not done.
//!
//! A thread is an automaton, and local states that agree on everything live are the same state. So an iteration without
//! side effects shows as coming back to a state that the thread was in, with nothing but pure steps since: steps that
//! changed no memory. Deleting such an iteration from an execution changes neither memory nor the thread's state, so
//! executions without pure iterations reach all that executions with them reach (theorem 1 of the paper). The last step of
//! the iteration is therefore an await: it waits until memory holds a value with which it leads elsewhere. This is the
//! rewrite of loads, exchanges and compare-exchanges followed by `assume` in the paper's section III, found in the automaton
//! instead of the text (deviation 2), so that the shape of the loop does not matter.

use super::execution::{EventId, Execution, NO_EVENT};
use raddle_memory::Machine;
use raddle_program::{LocId, Op, Program, StateId, SyncAction, ThreadId, Value};

/// An operation that changes memory only if it succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) loc: LocId,
    op: Op,
}

impl Attempt {
    /// The operation at `state`, if it is one that may be pure.
    pub(crate) fn of(program: &Program, state: StateId) -> Option<Self> {
        let op = *program.op(state);
        let loc = match op {
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => loc,
            Op::Sync { cell, action } if is_try(action) => cell,
            _ => return None,
        };
        Some(Self { loc, op })
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

fn is_try(action: SyncAction) -> bool {
    matches!(
        action,
        SyncAction::TryLock
            | SyncAction::TryReadLock
            | SyncAction::TryWriteLock
            | SyncAction::SemTryWait
    )
}

/// Would the next step of `thread`, from `state`, complete a pure iteration if its location held `held`? `last` is the last
/// event of the thread before it.
pub(super) fn awaits_with(
    program: &mut Program,
    machine: &mut Machine,
    execution: &Execution,
    (thread, state, last): (ThreadId, StateId, EventId),
    held: Value,
) -> bool {
    let Some(attempt) = Attempt::of(program, state) else {
        return false;
    };
    let Some(result) = attempt.pure_result(program, machine, thread, held) else {
        return false;
    };
    let next = program.after(state, result);
    if !program.is_reentered(next) {
        return false;
    }
    if next == state {
        return true;
    }
    let mut event = last;
    while event != NO_EVENT {
        let done = execution.event(event);
        if done.thread != thread || !done.is_pure {
            return false;
        }
        if done.state == next {
            return true;
        }
        event = done.parent;
    }
    false
}

/// Is `thread`, which is ready, awaiting another value than memory holds?
pub(super) fn awaits(
    program: &mut Program,
    machine: &mut Machine,
    execution: &Execution,
    thread: ThreadId,
    last: EventId,
) -> bool {
    let Some(state) = machine.thread_state(thread) else {
        return false;
    };
    let Some(attempt) = Attempt::of(program, state) else {
        return false;
    };
    if program.tables().loc_info(attempt.loc).mixed || machine.is_in_block(thread) {
        return false;
    }
    let held = machine.peek(program.tables(), attempt.loc);
    awaits_with(program, machine, execution, (thread, state, last), held)
}
