//! Is there a sequentially consistent execution of these events in which every read reads from one of its good writes?
//!
//! A [`Problem`] holds the events of a trace: the events of each thread in order, what each reads (a cell, and the writes
//! it may read from) and what it writes. It is the problem VSC of "Stateless Model Checking Under a Reads-Value-From
//! Equivalence" (Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, CAV 2021), section 4, for events that may read and write
//! any number of cells at once: read-modify-writes, atomic blocks and accesses of mixed sizes are nothing special.
//!
//! - **Closure** ([`Problem::push`], section 4.2): what is before what in every execution, as vector clocks, kept up to date
//!   event by event and undone to any earlier point. A contradiction means that there is no execution.
//! - **Guidance** ([`Problem::solve`]): an execution without the last event guides the search for one with it.
//! - **VerifySC** (algorithm 1, `search`): complete, with the greedy rules; it respects the closure.
//!
//! Invariants
//! - Events are numbered as they are pushed and removed in the opposite order.
//! - `clock(e)[t]` is the number of events of thread `t` that are before `e` in every execution, as far as closure knows; `e`
//!   counts itself.
//! - The *ordinal* of a write is its place among the writes of its cell, from 1; 0 is the cell's first contents. Good writes
//!   are sets of ordinals; a write that is pushed later is good for nobody before it.

mod closure;
mod search;
#[cfg(test)]
mod tests;
mod witness;

use crate::clocks::ClockTable;
pub use crate::consistency::{CellId, EventId, INIT};
use smallvec::SmallVec;
use std::time::Duration;

const NONE: u32 = u32::MAX;

/// The place of a write among the writes of its cell; 0 is the first contents.
pub type Ordinal = u32;

/// A set of ordinals. They are near each other, mostly, and may be large.
#[derive(Clone, Debug, Default)]
pub struct Ordinals {
    /// So many words are left out at the beginning, because they are empty.
    skipped: u32,
    words: SmallVec<[u64; 2]>,
}

impl Ordinals {
    pub fn insert(&mut self, ordinal: Ordinal) {
        let word = ordinal / 64;
        self.make_room(word, word + 1);
        self.words[(word - self.skipped) as usize] |= 1 << (ordinal % 64);
    }

    /// Has all words from one up to another afterwards.
    fn make_room(&mut self, from: u32, to: u32) {
        if self.words.is_empty() {
            self.skipped = from;
        } else if from < self.skipped {
            let missing = std::iter::repeat_n(0, (self.skipped - from) as usize);
            self.words.insert_many(0, missing);
            self.skipped = from;
        }
        let length = to.saturating_sub(self.skipped) as usize;
        if self.words.len() < length {
            self.words.resize(length, 0);
        }
    }

    fn word(&self, word: u32) -> u64 {
        let place = word.checked_sub(self.skipped);
        place.map_or(0, |place| {
            self.words.get(place as usize).copied().unwrap_or(0)
        })
    }

    #[must_use]
    pub fn contains(&self, ordinal: Ordinal) -> bool {
        self.word(ordinal / 64) >> (ordinal % 64) & 1 != 0
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Its members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Ordinal> + use<'_> {
        members(self.skipped, &self.words)
    }

    pub fn intersect(&mut self, other: &Self) {
        for (word, mine) in (self.skipped..).zip(&mut self.words) {
            *mine &= other.word(word);
        }
    }

    pub fn union(&mut self, other: &Self) {
        if other.words.is_empty() {
            return;
        }
        self.make_room(other.skipped, other.skipped + other.words.len() as u32);
        let start = (other.skipped - self.skipped) as usize;
        for (mine, theirs) in self.words[start..].iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }
}

/// Sets are equal if their members are, whatever words are left out.
impl PartialEq for Ordinals {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Ordinals {}

impl FromIterator<Ordinal> for Ordinals {
    fn from_iter<I: IntoIterator<Item = Ordinal>>(ordinals: I) -> Self {
        let mut set = Self::default();
        for ordinal in ordinals {
            set.insert(ordinal);
        }
        set
    }
}

/// The members of a set whose words begin with the given one, ascending.
fn members(first: u32, words: &[u64]) -> impl Iterator<Item = Ordinal> + use<'_> {
    (first..).zip(words).flat_map(|(place, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(place * 64 + bit)
        })
    })
}

/// An event to be added as the last one of its thread.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    pub thread: usize,
    /// For a thread's first event: what it comes after in any case (the event that spawned the thread), or [`INIT`].
    pub after: EventId,
    /// Cells read, each once, with the writes that are good for it. Cells that the event itself wrote before are not read.
    pub reads: &'a [(CellId, Ordinals)],
    /// Cells written, each once, with what is written: values mean nothing here, but are kept for the caller.
    pub writes: &'a [(CellId, u64)],
    /// It comes after all other events, of whatever thread. No event may be pushed while it is there.
    pub is_end: bool,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    thread: u32,
    /// Counts the thread's events from 1.
    index: u32,
    /// Its reads are `Problem::reads[first_read..first_read + read_count]`.
    first_read: u32,
    first_write: u32,
    read_count: u16,
    write_count: u16,
    /// Newest of the edges that lead from it.
    edges: u32,
}

#[derive(Clone, Copy, Debug)]
struct Read {
    event: EventId,
    cell: CellId,
    /// The good writes: `Problem::words[first_word..first_word + words]`, as in [`Ordinals`].
    first_word: u32,
    words: u32,
    skipped: u32,
    /// How many good writes are not in the order yet.
    left: u32,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    cell: CellId,
    ordinal: Ordinal,
}

/// A write of a cell.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    pub event: EventId,
    pub value: u64,
}

/// What one thread does with a cell, in order.
#[derive(Clone, Debug)]
struct Visitor {
    thread: u32,
    writes: Vec<(EventId, Ordinal)>,
    /// Places in `Problem::reads`.
    reads: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    /// The write with ordinal `i + 1` is at `i`.
    writes: Vec<Written>,
    /// Places in `Problem::reads`.
    readers: Vec<u32>,
    /// The threads that read or write it.
    visitors: SmallVec<[Visitor; 2]>,
    /// The last write in the order.
    active: Ordinal,
    /// How many reads that are not in the order have all their good writes there: nobody else may write the cell.
    held: u32,
}

impl Cell {
    fn visitor(&mut self, thread: u32) -> &mut Visitor {
        let same = |visitor: &Visitor| visitor.thread == thread;
        let position = match self.visitors.iter().position(same) {
            Some(position) => position,
            None => {
                self.visitors.push(Visitor {
                    thread,
                    writes: Vec::new(),
                    reads: Vec::new(),
                });
                self.visitors.len() - 1
            }
        };
        &mut self.visitors[position]
    }
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: EventId,
    to: EventId,
    next: u32,
}

/// A point to return to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProblemMark {
    events: u32,
    clocks: u32,
    edges: u32,
}

impl ProblemMark {
    /// How many events there were.
    #[must_use]
    pub fn events(self) -> usize {
        self.events as usize
    }
}

/// Heuristics of section 4.2 that can be switched off to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heuristics {
    /// Keep the closure of the problem.
    pub closure: bool,
    /// Let an execution without the last event guide the search.
    pub guidance: bool,
}

impl Default for Heuristics {
    fn default() -> Self {
        Self {
            closure: true,
            guidance: true,
        }
    }
}

/// How problems were decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// The execution at hand was a witness, with the new event at its end.
    pub at_hand: u64,
    /// Closure found a contradiction.
    pub closure: u64,
    /// Following the guide gave a witness.
    pub guided: u64,
    /// Algorithm 1 found a witness.
    pub found: u64,
    /// Algorithm 1 found that there is none.
    pub refuted: u64,
    /// Traces from which nothing was left to be explored.
    pub dead_ends: u64,
    /// Time spent, witnesses at hand aside.
    pub time: Duration,
}

/// The events of a trace and what is known of their order. See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    heuristics: Heuristics,
    clocks: ClockTable,
    events: Vec<Event>,
    reads: Vec<Read>,
    writes: Vec<Write>,
    words: Vec<u64>,
    threads: Vec<Vec<EventId>>,
    cells: Vec<Cell>,
    edges: Vec<Edge>,
    queue: Vec<EventId>,
    order: witness::Order,
}

impl Problem {
    #[must_use]
    pub fn new(heuristics: Heuristics) -> Self {
        Self {
            heuristics,
            ..Self::default()
        }
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    #[must_use]
    pub fn mark(&self) -> ProblemMark {
        ProblemMark {
            events: self.events.len() as u32,
            clocks: self.clocks.mark(),
            edges: self.edges.len() as u32,
        }
    }

    /// The events of a thread.
    #[must_use]
    pub fn thread(&self, thread: usize) -> &[EventId] {
        self.threads.get(thread).map_or(&[], Vec::as_slice)
    }

    /// The writes of a cell: the one at `i` has ordinal `i + 1`.
    #[must_use]
    pub fn writes(&self, cell: CellId) -> &[Written] {
        self.cells
            .get(cell as usize)
            .map_or(&[], |cell| cell.writes.as_slice())
    }

    /// Thread and index (from 1) of an event.
    #[must_use]
    pub fn place(&self, event: EventId) -> (usize, u32) {
        let event = &self.events[event as usize];
        (event.thread as usize, event.index)
    }

    /// Must `a` come before `b` (another event) in every execution, as far as closure knows?
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

    #[inline]
    fn is_good(&self, read: &Read, ordinal: Ordinal) -> bool {
        let words = &self.words[read.first_word as usize..][..read.words as usize];
        let word = (ordinal / 64).checked_sub(read.skipped);
        word.and_then(|word| words.get(word as usize))
            .is_some_and(|word| word >> (ordinal % 64) & 1 != 0)
    }

    /// The good writes of a read, ascending.
    fn good(&self, read: &Read) -> impl Iterator<Item = Ordinal> + use<'_> {
        let words = &self.words[read.first_word as usize..][..read.words as usize];
        members(read.skipped, words)
    }

    /// Makes room for a thread and cells.
    fn ensure(&mut self, new: &NewEvent) {
        if self.threads.len() <= new.thread {
            self.threads.resize(new.thread + 1, Vec::new());
            self.order.ensure_thread(new.thread);
        }
        self.clocks.ensure(self.events.len() as EventId, new.thread);
        let read = new.reads.iter().map(|read| read.0);
        let written = new.writes.iter().map(|write| write.0);
        for cell in read.chain(written) {
            if self.cells.len() <= cell as usize {
                self.cells.resize(cell as usize + 1, Cell::default());
            }
        }
    }

    /// Adds an event, with the next number, and closes. False if there is no execution any more: then the only thing to do
    /// is [`Problem::undo_to`].
    pub fn push(&mut self, new: NewEvent) -> bool {
        self.ensure(&new);
        let id = self.events.len() as EventId;
        let previous = self.threads[new.thread].last().copied();
        self.events.push(Event {
            thread: new.thread as u32,
            index: self.threads[new.thread].len() as u32 + 1,
            first_read: self.reads.len() as u32,
            first_write: self.writes.len() as u32,
            read_count: new.reads.len() as u16,
            write_count: new.writes.len() as u16,
            edges: NONE,
        });
        self.order.ensure_event(id as usize);
        self.start_clock(id, previous.unwrap_or(new.after));
        if previous.is_none() && new.after != INIT {
            self.link(new.after, id);
        }
        if new.is_end {
            for thread in 0..self.threads.len() {
                if let Some(&last) = self.threads[thread].last() {
                    let index = self.events[last as usize].index;
                    self.clocks.set(id, thread, index);
                }
            }
        }
        self.threads[new.thread].push(id);
        for (cell, good) in new.reads {
            self.add_read(id, *cell, good);
        }
        for &(id_of_cell, value) in new.writes {
            let cell = &mut self.cells[id_of_cell as usize];
            cell.writes.push(Written { event: id, value });
            let ordinal = cell.writes.len() as Ordinal;
            cell.visitor(new.thread as u32).writes.push((id, ordinal));
            self.writes.push(Write {
                cell: id_of_cell,
                ordinal,
            });
        }
        !self.heuristics.closure || self.close_new(id)
    }

    fn add_read(&mut self, event: EventId, cell: CellId, good: &Ordinals) {
        let first_word = self.words.len() as u32;
        self.words.extend_from_slice(&good.words);
        let place = self.reads.len() as u32;
        let writes = &self.cells[cell as usize].writes;
        let left = good
            .iter()
            .filter_map(|ordinal| writes.get((ordinal as usize).checked_sub(1)?))
            .filter(|write| self.order.place(write.event).is_none())
            .count() as u32;
        self.reads.push(Read {
            event,
            cell,
            first_word,
            words: good.words.len() as u32,
            skipped: good.skipped,
            left,
        });
        let thread = self.events[event as usize].thread;
        let cell = &mut self.cells[cell as usize];
        cell.readers.push(place);
        cell.visitor(thread).reads.push(place);
        cell.held += u32::from(left == 0);
    }

    fn start_clock(&mut self, id: EventId, previous: EventId) {
        self.clocks
            .start(id, (previous != INIT).then_some(previous));
        let Event { thread, index, .. } = self.events[id as usize];
        self.clocks.set(id, thread as usize, index);
    }

    fn link(&mut self, from: EventId, to: EventId) {
        let next = self.events[from as usize].edges;
        self.events[from as usize].edges = self.edges.len() as u32;
        self.edges.push(Edge { from, to, next });
    }

    /// Takes back everything since `mark`, which must be of this problem. The events taken back must not be in the order.
    pub fn undo_to(&mut self, mark: ProblemMark) {
        self.clocks.undo_to(mark.clocks);
        while self.edges.len() > mark.edges as usize {
            if let Some(edge) = self.edges.pop() {
                self.events[edge.from as usize].edges = edge.next;
            }
        }
        while self.events.len() > mark.events as usize {
            if let Some(event) = self.events.pop() {
                self.remove(event);
            }
        }
        self.queue.clear();
    }

    fn remove(&mut self, event: Event) {
        for _ in 0..event.read_count {
            if let Some(read) = self.reads.pop() {
                let cell = &mut self.cells[read.cell as usize];
                cell.readers.pop();
                cell.visitor(event.thread).reads.pop();
                cell.held -= u32::from(read.left == 0);
                self.words.truncate(read.first_word as usize);
            }
        }
        for _ in 0..event.write_count {
            if let Some(write) = self.writes.pop() {
                let cell = &mut self.cells[write.cell as usize];
                cell.writes.pop();
                cell.visitor(event.thread).writes.pop();
            }
        }
        self.threads[event.thread as usize].pop();
    }
}
