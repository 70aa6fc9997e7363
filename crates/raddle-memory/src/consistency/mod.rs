//! Can these reads-from edges come from a sequentially consistent execution?
//!
//! A [`Graph`] holds the events of a trace: the events of each thread in order, what each reads (a cell, and the event
//! whose write it reads) and what it writes. It answers the question in the three phases of "Optimal Stateless Model
//! Checking for Reads-From Equivalence under Sequential Consistency" (Abdulla, Atig, Jonsson, Lång, Ngo, Sagonas, OOPSLA
//! 2019), section 5:
//!
//! - **P-I** ([`Graph::push`]): the saturated-happens-before order as vector clocks, kept up to date event by event and
//!   undone to any earlier point. A cycle means that there is no such execution.
//! - **P-II** ([`Graph::linearise`], [`Graph::order_writes`]): one attempt to build a witness that follows a guide.
//! - **P-III** ([`Graph::decide`]): a search over configurations, complete.
//!
//! An event may read and write any number of cells at once: read-modify-writes, atomic blocks and accesses of mixed sizes
//! are nothing special. Cells are whatever the caller says they are; each starts with a write of its own ([`INIT`]).
//!
//! Invariants
//! - `clock(e)[t]` is the number of events of thread `t` that are before `e` in every witness that saturation knows of; `e`
//!   counts itself. Clocks grow along a thread.
//! - After a successful push the clocks are closed under rules R1 and R2 of section 5.1 and under transitivity.
//! - Events are removed in the order opposite to that in which they were pushed; everything else follows from that.

mod decide;
mod saturate;
#[cfg(test)]
mod tests;
mod witness;

use crate::clocks::ClockTable;
use smallvec::SmallVec;

/// An event: any small number, chosen by the caller.
pub type EventId = u32;
/// Something that is read and written as a whole.
pub type CellId = u32;

/// The source of a read that gets a cell's first contents; also "none".
pub const INIT: EventId = EventId::MAX;

const NONE: u32 = u32::MAX;

/// An event to be added as the last one of its thread.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    pub id: EventId,
    pub thread: usize,
    /// For a thread's first event: what it comes after in any case (the event that spawned the thread), or [`INIT`].
    pub after: EventId,
    /// Cells read, each with the event that wrote what is read. Cells that the event itself wrote before are not read.
    pub reads: &'a [(CellId, EventId)],
    /// Cells written, each once.
    pub writes: &'a [CellId],
}

#[derive(Clone, Copy, Debug)]
struct Event {
    thread: u32,
    /// Counts the thread's events from 1.
    index: u32,
    /// Its reads are `Graph::reads[first_read..first_read + read_count]`.
    first_read: u32,
    first_write: u32,
    read_count: u16,
    write_count: u16,
    /// Newest of the edges that lead from it.
    edges: u32,
    /// Newest of the reads that read from it.
    readers: u32,
}

/// An order that saturation found, or a thread's start.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: EventId,
    to: EventId,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Reader {
    /// The event read from, or [`INIT`].
    of: EventId,
    cell: CellId,
    event: EventId,
    next: u32,
}

/// The events of one thread that write a cell, in order.
#[derive(Clone, Debug)]
struct Writer {
    thread: u32,
    events: Vec<EventId>,
}

#[derive(Clone, Debug)]
struct Cell {
    writers: SmallVec<[Writer; 2]>,
    /// Newest of the reads of the first contents.
    readers: u32,
}

/// A point to return to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphMark {
    pushed: u32,
    clocks: u32,
    edges: u32,
}

/// How often each phase had the last word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// P-I found a cycle.
    pub saturation: u64,
    /// P-II: following the guide gave a witness.
    pub guided: u64,
    /// P-II: ordering all writes as the guide does gave a witness (algorithm 2).
    pub ordered: u64,
    /// P-III found a witness.
    pub decided_consistent: u64,
    /// P-III found that there is none.
    pub decided_inconsistent: u64,
}

/// The events of a trace and what is known of their order. See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    clocks: ClockTable,
    events: Vec<Event>,
    pushed: Vec<EventId>,
    reads: Vec<(CellId, EventId)>,
    writes: Vec<CellId>,
    threads: Vec<Vec<EventId>>,
    cells: Vec<Cell>,
    edges: Vec<Edge>,
    readers: Vec<Reader>,
    queue: Vec<EventId>,
    /// The witness so far: see `witness`.
    order: witness::Order,
    delayed: Vec<EventId>,
}

impl Graph {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pushed.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pushed.is_empty()
    }

    #[must_use]
    pub fn mark(&self) -> GraphMark {
        GraphMark {
            pushed: self.pushed.len() as u32,
            clocks: self.clocks.mark(),
            edges: self.edges.len() as u32,
        }
    }

    /// The events of a thread.
    #[must_use]
    pub fn thread(&self, thread: usize) -> &[EventId] {
        self.threads.get(thread).map_or(&[], Vec::as_slice)
    }

    /// How many threads may have events.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The events that write a cell, thread by thread, in order.
    pub fn writers(&self, cell: CellId) -> impl Iterator<Item = (usize, &[EventId])> {
        self.cells
            .get(cell as usize)
            .into_iter()
            .flat_map(|cell| &cell.writers)
            .map(|writer| (writer.thread as usize, writer.events.as_slice()))
    }

    /// The events that read what `event` (or nobody: [`INIT`]) wrote to a cell, newest first.
    pub fn readers_of(&self, event: EventId, cell: CellId) -> impl Iterator<Item = EventId> {
        let mut next = self.first_reader(event, cell);
        std::iter::from_fn(move || {
            while next != NONE {
                let reader = self.readers[next as usize];
                next = reader.next;
                if reader.cell == cell {
                    return Some(reader.event);
                }
            }
            None
        })
    }

    fn first_reader(&self, event: EventId, cell: CellId) -> u32 {
        if event == INIT {
            self.cells
                .get(cell as usize)
                .map_or(NONE, |cell| cell.readers)
        } else {
            self.events[event as usize].readers
        }
    }

    /// Must `a` come before `b` (another event) in every witness, as far as saturation knows?
    #[inline]
    #[must_use]
    pub fn before(&self, a: EventId, b: EventId) -> bool {
        let a = &self.events[a as usize];
        self.clocks.get(b, a.thread as usize) >= a.index
    }

    #[inline]
    fn reads_of(&self, event: EventId) -> std::ops::Range<usize> {
        let event = &self.events[event as usize];
        event.first_read as usize..event.first_read as usize + event.read_count as usize
    }

    #[inline]
    fn writes_of(&self, event: EventId) -> std::ops::Range<usize> {
        let event = &self.events[event as usize];
        event.first_write as usize..event.first_write as usize + event.write_count as usize
    }

    /// Makes room for an event, a thread and cells.
    fn ensure(&mut self, new: &NewEvent) {
        if self.threads.len() <= new.thread {
            self.threads.resize(new.thread + 1, Vec::new());
            self.order.ensure_thread(new.thread);
        }
        self.clocks.ensure(new.id, new.thread);
        let id = new.id as usize;
        if self.events.len() <= id {
            let empty = Event {
                thread: 0,
                index: 0,
                first_read: 0,
                first_write: 0,
                read_count: 0,
                write_count: 0,
                edges: NONE,
                readers: NONE,
            };
            self.events.resize(id + 1, empty);
            self.order.ensure_event(id);
        }
        let cells = new.reads.iter().map(|read| read.0);
        for cell in cells.chain(new.writes.iter().copied()) {
            if self.cells.len() <= cell as usize {
                let empty = Cell {
                    writers: SmallVec::new(),
                    readers: NONE,
                };
                self.cells.resize(cell as usize + 1, empty);
                self.order.ensure_cell(cell);
            }
        }
    }

    /// Adds an event and saturates. False if the trace has become inconsistent: then the only thing to do is
    /// [`Graph::undo_to`].
    pub fn push(&mut self, new: NewEvent) -> bool {
        self.ensure(&new);
        let id = new.id;
        let previous = self.threads[new.thread].last().copied();
        self.events[id as usize] = Event {
            thread: new.thread as u32,
            index: self.threads[new.thread].len() as u32 + 1,
            first_read: self.reads.len() as u32,
            first_write: self.writes.len() as u32,
            read_count: new.reads.len() as u16,
            write_count: new.writes.len() as u16,
            edges: NONE,
            readers: NONE,
        };
        self.pushed.push(id);
        self.reads.extend_from_slice(new.reads);
        self.writes.extend_from_slice(new.writes);
        self.start_clock(id, previous.unwrap_or(new.after));
        if previous.is_none() && new.after != INIT {
            self.link(new.after, id);
        }
        self.threads[new.thread].push(id);
        for &(cell, source) in new.reads {
            self.add_reader(cell, source, id);
        }
        for &cell in new.writes {
            self.add_writer(cell, new.thread as u32, id);
        }
        self.saturate_new(id)
    }

    /// The clock of a new event: nothing comes after it yet, so nothing has to be told.
    fn start_clock(&mut self, id: EventId, previous: EventId) {
        self.clocks
            .start(id, (previous != INIT).then_some(previous));
        for read in self.reads_of(id) {
            let source = self.reads[read].1;
            if source != INIT {
                self.clocks.join(id, source);
            }
        }
        let Event { thread, index, .. } = self.events[id as usize];
        self.clocks.set(id, thread as usize, index);
    }

    fn link(&mut self, from: EventId, to: EventId) {
        let next = self.events[from as usize].edges;
        self.events[from as usize].edges = self.edges.len() as u32;
        self.edges.push(Edge { from, to, next });
    }

    fn add_reader(&mut self, cell: CellId, of: EventId, event: EventId) {
        let head = if of == INIT {
            &mut self.cells[cell as usize].readers
        } else {
            &mut self.events[of as usize].readers
        };
        let next = std::mem::replace(head, self.readers.len() as u32);
        self.readers.push(Reader {
            of,
            cell,
            event,
            next,
        });
    }

    fn add_writer(&mut self, cell: CellId, thread: u32, id: EventId) {
        let writers = &mut self.cells[cell as usize].writers;
        match writers.iter_mut().find(|writer| writer.thread == thread) {
            Some(writer) => writer.events.push(id),
            None => writers.push(Writer {
                thread,
                events: vec![id],
            }),
        }
    }

    /// Takes back everything since `mark`, which must be of this graph.
    pub fn undo_to(&mut self, mark: GraphMark) {
        self.clocks.undo_to(mark.clocks);
        while self.edges.len() > mark.edges as usize {
            if let Some(edge) = self.edges.pop() {
                self.events[edge.from as usize].edges = edge.next;
            }
        }
        while self.pushed.len() > mark.pushed as usize {
            if let Some(id) = self.pushed.pop() {
                self.remove(id);
            }
        }
        self.queue.clear();
    }

    fn remove(&mut self, id: EventId) {
        let event = self.events[id as usize];
        for _ in 0..event.read_count {
            if let Some(reader) = self.readers.pop() {
                if reader.of == INIT {
                    self.cells[reader.cell as usize].readers = reader.next;
                } else {
                    self.events[reader.of as usize].readers = reader.next;
                }
            }
        }
        for write in self.writes_of(id) {
            let cell = self.writes[write] as usize;
            if let Some(writer) = self.cells[cell]
                .writers
                .iter_mut()
                .find(|writer| writer.thread == event.thread)
            {
                writer.events.pop();
            }
        }
        self.reads.truncate(event.first_read as usize);
        self.writes.truncate(event.first_write as usize);
        self.threads[event.thread as usize].pop();
    }
}
