//! Awaits: reads that would only complete a pure loop iteration are not done. What is pure is decided in [`crate::purity`].

use super::execution::{EventId, Execution, NO_EVENT};
use crate::purity::{Attempt, completes_iteration};
use raddle_memory::Machine;
use raddle_program::{Program, StateId, ThreadId, Value};

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
    let mut event = last;
    let history = std::iter::from_fn(|| {
        if event == NO_EVENT {
            return None;
        }
        let done = execution.event(event);
        event = done.parent;
        (done.thread == thread).then_some((done.state, done.is_pure))
    });
    completes_iteration(program, state, next, history)
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
