//! Memory models as acyclicity graphs: SC, TSO (x86) and PSO, for events whose thread and location are known.
//!
//! SC is one graph: program order, reads-from, write serialisation, from-reads. TSO and PSO are two:
//! - *coherence*: program order per location with all reads-from, write serialisation and from-reads;
//! - *global*: preserved program order and fences with *external* reads-from, write serialisation and from-reads.
//!
//! A read from the own store buffer is internal and therefore not in the global order. The paper has one graph for all
//! models and keeps the order of a write and a later read of the same location in it, which forbids the forwarding that
//! store buffers do; here the hardware is followed.
//!
//! Preserved program order is built as chains. Events that do not happen keep their place in them, which is harmless as
//! long as every chain is a preserved order without them too. So edges *into* an event that orders more than a plain
//! access would (a fence, a read-modify-write: stores before it come first) hold only if it happens; edges out of it are
//! those of a read.

use crate::lit::Lit;
use crate::lock_order::{LockOrder, Section};
use crate::order::{EventId, GraphId, GraphSet};
use crate::solver::OrderSolver;
use rustc_hash::FxHashMap;

mod flow;
mod step;
pub use flow::flow;
pub use step::Part;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum MemoryModel {
    Sc,
    Tso,
    Pso,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    /// Drains the store buffer.
    Full,
    /// Keeps stores before it before stores after it. Only PSO needs it.
    StoreStore,
}

/// A place in memory that is read and written as a whole.
pub type Location = u32;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadIndex(u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MutexIndex(usize);

#[derive(Clone, Copy)]
struct Access {
    event: EventId,
    /// None for initial values.
    thread: Option<ThreadIndex>,
}

/// Ends of the chains that the thread's next event continues.
#[derive(Default)]
struct Thread {
    /// The last event that everything later is ordered after.
    last_strong: Option<EventId>,
    /// TSO: the last store.
    last_store: Option<EventId>,
    /// PSO: the last store of each location that has one, in program order, and those before it that it comes after only if it
    /// happens.
    last_stores: Vec<(Location, EventId)>,
    barrier: Option<EventId>,
    /// The last access of each location, for coherence.
    last_access: FxHashMap<Location, EventId>,
}

#[derive(Default)]
struct Place {
    reads: Vec<Access>,
    writes: Vec<Access>,
    initial: Option<EventId>,
    /// See [`Memory::leave_out`].
    is_left_out: bool,
}

/// One source a read may have, and the literal that says that it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    pub write: EventId,
    pub read: EventId,
    pub lit: Lit,
}

/// Builds the graphs of a memory model while the caller lists the threads' events in program order.
pub struct Memory {
    model: MemoryModel,
    global: GraphId,
    /// Is `global` under SC.
    coherence: GraphId,
    threads: Vec<Thread>,
    /// In the order of their first use.
    places: Vec<(Location, Place)>,
    place_of: FxHashMap<Location, usize>,
    mutexes: Vec<LockOrder>,
}

impl Memory {
    pub fn new(solver: &mut OrderSolver, model: MemoryModel) -> Self {
        let global = solver.new_graph();
        let coherence = if model == MemoryModel::Sc {
            global
        } else {
            solver.new_graph()
        };
        Self {
            model,
            global,
            coherence,
            threads: Vec::new(),
            places: Vec::new(),
            place_of: FxHashMap::default(),
            mutexes: Vec::new(),
        }
    }

    /// The graph whose order is the order in which memory changes.
    #[must_use]
    pub fn global(&self) -> GraphId {
        self.global
    }

    #[must_use]
    pub fn coherence(&self) -> GraphId {
        self.coherence
    }

    pub fn thread(&mut self) -> ThreadIndex {
        self.threads.push(Thread::default());
        ThreadIndex(u32::try_from(self.threads.len() - 1).expect("few threads"))
    }

    fn both(&self) -> GraphSet {
        self.global | self.coherence
    }

    fn chains(&mut self, thread: ThreadIndex) -> &mut Thread {
        &mut self.threads[thread.0 as usize]
    }

    fn place(&mut self, location: Location) -> &mut Place {
        let next = self.places.len();
        let at = *self.place_of.entry(location).or_insert(next);
        if at == next {
            self.places.push((location, Place::default()));
        }
        &mut self.places[at].1
    }

    /// The write that a location's first readers read from.
    pub fn initial(&mut self, solver: &mut OrderSolver, location: Location) -> EventId {
        let event = solver.new_event(Lit::TRUE);
        let place = self.place(location);
        assert!(
            place.initial.is_none(),
            "location {location} has an initial value already"
        );
        place.initial = Some(event);
        event
    }

    /// The caller says what is read at this location, as with [`LockOrder::carry`]: its events keep their places in their
    /// threads, but reads get no sources and writes no order.
    pub fn leave_out(&mut self, location: Location) {
        self.place(location).is_left_out = true;
    }

    pub fn read(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        location: Location,
        guard: Lit,
    ) -> EventId {
        let event = solver.new_event(guard);
        self.chain_strong(solver, thread, event);
        self.chain_location(solver, thread, location, event);
        self.place(location).reads.push(Access {
            event,
            thread: Some(thread),
        });
        event
    }

    pub fn write(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        location: Location,
        guard: Lit,
    ) -> EventId {
        let event = solver.new_event(guard);
        if self.model == MemoryModel::Sc {
            self.chain_strong(solver, thread, event);
        } else {
            self.chain_store(solver, thread, location, event);
            self.chain_location(solver, thread, location, event);
        }
        self.place(location).writes.push(Access {
            event,
            thread: Some(thread),
        });
        event
    }

    /// A write that waits for the stores before it and that everything later waits for: a `seq_cst` store.
    pub fn write_through(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        location: Location,
        guard: Lit,
    ) -> EventId {
        let event = solver.new_event(guard);
        self.drain(solver, thread, event, guard);
        // As if it were a read: stores that follow are ordered after it, and those before it are in its chain if it happens.
        self.chain_strong(solver, thread, event);
        self.chain_location(solver, thread, location, event);
        self.place(location).writes.push(Access {
            event,
            thread: Some(thread),
        });
        event
    }

    /// An atomic read and write; `stores` must imply `guard`, and may be stronger (compare-and-exchange). Drains the
    /// store buffer if `guard` holds.
    pub fn read_modify_write(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        location: Location,
        guard: Lit,
        stores: Lit,
    ) -> (EventId, EventId) {
        let (read, write) = (solver.new_event(guard), solver.new_event(stores));
        solver.atomic(self.global, &[read, write]);
        if self.model != MemoryModel::Sc {
            solver.atomic(self.coherence, &[read, write]);
        }
        self.drain(solver, thread, read, guard);
        self.chain_strong(solver, thread, read);
        self.chain_location(solver, thread, location, read);
        let place = self.place(location);
        place.reads.push(Access {
            event: read,
            thread: Some(thread),
        });
        place.writes.push(Access {
            event: write,
            thread: Some(thread),
        });
        (read, write)
    }

    pub fn fence(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        kind: Fence,
        guard: Lit,
    ) -> EventId {
        let event = solver.new_event(guard);
        match (kind, self.model) {
            (Fence::Full, _) => {
                self.drain(solver, thread, event, guard);
                self.chain_strong(solver, thread, event);
            }
            (Fence::StoreStore, MemoryModel::Pso) => {
                self.drain(solver, thread, event, guard);
                if let Some(barrier) = self.chains(thread).barrier.replace(event) {
                    solver.order(self.global, barrier, event);
                }
            }
            (Fence::StoreStore, _) => {}
        }
        event
    }

    /// A mutex, free at first. See [`crate::lock_order`].
    pub fn mutex(&mut self) -> MutexIndex {
        self.mutexes.push(LockOrder::new());
        MutexIndex(self.mutexes.len() - 1)
    }

    /// The thread gets the mutex if `guard` holds. Drains the store buffer.
    pub fn lock(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        mutex: MutexIndex,
        guard: Lit,
    ) -> Section {
        let event = self.fence(solver, thread, Fence::Full, guard);
        self.mutexes[mutex.0].enter(thread.0, event, guard)
    }

    /// The thread gives the mutex back if `guard` holds, which must imply the guard of the lock. Drains the store buffer.
    pub fn unlock(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        mutex: MutexIndex,
        section: Section,
        guard: Lit,
    ) {
        let event = self.fence(solver, thread, Fence::Full, guard);
        self.mutexes[mutex.0].leave(section, event, guard);
    }

    /// The order of the sections of a mutex. It is made by [`connect`](Self::connect).
    #[must_use]
    pub fn lock_order(&self, mutex: MutexIndex) -> &LockOrder {
        &self.mutexes[mutex.0]
    }

    /// Everything `before` did so far comes before everything `after` does from now on, if `guard` holds: spawn, join,
    /// a hand-over. Drains the store buffer of `before`.
    pub fn synchronise(
        &mut self,
        solver: &mut OrderSolver,
        before: ThreadIndex,
        after: ThreadIndex,
        guard: Lit,
    ) {
        let leave = self.fence(solver, before, Fence::Full, guard);
        let enter = self.fence(solver, after, Fence::Full, guard);
        solver.order_if(self.global, leave, enter, guard);
    }

    /// `event` comes after every strong event of the thread so far, and before everything that follows.
    fn chain_strong(&mut self, solver: &mut OrderSolver, thread: ThreadIndex, event: EventId) {
        let global = self.global;
        if let Some(last) = self.chains(thread).last_strong.replace(event) {
            solver.order(global, last, event);
        }
    }

    /// The stores in the buffer reach memory before `event` happens, if it does.
    fn drain(&mut self, solver: &mut OrderSolver, thread: ThreadIndex, event: EventId, guard: Lit) {
        let (global, model) = (self.global, self.model);
        let chains = self.chains(thread);
        match model {
            // The strong chain is all of program order.
            MemoryModel::Sc => {}
            MemoryModel::Tso => {
                if let Some(store) = chains.last_store {
                    solver.order_if(global, store, event, guard);
                }
            }
            MemoryModel::Pso => {
                for &(_, store) in &chains.last_stores {
                    solver.order_if(global, store, event, guard);
                }
            }
        }
    }

    fn chain_store(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        location: Location,
        event: EventId,
    ) {
        let (global, model) = (self.global, self.model);
        let chains = self.chains(thread);
        let mut before: Vec<EventId> = Vec::new();
        if model == MemoryModel::Tso {
            before.extend(chains.last_store.replace(event));
        } else {
            chains.last_stores.retain(|&(of, earlier)| {
                let is_here = of == location;
                if is_here {
                    before.push(earlier);
                }
                !is_here
            });
            chains.last_stores.push((location, event));
        }
        before.extend(chains.last_strong);
        before.extend(chains.barrier);
        for earlier in before {
            solver.order(global, earlier, event);
        }
    }

    /// Program order per location. Under SC the strong chain has it.
    fn chain_location(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        location: Location,
        event: EventId,
    ) {
        if self.model == MemoryModel::Sc {
            return;
        }
        let coherence = self.coherence;
        if let Some(last) = self.chains(thread).last_access.insert(location, event) {
            solver.order(coherence, last, event);
        }
    }

    /// All events are there: puts the sections of mutexes in order, serialises the writes and gives every read its possible sources, those that `may_read`
    /// admits. The sources come grouped by read.
    pub fn connect(
        &mut self,
        solver: &mut OrderSolver,
        may_read: impl FnMut(EventId, EventId) -> bool,
    ) -> Vec<Source> {
        self.connect_knowing(solver, may_read, |_, _| false)
    }

    /// As [`connect`](Self::connect), where more is known of the writes: `comes_first` says whether the first of two
    /// writes of one location comes before the second in every execution in which both happen.
    pub fn connect_knowing(
        &mut self,
        solver: &mut OrderSolver,
        mut may_read: impl FnMut(EventId, EventId) -> bool,
        mut comes_first: impl FnMut(EventId, EventId) -> bool,
    ) -> Vec<Source> {
        let both = self.both();
        for order in &mut self.mutexes {
            order.connect(solver, self.global);
        }
        let mut sources = Vec::new();
        for (_, place) in self.places.iter().filter(|(_, at)| !at.is_left_out) {
            for (at, second) in place.writes.iter().enumerate() {
                if let Some(initial) = place.initial {
                    solver.serialised(both, initial, second.event);
                }
                for first in &place.writes[..at] {
                    if first.thread == second.thread || comes_first(first.event, second.event) {
                        // Listed in program order, which coherence keeps under every model.
                        solver.serialised(both, first.event, second.event);
                    } else if comes_first(second.event, first.event) {
                        solver.serialised(both, second.event, first.event);
                    } else {
                        solver.serialise(both, first.event, second.event);
                    }
                }
            }
            for read in &place.reads {
                let start = sources.len();
                let initial = place.initial.map(|event| Access {
                    event,
                    thread: None,
                });
                for write in place.writes.iter().chain(&initial) {
                    if may_read(write.event, read.event) {
                        let graphs = if write.thread == read.thread {
                            self.coherence.into()
                        } else {
                            both
                        };
                        let lit = solver.reads_from(graphs, both, write.event, read.event);
                        solver.prefer(lit, 1.0);
                        sources.push(Source {
                            write: write.event,
                            read: read.event,
                            lit,
                        });
                    }
                }
                let lits: Vec<Lit> = sources[start..].iter().map(|source| source.lit).collect();
                solver.reads_some(read.event, &lits);
            }
        }
        sources
    }
}
