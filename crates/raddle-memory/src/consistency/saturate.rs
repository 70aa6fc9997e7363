//! P-I: saturation (section 5.1) on vector clocks, as section 7 describes it.
//!
//! Rules, for a read `r` and different writes `w`, `w'` of one cell where `r` reads from `w'`:
//! - R1: if `w` is before `r` then `w` is before `w'`.
//! - R2: if `w'` is before `w` then `r` is before `w`.
//!
//! Deviation from section 7: the "reverse saturation" that finds orders by R2 for a new reader of an old write uses no
//! second set of clocks. What comes after the old write is found in the clocks of the other writes, which grow along each
//! thread: the first write of a thread that is after it is found by bisection.

use smallvec::SmallVec;

use super::{CellId, Event, EventId, Graph, INIT, NONE};

impl Graph {
    /// Applies the rules to an event that was just added.
    pub(super) fn saturate_new(&mut self, id: EventId) -> bool {
        for read in self.reads_of(id) {
            let (cell, source) = self.reads[read];
            if !self.before_later_writes(id, cell, source) {
                return false;
            }
        }
        for write in self.writes_of(id) {
            let cell = self.writes[write];
            if !self.after_readers(INIT, cell, id) {
                return false;
            }
        }
        self.apply_rules(id) && self.propagate()
    }

    /// R2 for a new reader: it comes before the writes that come after its source. Of each thread the first is enough.
    fn before_later_writes(&mut self, reader: EventId, cell: CellId, source: EventId) -> bool {
        for writer in 0..self.cells[cell as usize].writers.len() {
            let events = &self.cells[cell as usize].writers[writer].events;
            let Some(&last) = events.last() else {
                continue;
            };
            let first = if source == INIT {
                0
            } else {
                let Event { thread, index, .. } = self.events[source as usize];
                let is_before = |write: &EventId| {
                    *write == source || self.clocks.get(*write, thread as usize) < index
                };
                // Most new events read what was written last.
                if is_before(&last) {
                    continue;
                }
                events.partition_point(is_before)
            };
            let write = events[first];
            if write != reader && !self.add_edge(reader, write) {
                return false;
            }
        }
        true
    }

    /// Makes `write` come after all who read the cell from `of`, apart from itself.
    fn after_readers(&mut self, of: EventId, cell: CellId, write: EventId) -> bool {
        let mut next = self.first_reader(of, cell);
        while next != NONE {
            let reader = self.readers[next as usize];
            if reader.cell == cell && reader.event != write && !self.add_edge(reader.event, write) {
                return false;
            }
            next = reader.next;
        }
        true
    }

    /// R1 for what `event` reads, R2 for what it writes, given what is before it by now.
    fn apply_rules(&mut self, event: EventId) -> bool {
        for read in self.reads_of(event) {
            let (cell, source) = self.reads[read];
            for writer in 0..self.cells[cell as usize].writers.len() {
                let Some(write) = self.last_write_before(cell, writer, event) else {
                    continue;
                };
                if write != source && (source == INIT || !self.add_edge(write, source)) {
                    return false;
                }
            }
        }
        for write in self.writes_of(event) {
            let cell = self.writes[write];
            for writer in 0..self.cells[cell as usize].writers.len() {
                if let Some(earlier) = self.last_write_before(cell, writer, event)
                    && !self.after_readers(earlier, cell, event)
                {
                    return false;
                }
            }
        }
        true
    }

    /// The last write of a cell by its `writer`-th thread that is before `event`.
    #[inline]
    fn last_write_before(&self, cell: CellId, writer: usize, event: EventId) -> Option<EventId> {
        let writer = &self.cells[cell as usize].writers[writer];
        let known = self.clocks.get(event, writer.thread as usize);
        let events = &writer.events;
        // Nearly always the last or the one before it.
        let is_known =
            |write: EventId| write != event && self.events[write as usize].index <= known;
        match events.as_slice() {
            [] => None,
            [.., last] if is_known(*last) => Some(*last),
            [first, ..] if !is_known(*first) => None,
            [.., previous, _] if is_known(*previous) => Some(*previous),
            all => {
                let count = all.partition_point(|&write| is_known(write));
                Some(all[count - 1])
            }
        }
    }

    /// Orders two events. False if that makes a cycle. What follows from it is left in the queue.
    fn add_edge(&mut self, from: EventId, to: EventId) -> bool {
        if self.before(from, to) {
            return from != to;
        }
        if self.before(to, from) {
            return false;
        }
        self.link(from, to);
        self.learn(from, to)
    }

    /// Everything before `from` is before `to`. False if `to` itself is.
    #[inline]
    fn learn(&mut self, from: EventId, to: EventId) -> bool {
        let Event { thread, index, .. } = self.events[to as usize];
        if self.clocks.get(from, thread as usize) >= index {
            return false;
        }
        if self.clocks.grow(to, from) {
            self.queue.push(to);
        }
        true
    }

    /// Tells successors of events whose clocks grew, until nothing grows any more. False if there is a cycle.
    pub(super) fn propagate(&mut self) -> bool {
        while let Some(event) = self.queue.pop() {
            let Event {
                thread,
                index,
                mut edges,
                mut readers,
                ..
            } = self.events[event as usize];
            if let Some(&next) = self.threads[thread as usize].get(index as usize)
                && !self.learn(event, next)
            {
                return false;
            }
            while readers != NONE {
                let reader = self.readers[readers as usize];
                if !self.learn(event, reader.event) {
                    return false;
                }
                readers = reader.next;
            }
            while edges != NONE {
                let edge = self.edges[edges as usize];
                if !self.learn(event, edge.to) {
                    return false;
                }
                edges = edge.next;
            }
            if !self.apply_rules(event) {
                return false;
            }
        }
        true
    }

    /// Calls `f` with the events (or [`INIT`]) that a new event after `previous` could read a cell from, as far as the order
    /// known so far tells: those that are not overwritten before `previous`.
    pub fn readable(&self, cell: CellId, previous: EventId, mut f: impl FnMut(EventId)) {
        let Some(cell) = self.cells.get(cell as usize) else {
            return f(INIT);
        };
        // Most cells are written by one thread, which is then often the one that reads.
        if let [writer] = cell.writers.as_slice()
            && let Some(&last) = writer.events.last()
            && previous != INIT
            && self.events[previous as usize].thread == writer.thread
            && self.events[previous as usize].index >= self.events[last as usize].index
        {
            return f(last);
        }
        let known = |write: EventId| {
            previous != INIT && (write == previous || self.before(write, previous))
        };
        let mut overwriting: SmallVec<[EventId; 8]> = SmallVec::new();
        for writer in &cell.writers {
            let count = writer.events.partition_point(|&write| known(write));
            overwriting.extend(count.checked_sub(1).map(|last| writer.events[last]));
        }
        for writer in &cell.writers {
            for &write in writer.events.iter().rev() {
                let is_before = |&other: &EventId| other != write && self.before(write, other);
                if !overwriting.iter().any(is_before) {
                    f(write);
                }
                if overwriting.contains(&write) {
                    break;
                }
            }
        }
        if overwriting.is_empty() {
            f(INIT);
        }
    }

    /// Orders two events and saturates. False if the trace has become inconsistent, as for [`Graph::push`].
    pub fn add_order(&mut self, from: EventId, to: EventId) -> bool {
        self.add_edge(from, to) && self.propagate()
    }
}
