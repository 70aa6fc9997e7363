//! Data races: two accesses to the same bytes, one of them a write, one of them plain, unordered by happens-before.
//!
//! Happens-before is built from program order and
//! - spawn → the thread's first step, its last step → join;
//! - unlock → lock (also within a condition variable's wait), unlock of a reader → lock of a writer but not of a reader;
//!   post → wait of a semaphore; arrivals → departures of the same generation of a barrier; signal, broadcast → wake-up; end
//!   of an initialiser → calls that find it run. An operation that fails (`EBUSY`, …) orders nothing, nor do initialisation
//!   and destruction;
//! - a release write → an acquire read of it or of a later write in its release sequence. Read-modify-writes of any thread
//!   continue one; in C up to C17 and C++ up to C++17 so do atomic stores of the thread that began it
//!   ([`ReleaseSequences`](raddle_program::ReleaseSequences)). A release fence makes relaxed writes after it release
//!   what came before the fence, an acquire fence makes relaxed reads before it acquire. Sequentially consistent fences are
//!   both. Where accesses of several sizes meet, a read acquires from the last write of each of its bytes;
//! - an atomic block → a read in another block of what it wrote. Blocks exclude each other, but the mere order of two blocks
//!   orders nothing: if neither reads from the other it could have been the other way round, with everything before them as
//!   it is. Accesses in blocks do not race with each other. A block that is abandoned is none that happened: its accesses race
//!   with nothing and order nothing.
//!
//! A free is a plain write to the whole object. An operation on a synchronisation object is an atomic access to the object
//! it lies in, so it races with an unordered free only.
//!
//! Where stores are delayed (TSO, PSO) these definitions are the same. A store is an access when its thread does it: nothing
//! that another thread does before it reaches memory can be ordered after it by happens-before. What it publishes is what
//! happened before it was done; others learn of that from the time it reaches memory. A thread that reads its own delayed
//! store learns nothing.
//!
//! The detector follows one execution step by step and can go back to any prefix. Thread ids index its clocks, so they
//! must be those of one program.

mod clock;
mod history;
mod synchronise;
#[cfg(test)]
mod tests;

use crate::access::sync_mode;
use crate::machine::{Effect, MicroStep};
use crate::sync::order::{Opening, Released};
use clock::{Clock, Clocks};
use history::{Class, Head, History, Message, Slot};
use raddle_program::tables::NO_SLOT;
use raddle_program::{LocId, ObjectId, Op, Order, Program, SrcId, StateId, Tables, ThreadId};

/// One side of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceAccess {
    pub thread: ThreadId,
    /// The local state whose operation is the access.
    pub state: StateId,
    pub at: SrcId,
    /// Index of the access in the execution's sequence of steps.
    pub step: usize,
}

/// A data race with both accesses, in the order of the execution it was seen in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceInfo {
    pub first: RaceAccess,
    pub second: RaceAccess,
}

/// What one thread knows.
#[derive(Clone, Copy, Debug, Default)]
struct Knowledge {
    /// What happened before its next step; its own component may be behind.
    clock: Clock,
    /// What its last release fence publishes through relaxed writes.
    fence: Clock,
    /// What its relaxed reads learnt, to be known after an acquire fence.
    pending: Clock,
    /// The atomic block it is in: see `RaceDetector::blocks`.
    block: Option<u32>,
}

#[derive(Clone, Debug, Default)]
struct Location {
    history: History,
    message: Message,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// All accesses to the object, for frees.
    history: History,
    /// Frees, for accesses.
    frees: History,
}

#[derive(Clone, Copy, Debug)]
enum Undo {
    Knowledge(ThreadId, Knowledge),
    Access(LocId, u32, Option<Slot>),
    Message(LocId, Message),
    Object(ObjectId, u32, Option<Slot>),
    Free(ObjectId, u32, Option<Slot>),
    Cell(LocId, Released<Clock>),
    Opened,
    BlockBegun,
    BlockGrown(u32, Clock),
    Delayed,
    Flushed(u32, Delayed),
}

/// What a store will publish when it reaches memory.
#[derive(Clone, Copy, Debug)]
struct Delayed {
    thread: ThreadId,
    loc: LocId,
    store: u32,
    order: Order,
    clock: Clock,
}

/// Follows an execution and finds its races.
#[derive(Clone, Debug, Default)]
pub struct RaceDetector {
    threads: Vec<Knowledge>,
    /// Steps of each thread so far.
    counts: Vec<u32>,
    locations: Vec<Location>,
    objects: Vec<Block>,
    cells: Vec<Released<Clock>>,
    opened: Vec<Opening<Clock>>,
    heads: Vec<Head>,
    /// By location: has a store of one thread continued a release sequence, and who stores there atomically? Not undone.
    stores: Vec<Stores>,
    /// What each atomic block publishes: all that happened before its last step so far.
    blocks: Vec<Clock>,
    /// In the order in which they were done.
    delayed: Vec<Delayed>,
    steps: Vec<MicroStep>,
    undo: Vec<Undo>,
    marks: Vec<Before>,
    clocks: Clocks,
}

/// How much there was before a step.
#[derive(Clone, Copy, Debug)]
struct Before {
    undo: u32,
    clocks: u32,
    heads: u32,
}

/// Atomic stores to a location, in all executions so far.
#[derive(Clone, Copy, Debug, Default)]
struct Stores {
    by: Option<ThreadId>,
    by_several: bool,
    continued: bool,
}

/// The entry of an id, made if there is none yet.
fn entry<T: Default>(items: &mut Vec<T>, index: usize) -> &mut T {
    if items.len() <= index {
        items.resize_with(index + 1, T::default);
    }
    &mut items[index]
}

impl RaceDetector {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many steps it has seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Forgets all steps but the first `length`.
    pub fn truncate(&mut self, length: usize) {
        let Some(&Before {
            undo,
            clocks,
            heads,
        }) = self.marks.get(length)
        else {
            return;
        };
        self.heads.truncate(heads as usize);
        for step in &self.steps[length..] {
            self.counts[step.thread.index()] -= 1;
        }
        self.steps.truncate(length);
        self.marks.truncate(length);
        while self.undo.len() > undo as usize {
            let last = self.undo.pop().expect("the length was checked");
            self.take_back(last);
        }
        self.clocks.truncate(clocks);
    }

    fn take_back(&mut self, undo: Undo) {
        match undo {
            Undo::Knowledge(thread, old) => self.threads[thread.index()] = old,
            Undo::Access(loc, index, old) => {
                self.locations[loc.index()].history.restore(index, old);
            }
            Undo::Message(loc, old) => self.locations[loc.index()].message = old,
            Undo::Object(object, index, old) => {
                self.objects[object.index()].history.restore(index, old);
            }
            Undo::Free(object, index, old) => {
                self.objects[object.index()].frees.restore(index, old);
            }
            Undo::Cell(cell, old) => self.cells[cell.index()] = old,
            Undo::Opened => {
                self.opened.pop();
            }
            Undo::BlockBegun => {
                self.blocks.pop();
            }
            Undo::BlockGrown(block, old) => self.blocks[block as usize] = old,
            Undo::Delayed => {
                self.delayed.pop();
            }
            Undo::Flushed(position, delayed) => self.delayed.insert(position as usize, delayed),
        }
    }

    /// Does what happens before what depend on the order of writes that nobody need read? A store that continues a release
    /// sequence of its thread does not if another thread's comes between.
    #[must_use]
    pub fn depends_on_order_of_writes(&self) -> bool {
        let mut stores = self.stores.iter();
        stores.any(|stores| stores.continued && stores.by_several)
    }

    /// Takes the next step of the execution. Returns a race of this step with an earlier one: the latest such.
    pub fn push(&mut self, program: &Program, step: MicroStep) -> Option<RaceInfo> {
        let thread = step.thread;
        self.marks.push(Before {
            undo: self.undo.len() as u32,
            clocks: self.clocks.count(),
            heads: self.heads.len() as u32,
        });
        self.steps.push(step);
        *entry(&mut self.counts, thread.index()) += 1;
        entry(&mut self.threads, thread.index());
        self.clocks.ensure(thread);
        match step.effect {
            Effect::Flushed { store } => {
                self.flush(program.tables(), store);
                return None;
            }
            Effect::Abandoned => return None,
            Effect::Whole | Effect::Delayed => {}
        }
        let op = *program.op(step.state);
        if matches!(op, Op::AtomicBegin) {
            let block = self.blocks.len() as u32;
            self.blocks.push(Clock::default());
            self.undo.push(Undo::BlockBegun);
            self.change(thread, |knowledge| knowledge.block = Some(block));
        }
        let block = self.threads[thread.index()].block;
        let tables = program.tables();
        // An access that acquires is itself ordered after what it learns of.
        self.synchronise(tables, step, op);
        let first = match op {
            Op::Free { object } => self.free(thread, object),
            _ => match self.classify(step, op) {
                Some((loc, class)) => self.access(tables, thread, loc, class),
                None => None,
            },
        };
        if let Some(block) = block {
            let present = self.present(thread);
            let old = std::mem::replace(&mut self.blocks[block as usize], present);
            self.undo.push(Undo::BlockGrown(block, old));
        }
        first.map(|first| RaceInfo {
            first: self.side(program, first as usize),
            second: self.side(program, self.steps.len() - 1),
        })
    }

    fn side(&self, program: &Program, index: usize) -> RaceAccess {
        let MicroStep { thread, state, .. } = self.steps[index];
        RaceAccess {
            thread,
            state,
            at: program.at(state),
            step: index,
        }
    }

    // ---- knowledge of threads

    /// What is known after the thread's present step.
    fn present(&mut self, thread: ThreadId) -> Clock {
        let known = self.threads[thread.index()].clock;
        self.clocks
            .advanced(known, thread, self.counts[thread.index()])
    }

    fn change(&mut self, thread: ThreadId, change: impl FnOnce(&mut Knowledge)) {
        let knowledge = entry(&mut self.threads, thread.index());
        self.undo.push(Undo::Knowledge(thread, *knowledge));
        change(knowledge);
    }

    fn learn(&mut self, thread: ThreadId, clock: Clock) {
        let known = self.threads[thread.index()].clock;
        if !self.clocks.covers(known, clock) {
            let joined = self.clocks.joined(known, clock);
            self.change(thread, |knowledge| knowledge.clock = joined);
        }
    }

    /// Learns what is known after the present step of another thread.
    fn learn_present(&mut self, thread: ThreadId, of: ThreadId) {
        let time = self.counts[of.index()];
        let known = self.threads[thread.index()].clock;
        let theirs = self.threads[of.index()].clock;
        self.clocks.ensure(of);
        if self.clocks.get(known, of) < time || !self.clocks.covers(known, theirs) {
            let joined = self.clocks.joined_with(known, theirs, of, time);
            self.change(thread, |knowledge| knowledge.clock = joined);
        }
    }

    fn learn_later(&mut self, thread: ThreadId, clock: Clock) {
        let known = self.threads[thread.index()].pending;
        if !self.clocks.covers(known, clock) {
            let joined = self.clocks.joined(known, clock);
            self.change(thread, |knowledge| knowledge.pending = joined);
        }
    }

    // ---- accesses

    fn class(&self, thread: ThreadId, writes: bool, atomic: bool) -> Class {
        let in_block = self.threads[thread.index()].block.is_some();
        Class::new(writes, atomic, in_block)
    }

    /// The bytes a step accesses, and how.
    fn classify(&self, step: MicroStep, op: Op) -> Option<(LocId, Class)> {
        let (loc, writes, order) = match op {
            Op::Load { loc, order } => (loc, false, order),
            Op::Store { loc, order, .. } | Op::Rmw { loc, order, .. } => (loc, true, order),
            Op::Cas {
                loc,
                expected,
                success,
                failure,
                ..
            } => {
                let succeeded = step.value == expected;
                (loc, succeeded, if succeeded { success } else { failure })
            }
            Op::Sync { cell, action } => {
                let mode = sync_mode(action, step.value);
                return Some((cell, self.class(step.thread, mode.writes(), true)));
            }
            _ => return None,
        };
        Some((loc, self.class(step.thread, writes, order.is_atomic())))
    }

    fn slot(&self, thread: ThreadId, class: Class) -> Slot {
        Slot {
            thread,
            class,
            time: self.counts[thread.index()],
            step: self.steps.len() as u32 - 1,
        }
    }

    /// Notes a free; the latest earlier step that races with it.
    fn free(&mut self, thread: ThreadId, object: ObjectId) -> Option<u32> {
        let class = self.class(thread, true, false);
        let slot = self.slot(thread, class);
        let known = self.clocks.row(self.threads[thread.index()].clock);
        let block = entry(&mut self.objects, object.index());
        let first = block
            .history
            .racing(thread, class, known)
            .max(block.frees.racing(thread, class, known));
        let (index, old) = block.frees.record(slot);
        self.undo.push(Undo::Free(object, index, old));
        first
    }

    /// Notes an access; the latest earlier step that races with it.
    fn access(
        &mut self,
        tables: &Tables,
        thread: ThreadId,
        loc: LocId,
        class: Class,
    ) -> Option<u32> {
        let slot = self.slot(thread, class);
        let info = tables.loc_info(loc);
        let known = self.clocks.row(self.threads[thread.index()].clock);
        let mut first = None;
        if info.mixed {
            for other in tables.overlaps(loc) {
                if let Some(location) = self.locations.get(other.index()) {
                    first = first.max(location.history.racing(thread, class, known));
                }
            }
        }
        if !info.is_sync() {
            let history = &mut entry(&mut self.locations, loc.index()).history;
            first = first.max(history.racing(thread, class, known));
            let (index, old) = history.record(slot);
            self.undo.push(Undo::Access(loc, index, old));
        }
        // Objects that do not come and go are not freed.
        if info.life != NO_SLOT {
            let block = entry(&mut self.objects, info.object.index());
            first = first.max(block.frees.racing(thread, class, known));
            let (index, old) = block.history.record(slot);
            self.undo.push(Undo::Object(info.object, index, old));
        }
        first
    }
}
