//! Closure (section 4.2): orders that every execution respects.
//!
//! For a read of a cell let *candidates* be its good writes that are not hidden from it: not after it, and not before
//! another write of the cell that is before the read. Then, in every execution,
//! 1. there is a candidate;
//! 2. if one candidate is before all others, it is before the read;
//! 3. if one candidate is after all others, every write that is not good and is before the read is before that candidate;
//! 4. a write that is not good and is after all candidates is after the read.
//!
//! The first contents of a cell are a write before everything.

use super::{CellId, Event, EventId, Grown, INIT, NONE, Ordinal, Problem, Read};
use smallvec::SmallVec;

type Found = SmallVec<[EventId; 16]>;

impl Problem {
    /// Closes over a new event, which nothing comes after yet.
    pub(super) fn close_new(&mut self, event: EventId) -> bool {
        for read in self.reads_of(event) {
            if !self.close_read(read) {
                return false;
            }
        }
        // It hides nothing from anybody, since nothing is after it; but it may be after all candidates of others.
        self.close_readers_of_writes(event) && self.propagate()
    }

    /// The rules for whoever reads what an event writes.
    fn close_readers_of_writes(&mut self, event: EventId) -> bool {
        for write in self.writes_of(event) {
            let cell = self.writes[write].cell as usize;
            for reader in 0..self.cells[cell].readers.len() {
                let read = self.cells[cell].readers[reader] as usize;
                if self.reads[read].event != event && !self.close_read(read) {
                    return false;
                }
            }
        }
        true
    }

    /// The last writes of a cell, of each thread, that are before an event (or are `event` itself, if `inclusive`).
    fn last_before(&self, cell: CellId, event: EventId, inclusive: bool) -> Found {
        let mut lasts = Found::new();
        if event == INIT {
            return lasts;
        }
        for write in &self.cells[cell as usize].writes {
            let write = write.event;
            let known = if write == event {
                inclusive
            } else {
                self.before(write, event)
            };
            if !known {
                continue;
            }
            let thread = self.events[write as usize].thread;
            let same = |last: &&mut EventId| self.events[**last as usize].thread == thread;
            match lasts.iter_mut().find(same) {
                // Writes of a thread are pushed in order.
                Some(last) => *last = write,
                None => lasts.push(write),
            }
        }
        lasts
    }

    fn is_hidden(&self, write: EventId, lasts: &[EventId]) -> bool {
        lasts
            .iter()
            .any(|&last| last != write && self.before(write, last))
    }

    /// Applies the rules to one read. Orders that are new are left in the queue.
    fn close_read(&mut self, place: usize) -> bool {
        let read = self.reads[place];
        let lasts = self.last_before(read.cell, read.event, false);
        let mut candidates = Found::new();
        let with_first = self.is_good(&read, 0) && lasts.is_empty();
        for (ordinal, write) in (1..).zip(&self.cells[read.cell as usize].writes) {
            let event = write.event;
            if self.is_good(&read, ordinal)
                && event != read.event
                && !self.before(read.event, event)
                && !self.is_hidden(event, &lasts)
            {
                candidates.push(event);
            }
        }
        if candidates.is_empty() && !with_first {
            return false;
        }
        if !with_first
            && let Some(least) = self.extreme(&candidates, |a, b| self.before(a, b))
            && !self.add_edge(least, read.event)
        {
            return false;
        }
        self.close_bad_before(&read, &lasts, &candidates)
            && self.close_bad_after(&read, &candidates)
    }

    /// The one of some events that precedes all others.
    fn extreme(
        &self,
        events: &[EventId],
        precedes: impl Fn(EventId, EventId) -> bool,
    ) -> Option<EventId> {
        let (&first, rest) = events.split_first()?;
        let best = rest.iter().fold(
            first,
            |best, &other| {
                if precedes(other, best) { other } else { best }
            },
        );
        events
            .iter()
            .all(|&other| other == best || precedes(best, other))
            .then_some(best)
    }

    /// Rule 3. Where the first contents are a candidate nothing is before the read.
    fn close_bad_before(&mut self, read: &Read, lasts: &[EventId], candidates: &[EventId]) -> bool {
        if lasts.is_empty() {
            return true;
        }
        let Some(greatest) = self.extreme(candidates, |a, b| self.before(b, a)) else {
            return true;
        };
        for position in 0..self.cells[read.cell as usize].writes.len() {
            let bad = self.cells[read.cell as usize].writes[position].event;
            if bad != read.event
                && !self.is_good(read, position as Ordinal + 1)
                && self.before(bad, read.event)
                && !self.add_edge(bad, greatest)
            {
                return false;
            }
        }
        true
    }

    /// Rule 4.
    fn close_bad_after(&mut self, read: &Read, candidates: &[EventId]) -> bool {
        for position in 0..self.cells[read.cell as usize].writes.len() {
            let bad = self.cells[read.cell as usize].writes[position].event;
            if bad != read.event
                && !self.is_good(read, position as Ordinal + 1)
                && !self.before(read.event, bad)
                && candidates.iter().all(|&good| self.before(good, bad))
                && !self.add_edge(read.event, bad)
            {
                return false;
            }
        }
        true
    }

    /// Orders two events. False if that makes a cycle.
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
    fn learn(&mut self, from: EventId, to: EventId) -> bool {
        let Event { thread, index, .. } = self.events[to as usize];
        let (from, to_start) = (from as usize * self.width, to as usize * self.width);
        if self.clocks[from + thread as usize] >= index {
            return false;
        }
        let mut grew = false;
        for thread in 0..self.width {
            let theirs = self.clocks[from + thread];
            let mine = self.clocks[to_start + thread];
            if theirs > mine {
                let slot = (to_start + thread) as u32;
                self.trail.push(Grown { slot, old: mine });
                self.clocks[to_start + thread] = theirs;
                grew = true;
            }
        }
        if grew {
            self.queue.push(to);
        }
        true
    }

    /// Tells successors of events whose clocks grew, until nothing grows any more. False if there is a cycle.
    fn propagate(&mut self) -> bool {
        while let Some(event) = self.queue.pop() {
            let Event {
                thread,
                index,
                mut edges,
                ..
            } = self.events[event as usize];
            if let Some(&next) = self.threads[thread as usize].get(index as usize)
                && !self.learn(event, next)
            {
                return false;
            }
            while edges != NONE {
                let edge = self.edges[edges as usize];
                if !self.learn(event, edge.to) {
                    return false;
                }
                edges = edge.next;
            }
            for read in self.reads_of(event) {
                if !self.close_read(read) {
                    return false;
                }
            }
            if !self.close_readers_of_writes(event) {
                return false;
            }
        }
        true
    }

    /// Calls `f` with the ordinals of the writes that a new event after `previous` could read a cell from, as far as closure
    /// knows: those that are not overwritten before it. 0 for the first contents.
    pub fn visible(&self, cell: CellId, previous: EventId, mut f: impl FnMut(Ordinal)) {
        if self.cells.len() <= cell as usize {
            return f(0);
        }
        let lasts = self.last_before(cell, previous, true);
        if lasts.is_empty() {
            f(0);
        }
        for (ordinal, write) in (1..).zip(&self.cells[cell as usize].writes) {
            if !self.is_hidden(write.event, &lasts) {
                f(ordinal);
            }
        }
    }
}
