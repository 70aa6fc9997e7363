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

use super::{CellId, Event, EventId, INIT, NONE, Ordinal, Problem, Read, Visitor};
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

    /// The rules for whoever reads what an event writes. Nothing is new for reads that are before the event.
    fn close_readers_of_writes(&mut self, event: EventId) -> bool {
        for write in self.writes_of(event) {
            let cell = self.writes[write].cell as usize;
            for visitor in 0..self.cells[cell].visitors.len() {
                let mut position = self.cells[cell].visitors[visitor].reads.len();
                while position > 0 {
                    position -= 1;
                    let read = self.cells[cell].visitors[visitor].reads[position] as usize;
                    let reader = self.reads[read].event;
                    if reader == event {
                        continue;
                    }
                    if self.before(reader, event) {
                        break;
                    }
                    if !self.close_read(read) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// How many of a thread's writes of a cell are before an event, the event itself left out.
    #[inline]
    fn count_before(&self, visitor: &Visitor, event: EventId) -> usize {
        let known = self.clocks.get(event, visitor.thread as usize);
        let is_known =
            |write: EventId| write != event && self.events[write as usize].index <= known;
        let writes = &visitor.writes;
        // Nearly always all, or all but the last.
        match writes.as_slice() {
            [] => 0,
            [.., last] if is_known(last.0) => writes.len(),
            [first, ..] if !is_known(first.0) => 0,
            [.., previous, _] if is_known(previous.0) => writes.len() - 1,
            _ => writes.partition_point(|&(write, _)| is_known(write)),
        }
    }

    /// The last writes of a cell, of each thread, that are before an event.
    fn last_before(&self, cell: CellId, event: EventId) -> Found {
        let visitors = &self.cells[cell as usize].visitors;
        let lasts = visitors.iter().filter_map(|visitor| {
            let count = self.count_before(visitor, event);
            Some(visitor.writes[count.checked_sub(1)?].0)
        });
        lasts.collect()
    }

    fn is_hidden(&self, write: EventId, lasts: &[EventId]) -> bool {
        lasts
            .iter()
            .any(|&last| last != write && self.before(write, last))
    }

    /// Applies the rules to one read. Orders that are new are left in the queue.
    fn close_read(&mut self, place: usize) -> bool {
        let read = self.reads[place];
        let lasts = self.last_before(read.cell, read.event);
        let mut candidates = Found::new();
        let mut with_first = false;
        for ordinal in self.good(&read) {
            let Some(write) = (ordinal as usize).checked_sub(1) else {
                with_first = lasts.is_empty();
                continue;
            };
            let event = self.cells[read.cell as usize].writes[write].event;
            if !self.before(read.event, event) && !self.is_hidden(event, &lasts) {
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
        (lasts.is_empty() || self.close_bad_before(&read, &candidates))
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

    /// Rule 3. Of a thread's writes the last one that is not good says it all.
    fn close_bad_before(&mut self, read: &Read, candidates: &[EventId]) -> bool {
        let Some(greatest) = self.extreme(candidates, |a, b| self.before(b, a)) else {
            return true;
        };
        for visitor in 0..self.cells[read.cell as usize].visitors.len() {
            let visitor = &self.cells[read.cell as usize].visitors[visitor];
            let count = self.count_before(visitor, read.event);
            let earlier = visitor.writes[..count].iter().rev();
            let bad = earlier
                .copied()
                .find(|&(_, ordinal)| !self.is_good(read, ordinal));
            if let Some((bad, _)) = bad
                && !self.add_edge(bad, greatest)
            {
                return false;
            }
        }
        true
    }

    /// Rule 4. Of a thread's writes the first one that is not good and after all candidates says it all.
    fn close_bad_after(&mut self, read: &Read, candidates: &[EventId]) -> bool {
        for visitor in 0..self.cells[read.cell as usize].visitors.len() {
            let visitor = &self.cells[read.cell as usize].visitors[visitor];
            let follows = |write: EventId| {
                write != read.event && candidates.iter().all(|&good| self.before(good, write))
            };
            let Some(&(last, _)) = visitor.writes.last() else {
                continue;
            };
            if last != read.event && !follows(last) {
                continue;
            }
            let start = visitor
                .writes
                .partition_point(|&(write, _)| write != read.event && !follows(write));
            let bad = visitor.writes[start..]
                .iter()
                .copied()
                .find(|&(write, ordinal)| {
                    write != read.event && !self.is_good(read, ordinal) && follows(write)
                });
            if let Some((bad, _)) = bad
                && !self.before(read.event, bad)
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
        if self.clocks.get(from, thread as usize) >= index {
            return false;
        }
        if self.clocks.grow(to, from) {
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
        let Some(info) = self.cells.get(cell as usize) else {
            return f(0);
        };
        let mut lasts = Found::new();
        if previous != INIT {
            lasts = self.last_before(cell, previous);
            let (thread, _) = self.place(previous);
            for &(write, _) in info
                .visitors
                .iter()
                .filter(|visitor| visitor.thread as usize == thread)
                .flat_map(|visitor| visitor.writes.last())
            {
                if write == previous {
                    lasts.retain(|last| self.events[*last as usize].thread as usize != thread);
                    lasts.push(write);
                }
            }
        }
        if lasts.is_empty() {
            f(0);
        }
        for visitor in &info.visitors {
            let hidden = lasts.iter().map(|&last| self.count_before(visitor, last));
            let first = hidden.max().unwrap_or(0);
            for &(_, ordinal) in &visitor.writes[first..] {
                f(ordinal);
            }
        }
    }
}
