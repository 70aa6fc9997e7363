//! The current trace: a sequence of events, and what is causally before what.
//!
//! Invariants
//! - Events are known by their position. Sources and parents of an event are other positions; an event that an alternative
//!   begins with stands before what it reads from, everything else after.
//! - `clock(e)[t]` is the number of events of thread `t` that are causally before `e` (by program order, thread starts and
//!   reads-from; `e` counts itself). Causality never depends on saturation.
//! - The graph holds exactly the events of the trace.

use super::cells::{CellIds, Cells};
use super::codes::Codes;
use super::event::{
    Branching, Cell, Event, Fingerprint, NO_EVENT, Pos, Write, is_mixed, is_wide, print_with,
};
use super::store::{Store, StoreId};
use raddle_memory::clocks::ClockTable;
use raddle_memory::consistency::{CellId, Graph, GraphMark, NewEvent};
use raddle_program::{LocId, Op, Program, Tables, ThreadId};
use smallvec::SmallVec;

/// An event in the order in which events were added.
#[derive(Clone, Copy, Debug)]
struct Added {
    pos: Pos,
    /// The graph before it.
    mark: GraphMark,
    /// The cell under whose reads it is listed, or none.
    listed: CellId,
}

/// Not listed under any cell.
const UNLISTED: CellId = CellId::MAX;

/// Unmarked events of one thread that read a cell, in order.
#[derive(Clone, Debug)]
struct ThreadReads {
    thread: ThreadId,
    events: Vec<Pos>,
}

#[derive(Default)]
pub(super) struct Trace {
    pub(super) store: Store,
    /// The events by position.
    ids: Vec<StoreId>,
    /// Thread and index of each event.
    names: Vec<(u32, u32)>,
    pub(super) graph: Graph,
    pub(super) cells: Cells,
    pub(super) codes: Codes,
    added: Vec<Added>,
    clocks: ClockTable,
    /// For each cell, the events whose alternatives are other sources of that cell.
    reads: Vec<SmallVec<[ThreadReads; 2]>>,
    /// For each life cell and each cell of a mutex, the events that intrude there.
    intrusions: Vec<SmallVec<[Pos; 2]>>,
    buffer_reads: Vec<(CellId, Pos)>,
    buffer_writes: Vec<CellId>,
    /// The locations that threads wait for in loops: see `awaits`. Every write of one reads it, too, so that its writes are
    /// in one order.
    chained: Vec<LocId>,
    /// The same by location.
    is_chained: Vec<bool>,
    /// For each state, how many events of the trace left it.
    left: Vec<u32>,
}

impl Trace {
    /// An empty trace.
    pub(super) fn new(chained: Vec<LocId>) -> Self {
        let mut is_chained = Vec::new();
        for loc in &chained {
            if is_chained.len() <= loc.index() {
                is_chained.resize(loc.index() + 1, false);
            }
            is_chained[loc.index()] = true;
        }
        Self {
            chained,
            is_chained,
            ..Self::default()
        }
    }

    /// An empty one for the same program; what this one knows of that goes there.
    pub(super) fn renewed(&mut self, chained: Vec<LocId>) -> Self {
        Self {
            cells: std::mem::take(&mut self.cells),
            codes: std::mem::take(&mut self.codes),
            ..Self::new(chained)
        }
    }

    #[inline]
    pub(super) fn is_chained(&self, loc: LocId) -> bool {
        self.is_chained.get(loc.index()).copied().unwrap_or(false)
    }

    pub(super) fn chained(&self) -> &[LocId] {
        &self.chained
    }

    /// Says what the alternatives of an event are if its operation is on a chained location.
    pub(super) fn chain(&self, op: &Op, event: &mut Event) {
        if self.chained.is_empty() || event.is_block {
            return;
        }
        let (loc, branching) = match *op {
            // A store never waits. It is an exchange whose result nobody looks at.
            Op::Store { loc, .. } => (loc, Branching::Reads),
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                (loc, Branching::Chained)
            }
            Op::Sync { cell, action } if action.is_try() => (cell, Branching::Chained),
            _ => return,
        };
        if self.is_chained(loc) {
            event.primary = Some(Cell::Loc(loc));
            event.branching = branching;
        }
    }

    pub(super) fn len(&self) -> Pos {
        self.ids.len() as Pos
    }

    #[inline]
    pub(super) fn event(&self, pos: Pos) -> &Event {
        self.store.event(self.ids[pos as usize])
    }

    pub(super) fn event_mut(&mut self, pos: Pos) -> &mut Event {
        self.store.event_mut(self.ids[pos as usize])
    }

    /// Where the event at a position is stored, for somebody who wants to keep it.
    pub(super) fn share(&mut self, pos: Pos) -> StoreId {
        let id = self.ids[pos as usize];
        self.store.keep(id);
        id
    }

    /// Gives the next position to an event, which is still to be added.
    #[inline]
    pub(super) fn place(&mut self, event: Event) {
        let id = self.store.insert(event);
        self.place_stored(id);
    }

    /// The same for an event in the store that nobody else uses.
    pub(super) fn place_stored(&mut self, id: StoreId) {
        let event = self.store.event(id);
        self.names.push((event.thread.0, event.index));
        let state = event.state.index();
        if self.left.len() <= state {
            self.left.resize(state + 1, 0);
        }
        self.left[state] += 1;
        self.ids.push(id);
    }

    /// Does an event come to a state that its thread was in before, or was in when it did the event? No other completes an iteration.
    #[inline]
    pub(super) fn comes_back(&self, event: &Event) -> bool {
        let was_left = self
            .left
            .get(event.after.index())
            .is_some_and(|&count| count > 0);
        event.after == event.state || was_left
    }

    /// Forgets the events from a position on, which have been removed.
    pub(super) fn truncate(&mut self, length: Pos) {
        for id in self.ids.drain(length as usize..) {
            self.left[self.store.event(id).state.index()] -= 1;
            self.store.release(id);
        }
        self.names.truncate(length as usize);
    }

    /// How many events have been added.
    pub(super) fn added(&self) -> usize {
        self.added.len()
    }

    pub(super) fn clock(&self, pos: Pos) -> &[u32] {
        self.clocks.row(pos)
    }

    pub(super) fn width(&self) -> usize {
        self.clocks.width()
    }

    /// Is `a` causally before `b`, or the same?
    #[inline]
    pub(super) fn before(&self, a: Pos, b: Pos) -> bool {
        let (thread, index) = self.names[a as usize];
        self.clocks.get(b, thread as usize) >= index
    }

    /// The thread of an event, and its index there.
    #[inline]
    pub(super) fn name(&self, pos: Pos) -> (u32, u32) {
        self.names[pos as usize]
    }

    /// The last event of a thread.
    pub(super) fn last_of(&self, thread: ThreadId) -> Option<Pos> {
        self.graph.thread(thread.index()).last().copied()
    }

    pub(super) fn print(&self, pos: Pos) -> Option<Fingerprint> {
        (pos != NO_EVENT).then(|| self.event(pos).fingerprint)
    }

    /// The fingerprint of an event whose sources are in the trace, or `extra`.
    pub(super) fn fingerprint(&self, event: &Event, extra: Option<&Event>) -> Fingerprint {
        let print = |pos: Pos| {
            if pos == super::event::EXTRA {
                extra.map(|extra| extra.fingerprint)
            } else {
                self.print(pos)
            }
        };
        let start = print_with(
            print(event.parent),
            self.codes.step(event.thread, event.choices),
        );
        event.reads.iter().fold(start, |sum, read| {
            sum.wrapping_add(print_with(print(read.source), self.codes.cell(read.cell)))
        })
    }

    /// What a read adds to the fingerprint of its event: fingerprints are sums, so that the order of reads does not matter.
    #[inline]
    pub(super) fn read_print(&self, cell: Cell, source: Pos) -> Fingerprint {
        print_with(self.print(source), self.codes.cell(cell))
    }

    /// Adds the event at `pos`, whose sources have been added. False if the trace is inconsistent with it.
    pub(super) fn add(&mut self, program: &Program, pos: Pos) -> bool {
        let Event { thread, parent, .. } = *self.event(pos);
        self.clocks.ensure(pos, thread.index());
        let mark = self.graph.mark();
        self.set_clock(pos, parent);
        let listed = self.index(program, pos);
        self.added.push(Added { pos, mark, listed });
        self.add_to_graph(program.tables(), pos)
    }

    fn add_to_graph(&mut self, tables: &Tables, pos: Pos) -> bool {
        let event = self.store.event(self.ids[pos as usize]);
        self.buffer_reads.clear();
        self.buffer_writes.clear();
        for read in &event.reads {
            self.cells.each(tables, read.cell, |cell| {
                if !self.buffer_reads.iter().any(|other| other.0 == cell) {
                    self.buffer_reads.push((cell, read.source));
                }
            });
        }
        for write in &event.writes {
            self.cells.each(tables, write.cell, |cell| {
                if !self.buffer_writes.contains(&cell) {
                    self.buffer_writes.push(cell);
                }
            });
        }
        self.graph.push(NewEvent {
            id: pos,
            thread: event.thread.index(),
            after: event.parent,
            reads: &self.buffer_reads,
            writes: &self.buffer_writes,
        })
    }

    fn set_clock(&mut self, pos: Pos, parent: Pos) {
        self.clocks
            .start(pos, (parent != NO_EVENT).then_some(parent));
        let event = self.store.event(self.ids[pos as usize]);
        for read in &event.reads {
            if read.source != NO_EVENT {
                self.clocks.join(pos, read.source);
            }
        }
        self.clocks.set(pos, event.thread.index(), event.index);
    }

    /// Where the node of an event is to be listed, if it is one of those that are.
    #[inline]
    fn listed(&mut self, tables: &Tables, pos: Pos) -> Option<CellId> {
        let event = self.event(pos);
        if event.marked || event.is_block || event.branching != Branching::Reads {
            return None;
        }
        let cell = event.primary?;
        (!is_mixed(tables, cell)).then(|| self.cells.one(tables, cell))
    }

    /// Lists an event where it is looked for; the cell under whose reads it is.
    fn index(&mut self, program: &Program, pos: Pos) -> CellId {
        // A location may be cut that was whole when the event was made.
        if program.tables().has_mixed_sizes() {
            self.event_mut(pos).wide = is_wide(program.tables(), self.event(pos));
        }
        if self.event(pos).intrudes {
            for loc in self.intruded(pos) {
                if self.intrusions.len() <= loc.index() {
                    self.intrusions.resize(loc.index() + 1, SmallVec::new());
                }
                self.intrusions[loc.index()].push(pos);
            }
        }
        let Some(cell) = self.listed(program.tables(), pos) else {
            return UNLISTED;
        };
        if self.reads.len() <= cell as usize {
            self.reads.resize(cell as usize + 1, SmallVec::new());
        }
        let thread = self.event(pos).thread;
        let reads = &mut self.reads[cell as usize];
        match reads.iter_mut().find(|reads| reads.thread == thread) {
            Some(reads) => reads.events.push(pos),
            None => reads.push(ThreadReads {
                thread,
                events: vec![pos],
            }),
        }
        cell
    }

    /// What an event changes though others may be using it: life cells, cells of mutexes. For events that intrude; blocks may do so
    /// in the middle, and count as intruders wherever they write.
    fn intruded(&self, pos: Pos) -> SmallVec<[LocId; 2]> {
        let locs = self
            .event(pos)
            .writes
            .iter()
            .filter_map(|write| match write.cell {
                Cell::Loc(loc) => Some(loc),
                _ => None,
            });
        locs.collect()
    }

    /// May an object die before or beside an event, given its life cell?
    pub(super) fn is_freed(&self, life: LocId, event: Option<Pos>) -> bool {
        self.intruders(life)
            .iter()
            .any(|&free| event.is_none_or(|event| event != free && !self.before(event, free)))
    }

    /// The events that change a cell though others may be using it: see [`Event::intrudes`].
    pub(super) fn intruders(&self, cell: LocId) -> &[Pos] {
        self.intrusions.get(cell.index()).map_or(&[], |found| found)
    }

    /// May an intruder come before an event of another thread, or after it, whatever it did to the same cell?
    pub(super) fn is_beside(&self, intruder: Pos, pos: Pos) -> bool {
        let before = |first: Pos, second: Pos| second != NO_EVENT && self.before(first, second);
        let (other, event) = (self.event(intruder), self.event(pos));
        other.thread != event.thread
            && !before(intruder, event.parent)
            && !before(pos, other.parent)
    }

    /// May another thread intrude upon the cell of a mutex when an event releases it? Nobody else changes the cell of a mutex while it
    /// is held.
    pub(super) fn is_intruded(&self, mutex: LocId, pos: Pos) -> bool {
        let mut intruders = self.intruders(mutex).iter();
        self.event(pos).faulted || intruders.any(|&intruder| self.is_beside(intruder, pos))
    }

    /// Calls `f` with the unmarked reads of a cell before a position, in each thread from the last one on, until it returns false.
    pub(super) fn for_reads(&self, cell: CellId, before: Pos, mut f: impl FnMut(Pos) -> bool) {
        let threads = self.reads.get(cell as usize).into_iter().flatten();
        for reads in threads {
            // A thread's events are listed in its order.
            let end = reads.events.partition_point(|&pos| pos < before);
            for &pos in reads.events[..end].iter().rev() {
                if !f(pos) {
                    break;
                }
            }
        }
    }

    /// Takes back all events after the first `count` that were added.
    pub(super) fn remove_to(&mut self, count: usize) {
        let Some(&Added { mark, .. }) = self.added.get(count) else {
            return;
        };
        self.graph.undo_to(mark);
        while self.added.len() > count {
            let Some(Added { pos, listed, .. }) = self.added.pop() else {
                return;
            };
            if self.event(pos).intrudes {
                for loc in self.intruded(pos) {
                    self.intrusions[loc.index()].pop();
                }
            }
            if listed != UNLISTED {
                let thread = self.event(pos).thread;
                if let Some(reads) = self.reads[listed as usize]
                    .iter_mut()
                    .find(|reads| reads.thread == thread)
                {
                    reads.events.pop();
                }
            }
        }
    }

    /// Builds everything anew that depends on which bytes are cells of their own.
    pub(super) fn rebuild(&mut self, program: &Program) {
        let order = self.graph.order().to_vec();
        self.graph = Graph::new();
        self.reads.clear();
        self.intrusions.clear();
        for position in 0..self.added.len() {
            let pos = self.added[position].pos;
            self.added[position].mark = self.graph.mark();
            self.added[position].listed = self.index(program, pos);
            let consistent = self.add_to_graph(program.tables(), pos);
            debug_assert!(consistent, "finer cells do not make a trace inconsistent");
        }
        for pos in order {
            self.graph.emit(pos);
        }
    }

    /// The sources that the bytes of a location have now in the witness; `None` for bytes that `own` writes.
    pub(super) fn current_sources(
        &mut self,
        tables: &Tables,
        loc: LocId,
        own: &[Write],
    ) -> SmallVec<[Option<Pos>; 8]> {
        let mut sources = SmallVec::new();
        let info = tables.loc_info(loc);
        if !info.mixed {
            let is_own = own.iter().any(|write| write.cell == Cell::Loc(loc));
            let cell = self.cells.one(tables, Cell::Loc(loc));
            sources.push((!is_own).then(|| self.graph.last_writer(cell)));
            return sources;
        }
        for byte in 0..info.size {
            let cell = self.cells.one(tables, Cell::Byte(loc, byte));
            let is_own = covering(tables, own, info.arena + u32::from(byte)).is_some();
            sources.push((!is_own).then(|| self.graph.last_writer(cell)));
        }
        sources
    }

    /// All cells that an event writes.
    pub(super) fn written_cells(&mut self, tables: &Tables, pos: Pos) -> CellIds {
        let mut ids = CellIds::new();
        for write in &self.store.event(self.ids[pos as usize]).writes {
            self.cells.each(tables, write.cell, |cell| {
                if !ids.contains(&cell) {
                    ids.push(cell);
                }
            });
        }
        ids
    }
}

/// The last of some writes that covers a byte of the arena, and the byte's value.
pub(super) fn covering(tables: &Tables, writes: &[Write], arena: u32) -> Option<u8> {
    writes.iter().rev().find_map(|write| match write.cell {
        Cell::Loc(loc) => {
            let info = tables.loc_info(loc);
            let inside = info.arena <= arena && arena < info.arena + u32::from(info.size);
            inside.then(|| (write.value >> (8 * (arena - info.arena))) as u8)
        }
        _ => None,
    })
}

/// Notes what a read of a location got from whom. Bytes with a common source are noted as one.
pub(super) fn note_read(
    reads: &mut SmallVec<[super::event::Read; 2]>,
    loc: LocId,
    sources: &[Option<Pos>],
) {
    let mut note = |cell, source| {
        let read = super::event::Read { cell, source };
        if !reads.contains(&read) {
            reads.push(read);
        }
    };
    match sources {
        [Some(first), rest @ ..] if rest.iter().all(|source| *source == Some(*first)) => {
            note(Cell::Loc(loc), *first);
        }
        _ => {
            for (byte, source) in sources.iter().enumerate() {
                if let Some(source) = source {
                    note(Cell::Byte(loc, byte as u8), *source);
                }
            }
        }
    }
}

/// Notes a write; of several to one cell the last counts.
pub(super) fn note_write(writes: &mut SmallVec<[Write; 2]>, write: Write) {
    writes.retain(|other| other.cell != write.cell);
    writes.push(write);
}
