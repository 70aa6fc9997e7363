//! Store buffers: what lies between a thread's stores and memory under TSO and PSO.
//!
//! A *delayed* store has been done by its thread and has not reached memory. Its own thread reads it (store forwarding),
//! byte by byte where sizes differ; the others read memory. Reaching memory is a step of its own.
//!
//! - TSO: the oldest delayed store of a thread goes first.
//! - PSO: a delayed store may overtake older ones, except those that share bytes with it, and those before a store-store
//!   barrier that lies between them. With accesses of one size that is one queue for each location.
//!
//! Stores that overlap in part stay in order, as if there were a queue for each byte: coherence demands that of every
//! model. A load that overlaps a delayed store in part gets some bytes from the buffer and the others from memory. Some
//! processors make such a load wait instead; that is one of the behaviours here (the store reaches memory, then the load
//! is done), so nothing that they do is missed.

use raddle_program::op::mask;
use raddle_program::{LocId, LocInfo, StateId, ThreadId, Value};

/// What a thread's stores and loads may overtake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryModel {
    /// Sequential consistency: a store reaches memory when it is done.
    #[default]
    Sc,
    /// x86-TSO: stores are delayed, in order.
    Tso,
    /// Stores are delayed, those to different locations in any order.
    Pso,
    /// The model of C, C++ and Rust: RC11 with the release sequences of the language. Executions are graphs; a read may get an
    /// older value than the newest.
    C11,
}

impl MemoryModel {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Tso => "tso",
            Self::Pso => "pso",
            Self::C11 => "c11",
        }
    }

    /// Do stores wait in buffers?
    #[must_use]
    pub fn delays_stores(self) -> bool {
        matches!(self, Self::Tso | Self::Pso)
    }
}

/// A store that its thread has done and that has not reached memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DelayedStore {
    pub loc: LocId,
    pub value: Value,
    /// The local state whose operation it is.
    pub state: StateId,
    /// The micro-step that it was.
    pub step: u32,
    /// A store-store barrier lies between it and the one before.
    after_barrier: bool,
    arena: u32,
    size: u8,
}

impl DelayedStore {
    pub(super) fn new(loc: LocId, info: &LocInfo, value: Value, state: StateId, step: u32) -> Self {
        Self {
            loc,
            value,
            state,
            step,
            after_barrier: false,
            arena: info.arena,
            size: info.size,
        }
    }

    pub(super) fn arena(&self) -> u32 {
        self.arena
    }

    pub(super) fn size(&self) -> u8 {
        self.size
    }

    /// What matters of it besides location and value.
    pub(super) fn flags(&self) -> u64 {
        self.after_barrier.into()
    }

    fn overlaps(&self, arena: u32, size: u8) -> bool {
        self.arena < arena + u32::from(size) && arena < self.arena + u32::from(self.size)
    }

    /// The bytes from `arena` on with those of this store laid over `below`.
    fn over(&self, below: Value, arena: u32) -> Value {
        let (mask, value) = (mask(self.size), self.value & mask(self.size));
        if self.arena >= arena {
            let shift = 8 * (self.arena - arena);
            (below & !(mask << shift)) | value << shift
        } else {
            let shift = 8 * (arena - self.arena);
            (below & !(mask >> shift)) | value >> shift
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Buffer {
    /// Oldest first.
    stores: Vec<DelayedStore>,
    /// A store-store barrier was met after the last of them.
    barrier: bool,
}

/// The buffers of all threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    threads: Vec<Buffer>,
}

/// How to take back a change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Undo {
    /// The thread's newest store was added; so was the mark of the barrier before it given up.
    Delayed {
        thread: ThreadId,
        barrier: bool,
    },
    /// A store left the buffer from this position.
    Reached {
        thread: ThreadId,
        position: u32,
        store: DelayedStore,
    },
    Barrier {
        thread: ThreadId,
        old: bool,
    },
}

impl Buffers {
    /// The delayed stores of a thread, oldest first.
    pub(super) fn of(&self, thread: ThreadId) -> &[DelayedStore] {
        self.threads
            .get(thread.index())
            .map_or(&[], |buffer| &buffer.stores)
    }

    /// Does a store-store barrier lie after the thread's newest store?
    pub(super) fn has_barrier(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread.index())
            .is_some_and(|buffer| buffer.barrier && !buffer.stores.is_empty())
    }

    fn buffer(&mut self, thread: ThreadId) -> &mut Buffer {
        if self.threads.len() <= thread.index() {
            self.threads
                .resize_with(thread.index() + 1, Buffer::default);
        }
        &mut self.threads[thread.index()]
    }

    pub(super) fn delay(&mut self, thread: ThreadId, mut store: DelayedStore) -> Undo {
        let buffer = self.buffer(thread);
        let barrier = std::mem::take(&mut buffer.barrier);
        store.after_barrier = barrier && !buffer.stores.is_empty();
        buffer.stores.push(store);
        Undo::Delayed { thread, barrier }
    }

    /// Later stores of the thread stay behind those that are delayed now.
    pub(super) fn barrier(&mut self, thread: ThreadId) -> Undo {
        let old = std::mem::replace(&mut self.buffer(thread).barrier, true);
        Undo::Barrier { thread, old }
    }

    /// Can the store at this position reach memory next?
    pub(super) fn may_reach_memory(
        &self,
        model: MemoryModel,
        thread: ThreadId,
        position: usize,
    ) -> bool {
        let stores = self.of(thread);
        let Some(store) = stores.get(position) else {
            return false;
        };
        if model != MemoryModel::Pso {
            return position == 0;
        }
        let older = &stores[..position];
        // What stands first has nothing before its barrier any more.
        let held_back = stores[..=position]
            .iter()
            .skip(1)
            .any(|store| store.after_barrier);
        !held_back
            && !older
                .iter()
                .any(|other| other.overlaps(store.arena, store.size))
    }

    /// Takes a store that may reach memory out of its buffer.
    pub(super) fn take(&mut self, thread: ThreadId, position: usize) -> (DelayedStore, Undo) {
        let store = self.buffer(thread).stores.remove(position);
        let undo = Undo::Reached {
            thread,
            position: position as u32,
            store,
        };
        (store, undo)
    }

    /// What a load of `thread` gets where memory holds `value`.
    #[inline]
    pub(super) fn forward(&self, thread: ThreadId, arena: u32, size: u8, value: Value) -> Value {
        let mut value = value;
        for store in self.of(thread) {
            if store.overlaps(arena, size) {
                value = store.over(value, arena);
            }
        }
        value & mask(size)
    }

    pub(super) fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Delayed { thread, barrier } => {
                let buffer = self.buffer(thread);
                buffer.stores.pop();
                buffer.barrier = barrier;
            }
            Undo::Reached {
                thread,
                position,
                store,
            } => self.buffer(thread).stores.insert(position as usize, store),
            Undo::Barrier { thread, old } => self.buffer(thread).barrier = old,
        }
    }
}
