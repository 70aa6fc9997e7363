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
use crate::purity::changes_nothing;
use raddle_memory::access::touched;
use raddle_memory::cells::handle::SPAWNED;
use raddle_memory::perform::{self, Performed, Store, perform};
use raddle_memory::sync::SyncStep;
use raddle_memory::{BLOCK_BUDGET, Effect, MicroStep};
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

/// The source of something that is read is not known: the event is given up.
struct GivenUp;

/// What an operation of the event finds in the sources that the plan says.
struct Planned<'a, P> {
    search: &'a mut Search,
    making: &'a mut Making,
    plan: &'a mut P,
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
                Performed::Done(value) => {
                    making.state = program.after(making.state, value);
                    self.refresh(program);
                }
                Performed::Wait if step == 0 => return None,
                Performed::Wait => break,
                Performed::Fault(_) => {
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
        program: &Program,
        making: &mut Making,
        op: Op,
        plan: &mut impl Plan,
    ) -> Option<Performed> {
        let (thread, noted) = (making.event.thread, making.event.reads.len());
        let mut store = Planned {
            search: self,
            making,
            plan,
        };
        if let Op::Alloc { object } = op
            && let Some(life) = program.tables().object_info(object).life
        {
            // It counts as an update of the object's life: `raddle_memory::access`.
            store.read(program, perform::Cell::Loc(life)).ok()?;
        }
        let performed = perform(&mut store, program, thread, op).ok()?;
        match (&performed, op) {
            (Performed::Done(value), _) => {
                store.making.event.is_pure = changes_nothing(program, &op, *value);
            }
            (Performed::Wait, Op::Join { thread }) => {
                // It has only looked whether the thread has finished.
                let reads = &mut store.making.event.reads;
                let handle = reads[noted..]
                    .iter()
                    .position(|read| read.cell == Cell::Handle(thread));
                if let Some(position) = handle {
                    reads.remove(noted + position);
                }
            }
            (Performed::Wait, _) => {}
            (Performed::Fault(_), _) => store.attempt(program).ok()?,
        }
        Some(performed)
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

impl<P: Plan> Planned<'_, P> {
    /// What an operation that went wrong has touched counts as read, and as written with what was there.
    fn attempt(&mut self, program: &Program) -> Result<(), GivenUp> {
        let step = MicroStep {
            thread: self.making.event.thread,
            state: self.making.state,
            value: 0,
            effect: Effect::Whole,
        };
        let mut cells: SmallVec<[_; 4]> = SmallVec::new();
        touched(program, &step, |cell, mode| cells.push((cell, mode)));
        for (cell, mode) in cells {
            let old = match mode.reads() {
                true => self.read(program, cell)?,
                false => 0,
            };
            if mode.writes() {
                self.write(program, cell, old)?;
            }
        }
        Ok(())
    }

    fn source(&mut self, program: &Program, cell: Cell) -> Result<Pos, GivenUp> {
        let source = self.search.source(program, self.making, cell, self.plan);
        source.ok_or(GivenUp)
    }
}

impl<P: Plan> Store for Planned<'_, P> {
    type Unknown = GivenUp;

    fn read(&mut self, program: &Program, cell: perform::Cell) -> Result<Value, GivenUp> {
        if let perform::Cell::Loc(loc) = cell {
            let value = self.search.read(program, self.making, loc, self.plan);
            return value.ok_or(GivenUp);
        }
        let cell = Cell::from(cell);
        if let Some(value) = self.making.event.written(cell) {
            return Ok(value);
        }
        let source = self.source(program, cell)?;
        if source == NO_EVENT {
            return Ok(match cell {
                Cell::Handle(ThreadId::MAIN) => SPAWNED,
                _ => 0,
            });
        }
        let extra = self.plan.extra();
        let event = self.search.event_or(source, self.making, extra);
        event.and_then(|event| event.written(cell)).ok_or(GivenUp)
    }

    fn write(
        &mut self,
        program: &Program,
        cell: perform::Cell,
        value: Value,
    ) -> Result<(), GivenUp> {
        let cell = Cell::from(cell);
        if let Cell::Loc(loc) = cell
            && self.search.trace.is_chained(loc)
        {
            self.source(program, cell)?;
        }
        note_write(&mut self.making.event.writes, Write { cell, value });
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
        let taken = self.plan.choose(count);
        self.making.choices.push(taken);
        taken
    }

    fn exit_value(
        &mut self,
        program: &Program,
        thread: ThreadId,
    ) -> Result<Option<Value>, GivenUp> {
        let end = self.source(program, Cell::End(thread))?;
        let extra = self.plan.extra();
        let value = self
            .search
            .exit_value(program, end, thread, self.making, extra);
        value.map(Some).ok_or(GivenUp)
    }

    fn start(&mut self, _: ThreadId, _: StateId) {}

    fn set_in_block(&mut self, inside: bool) {
        self.making.inside = inside;
    }
}

/// What `size` bytes of memory hold at first.
fn initial(program: &Program, arena: u32, size: u8) -> Value {
    let start = arena as usize;
    program.tables().arena()[start..start + usize::from(size)]
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | Value::from(byte))
}
