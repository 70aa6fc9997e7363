//! P-III: the decision procedure (section 5.3, algorithm 3).
//!
//! A configuration says how many events of each thread have been done. Which events can come next depends on that alone: no
//! write is done while somebody still has to read what it overwrites, so whoever has still to read finds what it needs. The
//! graph of configurations is searched depth-first, and only as far as needed; configurations from which there is no way to
//! the end are remembered. Time is polynomial in the length of the trace for a fixed number of threads.

use super::{EventId, Graph};
use rustc_hash::FxHashSet;

impl Graph {
    /// Finds a witness if there is one, preferring events in the order of `guide`, which lists all events. The witness must be
    /// empty before, and is left empty if there is none.
    pub fn decide(&mut self, guide: &[EventId]) -> bool {
        let mut dead: FxHashSet<Box<[u32]>> = FxHashSet::default();
        let mut rank = vec![0; self.events.len()];
        for (position, &event) in guide.iter().enumerate() {
            rank[event as usize] = position;
        }
        // For each prefix of the witness the events that are still to be tried after it, the next one last.
        let mut open: Vec<Vec<EventId>> = vec![self.nexts(&rank)];
        while let Some(untried) = open.last_mut() {
            if self.order.events.len() == self.pushed.len() {
                return true;
            }
            let Some(event) = untried.pop() else {
                dead.insert(self.order.done.as_slice().into());
                open.pop();
                let length = self.order.events.len();
                self.retract_to(length.saturating_sub(1));
                continue;
            };
            self.emit(event);
            if dead.contains(self.order.done.as_slice()) {
                let length = self.order.events.len();
                self.retract_to(length - 1);
            } else {
                open.push(self.nexts(&rank));
            }
        }
        false
    }

    /// The events that can come next, the preferred one last.
    fn nexts(&self, rank: &[usize]) -> Vec<EventId> {
        let mut nexts: Vec<EventId> = self
            .threads
            .iter()
            .zip(&self.order.done)
            .filter_map(|(events, &done)| events.get(done as usize).copied())
            .filter(|&event| self.can_come_next(event))
            .collect();
        nexts.sort_by_key(|&event| std::cmp::Reverse(rank[event as usize]));
        nexts
    }
}
