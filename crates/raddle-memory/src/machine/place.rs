//! Operations of executions that are graphs (C11): what an operation finds is said from outside, and memory holds what comes last in the
//! modification order, whenever that was written.
//!
//! One micro-step is one operation here, also in an atomic block. Whether an object has been freed is a matter of happens-before, which is
//! not the machine's: what its life cells hold is the latest that was done.

use super::{DEAD, FAULTED, IN_BLOCK, Machine, MicroStep, Readiness, StepEnd};
use super::{Effect, NOT_STARTED};
use crate::sync::{self, SyncStep};
use raddle_program::{
    AccessKind, Fault, LocId, Misuse, ObjectId, Op, Program, SyncAction, Tables, ThreadId, Value,
};

/// What an operation meets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placement<'a> {
    /// What its choice is.
    pub choices: &'a [u32],
    /// The value that it reads, or the word that it finds in its cell; none: what memory holds.
    pub found: Option<Value>,
    /// Does a write that is newer come behind its own? Then memory keeps that.
    pub is_old: bool,
    /// An object that has been freed before.
    pub freed: Option<ObjectId>,
}

/// An operation that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub end: StepEnd,
    /// What it returned.
    pub value: Value,
    /// The value that it wrote, or the new word of its cell.
    pub wrote: Option<Value>,
    /// The new word of the mutex that it gave up to wait for a condition variable.
    pub gave_up: Option<Value>,
}

impl Machine {
    /// Does the next operation of `thread`, unless it has to wait, or there is none. Nothing is done then.
    pub fn place(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        placement: Placement<'_>,
    ) -> Option<Placed> {
        let state = self.thread_state(thread)?;
        if self.threads[thread.index()].flags & FAULTED != 0 {
            return None;
        }
        let op = *program.op(state);
        self.chosen.clear();
        self.suspended = None;
        let mut gave_up = None;
        let result = match op {
            _ if op.is_terminal() => return None,
            Op::Sync { cell, action } => {
                let tables = program.tables();
                let done = self.place_sync(tables, thread, cell, action, placement)?;
                if let (SyncAction::CondRelease { mutex }, Ok(_)) = (action, &done) {
                    gave_up = Some(self.peek(tables, mutex));
                }
                done
            }
            Op::Join { thread: target } => {
                if self.join_readiness(program, thread, target) != Readiness::Ready {
                    return None;
                }
                self.join(program, thread, target)
                    .map(|value| (value, None))
            }
            Op::AtomicBegin if self.is_any_in_block(program) => return None,
            Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::Cas { .. } => {
                self.place_access(program.tables(), op, placement)
            }
            Op::Free { object } => self.place_free(program.tables(), object, placement),
            _ => self
                .perform_other(program, thread, op, placement.choices)
                .map(|value| (value, None)),
        };
        let (end, value, wrote) = match result {
            Ok((value, wrote)) => (StepEnd::Done, value, wrote),
            Err(fault) => (StepEnd::Fault(fault), 0, None),
        };
        self.steps.push(MicroStep {
            thread,
            state,
            value,
            effect: Effect::Whole,
        });
        if end == StepEnd::Done {
            self.threads[thread.index()].state = program.after(state, value);
        } else {
            self.set_flags(thread, FAULTED);
        }
        Some(Placed {
            end,
            value,
            wrote,
            gave_up,
        })
    }

    /// Did an operation of the thread go wrong?
    #[must_use]
    pub fn has_faulted(&self, thread: ThreadId) -> bool {
        let thread = self.threads.get(thread.index());
        thread.is_some_and(|thread| thread.flags & FAULTED != 0)
    }

    /// Is a thread inside an atomic block? Blocks end with their thread or with the process.
    #[must_use]
    pub fn is_any_in_block(&self, program: &Program) -> bool {
        let mut threads = self.threads.iter();
        threads.any(|thread| {
            thread.flags & IN_BLOCK != 0
                && thread.state != NOT_STARTED
                && !matches!(
                    program.op(thread.state),
                    Op::Exit { .. } | Op::ExitProcess { .. }
                )
        })
    }

    fn place_access(
        &mut self,
        tables: &Tables,
        op: Op,
        placement: Placement<'_>,
    ) -> Result<(Value, Option<Value>), Fault> {
        let (loc, access) = match op {
            Op::Load { loc, .. } => (loc, AccessKind::Read),
            Op::Store { loc, .. } => (loc, AccessKind::Write),
            Op::Rmw { loc, .. } | Op::Cas { loc, .. } => (loc, AccessKind::Update),
            _ => return Ok((0, None)),
        };
        let info = *tables.loc_info(loc);
        if placement.freed == Some(info.object) {
            return Err(use_after_free(tables, loc, access));
        }
        // Also makes sure that the location is in memory.
        let held = self.bytes(tables, info.arena, info.size);
        let found = match placement.found {
            Some(found) => found & raddle_program::op::mask(info.size),
            None => held,
        };
        let (value, wrote) = match op {
            Op::Store { value, .. } => (0, Some(value)),
            Op::Rmw { kind, operand, .. } => (found, Some(kind.apply(found, operand, info.size))),
            Op::Cas { expected, new, .. } => (found, (found == expected).then_some(new)),
            _ => (found, None),
        };
        if let Some(wrote) = wrote
            && !placement.is_old
        {
            self.write(info.arena, info.size, wrote);
        }
        Ok((value, wrote))
    }

    fn place_free(
        &mut self,
        tables: &Tables,
        object: ObjectId,
        placement: Placement<'_>,
    ) -> Result<(Value, Option<Value>), Fault> {
        if placement.freed == Some(object) {
            return Err(Fault::DoubleFree { object });
        }
        self.set_life(tables, object, DEAD);
        Ok((0, None))
    }

    /// None if it has to wait.
    fn place_sync(
        &mut self,
        tables: &Tables,
        thread: ThreadId,
        cell: LocId,
        action: SyncAction,
        placement: Placement<'_>,
    ) -> Option<Result<(Value, Option<Value>), Fault>> {
        let info = *tables.loc_info(cell);
        if placement.freed == Some(info.object) {
            return Some(Err(use_after_free(tables, cell, AccessKind::Update)));
        }
        let held = self.bytes(tables, info.arena, 8);
        let stored = placement.found.unwrap_or(held);
        let word = self.known_word(tables, cell, action, stored);
        let misuse = |misuse| Fault::Misuse {
            misuse,
            object: Some(info.object),
            thread: None,
        };
        let (new, value) = match self.lists.step(word, action, thread) {
            SyncStep::Done { word, value } => (word, value),
            SyncStep::Misuse(what) => return Some(Err(misuse(what))),
            SyncStep::Wait => return None,
        };
        if let SyncAction::CondRelease { mutex } = action {
            if placement.freed == Some(tables.loc_info(mutex).object) {
                return Some(Err(use_after_free(tables, mutex, AccessKind::Update)));
            }
            // Who holds a mutex knows its cell's last word.
            let held = self.cell_word(tables, mutex, SyncAction::UNLOCK);
            let Some(free) = sync::release_for_wait(held, thread) else {
                return Some(Err(misuse(Misuse::WaitWithoutMutex)));
            };
            self.write(tables.loc_info(mutex).arena, 8, free);
        }
        if new != word && !placement.is_old {
            self.write(info.arena, 8, new);
        }
        Some(Ok((value, Some(new))))
    }

    /// What a location, or a cell, holds before anybody writes it.
    #[must_use]
    pub fn initial_value(tables: &Tables, loc: LocId) -> Value {
        let info = tables.loc_info(loc);
        let size = if info.is_sync() { 8 } else { info.size };
        let start = info.arena as usize;
        let mut bytes = [0; 8];
        bytes[..size.into()].copy_from_slice(&tables.arena()[start..start + usize::from(size)]);
        Value::from_le_bytes(bytes)
    }
}

fn use_after_free(tables: &Tables, loc: LocId, access: AccessKind) -> Fault {
    let info = tables.loc_info(loc);
    Fault::UseAfterFree {
        access,
        object: info.object,
        offset: info.offset as i64,
    }
}
