//! What an operation would do if it read from elsewhere.
//!
//! Events are computed from the values that their sources wrote, without running the machine: the rest of the execution need
//! not exist yet. Whoever schedules such an event has it run by the machine, which then has the last word.

use super::Search;
use super::awaits::Spin;
use super::event::{
    Branching, Cell, EXTRA, Event, NO_EVENT, Pos, Read, Write, branching, intrudes, is_wide,
    primary,
};
use super::trace::{covering, note_read, note_write};
use raddle_memory::BLOCK_BUDGET;
use raddle_memory::access::sync_mode;
use raddle_memory::cells::handle::{DETACHED, JOINED, SPAWNED};
use raddle_memory::cells::life::{ALIVE, DEAD};
use raddle_memory::sync::{self, SyncStep};
use raddle_program::tables::NO_SLOT;
use raddle_program::{LocId, Op, Program, StateId, SyncAction, Tables, ThreadId, Value};
use smallvec::SmallVec;

/// Where an event begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) thread: ThreadId,
    pub(super) index: u32,
    pub(super) state: StateId,
    pub(super) parent: Pos,
    /// In the middle of a block that had to wait.
    pub(super) inside: bool,
}

impl Start {
    /// Where an event of the trace began.
    pub(super) fn of(event: &Event) -> Self {
        Self {
            thread: event.thread,
            index: event.index,
            state: event.state,
            parent: event.parent,
            inside: event.began_inside,
        }
    }
}

/// Which sources and choices the event takes.
pub(super) trait Plan {
    /// The source of a cell that is one. `None`: give up.
    fn source(&mut self, search: &mut Search, program: &Program, cell: Cell) -> Option<Pos>;
    fn choose(&mut self, count: u32) -> u32;
    /// The event that stands for [`EXTRA`].
    fn extra(&self) -> Option<&Event>;
}

/// An event in the making.
struct Making {
    event: Event,
    state: StateId,
    inside: bool,
    choices: Vec<u32>,
}

enum Step {
    Done(Value),
    Wait,
    Fault,
}

impl Search {
    /// The event that begins at `start` if it reads as planned. `None` if it would have to wait at once, or if the plan gives
    /// up.
    pub(super) fn simulate(
        &mut self,
        program: &mut Program,
        start: Start,
        plan: &mut impl Plan,
    ) -> Option<Event> {
        let op = *program.op(start.state);
        let is_block = start.inside || op == Op::AtomicBegin;
        let mut making = Making {
            event: Event {
                thread: start.thread,
                index: start.index,
                state: start.state,
                after: start.state,
                choices: 0,
                parent: start.parent,
                reads: SmallVec::new(),
                writes: SmallVec::new(),
                branching: Branching::None,
                primary: primary(program.tables(), &op),
                wide: false,
                is_block,
                intrudes: false,
                began_inside: start.inside,
                ends_inside: false,
                faulted: false,
                is_pure: false,
                ends_thread: false,
                marked: false,
                fingerprint: 0,
            },
            state: start.state,
            inside: start.inside,
            choices: Vec::new(),
        };
        for step in 0..BLOCK_BUDGET {
            let op = *program.op(making.state);
            if op.is_terminal() {
                break;
            }
            match self.simulate_op(program, &mut making, op, plan)? {
                Step::Done(value) => {
                    making.state = program.after(making.state, value);
                    self.refresh(program);
                }
                Step::Wait if step == 0 => return None,
                Step::Wait => break,
                Step::Fault => {
                    making.event.faulted = true;
                    break;
                }
            }
            if !making.inside {
                break;
            }
        }
        let mut event = self.finish(program, making, op, plan.extra());
        match self.spins(program, &event) {
            Some(Spin::Waits) => return None,
            Some(Spin::Ends) => event.ends_thread = true,
            None => self.gives_up |= self.takes_back(program, &event),
        }
        Some(event)
    }

    fn finish(
        &mut self,
        program: &Program,
        making: Making,
        op: Op,
        extra: Option<&Event>,
    ) -> Event {
        let mut event = making.event;
        event.is_pure &= !event.is_block && !event.faulted;
        event.after = making.state;
        event.ends_inside = making.inside;
        // The machine abandons a block that does not come to its end.
        if making.inside && (event.faulted || program.op(event.after).stops_short()) {
            event.writes.clear();
            event.ends_inside = event.began_inside;
        }
        if !event.faulted && matches!(program.op(event.after), Op::Exit { .. }) {
            let cell = Cell::End(event.thread);
            note_write(&mut event.writes, Write { cell, value: 1 });
        }
        if !making.choices.is_empty() {
            event.choices = self.choice_id(&making.choices);
        }
        event.branching = branching(&op, &event);
        event.intrudes = intrudes(&op, &event);
        self.trace.chain(&op, &mut event);
        event.wide = is_wide(program.tables(), &event);
        event.fingerprint = self.trace.fingerprint(&event, extra);
        event
    }

    fn simulate_op(
        &mut self,
        program: &mut Program,
        making: &mut Making,
        op: Op,
        plan: &mut impl Plan,
    ) -> Option<Step> {
        let thread = making.event.thread;
        let step = match op {
            Op::Load { loc, .. } => {
                let value = self.read(program, making, loc, plan)?;
                making.event.is_pure = true;
                match self.is_alive(program, making, loc, plan)? {
                    true => Step::Done(value),
                    false => Step::Fault,
                }
            }
            Op::Store { loc, value, .. } => {
                if self.trace.is_chained(loc) {
                    self.source(program, making, Cell::Loc(loc), plan)?;
                }
                let alive = self.is_alive(program, making, loc, plan)?;
                write(making, loc, if alive { value } else { 0 });
                making.event.is_pure = program.is_private(loc);
                if alive { Step::Done(0) } else { Step::Fault }
            }
            Op::Rmw {
                loc, kind, operand, ..
            } => {
                let old = self.read(program, making, loc, plan)?;
                let alive = self.is_alive(program, making, loc, plan)?;
                let size = program.tables().loc_info(loc).size;
                let new = if alive {
                    kind.apply(old, operand, size)
                } else {
                    old
                };
                write(making, loc, new);
                making.event.is_pure = new == old;
                if alive { Step::Done(old) } else { Step::Fault }
            }
            Op::Cas {
                loc, expected, new, ..
            } => {
                let old = self.read(program, making, loc, plan)?;
                let alive = self.is_alive(program, making, loc, plan)?;
                // A faulty one counts as if it had found 0: see `raddle_memory::accesses`.
                match (alive, if alive { old } else { 0 } == expected) {
                    (true, true) => write(making, loc, new),
                    (false, true) => write(making, loc, old),
                    (_, false) => {}
                }
                making.event.is_pure = old != expected || new == old;
                if alive { Step::Done(old) } else { Step::Fault }
            }
            Op::Sync { cell, action } => {
                return self.simulate_sync(program, making, cell, action, plan);
            }
            Op::Spawn { child, start } => {
                let cell = Cell::Handle(child);
                note_write(
                    &mut making.event.writes,
                    Write {
                        cell,
                        value: SPAWNED,
                    },
                );
                if matches!(program.op(start), Op::Exit { .. }) {
                    let cell = Cell::End(child);
                    note_write(&mut making.event.writes, Write { cell, value: 1 });
                }
                Step::Done(0)
            }
            Op::Join { thread: target } => {
                return self.simulate_join(program, making, thread, target, plan);
            }
            Op::Detach { thread: target } => {
                let cell = Cell::Handle(target);
                let source = self.source(program, making, cell, plan)?;
                let old = self.handle(source, cell, making, plan.extra());
                note_write(
                    &mut making.event.writes,
                    Write {
                        cell,
                        value: DETACHED,
                    },
                );
                match old {
                    Some(JOINED | DETACHED) => Step::Fault,
                    _ => Step::Done(0),
                }
            }
            Op::Alloc { object } | Op::Free { object } => {
                let Some(life) = program.tables().object_info(object).life else {
                    return Some(Step::Done(0));
                };
                let old = self.read(program, making, life, plan)?;
                let frees = matches!(op, Op::Free { .. });
                if frees && old & 0xFF != ALIVE {
                    write(making, life, old);
                    Step::Fault
                } else {
                    write(making, life, if frees { DEAD } else { ALIVE });
                    Step::Done(0)
                }
            }
            Op::Choice { count, .. } => {
                let taken = plan.choose(count);
                making.choices.push(taken);
                Step::Done(taken.into())
            }
            Op::AtomicBegin => {
                making.inside = true;
                Step::Done(0)
            }
            Op::AtomicEnd => {
                making.inside = false;
                Step::Done(0)
            }
            Op::Fence { .. } => {
                making.event.is_pure = true;
                Step::Done(0)
            }
            _ => Step::Done(0),
        };
        Some(step)
    }

    fn simulate_sync(
        &mut self,
        program: &mut Program,
        making: &mut Making,
        cell: LocId,
        action: SyncAction,
        plan: &mut impl Plan,
    ) -> Option<Step> {
        let thread = making.event.thread;
        let stored = self.read(program, making, cell, plan)?;
        let alive = self.is_alive(program, making, cell, plan)?;
        let word = self.known_word(program.tables(), making, cell, action, stored);
        let step = if alive {
            self.machine.sync_step(word, action, thread)
        } else {
            SyncStep::Misuse(raddle_program::Misuse::UseDestroyed)
        };
        let (mut new, value, mut fault) = match step {
            SyncStep::Wait => return Some(Step::Wait),
            SyncStep::Done { word, value } => (word, value, false),
            SyncStep::Misuse(_) => (stored, 0, true),
        };
        making.event.is_pure = action.is_try() && !sync_mode(action, value).writes();
        if let SyncAction::CondRelease { mutex } = action {
            let stored_mutex = self.read(program, making, mutex, plan)?;
            let mutex_alive = self.is_alive(program, making, mutex, plan)?;
            let tables = program.tables();
            let held = self.known_word(tables, making, mutex, SyncAction::UNLOCK, stored_mutex);
            let free = match sync::release_for_wait(held, thread) {
                Some(free) if mutex_alive && !fault => free,
                _ => {
                    fault = true;
                    new = stored;
                    stored_mutex
                }
            };
            if sync_mode(action, value).writes() {
                write(making, cell, new);
            }
            write(making, mutex, free);
        } else if sync_mode(action, value).writes() {
            write(making, cell, new);
        }
        Some(if fault {
            Step::Fault
        } else {
            Step::Done(value)
        })
    }

    /// The word of a mutex knows its kind, which the event itself may have written: the machine has not run it.
    fn known_word(
        &mut self,
        tables: &Tables,
        making: &Making,
        cell: LocId,
        action: SyncAction,
        stored: u64,
    ) -> u64 {
        let written = |arena| covering(tables, &making.event.writes, arena);
        self.machine
            .known_word_after(tables, cell, action, stored, &written)
    }

    fn simulate_join(
        &mut self,
        program: &mut Program,
        making: &mut Making,
        thread: ThreadId,
        target: ThreadId,
        plan: &mut impl Plan,
    ) -> Option<Step> {
        let end = self.source(program, making, Cell::End(target), plan)?;
        let cell = Cell::Handle(target);
        let noted = making.event.reads.len();
        let source = self.source(program, making, cell, plan)?;
        let handle = self.handle(source, cell, making, plan.extra());
        let ended_before = making.event.writes(Cell::End(target));
        let step = if target == thread || handle != Some(SPAWNED) {
            Step::Fault
        } else if end == NO_EVENT && !ended_before {
            // It has only looked whether the thread has finished.
            making.event.reads.truncate(noted);
            return Some(Step::Wait);
        } else {
            Step::Done(self.exit_value(program, end, target, making, plan.extra())?)
        };
        note_write(
            &mut making.event.writes,
            Write {
                cell,
                value: JOINED,
            },
        );
        Some(step)
    }

    /// The value that `target` finished with, in the event `end`.
    fn exit_value(
        &self,
        program: &Program,
        end: Pos,
        target: ThreadId,
        making: &Making,
        extra: Option<&Event>,
    ) -> Option<Value> {
        let event = self.event_or(end, making, extra)?;
        let state = if event.thread == target {
            event.after
        } else {
            // It finished when it was spawned, perhaps inside a block: the machine knows where it stands.
            self.machine.thread_state(target)?
        };
        match *program.op(state) {
            Op::Exit { value } => Some(value),
            _ => None,
        }
    }

    fn event_or<'a>(
        &'a self,
        pos: Pos,
        making: &'a Making,
        extra: Option<&'a Event>,
    ) -> Option<&'a Event> {
        match pos {
            NO_EVENT => Some(&making.event),
            EXTRA => extra,
            _ => Some(self.trace.event(pos)),
        }
    }

    fn handle(
        &self,
        source: Pos,
        cell: Cell,
        making: &Making,
        extra: Option<&Event>,
    ) -> Option<Value> {
        if let Some(value) = making.event.written(cell) {
            return Some(value);
        }
        if source == NO_EVENT {
            return None;
        }
        self.event_or(source, making, extra)?.written(cell)
    }

    /// The source of a cell that is one; [`NO_EVENT`] also for what the event itself wrote.
    fn source(
        &mut self,
        program: &Program,
        making: &mut Making,
        cell: Cell,
        plan: &mut impl Plan,
    ) -> Option<Pos> {
        if making.event.writes(cell) {
            return Some(NO_EVENT);
        }
        if let Some(source) = making.event.source(cell) {
            return Some(source);
        }
        let source = plan.source(self, program, cell)?;
        making.event.reads.push(Read { cell, source });
        Some(source)
    }

    fn is_alive(
        &mut self,
        program: &Program,
        making: &mut Making,
        loc: LocId,
        plan: &mut impl Plan,
    ) -> Option<bool> {
        let info = program.tables().loc_info(loc);
        if info.life == NO_SLOT {
            return Some(true);
        }
        match program.tables().object_info(info.object).life {
            Some(life) => Some(self.read(program, making, life, plan)? & 0xFF == ALIVE),
            None => Some(true),
        }
    }

    /// Reads a location (or a synchronisation or life cell).
    fn read(
        &mut self,
        program: &Program,
        making: &mut Making,
        loc: LocId,
        plan: &mut impl Plan,
    ) -> Option<Value> {
        let tables = program.tables();
        let info = *tables.loc_info(loc);
        if !info.mixed {
            let cell = Cell::Loc(loc);
            if let Some(value) = making.event.written(cell) {
                return Some(value);
            }
            let source = self.source(program, making, cell, plan)?;
            return match source {
                NO_EVENT => Some(initial(
                    program,
                    info.arena,
                    if info.is_sync() { 8 } else { info.size },
                )),
                _ => self.event_or(source, making, plan.extra())?.written(cell),
            };
        }
        let mut value = 0;
        let mut sources: SmallVec<[Option<Pos>; 8]> = SmallVec::new();
        for byte in 0..info.size {
            let arena = info.arena + u32::from(byte);
            let before = match byte.checked_sub(1) {
                Some(before) if self.trace.cells.together(tables, loc, before, byte) => {
                    sources.last().copied().flatten()
                }
                _ => None,
            };
            let (source, found) = match covering(tables, &making.event.writes, arena) {
                Some(found) => (None, found),
                None => self.read_byte(program, making, (loc, byte), before, plan)?,
            };
            sources.push(source);
            value |= Value::from(found) << (8 * u32::from(byte));
        }
        note_read(&mut making.event.reads, loc, &sources);
        Some(value)
    }

    /// Reads a byte that the event has not written. What it read of the same byte before, by whatever location, it reads
    /// again; `before` is the source of the byte before it in the same cell.
    fn read_byte(
        &mut self,
        program: &Program,
        making: &Making,
        (loc, byte): (LocId, u8),
        before: Option<Pos>,
        plan: &mut impl Plan,
    ) -> Option<(Option<Pos>, u8)> {
        let tables = program.tables();
        let arena = tables.loc_info(loc).arena + u32::from(byte);
        let known = making.event.reads.iter().find_map(|read| {
            let (other, range) = match read.cell {
                Cell::Loc(other) => (other, 0..u32::from(tables.loc_info(other).size)),
                Cell::Byte(other, byte) => (other, u32::from(byte)..u32::from(byte) + 1),
                _ => return None,
            };
            let offset = arena.checked_sub(tables.loc_info(other).arena)?;
            range.contains(&offset).then_some(read.source)
        });
        let source = match known.or(before) {
            Some(source) => source,
            None => plan.source(self, program, Cell::Byte(loc, byte))?,
        };
        let value = match source {
            NO_EVENT => initial(program, arena, 1) as u8,
            _ => {
                let event = self.event_or(source, making, plan.extra())?;
                covering(tables, &event.writes, arena)?
            }
        };
        Some((Some(source), value))
    }
}

fn write(making: &mut Making, loc: LocId, value: Value) {
    let cell = Cell::Loc(loc);
    note_write(&mut making.event.writes, Write { cell, value });
}

/// What `size` bytes of memory hold at first.
fn initial(program: &Program, arena: u32, size: u8) -> Value {
    let start = arena as usize;
    program.tables().arena()[start..start + usize::from(size)]
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | Value::from(byte))
}
