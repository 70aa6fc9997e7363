//! VerifySC (algorithm 1), depth-first.
//!
//! A witness state says how many events of each thread have been done, and which thread wrote each cell last. What can
//! still come depends on that alone, so a state is looked at once. Time is polynomial in the number of events for fixed
//! numbers of threads and cells.

use super::{EventId, Ordinal, Problem};
use rustc_hash::FxHashSet;

impl Problem {
    /// Finds a witness if there is one, preferring events in the order of `guide` (which lists all events, or none). The order
    /// must be empty before, and is left empty if there is none.
    pub(super) fn search(&mut self, guide: &[EventId]) -> bool {
        let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
        let mut rank = vec![0; self.events.len()];
        for (position, &event) in guide.iter().enumerate() {
            rank[event as usize] = position;
        }
        let mut key = Vec::new();
        // For each prefix of the order the events that are still to be tried after it, the next one last.
        let mut open: Vec<Vec<EventId>> = vec![self.nexts(&rank)];
        while let Some(untried) = open.last_mut() {
            if self.order.events.len() == self.events.len() {
                return true;
            }
            let length = self.order.events.len();
            let Some(event) = untried.pop() else {
                open.pop();
                self.retract_to(length.saturating_sub(1));
                continue;
            };
            self.emit(event);
            self.state(&mut key);
            if seen.contains(key.as_slice()) {
                self.retract_to(length);
            } else {
                seen.insert(key.as_slice().into());
                open.push(self.nexts(&rank));
            }
        }
        false
    }

    /// The present witness state: counts and memory map.
    fn state(&self, key: &mut Vec<u32>) {
        key.clear();
        key.extend_from_slice(&self.order.done);
        key.extend(self.cells.iter().map(|cell| {
            let write = (cell.active as usize).checked_sub(1);
            write.map_or(u32::MAX, |write| {
                self.events[cell.writes[write].event as usize].thread
            })
        }));
    }

    /// The events to be tried next, the preferred one last; only one where a greedy rule says that it cannot be wrong.
    fn nexts(&self, rank: &[usize]) -> Vec<EventId> {
        let heads = self.threads.iter().zip(&self.order.done);
        let mut nexts: Vec<EventId> = heads
            .filter_map(|(events, &done)| events.get(done as usize).copied())
            .filter(|&event| self.can_come_next(event))
            .collect();
        if let Some(&event) = nexts.iter().find(|&&event| self.is_safe(event)) {
            return vec![event];
        }
        nexts.sort_by_key(|&event| std::cmp::Reverse(rank[event as usize]));
        nexts
    }

    /// The greedy rules, for an event that can come next: whatever execution there is, there is one in which it comes now.
    ///
    /// 1. It writes nothing.
    /// 2. For each cell that it writes, nobody else still wants the present contents; and nobody wants its own, or nobody else
    ///    is still to write the cell.
    fn is_safe(&self, event: EventId) -> bool {
        self.writes[self.writes_of(event)].iter().all(|write| {
            let cell = &self.cells[write.cell as usize];
            let wanted = |ordinal: Ordinal| {
                cell.readers.iter().any(|&read| {
                    let read = &self.reads[read as usize];
                    read.event != event && !self.is_done(read.event) && self.is_good(read, ordinal)
                })
            };
            let is_last = || {
                cell.writes
                    .iter()
                    .all(|other| other.event == event || self.is_done(other.event))
            };
            !wanted(cell.active) && (!wanted(write.ordinal) || is_last())
        })
    }
}
