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

/// What becomes of the next step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// It does not complete a pure iteration.
    No,
    /// It would, as long as memory holds what it holds: it may wait for something else.
    Await,
    /// It would, but may not wait ([`Attempt::can_wait`]). It can only be done, and the thread blocked behind it.
    ForGood,
}

/// Would the next step of `thread`, which is ready, complete a pure iteration?
pub(super) fn closing(
    program: &mut Program,
    machine: &mut Machine,
    execution: &Execution,
    thread: ThreadId,
    last: EventId,
) -> Closing {
    let Some(state) = machine.thread_state(thread) else {
        return Closing::No;
    };
    let Some(attempt) = Attempt::of(program, state) else {
        return Closing::No;
    };
    if machine.is_in_block(thread) {
        return Closing::No;
    }
    let held = machine.peek(program.tables(), attempt.loc);
    if !awaits_with(program, machine, execution, (thread, state, last), held) {
        Closing::No
    } else if attempt.can_wait(program) {
        Closing::Await
    } else {
        Closing::ForGood
    }
}
