//! Reads: what they may read from, and threads that wait.
//!
//! A read of an operation that may have to wait (a lock, a loop of one read that leads back to itself) is an event as long as the thread
//! waits, too, with the write it would wait for as its `base`. Three rules keep graphs from being visited in which a thread waits in vain.
//! - A thread begins to wait only if the *last* write of the location makes it wait: it will see that one sooner or later.
//! - A read of memory is revisited like any other. If it still waits in the end, only the graph counts in which it waits at the last write.
//! - At a synchronisation object, that the thread waits is an event of its own, which is never revisited: it stands for "reads from none of the writes
//!   that are there". As soon as a write comes that lets the thread go on, the read is added behind it, or another such event.

use super::event::{Ev, Event, Kind, Place};
use super::ops::{self, Before, Found};
use super::races::UNORDERED_FREE;
use super::store::{Cursor, Halt};
use super::{Alternative, Search, Step};
use crate::frame::Frame;
use raddle_program::{
    Fault, Op, Order, Program, StateId, SyncAction, ThreadId, Unsupported, Value,
};
use std::ops::ControlFlow;

/// A read that could be added.
pub(super) struct Reading {
    pub(super) event: Event,
    pub(super) cursor: Cursor,
    pub(super) fault: Option<Fault>,
}

impl Search {
    /// Deals with an access that has no choice: to memory that was freed, a plain one, one that cannot be handled.
    pub(super) fn extend_alone(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        place: Place,
    ) -> ControlFlow<(), Option<Step>> {
        let Some(loc) = place.loc() else {
            return ControlFlow::Continue(None);
        };
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        let info = *program.tables().loc_info(loc);
        let op = *program.op(state);
        if part % 2 == 0 {
            let freed = self.freed(program, thread, loc);
            if let Some(freed) = freed.filter(|it| it.is_known || self.plain_is_relaxed) {
                let stopped = self.stop_at_freed(program, frame, thread, loc, freed)?;
                if !freed.is_known {
                    // It could have come before the free, where others could have seen it.
                    self.give_up(program, frame, thread, UNORDERED_FREE)?;
                }
                return ControlFlow::Continue(Some(stopped));
            }
        }
        if info.is_sync() {
            let stopped = self.wait_without_mutex(program, frame, thread)?;
            return ControlFlow::Continue(stopped);
        }
        if info.mixed {
            self.meet_other_sizes(program, loc)?;
            self.graph.catch_up(program, place);
        }
        let order = ops::order_of(&op, 0);
        let is_plain = op.is_plain() && !matches!(op, Op::Free { .. });
        if !is_plain {
            if info.mixed && self.meets_other_sizes(program, place) {
                let what = Unsupported::Instruction {
                    what: "atomic accesses of different sizes to the same bytes".into(),
                };
                return self.refuse(program, frame, thread, what).map_continue(Some);
            }
            return ControlFlow::Continue(None);
        }
        if self.plain_is_relaxed && !info.mixed {
            return ControlFlow::Continue(None);
        }
        debug_assert_eq!(order, Order::Plain);
        self.meet_additions(program, thread, place)?;
        let step = match op {
            Op::Store { .. } => {
                let last = self.graph.last_write(place);
                self.write(program, frame, thread, last)?
            }
            _ => {
                let last = self.graph.last_write(place);
                self.read(program, frame, thread, last)?
            }
        };
        ControlFlow::Continue(Some(step))
    }

    /// Is there an atomic access of another size to the bytes of a place?
    fn meets_other_sizes(&self, program: &Program, place: Place) -> bool {
        let Some(loc) = place.loc() else {
            return false;
        };
        let others = program.tables().overlaps(loc).iter();
        others.copied().any(|other| {
            let threads = 0..self.graph.threads.len();
            threads.into_iter().any(|thread| {
                let mut at = self.graph.last_here(Place::of(other), thread);
                while let Some(event) = at {
                    if !self.graph.event(event).is_plain() {
                        return true;
                    }
                    at = self.graph.before_here(event);
                }
                false
            })
        })
    }

    /// What the read part of an operation makes of reading from a write; `read` is the event that it is or will be.
    pub(super) fn found(
        &mut self,
        program: &mut Program,
        read: Ev,
        at: (StateId, u8),
        place: Place,
        write: Ev,
    ) -> (Value, Found) {
        let value = self.graph.value_from(program, place, write);
        let found = self.made_of(program, read, at, value);
        (value, found)
    }

    fn made_of(
        &mut self,
        program: &mut Program,
        read: Ev,
        at: (StateId, u8),
        value: Value,
    ) -> Found {
        let written = if matches!(program.op(at.0), Op::Sync { .. }) && value & 3 == 0 {
            self.kind_bytes(program, at)
        } else {
            None
        };
        let bytes = |arena| byte_of(written, arena);
        let thread = ThreadId::from_index(read.of());
        let before = Before {
            graph: &self.graph,
            events: &self.graph.threads[read.of()].events[..read.at()],
        };
        self.rules.found(program, thread, at, value, &bytes, before)
    }

    /// What threads have written to the bytes that say of which kind a mutex without an initialising call is.
    pub(super) fn kind_bytes(
        &self,
        program: &Program,
        (state, part): (StateId, u8),
    ) -> Option<(u32, [Option<u8>; 4])> {
        let ops::Part::Read { place, .. } = ops::part(program, state, part & !1) else {
            return None;
        };
        let start = program.tables().kind_bytes(place.loc()?)?;
        let byte = |at: u32| self.graph.written_byte(program, start + at);
        Some((start, [byte(0), byte(1), byte(2), byte(3)]))
    }

    /// The event that a read is which reads from a write. It comes at this index of its thread.
    pub(super) fn reading(
        &mut self,
        program: &mut Program,
        thread: usize,
        index: usize,
        at: (StateId, u8),
        source: Ev,
    ) -> Reading {
        let (state, part) = at;
        let op = *program.op(state);
        let ops::Part::Read { place, is_cell } = ops::part(program, state, part) else {
            unreachable!("only reads read")
        };
        let is_mixed = !is_cell
            && place
                .loc()
                .is_some_and(|loc| program.tables().loc_info(loc).mixed);
        let (value, source) = match is_mixed && op.is_plain() {
            true => self.graph.mixed_value(program, place),
            false => (self.graph.value_from(program, place, source), source),
        };
        let found = self.made_of(program, Ev::new(thread, index), at, value);
        let mut event = Event::new(state, part, Kind::Read);
        self.graph.inherit(&mut event, thread, index);
        event.place = place;
        event.is_cell = is_cell;
        event.value = value;
        event.order = self.strengthened(program, place, ops::order_of(&op, value));
        let mut cursor = Cursor {
            state,
            part,
            halt: Halt::No,
        };
        let mut fault = None;
        match found {
            Found::Wait => {
                event.base = source;
                event.order = match event.order {
                    // It has not read anything yet.
                    Order::SeqCst => Order::Relaxed,
                    order => order,
                };
                return Reading {
                    event,
                    cursor,
                    fault,
                };
            }
            Found::Ends { returns } => {
                event.source = source;
                self.learn(&mut event, &op, part, returns);
                cursor = self.after_pure(program, thread, index, state, returns);
            }
            Found::Writes { ends, .. } => {
                event.source = source;
                event.is_update = true;
                self.learn(&mut event, &op, part, ends.unwrap_or(0));
                cursor.part = part + 1;
            }
            Found::Fault(wrong) => {
                event.source = source;
                event.is_fault = true;
                self.graph.learn_by_reading(&mut event, source);
                cursor.halt = Halt::Fault;
                fault = Some(wrong);
            }
        }
        Reading {
            event,
            cursor,
            fault,
        }
    }

    /// The order that an access counts with.
    pub(super) fn strengthened(&self, program: &Program, place: Place, order: Order) -> Order {
        let is_mixed = |loc| program.tables().loc_info(loc).mixed;
        match order {
            Order::Plain if self.plain_is_relaxed && !place.loc().is_some_and(is_mixed) => {
                Order::Relaxed
            }
            _ => order,
        }
    }

    fn learn(&mut self, event: &mut Event, op: &Op, part: u8, returns: Value) {
        let source = event.source;
        self.graph.learn_by_reading(event, source);
        if let Some(action) = action_of(op, part) {
            self.graph.learn_from_cell(event, source, action, returns);
        }
    }

    /// Where the thread is after an operation that changed nothing: perhaps at the end of an iteration that came to nothing.
    pub(super) fn after_pure(
        &mut self,
        program: &mut Program,
        thread: usize,
        index: usize,
        state: StateId,
        returns: Value,
    ) -> Cursor {
        let next = program.after(state, returns);
        let mut cursor = Cursor {
            state: next,
            part: 0,
            halt: Halt::No,
        };
        if self.rules.reductions.purity {
            let before = Before {
                graph: &self.graph,
                events: &self.graph.threads[thread].events[..index],
            };
            if before.complete_iteration(program, state, next) {
                cursor.halt = Halt::Spin;
            }
        }
        cursor
    }

    /// Puts what a read may read from into the pool.
    pub(super) fn offer_sources(
        &mut self,
        program: &mut Program,
        thread: usize,
        place: Place,
        _is_cell: bool,
    ) {
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        let now = Ev::new(thread, self.graph.threads[thread].events.len());
        let known = self.graph.known(thread);
        let floor = self.graph.floor(place, now, known);
        let last = self.graph.writes(place).len();
        for position in floor..=last {
            let write = self.graph.write_at(place, position);
            let (_, found) = self.found(program, now, (state, part), place, write);
            match found {
                Found::Wait if position == last => self.pool.push(Alternative::Wait(write)),
                Found::Wait => {}
                Found::Writes { .. } if !self.can_update(thread, place, position) => {}
                _ => self.pool.push(Alternative::Read(write)),
            }
        }
    }

    /// Can an update read from the write at this position, or make the update that does read from its own write?
    fn can_update(&self, thread: usize, place: Place, position: usize) -> bool {
        let Some(&next) = self.graph.writes(place).get(position) else {
            return true;
        };
        let event = self.graph.event(next);
        let past = self.graph.past(thread);
        let depends = next.of() == thread || next.index < self.graph.clocks.get(past, next.thread);
        !(event.is_update && event.place == place && depends)
    }

    // ---- waiting

    /// Is there another graph in which the thread waits at the last write?
    pub(super) fn waits_in_vain(&mut self, program: &mut Program, read: Ev) -> bool {
        let event = self.graph.event(read);
        match event.is_cell {
            true => {
                debug_assert!(!self.is_awaited(program, read), "it would have gone on");
                false
            }
            false => event.base != self.graph.last_write(event.place),
        }
    }

    /// Would the thread that waits go on if it read from the last write?
    fn is_awaited(&mut self, program: &mut Program, wait: Ev) -> bool {
        let event = self.graph.event(wait);
        let (place, at) = (event.place, (event.state, event.part));
        let last = self.graph.last_write(place);
        let (_, found) = self.found(program, wait, at, place, last);
        found != Found::Wait
    }

    /// Can the thread that waits here go on?
    pub(super) fn can_stop_waiting(&mut self, program: &mut Program, wait: Ev) -> bool {
        if !self.graph.event(wait).is_cell {
            return false;
        }
        let first = self.pool.len();
        self.offer_sources_since(program, wait);
        let any = self.pool.len() > first;
        self.pool.truncate(first);
        any
    }

    /// Puts the ways to go on for a thread that waits into the pool: it reads from a write that has come since, or from none of them and waits for others. If
    /// the last one lets it go on, it will see that sooner or later.
    pub(super) fn offer_going_on(&mut self, program: &mut Program, wait: Ev) {
        if !self.is_awaited(program, wait) {
            let last = self.graph.last_write(self.graph.event(wait).place);
            self.pool.push(Alternative::Wait(last));
        }
        self.offer_sources_since(program, wait);
    }

    /// Puts what a thread that waits may read from into the pool: writes that have come since.
    fn offer_sources_since(&mut self, program: &mut Program, wait: Ev) {
        let event = *self.graph.event(wait);
        let (place, at) = (event.place, (event.state, event.part));
        let thread = wait.of();
        let now = Ev::new(thread, wait.at() + 1);
        let floor = self.graph.floor(place, now, event.known);
        let last = self.graph.writes(place).len();
        for position in floor.max(1)..=last {
            let write = self.graph.write_at(place, position);
            if self.graph.event(write).stamp <= event.waits_since {
                continue;
            }
            let (_, found) = self.found(program, now, at, place, write);
            match found {
                Found::Wait => {}
                Found::Writes { .. } if !self.can_update(thread, place, position) => {}
                _ => self.pool.push(Alternative::Read(write)),
            }
        }
    }

    /// What a thread knew before an event.
    pub(super) fn known_before(&self, event: Ev) -> super::clocks::Row {
        let thread = &self.graph.threads[event.of()];
        match event.at().checked_sub(1) {
            Some(before) => thread.events[before].known,
            None => thread.known,
        }
    }

    pub(super) fn wait(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        base: Ev,
    ) -> ControlFlow<(), Step> {
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        let index = self.graph.threads[thread].events.len();
        let mut reading = self.reading(program, thread, index, (state, part), base);
        debug_assert!(reading.event.waits());
        reading.event.waits_since = self.graph.next_stamp();
        let event = self
            .graph
            .add(program, thread, reading.event, 0, reading.cursor);
        self.find_races(program, frame, event)?;
        ControlFlow::Continue(Step::Done)
    }

    /// The same read, reading from another write.
    pub(super) fn reread(&mut self, program: &mut Program, read: Ev, source: Ev) -> Reading {
        let old = *self.graph.event(read);
        let at = (old.state, old.part);
        let mut reading = self.reading(program, read.of(), read.at(), at, source);
        let event = &mut reading.event;
        event.stamp = old.stamp;
        event.previous_here = old.previous_here;
        event.previous_at_object = old.previous_at_object;
        reading
    }

    /// A read that reads from a write.
    pub(super) fn read(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        source: Ev,
    ) -> ControlFlow<(), Step> {
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        let index = self.graph.threads[thread].events.len();
        let reading = self.reading(program, thread, index, (state, part), source);
        let event = self
            .graph
            .add(program, thread, reading.event, 0, reading.cursor);
        self.settle(program, frame, event, source, reading.fault)
    }

    /// What is to be looked at when a read has a source.
    fn settle(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        read: Ev,
        source: Ev,
        fault: Option<Fault>,
    ) -> ControlFlow<(), Step> {
        let event = *self.graph.event(read);
        let is_last = self.graph.last_write(event.place) == source;
        if !is_last && !event.is_plain() && !self.judge.accepts(program, &self.graph, &[read]) {
            return ControlFlow::Continue(Step::Dropped);
        }
        self.look_at_read(program, frame, read, fault)?;
        ControlFlow::Continue(Step::Done)
    }

    /// Faults and races of a read, and where its thread has arrived.
    pub(super) fn look_at_read(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        read: Ev,
        fault: Option<Fault>,
    ) -> ControlFlow<()> {
        let event = *self.graph.event(read);
        let thread = ThreadId::from_index(read.of());
        if let Some(fault) = fault {
            let at = program.at(event.state);
            frame.graph_fault(program, thread, at, fault, |program| {
                self.schedule_to_fault(program, read.of())
            })?;
        }
        if event.is_fault {
            return ControlFlow::Continue(());
        }
        if event.waits() {
            return self.find_races(program, frame, read);
        }
        self.meet_lock(program, read)?;
        self.find_uninitialised(program, frame, read)?;
        // Where another update reads from the same write there is no such execution before that one was revisited: races are looked for with the write.
        if !event.is_update
            || !self.is_updated(event.place, self.graph.position(event.place, event.source))
        {
            self.find_races(program, frame, read)?;
        }
        self.arrived(program, frame, read.of())
    }
}

/// The byte at a place of the arena, if it is one of those that were written.
pub(super) fn byte_of(written: Option<(u32, [Option<u8>; 4])>, arena: u32) -> Option<u8> {
    let (start, bytes) = written?;
    let at = arena.checked_sub(start)? as usize;
    bytes.get(at).copied().flatten()
}

/// The operation on a synchronisation object that a part belongs to.
pub(super) fn action_of(op: &Op, part: u8) -> Option<SyncAction> {
    match *op {
        Op::Sync {
            action: SyncAction::CondRelease { .. },
            ..
        } if part >= 2 => Some(SyncAction::UNLOCK),
        Op::Sync { action, .. } => Some(action),
        Op::AtomicBegin => Some(SyncAction::LOCK),
        Op::AtomicEnd => Some(SyncAction::UNLOCK),
        _ => None,
    }
}
