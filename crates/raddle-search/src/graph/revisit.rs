//! Backward revisits: a write that makes an earlier read read from it.

use super::clocks::Row;
use super::event::{Ev, Kind, Place};
use super::{Alternative, Search, Step};
use crate::frame::Frame;
use raddle_program::{Op, Program};
use std::ops::ControlFlow;

/// A write and what it depends on: so many events of its own thread, and what they depend on.
#[derive(Clone, Copy)]
pub(super) struct New {
    pub(super) thread: usize,
    pub(super) count: u32,
    pub(super) past: Row,
}

impl Search {
    /// Does the new write depend on an event?
    fn depends(&self, new: New, event: Ev) -> bool {
        event.of() == new.thread && event.index < new.count
            || event.index < self.graph.clocks.get(new.past, event.thread)
    }

    /// Puts the reads into the pool that the next event of a thread, a write, can revisit, with the places that it then can have.
    pub(super) fn offer_revisits(
        &mut self,
        program: &mut Program,
        thread: usize,
        place: Place,
        source: Option<Ev>,
    ) {
        let new = New {
            thread,
            count: u32::MAX,
            past: self.graph.past(thread),
        };
        for at in 0..self.order.len() {
            let other = self.order[at] as usize;
            if other == thread {
                continue;
            }
            let mut at = self.graph.last_here(place, other);
            while let Some(event) = at {
                if self.depends(new, event) {
                    break;
                }
                at = self.graph.before_here(event);
                let read = self.graph.event(event);
                if read.kind == Kind::Read
                    && !read.is_plain()
                    && !(read.waits() && read.is_cell)
                    && self.is_removable(program, new, event)
                {
                    self.offer_places_in_revisit(new, place, source, event);
                }
            }
        }
    }

    /// Was everything added maximally that a revisit of this read removes, and the read itself?
    pub(super) fn is_removable(&mut self, program: &mut Program, new: New, read: Ev) -> bool {
        let stamp = self.graph.event(read).stamp;
        for thread in 0..self.graph.threads.len() {
            let mut index = self.graph.threads[thread].events.len();
            while let Some(last) = index.checked_sub(1) {
                index = last;
                let event = Ev::new(thread, index);
                if self.graph.event(event).stamp < stamp || self.depends(new, event) {
                    break;
                }
                if !self.is_maximal(program, new, event) {
                    return false;
                }
            }
        }
        true
    }

    /// Was an event added maximally? Of the events that were there when it was added, and those that the new write depends on, a write is the last of its location and
    /// nobody reads from it; a read reads from the last.
    fn is_maximal(&mut self, program: &mut Program, new: New, event: Ev) -> bool {
        let e = *self.graph.event(event);
        match e.kind {
            Kind::Fence => true,
            Kind::Other => match program.op(e.state) {
                Op::Choice { .. } => e.value == 0,
                _ => true,
            },
            // Nothing else can be done, unless it made another one the last.
            Kind::Write if e.is_addition => !self.is_read_by_earlier(e.place, event),
            Kind::Write => {
                // Only reads that it revisited were there before it; they may have gone since.
                let is_read = e.revisited != Ev::NONE && self.is_there(e.revisited) && {
                    let reader = self.graph.event(e.revisited);
                    reader.stamp < e.stamp && (reader.source == event || reader.base == event)
                };
                !is_read && self.last_then(new, e.place, e.stamp) == event
            }
            Kind::Read if e.is_plain() => true,
            Kind::Read => {
                // Nothing else can be done at a synchronisation object whose last write makes the thread wait.
                e.waits() && e.is_cell
                    || e.reads_from() == self.last_then(new, e.place, e.stamp)
                        && self.was_block_there(new, e.place, e.source, e.stamp)
            }
        }
    }

    /// Was a write there when an event with this stamp was added, or does the new write depend on it?
    pub(super) fn was_there(&self, new: New, write: Ev, stamp: u32) -> bool {
        !write.is_event() || self.graph.event(write).stamp <= stamp || self.depends(new, write)
    }

    pub(super) fn last_then(&self, new: New, place: Place, stamp: u32) -> Ev {
        let writes = self.graph.writes(place).iter().rev();
        let mut there = writes.filter(|&&write| self.was_there(new, write, stamp));
        there.next().copied().unwrap_or(Ev::INIT)
    }

    /// The places that the new write can have if it revisits a read.
    fn offer_places_in_revisit(&mut self, new: New, place: Place, source: Option<Ev>, read: Ev) {
        let stamp = self.graph.event(read).stamp;
        let stays = |search: &Self, write: Ev| {
            search.graph.event(write).stamp <= stamp || search.depends(new, write)
        };
        // What the read must not read from, and what the write must not go before.
        let floor_of_read = {
            let known = self.known_before(read);
            self.graph.floor(place, read, known)
        };
        let count = self.graph.writes(place).len();
        let floor = match source {
            Some(source) => self.graph.position(place, source),
            None => {
                let now = Ev::new(new.thread, self.graph.threads[new.thread].events.len());
                let known = self.graph.known(new.thread);
                self.graph.floor(place, now, known)
            }
        };
        let mut position = floor;
        loop {
            // The next write that stays.
            let mut next = position + 1;
            while next <= count && !stays(self, self.graph.write_at(place, next)) {
                next += 1;
            }
            let is_last = next > count;
            let is_split = !is_last && {
                let event = self.graph.event(self.graph.write_at(place, next));
                event.is_update && event.place == place
            };
            if position >= floor_of_read && !is_split {
                let after = self.graph.write_at(place, position);
                self.pool.push(Alternative::Revisit { read, after });
            }
            if is_last || source.is_some() {
                return;
            }
            position = next;
        }
    }

    /// Adds a write that revisits a read.
    pub(super) fn revisit(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        read: Ev,
        after: Ev,
    ) -> ControlFlow<(), Step> {
        self.remove_after(program, thread, read);
        let mut writing = self.writing(program, thread);
        writing.event.revisited = read;
        let place = writing.event.place;
        let position = self.graph.position(place, after) + 1;
        let is_last = position > self.graph.writes(place).len();
        let write = self
            .graph
            .add(program, thread, writing.event, position, writing.cursor);
        let mut reading = self.reread(program, read, write);
        if reading.event.waits() {
            // It would have seen the last write sooner or later.
            if !is_last {
                return ControlFlow::Continue(Step::Dropped);
            }
            reading.event.waits_since = self.graph.event(write).stamp;
        }
        self.graph.change(read.of(), reading.event, reading.cursor);
        if !self.judge.accepts(program, &self.graph, &[write, read]) {
            return ControlFlow::Continue(Step::Dropped);
        }
        self.look_at_write(program, frame, write)?;
        self.look_at_read(program, frame, read, reading.fault)?;
        ControlFlow::Continue(Step::Done)
    }

    /// Removes what was added after a read, but for what the next event of `thread` depends on.
    fn remove_after(&mut self, program: &Program, thread: usize, read: Ev) {
        let new = New {
            thread,
            count: u32::MAX,
            past: self.graph.past(thread),
        };
        self.remove_behind(program, new, read);
    }

    /// Removes what was added after an event, but for what the new one depends on.
    pub(super) fn remove_behind(&mut self, program: &Program, new: New, read: Ev) {
        let stamp = self.graph.event(read).stamp;
        // Threads before those that started them.
        for other in (0..self.graph.threads.len()).rev() {
            while let Some(last) = self.graph.threads[other].events.len().checked_sub(1) {
                let event = Ev::new(other, last);
                if self.graph.event(event).stamp <= stamp || self.depends(new, event) {
                    break;
                }
                self.graph.remove_last(program, other);
            }
        }
    }

    pub(super) fn is_there(&self, event: Ev) -> bool {
        event == Ev::INIT
            || event.is_event() && event.at() < self.graph.threads[event.of()].events.len()
    }
}
