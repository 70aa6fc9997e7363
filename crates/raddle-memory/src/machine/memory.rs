//! The machine as a store of cells, with undo.

use super::{
    ALIVE, Chosen, DETACHED, IN_BLOCK, JOINED, Machine, NOT_STARTED, ThreadState, Undo, read_bytes,
};
use crate::cells::handle;
use crate::perform::{Cell, Store};
use crate::sync::SyncStep;
use raddle_program::{LocId, Op, Order, Program, StateId, SyncAction, Tables, ThreadId, Value};
use std::convert::Infallible;

/// What an operation of `thread` finds in memory. `WRITES`: it leaves there what it writes; otherwise it only looks.
pub(super) struct Memory<'a, const WRITES: bool> {
    pub(super) machine: &'a mut Machine,
    pub(super) thread: ThreadId,
    pub(super) choices: &'a [u32],
}

impl<const WRITES: bool> Store for Memory<'_, WRITES> {
    type Unknown = Infallible;

    #[inline]
    fn read(&mut self, program: &Program, cell: Cell) -> Result<Value, Infallible> {
        Ok(match cell {
            Cell::Loc(loc) => self.machine.load(program.tables(), self.thread, loc),
            _ => self.machine.peek_cell(program, cell),
        })
    }

    #[inline]
    fn write(&mut self, program: &Program, cell: Cell, value: Value) -> Result<(), Infallible> {
        if WRITES {
            self.machine.write_cell(program.tables(), cell, value);
        }
        Ok(())
    }

    fn known_word(
        &mut self,
        tables: &Tables,
        cell: LocId,
        action: SyncAction,
        stored: Value,
    ) -> Value {
        self.machine.known_word(tables, cell, action, stored)
    }

    fn sync_step(&mut self, word: Value, action: SyncAction, thread: ThreadId) -> SyncStep {
        self.machine.lists.step(word, action, thread)
    }

    fn choose(&mut self, count: u32) -> u32 {
        let wanted = self.choices.get(self.machine.chosen.len()).copied();
        let taken = wanted.unwrap_or(0).min(count.saturating_sub(1));
        self.machine.chosen.push(Chosen { taken, count });
        taken
    }

    fn exit_value(
        &mut self,
        program: &Program,
        thread: ThreadId,
    ) -> Result<Option<Value>, Infallible> {
        Ok(self.machine.exit_value(program, thread))
    }

    fn start(&mut self, child: ThreadId, start: StateId) {
        if WRITES {
            self.machine.start(child, start);
        }
    }

    fn set_in_block(&mut self, inside: bool) {
        if WRITES {
            let flags = self.machine.threads[self.thread.index()].flags & !IN_BLOCK;
            let new = if inside { flags | IN_BLOCK } else { flags };
            self.machine.change_flags(self.thread, new);
        }
    }

    fn fence(&mut self, order: Order) {
        if WRITES {
            self.machine.fence(self.thread, order);
        }
    }

    #[inline]
    fn is_alive(&mut self, program: &Program, loc: LocId) -> Result<bool, Infallible> {
        Ok(self.machine.is_alive(program.tables(), loc))
    }
}

impl Machine {
    /// What a thread finds in a location: its own delayed stores, then memory.
    #[inline]
    fn load(&mut self, tables: &Tables, thread: ThreadId, loc: LocId) -> Value {
        let info = tables.loc_info(loc);
        let size = if info.is_sync() { 8 } else { info.size };
        let value = self.bytes(tables, info.arena, size);
        if self.model.delays_stores() {
            return self.buffers.forward(thread, info.arena, size, value);
        }
        value
    }

    /// Is the object that the location lies in alive? Makes sure that the location is in memory.
    #[inline]
    pub(super) fn is_alive(&mut self, tables: &Tables, loc: LocId) -> bool {
        let info = tables.loc_info(loc);
        if self.known <= info.arena as usize {
            self.grow(tables);
        }
        info.life == raddle_program::tables::NO_SLOT || self.memory[info.life as usize] == ALIVE
    }

    /// What a cell holds now.
    #[must_use]
    pub fn peek_cell(&mut self, program: &Program, cell: Cell) -> Value {
        match cell {
            Cell::Loc(loc) => self.peek(program.tables(), loc),
            Cell::Handle(thread) => match self.threads.get(thread.index()) {
                Some(thread) if thread.flags & JOINED != 0 => handle::JOINED,
                Some(thread) if thread.flags & DETACHED != 0 => handle::DETACHED,
                Some(thread) if thread.state != NOT_STARTED => handle::SPAWNED,
                _ => handle::NOT_SPAWNED,
            },
            Cell::End(thread) => self.exit_value(program, thread).is_some().into(),
        }
    }

    #[inline]
    pub(super) fn write_cell(&mut self, tables: &Tables, cell: Cell, value: Value) {
        match cell {
            Cell::Loc(loc) => {
                let info = tables.loc_info(loc);
                if self.known <= info.arena as usize {
                    self.grow(tables);
                }
                let size = if info.is_sync() { 8 } else { info.size };
                self.write(info.arena, size, value);
            }
            Cell::Handle(thread) => {
                let flag = match value {
                    handle::JOINED => JOINED,
                    handle::DETACHED => DETACHED,
                    // A thread that has been started is spawned.
                    _ => return,
                };
                self.set_flags(thread, flag);
            }
            // It is where its thread is.
            Cell::End(_) => {}
        }
    }

    /// What the thread returned, if it has finished and nothing that it stored is delayed.
    fn exit_value(&self, program: &Program, thread: ThreadId) -> Option<Value> {
        match *program.op(self.thread_state(thread)?) {
            Op::Exit { value } if self.buffers.of(thread).is_empty() => Some(value),
            _ => None,
        }
    }

    fn start(&mut self, child: ThreadId, start: StateId) {
        if self.threads.len() <= child.index() {
            let absent = ThreadState {
                state: NOT_STARTED,
                flags: 0,
            };
            self.threads.resize(child.index() + 1, absent);
        }
        self.threads[child.index()].state = start;
        self.undo.push(Undo::Started { thread: child });
    }

    /// The bytes of a location now.
    #[must_use]
    pub fn peek(&mut self, tables: &Tables, loc: LocId) -> Value {
        let info = *tables.loc_info(loc);
        let size = if info.is_sync() { 8 } else { info.size };
        self.bytes(tables, info.arena, size)
    }

    /// What memory holds now, also where the machine has not been yet: whoever asks may be computing what a thread would do.
    #[inline]
    pub(super) fn bytes(&mut self, tables: &Tables, arena: u32, size: u8) -> u64 {
        if self.known <= arena as usize {
            self.grow(tables);
        }
        read_bytes(&self.memory, arena, size)
    }
}
