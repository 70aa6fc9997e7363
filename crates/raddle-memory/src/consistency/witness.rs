//! P-II: witnesses (section 5.2).
//!
//! The order of events in a witness is built from the front: an event may come next if everything that must come before it
//! has come, if what it reads was written last, and if nobody still has to read what it overwrites. A complete order is a
//! witness, whatever it was guided by.

use super::{CellId, EventId, Graph, GraphMark, INIT, NONE, Phases};

/// A prefix of a witness.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    pub(super) events: Vec<EventId>,
    /// Where in `events` an event is, if it is there.
    pub(super) position: Vec<u32>,
    /// How many events of each thread are in the prefix.
    pub(super) done: Vec<u32>,
    /// Who wrote each cell last.
    last: Vec<EventId>,
    /// What was overwritten in `last`.
    overwritten: Vec<EventId>,
}

impl Order {
    pub(super) fn ensure_thread(&mut self, thread: usize) {
        self.done.resize(thread + 1, 0);
    }

    pub(super) fn ensure_event(&mut self, id: usize) {
        self.position.resize(id + 1, NONE);
    }

    pub(super) fn ensure_cell(&mut self, cell: CellId) {
        self.last.resize(cell as usize + 1, INIT);
    }
}

impl Graph {
    /// The witness so far.
    #[must_use]
    pub fn order(&self) -> &[EventId] {
        &self.order.events
    }

    /// Where in the witness an event of the witness is.
    #[inline]
    #[must_use]
    pub fn position(&self, event: EventId) -> usize {
        self.order.position[event as usize] as usize
    }

    /// The event that wrote a cell last in the witness, or [`INIT`].
    #[inline]
    #[must_use]
    pub fn last_writer(&self, cell: CellId) -> EventId {
        self.order.last.get(cell as usize).copied().unwrap_or(INIT)
    }

    /// Appends an event, which must be able to come next, to the witness.
    #[inline]
    pub fn emit(&mut self, id: EventId) {
        for write in self.writes_of(id) {
            let last = &mut self.order.last[self.writes[write] as usize];
            self.order.overwritten.push(std::mem::replace(last, id));
        }
        self.order.done[self.events[id as usize].thread as usize] += 1;
        self.order.position[id as usize] = self.order.events.len() as u32;
        self.order.events.push(id);
    }

    /// Takes events off the end of the witness. They must still be in the graph.
    pub fn retract_to(&mut self, length: usize) {
        while self.order.events.len() > length {
            let Some(id) = self.order.events.pop() else {
                return;
            };
            self.order.done[self.events[id as usize].thread as usize] -= 1;
            for write in self.writes_of(id).rev() {
                if let Some(last) = self.order.overwritten.pop() {
                    self.order.last[self.writes[write] as usize] = last;
                }
            }
        }
    }

    #[inline]
    fn is_done(&self, event: EventId) -> bool {
        let event = &self.events[event as usize];
        event.index <= self.order.done[event.thread as usize]
    }

    /// Can `event` come next?
    pub(super) fn can_come_next(&self, event: EventId) -> bool {
        let thread = self.events[event as usize].thread as usize;
        let clock = self.clocks.row(event).iter();
        for (other, (&known, &done)) in clock.zip(&self.order.done).enumerate() {
            if known > done + u32::from(other == thread) {
                return false;
            }
        }
        for read in self.reads_of(event) {
            let (cell, source) = self.reads[read];
            if self.order.last[cell as usize] != source {
                return false;
            }
        }
        for write in self.writes_of(event) {
            let cell = self.writes[write];
            let last = self.order.last[cell as usize];
            let mut readers = self.readers_of(last, cell);
            if readers.any(|reader| reader != event && !self.is_done(reader)) {
                return false;
            }
        }
        true
    }

    /// Extends the witness by the events of `guide` (all that it lacks), in that order as far as possible. If that fails the
    /// witness is as before.
    pub fn linearise(&mut self, guide: &[EventId]) -> bool {
        let start = self.order.events.len();
        let mut delayed = std::mem::take(&mut self.delayed);
        delayed.clear();
        for &event in guide {
            if !self.can_come_next(event) {
                delayed.push(event);
                continue;
            }
            self.emit(event);
            self.emit_delayed(&mut delayed);
        }
        let complete = delayed.is_empty();
        self.delayed = delayed;
        if !complete {
            self.retract_to(start);
        }
        complete
    }

    fn emit_delayed(&mut self, delayed: &mut Vec<EventId>) {
        while let Some(next) = delayed.iter().position(|&event| self.can_come_next(event)) {
            let event = delayed.remove(next);
            self.emit(event);
        }
    }

    /// Algorithm 2: orders all writes of each cell as they are ordered by `rank`, wherever saturation leaves it open. False if
    /// that makes a cycle. The caller takes the orders back.
    pub fn order_writes(&mut self, rank: impl Fn(EventId) -> u32) -> bool {
        for cell in 0..self.cells.len() {
            let mut writes: Vec<EventId> = self.cells[cell]
                .writers
                .iter()
                .flat_map(|writer| writer.events.iter().copied())
                .collect();
            writes.sort_by_key(|&write| rank(write));
            for (position, &second) in writes.iter().enumerate() {
                for &first in &writes[..position] {
                    if !self.before(first, second)
                        && !self.before(second, first)
                        && !self.add_order(first, second)
                    {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Is an event in the witness?
    fn is_ordered(&self, event: EventId) -> bool {
        self.ordered(event).is_some()
    }

    /// Where in the witness an event is, if it is there.
    #[must_use]
    pub fn ordered(&self, event: EventId) -> Option<usize> {
        let position = self.order.position[event as usize] as usize;
        (self.order.events.get(position) == Some(&event)).then_some(position)
    }

    /// How much of the witness can stay now that events were pushed since `mark`: the part before all events that have to come
    /// after something new, and before anything that overwrites what a new event reads.
    #[must_use]
    pub fn keepable(&self, mark: GraphMark) -> usize {
        let mut kept = self.order.events.len();
        for event in self.clocks.grown_since(mark.clocks) {
            if self.is_ordered(event) {
                kept = kept.min(self.position(event));
            }
        }
        for &event in &self.pushed[mark.pushed as usize..] {
            for read in self.reads_of(event) {
                let (cell, source) = self.reads[read];
                kept = kept.min(self.first_overwriting(cell, source, kept));
            }
        }
        kept
    }

    /// Where in the witness, before `limit`, a cell is first written after `source`, if `source` is in there.
    fn first_overwriting(&self, cell: CellId, source: EventId, limit: usize) -> usize {
        let start = match source {
            INIT => 0,
            _ if self.is_ordered(source) => self.position(source) + 1,
            _ => return limit,
        };
        let mut first = limit;
        for writer in &self.cells[cell as usize].writers {
            for &write in writer.events.iter().rev() {
                if self.is_ordered(write) {
                    if self.position(write) < start {
                        break;
                    }
                    first = first.min(self.position(write));
                }
            }
        }
        first
    }

    /// Phases P-II and P-III for a trace that P-I let pass: extends the witness by the events of `guide`, all that it lacks.
    /// The result is how much of the witness is as before, or nothing if there is none; then the one begun is as before.
    pub fn complete_witness(&mut self, guide: &[EventId], phases: &mut Phases) -> Option<usize> {
        let length = self.order.events.len();
        if self.linearise(guide) {
            phases.guided += 1;
            return Some(length);
        }
        let begun = self.order.events.clone();
        self.retract_to(0);
        let all: Vec<EventId> = begun.iter().chain(guide).copied().collect();
        if self.linearise_ordered(&all) {
            phases.ordered += 1;
        } else if self.decide(&all) {
            phases.decided_consistent += 1;
        } else {
            phases.decided_inconsistent += 1;
            for event in begun {
                self.emit(event);
            }
            return None;
        }
        let common = begun.iter().zip(&self.order.events);
        Some(common.take_while(|(a, b)| a == b).count())
    }

    fn linearise_ordered(&mut self, all: &[EventId]) -> bool {
        let mut rank = vec![0; self.events.len()];
        for (position, &event) in all.iter().enumerate() {
            rank[event as usize] = position as u32;
        }
        let mark: GraphMark = self.mark();
        let ordered = self.order_writes(|event| rank[event as usize]);
        // By lemma 5.3 any order that respects this one is a witness.
        let complete = ordered && self.linearise(all);
        self.undo_to(mark);
        complete
    }
}
