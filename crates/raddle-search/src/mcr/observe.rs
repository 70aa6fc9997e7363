//! What the events of an execution read and wrote, as values of cells.

use crate::purity::{Attempt, changes_nothing};
use raddle_memory::cells::handle::{DETACHED, JOINED, NOT_SPAWNED, SPAWNED};
use raddle_memory::cells::life::ALIVE;
use raddle_memory::sync::{SyncStep, order};
use raddle_memory::{Effect, Machine, MicroStep};
use raddle_program::op::mask;
use raddle_program::tables::NO_SLOT;
use raddle_program::{LocId, Op, Order, Program, StateId, SyncAction, Tables, ThreadId, Value};
use rustc_hash::FxHashMap;

/// What is read and written as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    /// A location that shares no bytes with others, a synchronisation cell or a life cell: where it lies in the arena, and
    /// its size.
    Whole(u32, u8),
    /// A byte of a location that shares bytes with others.
    Byte(u32),
    /// Who joined or detached a thread.
    Handle(ThreadId),
    /// Whether a thread has finished.
    End(ThreadId),
}

/// How a value becomes the class of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A load, exchange, compare-exchange or other update of a whole location that is an event of its own.
    Access(StateId),
    /// An operation on a synchronisation cell that is an event of its own.
    Sync(StateId, LocId, SyncAction),
    /// Anything else: the value counts. If the event begins with this operation it may have to wait.
    Exact(Option<(LocId, SyncAction)>),
    /// Not read, but chosen from so many.
    Choice(u32),
}

/// What a read makes its thread learn of what the write's thread did before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acquires {
    Never,
    Now,
    /// At the next fence that acquires.
    AtFence,
}

/// What a write makes known to those who acquire it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Releases {
    Nothing,
    /// All that its thread did before.
    All,
    /// What its thread did before its last fence that releases.
    Fence,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    /// None for choices.
    pub(super) cell: Option<Cell>,
    pub(super) value: Value,
    pub(super) how: How,
    pub(super) acquires: Acquires,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) cell: Cell,
    pub(super) value: Value,
    pub(super) releases: Releases,
    /// Releases also what the write released that its event read.
    pub(super) continues: bool,
}

/// One event: an operation, or an atomic block.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) thread: ThreadId,
    /// The local state it left.
    pub(super) state: StateId,
    pub(super) is_block: bool,
    /// It changed nothing but the state of its thread.
    pub(super) is_pure: bool,
    pub(super) reads: Vec<Read>,
    pub(super) writes: Vec<Write>,
    pub(super) choices: Vec<u32>,
    pub(super) spawns: Vec<ThreadId>,
    pub(super) joins: Vec<ThreadId>,
    /// Its micro-steps.
    pub(super) steps: std::ops::Range<usize>,
}

/// Where a micro-step stands in its event.
#[derive(Clone, Copy)]
struct Place {
    is_first: bool,
    /// It is a fault, and has no effect.
    fails: bool,
}

/// Follows an execution.
#[derive(Default)]
pub(super) struct Observer {
    /// What is in synchronisation cells, life cells and thread cells.
    words: FxHashMap<Cell, u64>,
}

impl Observer {
    fn word(&self, tables: &Tables, cell: Cell) -> u64 {
        self.words
            .get(&cell)
            .copied()
            .unwrap_or_else(|| initial(tables, cell))
    }

    /// The event of the micro-steps in `steps`. `faulted`: the last one did not take effect. `suspended`: where the block
    /// had to wait.
    pub(super) fn event(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        steps: std::ops::Range<usize>,
        (inside, faulted, suspended): (bool, bool, Option<StateId>),
    ) -> Event {
        let first = machine.steps()[steps.start];
        let begins = matches!(program.op(first.state), Op::AtomicBegin);
        let mut event = Event {
            thread: first.thread,
            state: first.state,
            is_block: inside || begins,
            is_pure: false,
            reads: Vec::new(),
            writes: Vec::new(),
            choices: Vec::new(),
            spawns: Vec::new(),
            joins: Vec::new(),
            steps: steps.clone(),
        };
        let abandoned = first.effect == Effect::Abandoned;
        let words = abandoned.then(|| self.words.clone());
        for index in steps.clone() {
            let step = machine.steps()[index];
            let place = Place {
                is_first: index == steps.start,
                fails: faulted && index + 1 == steps.end,
            };
            self.step(program, machine, &mut event, step, place);
        }
        if let Some(state) = suspended {
            self.wait(program, &mut event, *program.op(state));
        }
        // What an abandoned block did was taken back.
        if let Some(words) = words {
            self.words = words;
            event.writes.clear();
            event.spawns.clear();
        }
        event.is_pure = !event.is_block && !faulted && is_pure(program, first);
        event
    }

    /// Takes note that a thread has finished.
    pub(super) fn finished(&mut self, event: &mut Event, thread: ThreadId) {
        self.write(event, Cell::End(thread), 1);
    }

    fn read(&self, event: &mut Event, cell: Cell, value: Value, how: How) {
        self.read_with(event, cell, value, how, Acquires::Never);
    }

    fn read_with(&self, event: &mut Event, cell: Cell, value: Value, how: How, acquires: Acquires) {
        let inner = event.writes.iter().any(|write| write.cell == cell)
            || event.reads.iter().any(|read| read.cell == Some(cell));
        if !inner {
            event.reads.push(Read {
                cell: Some(cell),
                value,
                how,
                acquires,
            });
        }
    }

    fn write(&mut self, event: &mut Event, cell: Cell, value: Value) {
        self.write_with(event, cell, value, (Releases::Nothing, false));
    }

    fn write_with(
        &mut self,
        event: &mut Event,
        cell: Cell,
        value: Value,
        (releases, continues): (Releases, bool),
    ) {
        event.writes.retain(|write| write.cell != cell);
        event.writes.push(Write {
            cell,
            value,
            releases,
            continues,
        });
        self.words.insert(cell, value);
    }

    /// Reads that the object is alive. False if it is not.
    fn life(&self, tables: &Tables, event: &mut Event, loc: LocId) -> bool {
        let life = tables.loc_info(loc).life;
        if life == NO_SLOT {
            return true;
        }
        let cell = Cell::Whole(life, 8);
        let value = self.word(tables, cell);
        self.read(event, cell, value, How::Exact(None));
        value == ALIVE
    }

    fn access(
        &mut self,
        tables: &Tables,
        event: &mut Event,
        (loc, order): (LocId, Order),
        step: MicroStep,
    ) -> bool {
        let acquires = match order {
            Order::Plain => Acquires::Never,
            _ if order.acquires() => Acquires::Now,
            _ => Acquires::AtFence,
        };
        if !self.life(tables, event, loc) {
            return false;
        }
        let info = tables.loc_info(loc);
        if !info.mixed {
            let how = if event.is_block {
                How::Exact(None)
            } else {
                How::Access(step.state)
            };
            let cell = Cell::Whole(info.arena, info.size);
            self.read_with(event, cell, step.value, how, acquires);
            return true;
        }
        for byte in 0..u32::from(info.size) {
            let value = step.value >> (8 * byte) & 0xFF;
            let cell = Cell::Byte(info.arena + byte);
            self.read_with(event, cell, value, How::Exact(None), acquires);
        }
        true
    }

    fn store(
        &mut self,
        tables: &Tables,
        event: &mut Event,
        (loc, order, continues): (LocId, Order, bool),
        value: Value,
    ) {
        let releases = match order {
            Order::Plain => Releases::Nothing,
            _ if order.releases() => Releases::All,
            _ => Releases::Fence,
        };
        let how = (releases, continues);
        let info = tables.loc_info(loc);
        if !info.mixed {
            let value = value & mask(info.size);
            return self.write_with(event, Cell::Whole(info.arena, info.size), value, how);
        }
        for byte in 0..u32::from(info.size) {
            let cell = Cell::Byte(info.arena + byte);
            self.write_with(event, cell, value >> (8 * byte) & 0xFF, how);
        }
    }

    fn step(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        event: &mut Event,
        step: MicroStep,
        place: Place,
    ) {
        let fails = place.fails;
        let tables = program.tables();
        match *program.op(step.state) {
            Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::Cas { .. } => {
                self.memory_step(program, event, step);
            }
            Op::Sync { cell, action } => {
                self.sync(program, machine, event, (step.state, cell, action), place);
            }
            Op::Alloc { object } => {
                if let Some(loc) = tables.object_info(object).life {
                    let cell = Cell::Whole(tables.loc_info(loc).arena, 8);
                    self.write(event, cell, ALIVE);
                }
            }
            Op::Free { object } => {
                if let Some(loc) = tables.object_info(object).life {
                    let cell = Cell::Whole(tables.loc_info(loc).arena, 8);
                    let value = self.word(tables, cell);
                    self.read(event, cell, value, How::Exact(None));
                    if !fails {
                        self.write(event, cell, 2);
                    }
                }
            }
            Op::Choice { count, .. } => {
                event.choices.push(step.value as u32);
                event.reads.push(Read {
                    cell: None,
                    value: step.value,
                    how: How::Choice(count),
                    acquires: Acquires::Never,
                });
            }
            Op::Spawn { child, start } => {
                event.spawns.push(child);
                self.write(event, Cell::Handle(child), SPAWNED);
                if matches!(program.op(start), Op::Exit { .. }) {
                    self.write(event, Cell::End(child), 1);
                }
            }
            Op::Join { thread } => {
                let handle = self.handle(tables, event, thread);
                if handle == SPAWNED && !fails {
                    let end = Cell::End(thread);
                    let value = self.word(tables, end);
                    self.read(event, end, value, How::Exact(None));
                    event.joins.push(thread);
                    self.write(event, Cell::Handle(thread), JOINED);
                }
            }
            Op::Detach { thread } => {
                self.handle(tables, event, thread);
                if !fails {
                    self.write(event, Cell::Handle(thread), DETACHED);
                }
            }
            _ => {}
        }
    }

    fn memory_step(&mut self, program: &Program, event: &mut Event, step: MicroStep) {
        let tables = program.tables();
        let op = program.op(step.state);
        let (loc, order) = match *op {
            Op::Load { loc, order } | Op::Rmw { loc, order, .. } => (loc, order),
            Op::Store { loc, value, order } => {
                let is_alive = self.life(tables, event, loc);
                if is_alive {
                    self.store(tables, event, (loc, order, false), value);
                }
                return;
            }
            Op::Cas {
                loc,
                expected,
                success,
                failure,
                ..
            } => match step.value == expected {
                true => (loc, success),
                false => (loc, failure),
            },
            _ => return,
        };
        let is_alive = self.access(tables, event, (loc, order), step);
        if let Some(new) = op.written(tables, step.value).filter(|_| is_alive) {
            self.store(tables, event, (loc, order, true), new);
        }
    }

    fn handle(&mut self, tables: &Tables, event: &mut Event, thread: ThreadId) -> u64 {
        let cell = Cell::Handle(thread);
        let value = self.word(tables, cell);
        self.read(event, cell, value, How::Exact(None));
        value
    }

    fn sync(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        event: &mut Event,
        (state, loc, action): (StateId, LocId, SyncAction),
        place: Place,
    ) {
        let tables = program.tables();
        if !self.life(tables, event, loc) {
            return;
        }
        let cell = Cell::Whole(tables.loc_info(loc).arena, 8);
        let stored = self.word(tables, cell);
        let released = match action {
            SyncAction::CondRelease { mutex } => Some(mutex),
            _ => None,
        };
        // Only what an event begins with can make it wait.
        let how = if event.is_block || released.is_some() {
            How::Exact(place.is_first.then_some((loc, action)))
        } else {
            How::Sync(state, loc, action)
        };
        let word = machine.known_word(tables, loc, action, stored);
        let step = machine.sync_step(word, action, event.thread);
        let (acquires, releases) = match step {
            SyncStep::Done { value, .. } => synchronises(action, value),
            SyncStep::Wait | SyncStep::Misuse(_) => (Acquires::Never, Releases::Nothing),
        };
        self.read_with(event, cell, stored, how, acquires);
        if let Some(mutex) = released
            && matches!(step, SyncStep::Done { .. })
        {
            if !self.life(tables, event, mutex) {
                return;
            }
            let cell = Cell::Whole(tables.loc_info(mutex).arena, 8);
            let held = self.word(tables, cell);
            self.read(event, cell, held, How::Exact(None));
            if !place.fails {
                let held = machine.known_word(tables, mutex, SyncAction::UNLOCK, held);
                if let Some(free) = raddle_memory::sync::release_for_wait(held, event.thread) {
                    self.write_with(event, cell, free, (Releases::All, true));
                }
            }
        }
        if let SyncStep::Done { word: new, .. } = step
            && !place.fails
            && new != word
        {
            self.write_with(event, cell, new, (releases, true));
        }
    }

    /// What a block that has to wait in its middle has been told by.
    fn wait(&mut self, program: &Program, event: &mut Event, op: Op) {
        let tables = program.tables();
        match op {
            Op::Sync { cell: loc, .. } => {
                self.life(tables, event, loc);
                let cell = Cell::Whole(tables.loc_info(loc).arena, 8);
                let value = self.word(tables, cell);
                self.read(event, cell, value, How::Exact(None));
            }
            Op::Join { thread } => {
                self.handle(tables, event, thread);
                let cell = Cell::End(thread);
                let value = self.word(tables, cell);
                self.read(event, cell, value, How::Exact(None));
            }
            _ => {}
        }
    }

    /// What a thread that waits looks at: the event that it would do next, up to where it waits.
    pub(super) fn pending(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        thread: ThreadId,
        state: StateId,
    ) -> Event {
        let inside = machine.is_in_block(thread);
        let end = machine.steps().len();
        let mut event = Event {
            thread,
            state,
            is_block: inside,
            is_pure: false,
            reads: Vec::new(),
            writes: Vec::new(),
            choices: Vec::new(),
            spawns: Vec::new(),
            joins: Vec::new(),
            steps: end..end,
        };
        let tables = program.tables();
        match *program.op(state) {
            Op::Sync { cell: loc, action } => {
                self.life(tables, &mut event, loc);
                let cell = Cell::Whole(tables.loc_info(loc).arena, 8);
                let value = self.word(tables, cell);
                let how = if inside {
                    How::Exact(Some((loc, action)))
                } else {
                    How::Sync(state, loc, action)
                };
                self.read(&mut event, cell, value, how);
            }
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                let value = machine.peek(tables, loc);
                let step = MicroStep {
                    thread,
                    state,
                    value,
                    effect: Effect::Whole,
                };
                self.access(tables, &mut event, (loc, Order::Plain), step);
            }
            Op::Join { thread } => {
                self.handle(tables, &mut event, thread);
                event.joins.push(thread);
            }
            _ => {}
        }
        event
    }
}

/// What an operation on a synchronisation cell that returned `value` learns from the cell, and leaves there.
fn synchronises(action: SyncAction, value: Value) -> (Acquires, Releases) {
    let acquires = match order::acquires(action, value) {
        true => Acquires::Now,
        false => Acquires::Never,
    };
    let releases = match order::releases(action, value) {
        true => Releases::All,
        false => Releases::Nothing,
    };
    (acquires, releases)
}

/// Could the event that begins with micro-step `first` be part of a pure iteration?
pub(super) fn event_is_pure(
    program: &Program,
    machine: &Machine,
    first: usize,
    inside: bool,
) -> bool {
    let steps = &machine.steps()[first..];
    !inside && steps.len() == 1 && is_pure(program, steps[0])
}

/// Did the step change nothing but the state of its thread? For events of one step.
fn is_pure(program: &Program, step: MicroStep) -> bool {
    match program.op(step.state) {
        Op::Sync { .. } => Attempt::of(program, step.state).is_some() && step.value != 0,
        op => changes_nothing(program, op, step.value),
    }
}

/// What a cell holds before anything happens.
pub(super) fn initial(tables: &Tables, cell: Cell) -> u64 {
    let bytes = |start: u32, size: u8| {
        let arena = tables.arena();
        (0..usize::from(size)).rev().fold(0, |value, byte| {
            value << 8 | u64::from(arena.get(start as usize + byte).copied().unwrap_or(0))
        })
    };
    match cell {
        Cell::Whole(start, size) => bytes(start, size),
        Cell::Byte(at) => bytes(at, 1),
        Cell::Handle(thread) if thread == ThreadId::MAIN => SPAWNED,
        Cell::Handle(_) => NOT_SPAWNED,
        Cell::End(_) => 0,
    }
}
