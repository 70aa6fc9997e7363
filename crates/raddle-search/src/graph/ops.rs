//! What a part of an operation does with what it finds.
//!
//! | operation | parts |
//! |---|---|
//! | load, store | a read; a write |
//! | read-modify-write, compare-exchange that succeeds | a read, then a write |
//! | on a synchronisation object | a read of its cell, then a write unless it fails or only looks |
//! | `CondRelease` | the same for the condition variable, then for the mutex |
//! | begin and end of an atomic block | a read of the lock that blocks share, then a write |
//! | others | one event that accesses nothing |

use super::event::{Event, Kind, Place};
use super::store::Graph;
use crate::driver::Reductions;
use crate::purity::{Attempt, completes_iteration, fails_or_not, is_private_store};
use raddle_memory::Machine;
use raddle_memory::access::{AccessMode, sync_mode};
use raddle_memory::sync::{self, SyncStep};
use raddle_program::{
    Fault, LocId, Misuse, Op, Order, Program, StateId, SyncAction, ThreadId, Value,
};

/// What a read part makes of what it finds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    /// The thread waits for something else.
    Wait,
    /// The operation returns this; no more parts.
    Ends {
        returns: Value,
    },
    /// A write follows that is part of the same update; `ends`: what the operation returns after it, if it is over then.
    Writes {
        value: Value,
        ends: Option<Value>,
    },
    Fault(Fault),
}

/// What a part accesses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Reads the place; the order is that of a read that writes nothing.
    Read { place: Place, is_cell: bool },
    /// Writes this, alone.
    Store {
        place: Place,
        value: Value,
        order: Order,
    },
    /// The write of an update, whose value the read before it gave.
    Update { place: Place, is_cell: bool },
    /// No access.
    Other,
}

const FREE: u64 = 0;
const HELD: u64 = 1;

/// The part of the operation of `state` that comes next.
pub(super) fn part(program: &Program, state: StateId, part: u8) -> Part {
    let op = program.op(state);
    let (place, is_cell) = match *op {
        Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => (Place::of(loc), false),
        Op::Store { loc, value, order } => {
            return Part::Store {
                place: Place::of(loc),
                value,
                order,
            };
        }
        Op::Sync { cell, action } => (Place::of(cell_of(cell, action, part)), true),
        Op::AtomicBegin | Op::AtomicEnd => (Place::BLOCKS, true),
        _ => return Part::Other,
    };
    match part % 2 {
        0 => Part::Read { place, is_cell },
        _ => Part::Update { place, is_cell },
    }
}

fn cell_of(cell: LocId, action: SyncAction, part: u8) -> LocId {
    match action {
        SyncAction::CondRelease { mutex } if part >= 2 => mutex,
        _ => cell,
    }
}

/// The order of a read that finds `value`, and of the write that may follow.
pub(super) fn order_of(op: &Op, value: Value) -> Order {
    match *op {
        Op::Load { order, .. } | Op::Store { order, .. } | Op::Rmw { order, .. } => order,
        Op::Cas {
            expected,
            success,
            failure,
            ..
        } => match value == expected {
            true => success,
            false => failure,
        },
        Op::Fence { order } => order,
        _ => Order::Relaxed,
    }
}

/// What is needed to say what operations do.
pub(super) struct Rules {
    /// Knows the lists that cells refer to.
    pub(super) machine: Machine,
    pub(super) reductions: Reductions,
}

impl Rules {
    /// What the read part of an operation makes of what it finds. `bytes` tells bytes of memory: of which kind a mutex without an
    /// initialising call is. `before` are the events of the thread before it.
    pub(super) fn found(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        (state, part): (StateId, u8),
        value: Value,
        bytes: &dyn Fn(u32) -> Option<u8>,
        before: Before,
    ) -> Found {
        let op = *program.op(state);
        match op {
            Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } => {
                let new = op.written(program.tables(), value);
                let found = match new {
                    Some(new) => Found::Writes {
                        value: new,
                        ends: Some(value),
                    },
                    None => Found::Ends { returns: value },
                };
                match new.is_none_or(|new| new == value) {
                    true => self.or_wait(program, state, value, found, before),
                    false => found,
                }
            }
            Op::Sync { cell, action } => {
                let found = self.synchronise(program, thread, cell, action, part, value, bytes);
                match found {
                    Found::Ends { returns } if returns != 0 && action.is_try() => {
                        self.or_wait(program, state, returns, found, before)
                    }
                    _ => found,
                }
            }
            Op::AtomicBegin if value == HELD => Found::Wait,
            Op::AtomicBegin => Found::Writes {
                value: HELD,
                ends: Some(0),
            },
            _ => Found::Writes {
                value: FREE,
                ends: Some(0),
            },
        }
    }

    /// Waits instead, if the thread would come back to where it was, having changed nothing.
    fn or_wait(
        &self,
        program: &mut Program,
        state: StateId,
        returns: Value,
        found: Found,
        before: Before,
    ) -> Found {
        if !self.reductions.purity || !self.reductions.awaits {
            return found;
        }
        let can_wait = Attempt::of(program, state).is_some_and(|attempt| attempt.can_wait(program));
        if !can_wait {
            return found;
        }
        let next = program.after(state, returns);
        match before.complete_iteration(program, state, next) {
            true => Found::Wait,
            false => found,
        }
    }

    /// The word of a mutex that a thread gives up to wait, if it holds it.
    pub(super) fn given_up(
        &mut self,
        program: &Program,
        thread: ThreadId,
        mutex: LocId,
        word: Value,
        bytes: &dyn Fn(u32) -> Option<u8>,
    ) -> Option<Value> {
        let (tables, unlock) = (program.tables(), SyncAction::UNLOCK);
        let held = self
            .machine
            .known_word_after(tables, mutex, unlock, word, bytes);
        sync::release_for_wait(held, thread)
    }

    #[expect(clippy::too_many_arguments, reason = "what an operation depends on")]
    fn synchronise(
        &mut self,
        program: &Program,
        thread: ThreadId,
        cell: LocId,
        action: SyncAction,
        part: u8,
        word: u64,
        bytes: &dyn Fn(u32) -> Option<u8>,
    ) -> Found {
        let tables = program.tables();
        if let SyncAction::CondRelease { mutex } = action
            && part >= 2
        {
            return match self.given_up(program, thread, mutex, word, bytes) {
                Some(free) => Found::Writes {
                    value: free,
                    ends: Some(0),
                },
                None => Found::Fault(misused(program, cell, Misuse::WaitWithoutMutex)),
            };
        }
        let known = self
            .machine
            .known_word_after(tables, cell, action, word, bytes);
        match self.machine.sync_step(known, action, thread) {
            SyncStep::Wait => Found::Wait,
            SyncStep::Misuse(what) => Found::Fault(misused(program, cell, what)),
            SyncStep::Done { word, value } => match sync_mode(action, value) {
                AccessMode::Read => Found::Ends { returns: value },
                _ => Found::Writes {
                    value: word,
                    ends: match action {
                        SyncAction::CondRelease { .. } => None,
                        _ => Some(value),
                    },
                },
            },
        }
    }
}

/// The wrong use of a synchronisation object.
pub(super) fn misused(program: &Program, cell: LocId, misuse: Misuse) -> Fault {
    Fault::Misuse {
        misuse,
        object: Some(program.tables().loc_info(cell).object),
        thread: None,
    }
}

/// The events of a thread before one that it may do.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    pub(super) graph: &'a Graph,
    pub(super) events: &'a [Event],
}

impl Before<'_> {
    /// Does an operation that changes nothing and leads from `state` to `next` complete an iteration that comes to nothing?
    pub(super) fn complete_iteration(
        self,
        program: &Program,
        state: StateId,
        next: StateId,
    ) -> bool {
        (next == state || self.graph.was_left(next))
            && completes_iteration(program, state, next, Operations(program, self.events))
    }
}

/// The operations of a thread, the last one first: the state of each, and whether it changed nothing.
struct Operations<'a>(&'a Program, &'a [Event]);

impl Iterator for Operations<'_> {
    type Item = (StateId, bool);

    fn next(&mut self) -> Option<Self::Item> {
        operation_before(self.0, &mut self.1)
    }
}

/// Takes the last operation off the events of a thread: its state, and whether it changed nothing.
pub(super) fn operation_before(
    program: &Program,
    events: &mut &[Event],
) -> Option<(StateId, bool)> {
    let (mut last, mut rest) = events.split_last()?;
    while last.waits() {
        (last, rest) = rest.split_last()?;
    }
    *events = rest;
    let is_pure = match last.kind {
        Kind::Read => !last.is_fault,
        Kind::Fence => true,
        Kind::Write if last.is_update && !last.is_cell => {
            let (read, rest) = rest.split_last()?;
            *events = rest;
            read.value == last.value
        }
        Kind::Write => is_private_store(program, last.state),
        Kind::Other => fails_or_not(program, last.state),
    };
    Some((last.state, is_pure))
}
