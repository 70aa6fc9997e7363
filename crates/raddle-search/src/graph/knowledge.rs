//! What events know of each other: happens-before.

use super::clocks::Row;
use super::event::{Ev, Event, Kind, Place};
use super::store::Graph;
use raddle_program::{Op, Order, Program, ReleaseSequences, SyncAction, ThreadId, Value};

impl Graph {
    /// The knowledge that the next event of a thread begins with: that of the event before it. `index` says which event it is.
    pub(super) fn inherit(&self, event: &mut Event, thread: usize, index: usize) {
        let thread = &self.threads[thread];
        match index.checked_sub(1) {
            Some(before) => {
                let before = &thread.events[before];
                event.known = before.known;
                event.past = before.past;
                event.fence = before.fence;
                event.pending = before.pending;
            }
            None => (event.known, event.past) = (thread.known, thread.past),
        }
    }

    /// What a thread knows after its event with this index.
    fn present(&mut self, known: Row, thread: usize, index: usize) -> Row {
        self.clocks.with(known, thread as u32, index as u32 + 1)
    }

    /// A read learns from its source what that one publishes.
    pub(super) fn learn_by_reading(&mut self, event: &mut Event, source: Ev) {
        if !source.is_event() {
            return;
        }
        let write = self.event(source);
        let (message, past, is_addition) = (write.message, write.past, write.is_addition);
        let (thread, count) = (source.thread, source.index + 1);
        // What depends on an event depends on its past.
        if self.clocks.get(event.past, thread) < count {
            event.past = self.clocks.joined_with(event.past, past, thread, count);
        }
        if is_addition {
            self.depend_on_block(event, source);
        }
        if event.is_cell || event.is_plain() {
            return;
        }
        let message = match is_addition {
            true => self.messages_of_block(event.place, source, message),
            false => message,
        };
        if event.order.acquires() {
            event.known = self.clocks.joined(event.known, message);
        } else {
            event.pending = self.clocks.joined(event.pending, message);
        }
    }

    /// Whoever reads from one of several additions depends on all of them, whatever their order.
    #[cold]
    fn depend_on_block(&mut self, event: &mut Event, source: Ev) {
        for at in 0..self.additions_up_to(event.place, source).len() {
            let other = self.additions_up_to(event.place, source)[at];
            let past = self.event(other).past;
            let (thread, count) = (other.thread, other.index + 1);
            event.past = self.clocks.joined_with(event.past, past, thread, count);
        }
    }

    /// What reading from an addition tells: what all others of its block publish, and the write before them, since they continue each other's release
    /// sequences.
    #[cold]
    fn messages_of_block(&mut self, place: Place, source: Ev, mut message: Row) -> Row {
        let count = self.additions_up_to(place, source).len();
        for at in 0..count {
            let other = self.additions_up_to(place, source)[at];
            let more = self.event(other).message;
            message = self.clocks.joined(message, more);
        }
        let before = self.write_at(place, self.position(place, source) - count);
        match before.is_event() && !self.event(before).is_plain() {
            true => self.clocks.joined(message, self.event(before).message),
            false => message,
        }
    }

    /// The same for an operation on a synchronisation object that returns `value`.
    pub(super) fn learn_from_cell(
        &mut self,
        event: &mut Event,
        source: Ev,
        action: SyncAction,
        value: Value,
    ) {
        let from = self.released_by(source);
        let row = self.cells.learnt(&mut self.clocks, from, action, value);
        event.known = self.clocks.joined(event.known, row);
    }

    fn released_by(&self, source: Ev) -> u32 {
        match source.is_event() {
            true => self.event(source).released,
            false => 0,
        }
    }

    /// What a write to memory publishes. `source`: what the update read from that it is part of.
    pub(super) fn publish(
        &mut self,
        program: &Program,
        event: &mut Event,
        thread: usize,
        index: usize,
        source: Option<Ev>,
    ) {
        let mut own = match event.order {
            Order::Plain => Row::default(),
            order if order.releases() => self.present(event.known, thread, index),
            _ => event.fence,
        };
        if program.tables().release_sequences == ReleaseSequences::SameThread
            && event.order != Order::Plain
        {
            // A later store of the thread continues what the thread has released there.
            let mut before = self.last_here(event.place, thread);
            while let Some(earlier) = before {
                if self.event(earlier).kind == Kind::Write {
                    let head = self.event(earlier).head;
                    let joined = self.clocks.joined(own, head);
                    if joined != own {
                        own = joined;
                        self.location(event.place).continues = true;
                        self.continues_any = true;
                    }
                    break;
                }
                before = self.before_here(earlier);
            }
        }
        event.head = own;
        event.message = own;
        if let Some(source) = source.filter(|source| source.is_event()) {
            let mut message = self.event(source).message;
            if self.event(source).is_addition {
                message = self.messages_of_block(event.place, source, message);
            }
            event.message = self.clocks.joined(own, message);
        }
    }

    /// Does some thread's release sequence at a place perhaps end at a store of another thread between its own? By the standards up to C17 and C++17 one
    /// is a contiguous part of the modification order; RC11's `[W]; sb|loc; [W]` does not ask for that.
    pub(super) fn may_break_sequences(&self, place: Place) -> bool {
        let writes = || {
            let writes = self.writes(place).iter().copied();
            writes.filter(|&write| {
                let event = self.event(write);
                !event.is_update && !event.is_addition
            })
        };
        (0..self.threads.len()).any(|thread| {
            let own = || writes().filter(|write| write.of() == thread);
            let (Some(first), Some(last)) = (
                own().min_by_key(|write| write.index),
                own().max_by_key(|write| write.index),
            ) else {
                return false;
            };
            let between = |write: Ev| {
                write.of() != thread
                    && !self.happens_before(write, first)
                    && !self.happens_before(last, write)
            };
            first != last && writes().any(between)
        })
    }

    /// What a write to a synchronisation object publishes that returns `value`.
    pub(super) fn publish_to_cell(
        &mut self,
        event: &mut Event,
        (thread, index): (usize, usize),
        source: Ev,
        action: SyncAction,
        value: Value,
    ) {
        let from = self.released_by(source);
        let known = event.known;
        let present = |clocks: &mut super::clocks::Clocks| {
            clocks.with(known, thread as u32, index as u32 + 1)
        };
        let by = (ThreadId::from_index(thread), present);
        let clocks = &mut self.clocks;
        event.released = self.cells.publish(clocks, from, action, value, by);
    }

    /// The event after an operation that accesses nothing.
    pub(super) fn learn_otherwise(
        &mut self,
        program: &Program,
        event: &mut Event,
        thread: usize,
        index: usize,
    ) {
        match *program.op(event.state) {
            Op::Fence { order } => {
                if order.acquires() {
                    event.known = self.clocks.joined(event.known, event.pending);
                }
                if order.releases() {
                    event.fence = self.present(event.known, thread, index);
                }
            }
            Op::Spawn { .. } => {
                event.message = self.present(event.known, thread, index);
                event.head = self.present(event.past, thread, index);
            }
            Op::Join { thread: target } => self.learn_end(event, target),
            _ => {}
        }
    }

    fn learn_end(&mut self, event: &mut Event, target: ThreadId) {
        let index = target.index();
        let count = self.threads[index].events.len() as u32;
        let (known, past) = (self.known(index), self.past(index));
        event.known = self.clocks.joined_with(event.known, known, target.0, count);
        event.past = self.clocks.joined_with(event.past, past, target.0, count);
    }
}
