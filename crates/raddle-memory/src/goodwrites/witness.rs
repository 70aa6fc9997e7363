//! Executions of the events, built from the front.
//!
//! An event may come next if everything that must come before it has come, if what it reads was written by a good write
//! last, and if it overwrites nothing that somebody else still has to read and for whom no other good write is to come
//! ("held" in section 4.1). A complete order is a witness.

use super::{EventId, NONE, Ordinal, Problem, ProblemMark};

#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    pub(super) events: Vec<EventId>,
    /// Where in `events` an event is, if it is there.
    position: Vec<u32>,
    /// How many events of each thread are in it.
    pub(super) done: Vec<u32>,
    /// What was overwritten in `Cell::active`.
    overwritten: Vec<Ordinal>,
    /// What a new witness took the place of: see [`Problem::replaced`].
    replaced: Vec<EventId>,
    /// Buffers.
    guide: Vec<EventId>,
    delayed: Vec<EventId>,
}

impl Order {
    pub(super) fn ensure_thread(&mut self, thread: usize) {
        self.done.resize(thread + 1, 0);
    }

    pub(super) fn ensure_event(&mut self, id: usize) {
        if self.position.len() <= id {
            self.position.resize(id + 1, NONE);
        }
    }

    pub(super) fn place(&self, event: EventId) -> Option<usize> {
        let place = self.position[event as usize] as usize;
        (self.events.get(place) == Some(&event)).then_some(place)
    }
}

impl Problem {
    /// The order so far.
    #[must_use]
    pub fn order(&self) -> &[EventId] {
        &self.order.events
    }

    /// Where in the order an event is, if it is there.
    #[must_use]
    pub fn place_in_order(&self, event: EventId) -> Option<usize> {
        self.order.place(event)
    }

    /// The write of a cell that is last in the order.
    #[must_use]
    pub fn active(&self, cell: super::CellId) -> Ordinal {
        self.cells.get(cell as usize).map_or(0, |cell| cell.active)
    }

    /// After [`Problem::solve`] has found a witness: what the order was, from the first event on that is not as before.
    #[must_use]
    pub fn replaced(&self) -> &[EventId] {
        &self.order.replaced
    }

    #[inline]
    pub(super) fn is_done(&self, event: EventId) -> bool {
        let event = &self.events[event as usize];
        event.index <= self.order.done[event.thread as usize]
    }

    /// Appends an event, which must be able to come next, to the order.
    pub fn emit(&mut self, event: EventId) {
        for read in self.reads_of(event) {
            let read = self.reads[read];
            self.cells[read.cell as usize].held -= u32::from(read.left == 0);
        }
        self.order.done[self.events[event as usize].thread as usize] += 1;
        self.order.position[event as usize] = self.order.events.len() as u32;
        self.order.events.push(event);
        for write in self.writes_of(event) {
            let write = self.writes[write];
            let cell = write.cell as usize;
            // A write is good only for events that were pushed after it.
            for reader in (0..self.cells[cell].readers.len()).rev() {
                let place = self.cells[cell].readers[reader] as usize;
                let read = self.reads[place];
                if read.event <= event {
                    break;
                }
                if self.is_good(&read, write.ordinal) {
                    self.reads[place].left -= 1;
                    if read.left == 1 && !self.is_done(read.event) {
                        self.cells[cell].held += 1;
                    }
                }
            }
            let active = std::mem::replace(&mut self.cells[cell].active, write.ordinal);
            self.order.overwritten.push(active);
        }
    }

    /// Takes events off the end of the order.
    pub fn retract_to(&mut self, length: usize) {
        while self.order.events.len() > length {
            let Some(event) = self.order.events.pop() else {
                return;
            };
            for write in self.writes_of(event).rev() {
                let write = self.writes[write];
                let cell = write.cell as usize;
                if let Some(active) = self.order.overwritten.pop() {
                    self.cells[cell].active = active;
                }
                for reader in (0..self.cells[cell].readers.len()).rev() {
                    let place = self.cells[cell].readers[reader] as usize;
                    let read = self.reads[place];
                    if read.event <= event {
                        break;
                    }
                    if self.is_good(&read, write.ordinal) {
                        if read.left == 0 && !self.is_done(read.event) {
                            self.cells[cell].held -= 1;
                        }
                        self.reads[place].left += 1;
                    }
                }
            }
            self.order.done[self.events[event as usize].thread as usize] -= 1;
            for read in self.reads_of(event) {
                let read = self.reads[read];
                self.cells[read.cell as usize].held += u32::from(read.left == 0);
            }
        }
    }

    /// Can `event` come next?
    pub(super) fn can_come_next(&self, event: EventId) -> bool {
        let thread = self.events[event as usize].thread as usize;
        let clock = self.clocks.row(event).iter();
        let done = clock.zip(&self.order.done).enumerate();
        for (other, (&known, &done)) in done {
            if known > done + u32::from(other == thread) {
                return false;
            }
        }
        let reads = &self.reads[self.reads_of(event)];
        reads
            .iter()
            .all(|read| self.is_good(read, self.cells[read.cell as usize].active))
            && self.writes[self.writes_of(event)].iter().all(|write| {
                let own = reads
                    .iter()
                    .any(|read| read.cell == write.cell && read.left == 0);
                self.cells[write.cell as usize].held == u32::from(own)
            })
    }

    /// Looks for a witness, given that the order holds all events but the last one pushed, and the closure of the problem was
    /// found free of contradictions. `mark` is from before that event. The result is how much of the order is as before, or
    /// nothing if there is no witness; then the order is as before.
    pub fn solve(&mut self, mark: ProblemMark, decisions: &mut super::Decisions) -> Option<usize> {
        let new = self.events.len() as EventId - 1;
        let mut guide = std::mem::take(&mut self.order.guide);
        guide.clear();
        let kept = self.keepable(mark, new);
        // A mere read comes as soon as it can; what writes disturbs the guide least where the guide ends.
        let early = self.events[new as usize].write_count == 0;
        if early {
            guide.push(new);
        }
        guide.extend_from_slice(&self.order.events[kept..]);
        if !early {
            guide.push(new);
        }
        self.retract_to(kept);
        let result = if self.heuristics.guidance && self.follow(&guide) {
            decisions.guided += 1;
            self.order.replaced.clear();
            let old = guide.iter().copied().filter(|&event| event != new);
            self.order.replaced.extend(old);
            Some(kept)
        } else {
            self.solve_completely(&guide, new, decisions)
        };
        self.order.guide = guide;
        result
    }

    fn solve_completely(
        &mut self,
        guide: &[EventId],
        new: EventId,
        decisions: &mut super::Decisions,
    ) -> Option<usize> {
        let before: Vec<EventId> = self.order.events.iter().chain(guide).copied().collect();
        self.retract_to(0);
        let found = if self.heuristics.guidance {
            self.search(&before)
        } else {
            self.search(&[])
        };
        let mut old = before.iter().copied().filter(|&event| event != new);
        if found {
            decisions.found += 1;
            let common = old.clone().zip(&self.order.events);
            let kept = common.take_while(|(a, b)| a == *b).count();
            self.order.replaced.clear();
            self.order.replaced.extend(old.by_ref().skip(kept));
            return Some(kept);
        }
        decisions.refuted += 1;
        for event in old {
            self.emit(event);
        }
        None
    }

    /// How much of the order can stay now that an event was pushed since `mark`: the part before everything that has to come
    /// after the event.
    fn keepable(&self, mark: ProblemMark, new: EventId) -> usize {
        let mut kept = self.order.events.len();
        for event in self.clocks.grown_since(mark.clocks) {
            if let Some(place) = self.order.place(event) {
                kept = kept.min(place);
            }
        }
        for read in self.reads_of(new) {
            let read = &self.reads[read];
            let writes = &self.cells[read.cell as usize].writes;
            let placed = || {
                let placed = (1..).zip(writes);
                placed
                    .filter_map(|(ordinal, write)| Some((ordinal, self.order.place(write.event)?)))
            };
            let last_good = placed()
                .filter(|&(ordinal, _)| self.is_good(read, ordinal))
                .map(|(_, place)| place + 1)
                .max()
                .unwrap_or(0);
            let first_after = placed()
                .map(|(_, place)| place)
                .filter(|&place| place >= last_good);
            kept = kept.min(first_after.min().unwrap_or(kept));
        }
        kept
    }

    /// Extends the order by the events of `guide`, in that order as far as possible. If that fails the order is as before.
    fn follow(&mut self, guide: &[EventId]) -> bool {
        let start = self.order.events.len();
        let mut delayed = std::mem::take(&mut self.order.delayed);
        delayed.clear();
        for &event in guide {
            if !self.can_come_next(event) {
                delayed.push(event);
                continue;
            }
            self.emit(event);
            while let Some(next) = delayed.iter().position(|&event| self.can_come_next(event)) {
                let event = delayed.remove(next);
                self.emit(event);
            }
        }
        let complete = delayed.is_empty();
        self.order.delayed = delayed;
        if !complete {
            self.retract_to(start);
        }
        complete
    }
}
