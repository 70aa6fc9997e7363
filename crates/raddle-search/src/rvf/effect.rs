//! What an operation does, given the values that it reads.
//!
//! Events are computed from values, without running the machine. Whoever schedules such an event has it run by the machine,
//! which then has the last word.

use super::Search;
use super::event::{Event, Part, Read, Write};
use super::outcomes::Path;
use crate::rf::event::Cell;
use raddle_memory::BLOCK_BUDGET;
use raddle_memory::cells::handle::{NOT_SPAWNED, SPAWNED};
use raddle_memory::consistency::CellId;
use raddle_memory::perform::{self, Performed, Store, perform};
use raddle_memory::sync::SyncStep;
use raddle_program::op::mask;
use raddle_program::{LocId, Op, Program, StateId, SyncAction, Tables, ThreadId, Value};
use smallvec::SmallVec;
use std::convert::Infallible;

/// The program discovered locations that share bytes: which cells there are has changed.
pub(super) struct CellsChanged;

/// An event in the making, with the numbers of the cells that it touched.
struct Making {
    event: Event,
    inside: bool,
    read: SmallVec<[CellId; 4]>,
    written: SmallVec<[CellId; 4]>,
}

/// What an operation of the event finds if it reads and chooses as a path says.
struct Deciding<'a> {
    search: &'a mut Search,
    making: &'a mut Making,
    path: &'a mut Path,
}

impl Search {
    /// The parts of a location, with the numbers of their cells.
    pub(super) fn parts(&mut self, tables: &Tables, cell: Cell) -> SmallVec<[(CellId, Part); 2]> {
        let whole = |count| Part {
            cell,
            first: 0,
            count,
        };
        let mut parts = SmallVec::new();
        let Cell::Loc(loc) = cell else {
            parts.push((self.cells.one(tables, cell), whole(8)));
            return parts;
        };
        let info = tables.loc_info(loc);
        if !info.mixed {
            let count = if info.is_sync() { 8 } else { info.size };
            parts.push((self.cells.one(tables, cell), whole(count)));
            return parts;
        }
        let ids = self.cells.bytes(tables, loc);
        for byte in 0..info.size {
            let id = ids[usize::from(byte)];
            match parts.last_mut() {
                Some((last, part)) if *last == id => part.count += 1,
                _ => parts.push((
                    id,
                    Part {
                        cell,
                        first: byte,
                        count: 1,
                    },
                )),
            }
        }
        parts
    }

    /// The numbers of the cells that a part is made of: one when it was made, perhaps more now.
    pub(super) fn ids(&mut self, tables: &Tables, part: Part) -> SmallVec<[(CellId, u8); 2]> {
        let mut ids: SmallVec<[(CellId, u8); 2]> = SmallVec::new();
        match part.cell {
            Cell::Loc(loc) if tables.loc_info(loc).mixed => {
                let bytes = self.cells.bytes(tables, loc);
                for byte in part.first..part.first + part.count {
                    let id = bytes[usize::from(byte)];
                    if ids.last().is_none_or(|last| last.0 != id) {
                        ids.push((id, byte));
                    }
                }
            }
            _ => ids.push((self.cells.one(tables, part.cell), part.first)),
        }
        ids
    }

    /// What a part holds at first.
    pub(super) fn initial(tables: &Tables, part: Part) -> Value {
        match part.cell {
            Cell::Loc(loc) | Cell::Byte(loc, _) => {
                let start = tables.loc_info(loc).arena as usize + usize::from(part.first);
                tables.arena()[start..start + usize::from(part.count)]
                    .iter()
                    .rev()
                    .fold(0, |value, &byte| value << 8 | Value::from(byte))
            }
            Cell::Handle(ThreadId::MAIN) => SPAWNED,
            Cell::Handle(_) => NOT_SPAWNED,
            Cell::End(_) => 0,
        }
    }

    /// The event that `thread` does next if it reads and chooses as `path` says.
    pub(super) fn effect(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        path: &mut Path,
    ) -> Result<Event, CellsChanged> {
        let place = self.threads[thread.index()];
        let op = *program.op(place.state);
        let mut making = Making {
            event: Event {
                thread,
                index: self.problem.thread(thread.index()).len() as u32 + 1,
                state: place.state,
                after: place.state,
                parent: self.parent_of(thread),
                reads: SmallVec::new(),
                writes: SmallVec::new(),
                choices: SmallVec::new(),
                spawned: SmallVec::new(),
                is_block: place.inside || op == Op::AtomicBegin,
                began_inside: place.inside,
                ends_inside: false,
                faulted: false,
                waits: false,
                is_pure: false,
                ends_thread: false,
            },
            inside: place.inside,
            read: SmallVec::new(),
            written: SmallVec::new(),
        };
        for step in 0..BLOCK_BUDGET {
            let op = *program.op(making.event.after);
            if op.is_terminal() {
                break;
            }
            let mut store = Deciding {
                search: self,
                making: &mut making,
                path,
            };
            let Ok(performed) = perform(&mut store, program, thread, op);
            match performed {
                Performed::Done(value) => {
                    making.event.after = program.after(making.event.after, value);
                    if self.cells.refresh(program.tables()) {
                        return Err(CellsChanged);
                    }
                }
                Performed::Wait => {
                    making.event.waits = step == 0;
                    break;
                }
                Performed::Fault(_) => {
                    making.event.faulted = true;
                    break;
                }
            }
            if !making.inside {
                break;
            }
        }
        Ok(self.finish(program, making, &op))
    }

    fn finish(&mut self, program: &Program, mut making: Making, op: &Op) -> Event {
        let (thread, after) = (making.event.thread, making.event.after);
        if !making.event.faulted
            && !making.event.waits
            && matches!(program.op(after), Op::Exit { .. })
        {
            self.write(program.tables(), &mut making, Cell::End(thread), 1);
        }
        let mut event = making.event;
        event.ends_inside = making.inside;
        // The machine abandons a block that does not come to its end.
        if making.inside && (event.faulted || program.op(after).stops_short()) {
            event.writes.clear();
            event.spawned.clear();
            event.ends_inside = event.began_inside;
        }
        let changes_nothing = || {
            event.writes.iter().all(|write| {
                let same = |read: &Read| read.part == write.part && read.value == write.value;
                event.reads.iter().any(same)
            })
        };
        event.is_pure = !event.is_block
            && !event.faulted
            && match op {
                Op::Load { .. }
                | Op::Rmw { .. }
                | Op::Cas { .. }
                | Op::Sync { .. }
                | Op::Fence { .. } => changes_nothing(),
                Op::Store { loc, .. } => program.is_private(*loc),
                _ => false,
            };
        event
    }

    /// The word of a synchronisation cell as `action` finds it. The word of a mutex knows its kind, which the event itself may have
    /// written: the machine has not run it.
    fn known_word(
        &mut self,
        tables: &Tables,
        making: &Making,
        cell: LocId,
        action: SyncAction,
        stored: Value,
    ) -> Value {
        let written = |arena: u32| {
            making.event.writes.iter().rev().find_map(|write| {
                let Cell::Loc(loc) = write.part.cell else {
                    return None;
                };
                let start = tables.loc_info(loc).arena + u32::from(write.part.first);
                let byte = arena.checked_sub(start)?;
                (byte < u32::from(write.part.count)).then(|| (write.value >> (8 * byte)) as u8)
            })
        };
        self.machine
            .known_word_after(tables, cell, action, stored, &written)
    }

    fn read(&mut self, tables: &Tables, making: &mut Making, cell: Cell, path: &mut Path) -> Value {
        let mut value = 0;
        for (id, part) in self.parts(tables, cell) {
            let written = making.written.iter().position(|&other| other == id);
            let read = making.read.iter().position(|&other| other == id);
            let found = match (written, read) {
                (Some(position), _) => making.event.writes[position].value,
                (None, Some(position)) => making.event.reads[position].value,
                (None, None) => {
                    let is_exact = self.is_exact(tables, &making.event, part, path);
                    let option = self.decide(tables, &making.event, (id, part), is_exact, path);
                    making.read.push(id);
                    making.event.reads.push(Read {
                        part,
                        value: option.0,
                        good: option.1,
                        is_exact,
                    });
                    option.0
                }
            };
            value |= found << (8 * u32::from(part.first));
        }
        value
    }

    fn write(&mut self, tables: &Tables, making: &mut Making, cell: Cell, value: Value) {
        for (id, part) in self.parts(tables, cell) {
            let bytes = (value >> (8 * u32::from(part.first))) & mask(part.count);
            let write = Write { part, value: bytes };
            match making.written.iter().position(|&other| other == id) {
                Some(position) => making.event.writes[position] = write,
                None => {
                    making.written.push(id);
                    making.event.writes.push(write);
                }
            }
        }
    }
}

impl Store for Deciding<'_> {
    type Unknown = Infallible;

    fn read(&mut self, program: &Program, cell: perform::Cell) -> Result<Value, Infallible> {
        let tables = program.tables();
        Ok(self
            .search
            .read(tables, self.making, cell.into(), self.path))
    }

    fn write(
        &mut self,
        program: &Program,
        cell: perform::Cell,
        value: Value,
    ) -> Result<(), Infallible> {
        self.search
            .write(program.tables(), self.making, cell.into(), value);
        Ok(())
    }

    fn known_word(
        &mut self,
        tables: &Tables,
        cell: LocId,
        action: SyncAction,
        stored: Value,
    ) -> Value {
        self.search
            .known_word(tables, self.making, cell, action, stored)
    }

    fn sync_step(&mut self, word: Value, action: SyncAction, thread: ThreadId) -> SyncStep {
        self.search.machine.sync_step(word, action, thread)
    }

    fn choose(&mut self, count: u32) -> u32 {
        let taken = self.path.choose(count);
        self.making.event.choices.push(taken);
        taken
    }

    fn exit_value(
        &mut self,
        program: &Program,
        thread: ThreadId,
    ) -> Result<Option<Value>, Infallible> {
        let spawned = &self.making.event.spawned;
        let begun = spawned.iter().find(|(child, _)| *child == thread);
        let place = self.search.threads[thread.index()].state;
        let state = begun.map_or(place, |&(_, start)| start);
        Ok(match *program.op(state) {
            Op::Exit { value } => Some(value),
            _ => None,
        })
    }

    fn start(&mut self, child: ThreadId, start: StateId) {
        self.making.event.spawned.push((child, start));
    }

    fn set_in_block(&mut self, inside: bool) {
        self.making.inside = inside;
    }
}
