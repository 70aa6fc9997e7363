//! The state of an execution, one event at a time, undone in any number.
//!
//! An *event* is one visible operation of one thread, or a whole atomic block: then it consists of several
//! [`MicroStep`]s ([`block`]). Under TSO and PSO that a delayed store reaches memory is an event too ([`delay`]). Each
//! micro-step remembers the local state it left and the value its operation returned, which is all that is needed to undo it, to replay it and to say what it accessed ([`crate::access`]).
//!
//! Invariants
//! - `memory` is a prefix-extended copy of the tables' arena: bytes beyond its length have their initial contents.
//! - Undoing `k` micro-steps restores memory, thread states and flags exactly as they were.

pub mod block;
mod buffer;
mod delay;
mod place;
mod scene;
mod synchronise;
#[cfg(test)]
mod tests;

pub use buffer::{DelayedStore, MemoryModel};
pub use place::{Placed, Placement};

use crate::cells::life;
use crate::sync::{Lists, SyncStep};
use buffer::Buffers;
use raddle_program::op::mask;
use raddle_program::tables::NO_SLOT;
use raddle_program::{
    AccessKind, Fault, LocId, LocInfo, Misuse, Op, Program, StateId, StopId, SyncAction, Tables,
    ThreadId, Value,
};
use std::collections::BTreeMap;

/// One operation that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MicroStep {
    pub thread: ThreadId,
    /// The local state before it: `program.op(state)` is what was done.
    pub state: StateId,
    /// What it returned.
    pub value: Value,
    pub effect: Effect,
}

/// What a micro-step did of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// All of it.
    Whole,
    /// It is a store that its own thread sees now, and memory later.
    Delayed,
    /// A delayed store, the micro-step with this index, reached memory. The thread's local state is what it was; `state` is
    /// that of the store.
    Flushed { store: u32 },
    /// It is part of an atomic block that did not come to its end: its thread saw it, nobody else ever will ([`block`]).
    Abandoned,
}

/// Can a thread take a step?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// Not now; other threads may change that.
    Waiting,
    Ended(Ending),
    NotStarted,
}

/// How a thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Finished,
    AssumeFailed,
    ExitedProcess,
    Stopped(StopId),
    /// It committed a fault that memory found (see [`StepEnd::Fault`]).
    Faulted,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepEnd {
    Done,
    /// The operation is wrong in the state it met. The thread goes no further.
    Fault(Fault),
    /// An atomic block that does not come to its end.
    EndlessBlock,
}

/// A choice that was made inside an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub taken: u32,
    pub count: u32,
}

const NOT_STARTED: StateId = StateId(u32::MAX);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThreadState {
    state: StateId,
    flags: u8,
}

const JOINED: u8 = 1;
const DETACHED: u8 = 2;
const FAULTED: u8 = 4;
const IN_BLOCK: u8 = 8;

/// Values of life cells, which are bytes here.
const ALIVE: u8 = life::ALIVE as u8;
const DEAD: u8 = life::DEAD as u8;

#[derive(Clone, Copy, Debug)]
enum Undo {
    Memory { arena: u32, size: u8, old: u64 },
    Flags { thread: ThreadId, old: u8 },
    Started { thread: ThreadId },
    Buffer(buffer::Undo),
}

/// A point to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    steps: u32,
    undo: u32,
}

impl Mark {
    /// How many micro-steps had been done.
    #[must_use]
    pub fn steps(self) -> usize {
        self.steps as usize
    }
}

/// The machine.
#[derive(Clone, Debug)]
pub struct Machine {
    memory: Vec<u8>,
    threads: Vec<ThreadState>,
    steps: Vec<MicroStep>,
    undo: Vec<Undo>,
    lists: Lists,
    /// The choices made by the last event.
    chosen: Vec<Chosen>,
    suspended: Option<StateId>,
    /// How much of the tables' arena is in `memory`, which has eight bytes of slack behind it.
    known: usize,
    model: MemoryModel,
    buffers: Buffers,
}

impl Machine {
    /// The initial state: `main` before its first operation.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        Self::with_model(program, MemoryModel::Sc)
    }

    /// The same with another memory model.
    #[must_use]
    pub fn with_model(program: &Program, model: MemoryModel) -> Self {
        let mut machine = Self {
            memory: Vec::new(),
            threads: vec![ThreadState {
                state: program.main(),
                flags: 0,
            }],
            steps: Vec::new(),
            undo: Vec::new(),
            lists: Lists::default(),
            chosen: Vec::new(),
            suspended: None,
            known: 0,
            model,
            buffers: Buffers::default(),
        };
        machine.grow(program.tables());
        machine
    }

    /// Every thread id below this may have been started.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The local state of a thread that has been started.
    #[inline]
    #[must_use]
    pub fn thread_state(&self, thread: ThreadId) -> Option<StateId> {
        self.threads
            .get(thread.index())
            .map(|thread| thread.state)
            .filter(|&state| state != NOT_STARTED)
    }

    /// Is the thread inside an atomic block, where it had to wait?
    #[must_use]
    pub fn is_in_block(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread.index())
            .is_some_and(|thread| thread.flags & IN_BLOCK != 0)
    }

    /// All micro-steps so far.
    #[must_use]
    pub fn steps(&self) -> &[MicroStep] {
        &self.steps
    }

    /// The choices made by the last event, in order.
    #[must_use]
    pub fn chosen(&self) -> &[Chosen] {
        &self.chosen
    }

    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            steps: self.steps.len() as u32,
            undo: self.undo.len() as u32,
        }
    }

    /// Returns to `mark`, which must be of this execution.
    pub fn undo_to(&mut self, mark: Mark) {
        // Steps first: a thread's steps come after its start, whose undoing must have the last word on its state.
        while self.steps.len() > mark.steps as usize {
            let step = self.steps.pop().expect("the length was checked");
            if !matches!(step.effect, Effect::Flushed { .. }) {
                self.threads[step.thread.index()].state = step.state;
            }
        }
        self.undo_effects(mark);
    }

    /// Takes back what was done since `mark` but for the local states of threads that took steps.
    fn undo_effects(&mut self, mark: Mark) {
        while self.undo.len() > mark.undo as usize {
            match self.undo.pop().expect("the length was checked") {
                Undo::Memory { arena, size, old } => {
                    write_bytes(&mut self.memory, arena, size, old)
                }
                Undo::Flags { thread, old } => self.threads[thread.index()].flags = old,
                Undo::Started { thread } => self.threads[thread.index()].state = NOT_STARTED,
                Undo::Buffer(undo) => self.buffers.undo(undo),
            }
        }
    }

    /// Is everything but the local states of threads as it was at `mark`?
    #[must_use]
    pub fn is_pure_since(&self, mark: Mark) -> bool {
        self.undo[mark.undo as usize..]
            .iter()
            .all(|undo| match *undo {
                Undo::Memory { arena, size, old } => read_bytes(&self.memory, arena, size) == old,
                Undo::Flags { .. } | Undo::Started { .. } | Undo::Buffer(_) => false,
            })
    }

    /// The bytes of memory that differ from what they were at `mark`, ascending, with what they are now. None if something else
    /// changed than memory and the local states of threads.
    #[must_use]
    pub fn changed_since(&self, mark: Mark) -> Option<Vec<(u32, u8)>> {
        let mut then: BTreeMap<u32, u8> = BTreeMap::new();
        for undo in self.undo[mark.undo as usize..].iter().rev() {
            let Undo::Memory { arena, size, old } = *undo else {
                return None;
            };
            let bytes = old.to_le_bytes();
            for (at, &byte) in (arena..).zip(&bytes[..usize::from(size)]) {
                then.insert(at, byte);
            }
        }
        let now = |at: u32| self.memory[at as usize];
        let differs = then.into_iter().filter(|&(at, byte)| byte != now(at));
        Some(differs.map(|(at, _)| (at, now(at))).collect())
    }

    /// Can `thread` take a step now?
    #[inline]
    pub fn readiness(&mut self, program: &Program, thread: ThreadId) -> Readiness {
        let Some(&ThreadState { state, flags }) = self.threads.get(thread.index()) else {
            return Readiness::NotStarted;
        };
        if state == NOT_STARTED {
            return Readiness::NotStarted;
        }
        if flags & FAULTED != 0 {
            return Readiness::Ended(Ending::Faulted);
        }
        let op = program.op(state);
        if self.model.delays_stores() && self.waits_for_buffer(thread, op) {
            return Readiness::Waiting;
        }
        match *op {
            Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::Cas { .. } => {
                Readiness::Ready
            }
            Op::Sync { cell, action } => self.sync_readiness(program, thread, cell, action),
            Op::Join { thread: target } => self.join_readiness(program, thread, target),
            Op::AssumeFailed => Readiness::Ended(Ending::AssumeFailed),
            Op::Exit { .. } => Readiness::Ended(Ending::Finished),
            Op::ExitProcess { .. } => Readiness::Ended(Ending::ExitedProcess),
            Op::Stop(stop) => Readiness::Ended(Ending::Stopped(stop)),
            _ => Readiness::Ready,
        }
    }

    fn sync_readiness(
        &mut self,
        program: &Program,
        thread: ThreadId,
        cell: LocId,
        action: SyncAction,
    ) -> Readiness {
        let tables = program.tables();
        let info = *tables.loc_info(cell);
        if self.check_alive(tables, &info, AccessKind::Update).is_err() {
            return Readiness::Ready;
        }
        let word = self.cell_word(tables, cell, action);
        match self.lists.step(word, action, thread) {
            SyncStep::Wait => Readiness::Waiting,
            SyncStep::Done { .. } | SyncStep::Misuse(_) => Readiness::Ready,
        }
    }

    fn join_readiness(&self, program: &Program, thread: ThreadId, target: ThreadId) -> Readiness {
        match self.threads.get(target.index()) {
            _ if target == thread => Readiness::Ready,
            None => Readiness::Ready,
            Some(other) if other.state == NOT_STARTED => Readiness::Ready,
            Some(other) if other.flags & (JOINED | DETACHED) != 0 => Readiness::Ready,
            Some(other)
                if other.state != NOT_STARTED
                    && matches!(program.op(other.state), Op::Exit { .. })
                    && self.buffers.of(target).is_empty() =>
            {
                Readiness::Ready
            }
            _ => Readiness::Waiting,
        }
    }

    /// Does one event of `thread`, which must be ready. The `k`-th choice inside it takes the `k`-th of `choices`, or the
    /// first possibility where there is none.
    pub fn step(&mut self, program: &mut Program, thread: ThreadId, choices: &[u32]) -> StepEnd {
        self.chosen.clear();
        self.suspended = None;
        let start = self.mark();
        let state = self.threads[thread.index()].state;
        let op = *program.op(state);
        let end = self.micro_step(program, thread, state, op, choices);
        if self.is_in_block(thread) {
            return self.finish_block(program, thread, choices, start, end);
        }
        end
    }

    /// The state in which the last event, an atomic block, had to stop because its next operation must wait. What that
    /// operation waits for has then been looked at by the event.
    #[must_use]
    pub fn suspended(&self) -> Option<StateId> {
        self.suspended
    }

    #[inline]
    fn micro_step(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        state: StateId,
        op: Op,
        choices: &[u32],
    ) -> StepEnd {
        let mut effect = Effect::Whole;
        let result = match op {
            Op::Load { loc, .. } => self.load(program.tables(), thread, loc),
            Op::Store { loc, value, order } => {
                if self.model.delays_stores() && self.delays(thread, order) {
                    effect = Effect::Delayed;
                    self.delay(program.tables(), thread, state, op)
                } else {
                    self.store(program.tables(), loc, value)
                }
            }
            Op::Rmw {
                loc, kind, operand, ..
            } => self.update(program.tables(), loc, |old, size| {
                Some(kind.apply(old, operand, size))
            }),
            Op::Cas {
                loc, expected, new, ..
            } => self.update(program.tables(), loc, |old, _| {
                (old == expected).then_some(new)
            }),
            _ => self.perform_other(program, thread, op, choices),
        };
        match result {
            Ok(value) => {
                self.steps.push(MicroStep {
                    thread,
                    state,
                    value,
                    effect,
                });
                self.threads[thread.index()].state = program.after(state, value);
                StepEnd::Done
            }
            Err(fault) => {
                self.steps.push(MicroStep {
                    thread,
                    state,
                    value: 0,
                    effect: Effect::Whole,
                });
                self.set_flags(thread, FAULTED);
                StepEnd::Fault(fault)
            }
        }
    }

    #[inline]
    fn load(&mut self, tables: &Tables, thread: ThreadId, loc: LocId) -> Result<Value, Fault> {
        let info = *tables.loc_info(loc);
        self.check_alive(tables, &info, AccessKind::Read)?;
        let value = read_bytes(&self.memory, info.arena, info.size);
        if self.model.delays_stores() {
            return Ok(self.buffers.forward(thread, info.arena, info.size, value));
        }
        Ok(value)
    }

    #[inline]
    fn store(&mut self, tables: &Tables, loc: LocId, value: Value) -> Result<Value, Fault> {
        let info = *tables.loc_info(loc);
        self.check_alive(tables, &info, AccessKind::Write)?;
        self.write(info.arena, info.size, value);
        Ok(0)
    }

    #[inline]
    fn update(
        &mut self,
        tables: &Tables,
        loc: LocId,
        new: impl FnOnce(Value, u8) -> Option<Value>,
    ) -> Result<Value, Fault> {
        let info = *tables.loc_info(loc);
        self.check_alive(tables, &info, AccessKind::Update)?;
        let old = read_bytes(&self.memory, info.arena, info.size);
        if let Some(new) = new(old, info.size) {
            self.write(info.arena, info.size, new);
        }
        Ok(old)
    }

    #[inline]
    fn write(&mut self, arena: u32, size: u8, value: u64) {
        let old = read_bytes(&self.memory, arena, size);
        self.undo.push(Undo::Memory { arena, size, old });
        write_bytes(&mut self.memory, arena, size, value);
    }

    /// Makes sure that the location is in memory, and its object alive.
    #[inline]
    fn check_alive(
        &mut self,
        tables: &Tables,
        info: &LocInfo,
        access: AccessKind,
    ) -> Result<(), Fault> {
        if self.known <= info.arena as usize {
            self.grow(tables);
        }
        if info.life != NO_SLOT && self.memory[info.life as usize] != ALIVE {
            return Err(Fault::UseAfterFree {
                access,
                object: info.object,
                offset: info.offset as i64,
            });
        }
        Ok(())
    }

    /// Takes over what the program discovered since. Objects enter the arena whole, so a location whose first byte is known
    /// is known; the slack lets every access read eight bytes.
    #[cold]
    fn grow(&mut self, tables: &Tables) {
        let arena = tables.arena();
        self.memory.truncate(self.known);
        self.memory.extend_from_slice(&arena[self.known..]);
        self.known = arena.len();
        self.memory.resize(arena.len() + 8, 0);
    }

    fn perform_other(
        &mut self,
        program: &Program,
        thread: ThreadId,
        op: Op,
        choices: &[u32],
    ) -> Result<Value, Fault> {
        match op {
            Op::Sync { cell, action } => self.synchronise(program.tables(), thread, cell, action),
            Op::Spawn { child, start } => {
                if self.threads.len() <= child.index() {
                    self.threads.resize(
                        child.index() + 1,
                        ThreadState {
                            state: NOT_STARTED,
                            flags: 0,
                        },
                    );
                }
                self.threads[child.index()].state = start;
                self.undo.push(Undo::Started { thread: child });
                Ok(0)
            }
            Op::Join { thread: target } => self.join(program, thread, target),
            Op::Detach { thread: target } => {
                let flags = self
                    .threads
                    .get(target.index())
                    .map_or(0, |target| target.flags);
                if flags & (JOINED | DETACHED) != 0 {
                    return Err(thread_misuse(Misuse::DetachTwice, target));
                }
                self.set_flags(target, DETACHED);
                Ok(0)
            }
            Op::Alloc { object } => {
                if self.life(program.tables(), object) == DEAD {
                    self.clear(program.tables(), object);
                }
                self.set_life(program.tables(), object, ALIVE);
                Ok(0)
            }
            Op::Free { object } => {
                if self.life(program.tables(), object) != ALIVE {
                    return Err(Fault::DoubleFree { object });
                }
                self.set_life(program.tables(), object, DEAD);
                Ok(0)
            }
            Op::Choice { count, .. } => {
                let taken = choices
                    .get(self.chosen.len())
                    .copied()
                    .unwrap_or(0)
                    .min(count.saturating_sub(1));
                self.chosen.push(Chosen { taken, count });
                Ok(u64::from(taken))
            }
            Op::AtomicBegin => {
                self.set_flags(thread, IN_BLOCK);
                Ok(0)
            }
            Op::AtomicEnd => {
                self.clear_flags(thread, IN_BLOCK);
                Ok(0)
            }
            Op::Fence { order } => {
                self.fence(thread, order);
                Ok(0)
            }
            _ => Ok(0),
        }
    }

    fn join(
        &mut self,
        program: &Program,
        thread: ThreadId,
        target: ThreadId,
    ) -> Result<Value, Fault> {
        let started = self
            .threads
            .get(target.index())
            .filter(|target| target.state != NOT_STARTED);
        let Some(&ThreadState { state, flags }) = started else {
            return Err(thread_misuse(Misuse::JoinUnknown, target));
        };
        let misuse = if target == thread {
            Misuse::JoinSelf
        } else if flags & JOINED != 0 {
            Misuse::JoinTwice
        } else if flags & DETACHED != 0 {
            Misuse::JoinDetached
        } else if let Op::Exit { value } = *program.op(state) {
            self.set_flags(target, JOINED);
            return Ok(value);
        } else {
            Misuse::JoinUnknown
        };
        Err(thread_misuse(misuse, target))
    }

    fn life(&mut self, tables: &Tables, object: raddle_program::ObjectId) -> u8 {
        match tables.object_info(object).life {
            Some(cell) => self.cell_word(tables, cell, SyncAction::SemGet) as u8,
            None => ALIVE,
        }
    }

    /// A block that is used again holds zeros, as new ones do, and its synchronisation objects are as new.
    fn clear(&mut self, tables: &Tables, object: raddle_program::ObjectId) {
        for loc in tables.locations(object) {
            let LocInfo { arena, size, .. } = *tables.loc_info(loc);
            let size = if size == 0 { 8 } else { size };
            if self.known <= arena as usize {
                self.grow(tables);
            }
            self.write(arena, size, 0);
        }
    }

    fn set_life(&mut self, tables: &Tables, object: raddle_program::ObjectId, life: u8) {
        if let Some(cell) = tables.object_info(object).life {
            let arena = tables.loc_info(cell).arena;
            if self.known <= arena as usize {
                self.grow(tables);
            }
            self.write(arena, 8, u64::from(life));
        }
    }

    fn set_flags(&mut self, thread: ThreadId, flags: u8) {
        let old = self.threads[thread.index()].flags;
        self.undo.push(Undo::Flags { thread, old });
        self.threads[thread.index()].flags = old | flags;
    }

    fn clear_flags(&mut self, thread: ThreadId, flags: u8) {
        let old = self.threads[thread.index()].flags;
        self.undo.push(Undo::Flags { thread, old });
        self.threads[thread.index()].flags = old & !flags;
    }

    /// The bytes of a location now.
    #[must_use]
    pub fn peek(&mut self, tables: &Tables, loc: LocId) -> Value {
        let info = *tables.loc_info(loc);
        self.bytes(
            tables,
            info.arena,
            if info.is_sync() { 8 } else { info.size },
        )
    }

    /// What memory holds now, also where the machine has not been yet: whoever asks may be computing what a thread would do.
    #[inline]
    fn bytes(&mut self, tables: &Tables, arena: u32, size: u8) -> u64 {
        if self.known <= arena as usize {
            self.grow(tables);
        }
        read_bytes(&self.memory, arena, size)
    }
}

fn thread_misuse(misuse: Misuse, thread: ThreadId) -> Fault {
    Fault::Misuse {
        misuse,
        object: None,
        thread: Some(thread),
    }
}

/// Reads `size` little-endian bytes. There are always eight bytes from `arena` on: see [`Machine::grow`].
#[inline]
fn read_bytes(memory: &[u8], arena: u32, size: u8) -> u64 {
    let start = arena as usize;
    let bytes: [u8; 8] = memory[start..start + 8]
        .try_into()
        .expect("a slice of eight bytes");
    u64::from_le_bytes(bytes) & mask(size)
}

#[inline]
fn write_bytes(memory: &mut [u8], arena: u32, size: u8, value: u64) {
    let start = arena as usize;
    let bytes: &mut [u8; 8] = (&mut memory[start..start + 8])
        .try_into()
        .expect("a slice of eight bytes");
    let mask = mask(size);
    *bytes = ((u64::from_le_bytes(*bytes) & !mask) | (value & mask)).to_le_bytes();
}
