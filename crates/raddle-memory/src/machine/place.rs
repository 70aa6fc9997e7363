//! Operations of executions that are graphs (C11): what an operation finds is said from outside, and memory holds what comes last in the
//! modification order, whenever that was written.
//!
//! One micro-step is one operation here, also in an atomic block. Whether an object has been freed is a matter of happens-before, which is
//! not the machine's: what its life cells hold is the latest that was done.

use super::memory::Memory;
use super::{ALIVE, DEAD, FAULTED, IN_BLOCK, Machine, MicroStep, StepEnd};
use super::{Effect, NOT_STARTED};
use crate::perform::{Cell, Performed, Store, perform};
use crate::sync::SyncStep;
use raddle_program::op::mask;
use raddle_program::{LocId, ObjectId, Op, Program, StateId, SyncAction, Tables, ThreadId, Value};
use std::convert::Infallible;

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
        if op.is_terminal() || op == Op::AtomicBegin && self.is_any_in_block(program) {
            return None;
        }
        let mut store = Placing {
            accessed: accessed(op),
            memory: Memory {
                machine: self,
                thread,
                choices: placement.choices,
            },
            placement,
            wrote: None,
            gave_up: None,
        };
        let Ok(performed) = perform(&mut store, program, thread, op);
        let Placing { wrote, gave_up, .. } = store;
        let (end, value) = match performed {
            Performed::Done(value) => (StepEnd::Done, value),
            Performed::Fault(fault) => (StepEnd::Fault(fault), 0),
            Performed::Wait => return None,
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

/// The location whose contents a placement tells.
fn accessed(op: Op) -> Option<LocId> {
    match op {
        Op::Sync { cell, .. } => Some(cell),
        _ => op.accessed(),
    }
}

/// What an operation finds is what its placement says.
struct Placing<'a> {
    memory: Memory<'a, true>,
    placement: Placement<'a>,
    accessed: Option<LocId>,
    wrote: Option<Value>,
    gave_up: Option<Value>,
}

impl Store for Placing<'_> {
    type Unknown = Infallible;

    fn read(&mut self, program: &Program, cell: Cell) -> Result<Value, Infallible> {
        let tables = program.tables();
        match (cell, self.placement.found) {
            (Cell::Loc(loc), Some(found)) if self.accessed == Some(loc) => {
                let info = tables.loc_info(loc);
                Ok(found & mask(if info.is_sync() { 8 } else { info.size }))
            }
            // Whether the object was freed before is said by the placement.
            (Cell::Loc(life), _) if self.accessed.is_none() => {
                let is_freed = self.placement.freed == Some(tables.loc_info(life).object);
                Ok(if is_freed { DEAD } else { ALIVE }.into())
            }
            // Who gives up a mutex to wait holds it, and knows its cell's last word.
            _ => self.memory.read(program, cell),
        }
    }

    fn write(&mut self, program: &Program, cell: Cell, value: Value) -> Result<(), Infallible> {
        match cell {
            Cell::Loc(loc) if self.accessed == Some(loc) => {
                self.wrote = Some(value);
                if self.placement.is_old {
                    return Ok(());
                }
            }
            Cell::Loc(_) if self.accessed.is_some() => self.gave_up = Some(value),
            _ => {}
        }
        self.memory.write(program, cell, value)
    }

    fn known_word(
        &mut self,
        tables: &Tables,
        cell: LocId,
        action: SyncAction,
        stored: Value,
    ) -> Value {
        self.memory.known_word(tables, cell, action, stored)
    }

    fn sync_step(&mut self, word: Value, action: SyncAction, thread: ThreadId) -> SyncStep {
        self.memory.sync_step(word, action, thread)
    }

    fn choose(&mut self, count: u32) -> u32 {
        self.memory.choose(count)
    }

    fn exit_value(
        &mut self,
        program: &Program,
        thread: ThreadId,
    ) -> Result<Option<Value>, Infallible> {
        self.memory.exit_value(program, thread)
    }

    fn start(&mut self, child: ThreadId, start: StateId) {
        self.memory.start(child, start);
    }

    fn set_in_block(&mut self, inside: bool) {
        self.memory.set_in_block(inside);
    }

    fn is_alive(&mut self, program: &Program, loc: LocId) -> Result<bool, Infallible> {
        let object = program.tables().loc_info(loc).object;
        Ok(self.placement.freed != Some(object))
    }
}
