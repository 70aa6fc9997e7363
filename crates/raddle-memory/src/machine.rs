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
mod fingerprint;
mod memory;
mod place;
mod scene;
mod synchronise;
#[cfg(test)]
mod tests;

pub use buffer::{DelayedStore, MemoryModel};
pub use fingerprint::MemoryNumber;
pub use place::{Placed, Placement};

use crate::cells::life;
use crate::perform::{Performed, perform};
use crate::sync::Lists;
use buffer::Buffers;
use memory::Memory;
use raddle_program::op::mask;
use raddle_program::{Fault, Op, Program, StateId, StopId, Tables, ThreadId, Value};
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

/// A point to return to. The default is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
            Op::Sync { .. } | Op::Join { .. } => self.look(program, thread, *op),
            Op::AssumeFailed => Readiness::Ended(Ending::AssumeFailed),
            Op::Exit { .. } => Readiness::Ended(Ending::Finished),
            Op::ExitProcess { .. } => Readiness::Ended(Ending::ExitedProcess),
            Op::Stop(stop) => Readiness::Ended(Ending::Stopped(stop)),
            _ => Readiness::Ready,
        }
    }

    /// Would the operation have to wait? It is not done.
    fn look(&mut self, program: &Program, thread: ThreadId, op: Op) -> Readiness {
        let mut memory = Memory::<false> {
            machine: self,
            thread,
            choices: &[],
        };
        let Ok(performed) = perform(&mut memory, program, thread, op);
        match performed {
            Performed::Wait => Readiness::Waiting,
            Performed::Done(_) | Performed::Fault(_) => Readiness::Ready,
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
        let performed = match op {
            Op::Store { order, .. } if self.model.delays_stores() && self.delays(thread, order) => {
                effect = Effect::Delayed;
                self.delay(program.tables(), thread, state, op)
            }
            _ => {
                if let Op::Alloc { object } = op {
                    self.clear_if_used(program.tables(), object);
                }
                let mut memory = Memory::<true> {
                    machine: self,
                    thread,
                    choices,
                };
                let Ok(performed) = perform(&mut memory, program, thread, op);
                performed
            }
        };
        match performed {
            Performed::Done(value) => {
                self.steps.push(MicroStep {
                    thread,
                    state,
                    value,
                    effect,
                });
                self.threads[thread.index()].state = program.after(state, value);
                StepEnd::Done
            }
            Performed::Fault(fault) => {
                self.steps.push(MicroStep {
                    thread,
                    state,
                    value: 0,
                    effect: Effect::Whole,
                });
                self.set_flags(thread, FAULTED);
                StepEnd::Fault(fault)
            }
            Performed::Wait => unreachable!("a thread that takes a step is ready"),
        }
    }

    #[inline]
    fn write(&mut self, arena: u32, size: u8, value: u64) {
        let old = read_bytes(&self.memory, arena, size);
        self.undo.push(Undo::Memory { arena, size, old });
        write_bytes(&mut self.memory, arena, size, value);
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

    /// A block that is used again holds zeros, as new ones do, and its synchronisation objects are as new.
    fn clear_if_used(&mut self, tables: &Tables, object: raddle_program::ObjectId) {
        let Some(life) = tables.object_info(object).life else {
            return;
        };
        let life = tables.loc_info(life).arena as usize;
        if self.known <= life {
            self.grow(tables);
        }
        if self.memory[life] != DEAD {
            return;
        }
        for loc in tables.locations(object) {
            let info = tables.loc_info(loc);
            if self.known <= info.arena as usize {
                self.grow(tables);
            }
            let size = if info.is_sync() { 8 } else { info.size };
            self.write(info.arena, size, 0);
        }
    }

    fn set_flags(&mut self, thread: ThreadId, flags: u8) {
        self.change_flags(thread, self.threads[thread.index()].flags | flags);
    }

    fn change_flags(&mut self, thread: ThreadId, flags: u8) {
        let old = std::mem::replace(&mut self.threads[thread.index()].flags, flags);
        self.undo.push(Undo::Flags { thread, old });
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
