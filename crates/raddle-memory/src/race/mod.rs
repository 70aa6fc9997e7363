//! Data races: two accesses to the same bytes, one of them a write, one of them plain, unordered by happens-before.
//!
//! Happens-before is built from program order and
//! - spawn → the thread's first step, its last step → join;
//! - unlock → lock (also within a condition variable's wait), unlock of a reader → lock of a writer but not of a reader;
//!   post → wait of a semaphore; arrivals → departures of the same generation of a barrier; signal, broadcast → wake-up; end
//!   of an initialiser → calls that find it run. An operation that fails (`EBUSY`, …) orders nothing, nor do initialisation
//!   and destruction;
//! - a release write → an acquire read of it or of a read-modify-write in its release sequence, as in C++20: only
//!   read-modify-writes (of any thread) continue a release sequence. A release fence makes relaxed writes after it release
//!   what came before the fence, an acquire fence makes relaxed reads before it acquire. Sequentially consistent fences are
//!   both. Where accesses of several sizes meet, a read acquires from the last write of each of its bytes;
//! - an atomic block → a read in another block of what it wrote. Blocks exclude each other, but the mere order of two blocks
//!   orders nothing: if neither reads from the other it could have been the other way round, with everything before them as
//!   it is. Accesses in blocks do not race with each other.
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
#[cfg(test)]
mod tests;

use crate::access::sync_mode;
use crate::machine::{Effect, MicroStep};
use clock::{Clock, Clocks};
use history::{Cell, Class, History, Message, Opened, Slot};
use raddle_program::tables::NO_SLOT;
use raddle_program::{
    LocId, LocInfo, ObjectId, Op, Order, Program, SrcId, StateId, SyncAction, Tables, ThreadId,
};
use smallvec::SmallVec;

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
    Cell(LocId, Cell),
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
    cells: Vec<Cell>,
    opened: Vec<Opened>,
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
        let Some(&Before { undo, clocks }) = self.marks.get(length) else {
            return;
        };
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

    /// Takes the next step of the execution. Returns a race of this step with an earlier one: the latest such.
    pub fn push(&mut self, program: &Program, step: MicroStep) -> Option<RaceInfo> {
        let thread = step.thread;
        self.marks.push(Before {
            undo: self.undo.len() as u32,
            clocks: self.clocks.count(),
        });
        self.steps.push(step);
        *entry(&mut self.counts, thread.index()) += 1;
        entry(&mut self.threads, thread.index());
        self.clocks.ensure(thread);
        if let Effect::Flushed { store } = step.effect {
            self.flush(store);
            return None;
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

    // ---- synchronisation

    fn synchronise(&mut self, tables: &Tables, step: MicroStep, op: Op) {
        let thread = step.thread;
        match op {
            Op::Load { loc, order } => self.read(tables, thread, loc, order),
            Op::Store { loc, order, .. } => {
                let clock = self.published(thread, order);
                if step.effect == Effect::Delayed {
                    self.delay(thread, loc, clock);
                } else {
                    self.write(thread, loc, clock);
                }
            }
            Op::Rmw { loc, order, .. } => self.update(tables, thread, loc, order),
            Op::Cas {
                loc,
                expected,
                success,
                failure,
                ..
            } => {
                if step.value == expected {
                    self.update(tables, thread, loc, success);
                } else {
                    self.read(tables, thread, loc, failure);
                }
            }
            Op::Fence { order } => self.fence(thread, order),
            Op::Sync { cell, action } => self.sync(thread, cell, action, step.value),
            Op::Spawn { child, .. } => {
                let clock = self.present(thread);
                entry(&mut self.counts, child.index());
                self.clocks.ensure(child);
                self.change(child, |knowledge| knowledge.clock = clock);
            }
            // A join that is misuse finds no such thread, or one that it does not wait for.
            Op::Join { thread: target } if self.counts.len() > target.index() => {
                self.learn_present(thread, target);
            }
            Op::AtomicEnd => self.change(thread, |knowledge| knowledge.block = None),
            _ => {}
        }
    }

    /// What a write with this order publishes.
    fn published(&mut self, thread: ThreadId, order: Order) -> Clock {
        match order {
            Order::Plain => Clock::default(),
            _ if order.releases() => self.present(thread),
            _ => self.threads[thread.index()].fence,
        }
    }

    fn write(&mut self, thread: ThreadId, loc: LocId, clock: Clock) {
        let new = Message {
            stamp: self.steps.len() as u32,
            clock,
            block: self.threads[thread.index()].block,
        };
        let location = entry(&mut self.locations, loc.index());
        let old = std::mem::replace(&mut location.message, new);
        self.undo.push(Undo::Message(loc, old));
    }

    fn delay(&mut self, thread: ThreadId, loc: LocId, clock: Clock) {
        let store = self.steps.len() as u32 - 1;
        self.delayed.push(Delayed {
            thread,
            loc,
            store,
            clock,
        });
        self.undo.push(Undo::Delayed);
    }

    fn flush(&mut self, store: u32) {
        let is_it = |delayed: &Delayed| delayed.store == store;
        let Some(position) = self.delayed.iter().position(is_it) else {
            return;
        };
        let delayed = self.delayed.remove(position);
        self.write(delayed.thread, delayed.loc, delayed.clock);
        self.undo.push(Undo::Flushed(position as u32, delayed));
    }

    /// Does the thread read this byte from a store of its own that is delayed?
    fn is_forwarded(&self, tables: &Tables, thread: ThreadId, of: &LocInfo, byte: u64) -> bool {
        self.delayed.iter().any(|delayed| {
            let written = tables.loc_info(delayed.loc);
            delayed.thread == thread
                && written.object == of.object
                && (written.offset..written.offset + u64::from(written.size)).contains(&byte)
        })
    }

    fn read(&mut self, tables: &Tables, thread: ThreadId, loc: LocId, order: Order) {
        if self.threads[thread.index()].block.is_some() {
            let mut blocks: SmallVec<[u32; 8]> = SmallVec::new();
            self.for_messages(tables, thread, loc, |message| blocks.extend(message.block));
            for block in blocks {
                self.learn(thread, self.blocks[block as usize]);
            }
        }
        if !order.is_atomic() {
            return;
        }
        let clock = self.message(tables, thread, loc);
        if order.acquires() {
            self.learn(thread, clock);
        } else {
            self.learn_later(thread, clock);
        }
    }

    /// The write part continues every release sequence that the read part reads from.
    fn update(&mut self, tables: &Tables, thread: ThreadId, loc: LocId, order: Order) {
        let continued = self.message(tables, thread, loc);
        self.read(tables, thread, loc, order);
        let published = self.published(thread, order);
        let clock = self.clocks.joined(published, continued);
        self.write(thread, loc, clock);
    }

    /// What the last writes of a location's bytes publish.
    fn message(&mut self, tables: &Tables, thread: ThreadId, loc: LocId) -> Clock {
        if !tables.loc_info(loc).mixed && self.delayed.is_empty() {
            let location = self.locations.get(loc.index());
            return location.map_or(Clock::default(), |location| location.message.clock);
        }
        let mut messages: SmallVec<[Clock; 8]> = SmallVec::new();
        self.for_messages(tables, thread, loc, |message| messages.push(message.clock));
        let joined = |all, clock| self.clocks.joined(all, clock);
        messages.into_iter().fold(Clock::default(), joined)
    }

    /// Calls `f` with the last write of each of a location's bytes that `thread` reads from memory.
    fn for_messages(
        &self,
        tables: &Tables,
        thread: ThreadId,
        loc: LocId,
        mut f: impl FnMut(&Message),
    ) {
        let at = |loc: LocId| self.locations.get(loc.index()).map(|found| &found.message);
        let info = tables.loc_info(loc);
        let forwarded =
            |byte| !self.delayed.is_empty() && self.is_forwarded(tables, thread, info, byte);
        if !info.mixed {
            if let Some(message) = at(loc)
                && !forwarded(info.offset)
            {
                f(message);
            }
            return;
        }
        for byte in info.offset..info.offset + u64::from(info.size) {
            if forwarded(byte) {
                continue;
            }
            let covers = |other: &LocId| {
                let other = tables.loc_info(*other);
                (other.offset..other.offset + u64::from(other.size)).contains(&byte)
            };
            let last = std::iter::once(loc)
                .chain(tables.overlaps(loc).iter().copied())
                .filter(covers)
                .filter_map(at)
                .max_by_key(|message| message.stamp);
            if let Some(message) = last {
                f(message);
            }
        }
    }

    fn fence(&mut self, thread: ThreadId, order: Order) {
        if order.acquires() {
            self.learn(thread, self.threads[thread.index()].pending);
        }
        if order.releases() {
            let clock = self.present(thread);
            self.change(thread, |knowledge| knowledge.fence = clock);
        }
    }

    fn sync(&mut self, thread: ThreadId, cell: LocId, action: SyncAction, value: u64) {
        use SyncAction as A;
        let failed = value != 0;
        match action {
            A::Lock | A::TryLock | A::SemWait | A::SemTryWait | A::CondTimeout | A::CondPoll
                if failed => {}
            A::Lock
            | A::TryLock
            | A::SemWait
            | A::SemTryWait
            | A::CondAwait
            | A::CondTimeout
            | A::CondPoll => {
                let released = self.cell(cell).released;
                self.learn(thread, released);
            }
            A::Unlock if failed => {}
            A::Unlock | A::SemPost | A::Signal | A::Broadcast | A::OnceEnd => {
                self.release(thread, cell);
            }
            A::CondRelease { mutex } => self.release(thread, mutex),
            A::OnceBegin if failed => {
                let released = self.cell(cell).released;
                self.learn(thread, released);
            }
            A::ReadLock | A::TryReadLock if !failed => {
                let released = self.cell(cell).released;
                self.learn(thread, released);
            }
            A::WriteLock | A::TryWriteLock if !failed => {
                let Cell {
                    released, readers, ..
                } = *self.cell(cell);
                self.learn(thread, released);
                self.learn(thread, readers);
                self.change_cell(cell, |cell| cell.writer = Some(thread));
            }
            A::RwUnlock if self.cell(cell).writer == Some(thread) => {
                self.release(thread, cell);
                self.change_cell(cell, |cell| cell.writer = None);
            }
            A::RwUnlock => {
                let present = self.present(thread);
                let readers = self.cell(cell).readers;
                let readers = self.clocks.joined(readers, present);
                self.change_cell(cell, |cell| cell.readers = readers);
            }
            A::BarrierArrive => {
                self.release(thread, cell);
                if value & 1 == 1 {
                    self.open(thread, cell, (value >> 1) as u32);
                }
            }
            A::BarrierAwait { generation } => {
                let clock = self.arrivals(cell, generation);
                self.learn(thread, clock);
            }
            _ => {}
        }
    }

    fn cell(&mut self, cell: LocId) -> &mut Cell {
        entry(&mut self.cells, cell.index())
    }

    fn change_cell(&mut self, cell: LocId, change: impl FnOnce(&mut Cell)) {
        let state = entry(&mut self.cells, cell.index());
        self.undo.push(Undo::Cell(cell, *state));
        change(state);
    }

    /// Publishes what is known after the present step.
    fn release(&mut self, thread: ThreadId, cell: LocId) {
        let present = self.present(thread);
        let released = self.cell(cell).released;
        let released = self.clocks.joined(released, present);
        self.change_cell(cell, |cell| cell.released = released);
    }

    /// The last arrival at a barrier opens it, and learns of all others.
    fn open(&mut self, thread: ThreadId, cell: LocId, generation: u32) {
        let Cell {
            released, opened, ..
        } = *self.cell(cell);
        let new = self.opened.len() as u32;
        self.opened.push(Opened {
            generation,
            clock: released,
            before: opened,
        });
        self.undo.push(Undo::Opened);
        self.change_cell(cell, |cell| {
            cell.released = Clock::default();
            cell.opened = Some(new);
        });
        self.learn(thread, released);
    }

    /// What the arrivals of a generation published.
    fn arrivals(&mut self, cell: LocId, generation: u32) -> Clock {
        let mut next = self.cell(cell).opened;
        while let Some(index) = next {
            let opened = self.opened[index as usize];
            if opened.generation == generation {
                return opened.clock;
            }
            next = opened.before;
        }
        Clock::default()
    }
}
