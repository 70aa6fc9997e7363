//! Awaits: reads that would only complete a pure loop iteration are not done. What is pure is decided in [`crate::purity`].
//! Where an iteration takes something and gives it back, whether others saw that is told by the execution: they would have accessed the location
//! in between, which every execution of the same class agrees on.

use super::execution::{EventId, Execution, NO_EVENT};
use crate::purity::{
    Attempt, Change, Did, Others, comes_to_nothing, fails_or_not, is_blind, leaves,
};
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
    Attempt::of(program, state).is_some_and(|attempt| {
        attempt_awaits(
            program,
            machine,
            execution,
            (thread, state, last),
            (attempt, held),
        )
    })
}

/// The same, for an operation that is known to be an attempt.
#[inline]
fn attempt_awaits(
    program: &mut Program,
    machine: &mut Machine,
    execution: &Execution,
    (thread, state, last): (ThreadId, StateId, EventId),
    (attempt, held): (Attempt, Value),
) -> bool {
    let Some(result) = attempt.pure_result(program, machine, thread, held) else {
        return false;
    };
    let next = program.after(state, result);
    comes_back(execution, state, next)
        && completes(
            program,
            machine,
            execution,
            (thread, state, last),
            next,
            Did::Nothing,
        )
}

/// Does a step of `thread` from `state` to `next`, where it was before, complete an iteration without effect?
fn completes(
    program: &mut Program,
    machine: &mut Machine,
    execution: &Execution,
    (thread, state, last): (ThreadId, StateId, EventId),
    next: StateId,
    did: Did,
) -> bool {
    let mut event = last;
    let history = std::iter::from_fn(|| {
        if event == NO_EVENT {
            return None;
        }
        let id = event;
        let done = execution.event(id);
        event = done.parent;
        (done.thread == thread).then(|| (done.state, what_it_did(program, machine, execution, id)))
    });
    let Some(meanwhiles) = comes_to_nothing(program, (state, did), next, history) else {
        return false;
    };
    meanwhiles
        .iter()
        .all(|meanwhile| !execution.is_noticed(program, thread, *meanwhile))
}

/// Has the thread been at `next` before, where it comes from `state`? Nothing else can complete an iteration, and without this the history of the thread would be looked through for
/// each of its events.
#[inline]
fn comes_back(execution: &Execution, state: StateId, next: StateId) -> bool {
    next == state || execution.was_left(next)
}

fn what_it_did(
    program: &Program,
    machine: &mut Machine,
    execution: &Execution,
    id: EventId,
) -> Did {
    let event = execution.event(id);
    let held = execution
        .held_before(id)
        .filter(|_| execution.minds_changes);
    match held.and_then(|held| change(program, machine, (event.thread, event.state), held)) {
        Some(change) => Did::Change(Change {
            is_own: execution.found_own(id, change),
            others: Others::Ask(id),
            ..change
        }),
        None if event.is_pure || fails_or_not(program, event.state) => Did::Nothing,
        None => Did::Other,
    }
}

/// What an operation of a thread changes if its location holds `held`. Who was there before is not told.
fn change(
    program: &Program,
    machine: &mut Machine,
    at: (ThreadId, StateId),
    before: Value,
) -> Option<Change> {
    let (loc, after) = leaves(program, machine, at, before)?;
    (before != after).then_some(Change {
        loc,
        before,
        after,
        is_own: false,
        others: Others::Something,
        is_blind: is_blind(program, at.1),
    })
}

/// Has the event that `thread` has just done from `state`, where its location held `held`, taken back what an iteration had changed? It is not part of the
/// execution yet.
#[inline]
pub(super) fn takes_back(
    program: &mut Program,
    machine: &mut Machine,
    execution: &Execution,
    (thread, state): (ThreadId, StateId),
    held: Value,
) -> bool {
    let Some(next) = machine.thread_state(thread) else {
        return false;
    };
    if !comes_back(execution, state, next) {
        return false;
    }
    let Some(change) = change(program, machine, (thread, state), held) else {
        return false;
    };
    let did = Did::Change(Change {
        is_own: execution.finds_own(thread, change),
        others: Others::Ask(NO_EVENT),
        ..change
    });
    let last = execution.last_of(thread);
    completes(
        program,
        machine,
        execution,
        (thread, state, last),
        next,
        did,
    )
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
    let at = (thread, state, last);
    if !attempt_awaits(program, machine, execution, at, (attempt, held)) {
        Closing::No
    } else if attempt.can_wait(program) {
        Closing::Await
    } else {
        Closing::ForGood
    }
}
