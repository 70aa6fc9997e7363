//! The execution graph: events of all threads, where reads get their values from, the order of writes to each location.
//!
//! Everything that changes it is written down in a trail, so that a search can go back to any earlier graph. Events leave a
//! graph in two ways: because the search goes back, or because a backward revisit removes them. In both cases each thread loses events
//! from its end only.
//!
//! Invariants
//! - The events of a thread are in the order of the program and of their stamps.
//! - If an event depends on another (`sb`, `rf`), that one has the smaller stamp, unless it is a write that a read was made to read
//!   from later: a backward revisit. Nothing depends on such a read when that happens. So among *writes* the
//!   order of stamps contains `hb`.

use super::clocks::{Clocks, Row};
use super::event::{Ev, Event, Kind, Place};
use super::sync::Cells;
use raddle_program::tables::NO_SLOT;
use raddle_program::{ObjectId, Op, Order, Program, StateId, ThreadId};
use smallvec::SmallVec;

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) state: StateId,
    /// How much of the operation of `state` has been done.
    pub(super) part: u8,
    /// It goes no further in this graph: it met a fault, or has done an iteration of a loop for nothing.
    pub(super) halt: Halt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    No,
    Fault,
    /// An iteration of a loop came to nothing.
    Spin,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) is_started: bool,
    pub(super) cursor: Cursor,
    pub(super) events: Vec<Event>,
    /// What the thread knows, and depends on, from its start.
    pub(super) known: Row,
    pub(super) past: Row,
    /// The event that started it.
    pub(super) started_by: Ev,
}

#[derive(Debug, Default)]
pub(super) struct Location {
    /// Its writes but for the initial one, in modification order. Where sizes are mixed, also those of other locations that share
    /// bytes with it and are not atomic.
    pub(super) writes: Vec<Ev>,
    /// By thread: 1 + index of its last event here.
    last: SmallVec<[u32; 6]>,
    /// How many of them are additions.
    additions: u32,
    /// May there be writes of other locations among them?
    pub(super) is_shared: bool,
}

impl Location {
    pub(super) fn has_additions(&self) -> bool {
        self.additions > 0
    }
}

/// An object that comes and goes.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) freed: Ev,
    pub(super) is_zeroed: bool,
    last: SmallVec<[u32; 6]>,
}

impl Default for Life {
    fn default() -> Self {
        Self {
            freed: Ev::NONE,
            is_zeroed: false,
            last: SmallVec::new(),
        }
    }
}

#[derive(Debug)]
enum Undo {
    Added {
        thread: u32,
        before: Cursor,
    },
    /// The event itself lies in `removed`; it was at this position in the modification order.
    Removed {
        thread: u32,
        position: u32,
        after: Cursor,
    },
    /// The event as it was lies in `removed`.
    Changed {
        event: Ev,
        before: Cursor,
    },
}

/// A graph to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    trail: u32,
    clocks: u32,
    cells: (u32, u32),
    stamp: u32,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) threads: Vec<Thread>,
    pub(super) locations: Vec<Location>,
    lives: Vec<Life>,
    /// By thread: who joined or detached it.
    pub(super) claimed: Vec<Ev>,
    pub(super) clocks: Clocks,
    pub(super) cells: Cells,
    stamp: u32,
    /// How many events are sequentially consistent accesses or fences.
    pub(super) strong: usize,
    /// How many events are other accesses.
    pub(super) weak: usize,
    pub(super) count: usize,
    /// By state: how many events leave it. A thread that has not left a state does not come back to it.
    left: Vec<u32>,
    trail: Vec<Undo>,
    removed: Vec<Event>,
}

fn slot(list: &mut SmallVec<[u32; 6]>, thread: usize) -> &mut u32 {
    if list.len() <= thread {
        list.resize(thread + 1, 0);
    }
    &mut list[thread]
}

impl Graph {
    pub(super) fn new(main: StateId) -> Self {
        let mut graph = Self::default();
        graph.thread(0);
        graph.threads[0].is_started = true;
        graph.threads[0].cursor.state = main;
        graph
    }

    /// Makes room for a thread.
    fn thread(&mut self, thread: usize) {
        self.clocks.widen(thread + 1);
        while self.threads.len() <= thread {
            self.threads.push(Thread {
                is_started: false,
                cursor: Cursor {
                    state: StateId(0),
                    part: 0,
                    halt: Halt::No,
                },
                events: Vec::new(),
                known: Row::default(),
                past: Row::default(),
                started_by: Ev::NONE,
            });
            self.claimed.push(Ev::NONE);
        }
    }

    #[inline]
    pub(super) fn event(&self, event: Ev) -> &Event {
        &self.threads[event.of()].events[event.at()]
    }

    #[inline]
    pub(super) fn event_mut(&mut self, event: Ev) -> &mut Event {
        &mut self.threads[event.of()].events[event.at()]
    }

    pub(super) fn location(&mut self, place: Place) -> &mut Location {
        if self.locations.len() <= place.index() {
            self.locations
                .resize_with(place.index() + 1, Location::default);
        }
        &mut self.locations[place.index()]
    }

    /// The writes to a place in modification order, but for the initial one.
    #[inline]
    pub(super) fn writes(&self, place: Place) -> &[Ev] {
        self.locations
            .get(place.index())
            .map_or(&[], |location| &location.writes)
    }

    #[inline]
    pub(super) fn has_additions(&self, place: Place) -> bool {
        let location = self.locations.get(place.index());
        location.is_some_and(Location::has_additions)
    }

    /// Where a write stands in the modification order, counting from 1; 0 is the initial one.
    #[inline]
    pub(super) fn position(&self, place: Place, write: Ev) -> usize {
        if write == Ev::INIT {
            return 0;
        }
        let writes = self.writes(place);
        let found = writes.iter().rposition(|&other| other == write);
        debug_assert!(found.is_some(), "a write has its place");
        found.map_or(0, |position| position + 1)
    }

    /// The write at a position.
    #[inline]
    pub(super) fn write_at(&self, place: Place, position: usize) -> Ev {
        match position {
            0 => Ev::INIT,
            _ => self.writes(place)[position - 1],
        }
    }

    /// The last write to a place.
    #[inline]
    pub(super) fn last_write(&self, place: Place) -> Ev {
        self.writes(place).last().copied().unwrap_or(Ev::INIT)
    }

    /// The last event of a thread at a place.
    #[inline]
    pub(super) fn last_here(&self, place: Place, thread: usize) -> Option<Ev> {
        let last = *self.locations.get(place.index())?.last.get(thread)?;
        (last > 0).then(|| Ev::new(thread, last as usize - 1))
    }

    /// The event of the same thread before this one at the same place.
    #[inline]
    pub(super) fn before_here(&self, event: Ev) -> Option<Ev> {
        let previous = self.event(event).previous_here;
        (previous > 0).then(|| Ev::new(event.of(), previous as usize - 1))
    }

    /// The event of a thread before this one at the same object.
    pub(super) fn before_at_object(&self, event: Ev) -> Option<Ev> {
        let previous = self.event(event).previous_at_object;
        (previous > 0).then(|| Ev::new(event.of(), previous as usize - 1))
    }

    pub(super) fn life(&self, object: usize) -> Option<&Life> {
        self.lives.get(object)
    }

    fn life_mut(&mut self, object: usize) -> &mut Life {
        if self.lives.len() <= object {
            self.lives.resize_with(object + 1, Life::default);
        }
        &mut self.lives[object]
    }

    /// The objects that were freed.
    pub(super) fn freed(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let freed = |&(_, life): &(usize, &Life)| life.freed.is_event();
        let lives = self.lives.iter().enumerate().filter(freed);
        lives.map(|(object, _)| ObjectId::from_index(object))
    }

    /// The last event of each thread that accesses an object.
    pub(super) fn last_at_object(&self, object: usize) -> impl Iterator<Item = Ev> + '_ {
        let life = self.lives.get(object).into_iter();
        life.flat_map(|life| life.last.iter().enumerate())
            .filter(|(_, last)| **last > 0)
            .map(|(thread, &last)| Ev::new(thread, last as usize - 1))
    }

    /// What a thread knows after its last event.
    #[inline]
    pub(super) fn known(&self, thread: usize) -> Row {
        let thread = &self.threads[thread];
        thread
            .events
            .last()
            .map_or(thread.known, |event| event.known)
    }

    #[inline]
    pub(super) fn past(&self, thread: usize) -> Row {
        let thread = &self.threads[thread];
        thread.events.last().map_or(thread.past, |event| event.past)
    }

    /// Does `a` happen before something that knows `known`, of another thread?
    #[inline]
    pub(super) fn is_known(&self, a: Ev, known: Row) -> bool {
        !a.is_event() || a.index < self.clocks.get(known, a.thread)
    }

    /// Does `a` happen before `b`?
    #[inline]
    pub(super) fn happens_before(&self, a: Ev, b: Ev) -> bool {
        if a.thread == b.thread {
            return a.index < b.index;
        }
        b.is_event() && self.is_known(a, self.event(b).known)
    }

    pub(super) fn next_stamp(&self) -> u32 {
        self.stamp + 1
    }

    // ---- changes

    pub(super) fn mark(&self) -> Mark {
        Mark {
            trail: self.trail.len() as u32,
            clocks: self.clocks.len() as u32,
            cells: self.cells.len(),
            stamp: self.stamp,
        }
    }

    pub(super) fn undo_to(&mut self, program: &Program, mark: Mark) {
        while self.trail.len() > mark.trail as usize {
            match self.trail.pop().expect("the length was checked") {
                Undo::Added { thread, before } => {
                    self.take(program, thread as usize);
                    self.threads[thread as usize].cursor = before;
                }
                Undo::Removed {
                    thread,
                    position,
                    after,
                } => {
                    let event = self.removed.pop().expect("it was kept");
                    self.put(program, thread as usize, event, position as usize);
                    self.threads[thread as usize].cursor = after;
                }
                Undo::Changed { event, before } => {
                    let old = self.removed.pop().expect("it was kept");
                    self.exchange(event, old);
                    self.threads[event.of()].cursor = before;
                }
            }
        }
        self.clocks.truncate(mark.clocks as usize);
        self.cells.truncate(mark.cells);
        self.stamp = mark.stamp;
    }

    /// Adds an event to the end of a thread; a write goes to this position of the modification order, from 1.
    pub(super) fn add(
        &mut self,
        program: &Program,
        thread: usize,
        mut event: Event,
        position: usize,
        cursor: Cursor,
    ) -> Ev {
        self.stamp += 1;
        event.stamp = self.stamp;
        self.add_stamped(program, thread, event, position, cursor)
    }

    /// The same for an event that has its stamp.
    pub(super) fn add_stamped(
        &mut self,
        program: &Program,
        thread: usize,
        event: Event,
        position: usize,
        cursor: Cursor,
    ) -> Ev {
        let before = std::mem::replace(&mut self.threads[thread].cursor, cursor);
        self.put(program, thread, event, position);
        self.trail.push(Undo::Added {
            thread: thread as u32,
            before,
        });
        Ev::new(thread, self.threads[thread].events.len() - 1)
    }

    /// Removes the last event of a thread.
    pub(super) fn remove_last(&mut self, program: &Program, thread: usize) {
        let after = self.threads[thread].cursor;
        let (event, position) = self.take(program, thread);
        self.threads[thread].cursor = Cursor {
            state: event.state,
            part: event.part,
            halt: Halt::No,
        };
        self.removed.push(event);
        self.trail.push(Undo::Removed {
            thread: thread as u32,
            position: position as u32,
            after,
        });
    }

    /// Replaces the last event of a thread, a read, by one that reads from another write.
    pub(super) fn change(&mut self, thread: usize, event: Event, cursor: Cursor) {
        let at = Ev::new(thread, self.threads[thread].events.len() - 1);
        let before = std::mem::replace(&mut self.threads[thread].cursor, cursor);
        let old = self.exchange(at, event);
        self.removed.push(old);
        self.trail.push(Undo::Changed { event: at, before });
    }

    fn exchange(&mut self, at: Ev, event: Event) -> Event {
        let old = std::mem::replace(self.event_mut(at), event);
        self.count_in(&event);
        self.count_out(&old);
        old
    }

    #[inline]
    fn count_in(&mut self, event: &Event) {
        let is_strong = event.order == Order::SeqCst;
        self.strong += usize::from(is_strong);
        self.weak += usize::from(!is_strong && event.place != Place::NOWHERE);
    }

    /// Did a thread leave this state?
    #[inline]
    pub(super) fn was_left(&self, state: StateId) -> bool {
        self.left.get(state.index()).is_some_and(|&count| count > 0)
    }

    #[inline]
    fn count_out(&mut self, event: &Event) {
        let is_strong = event.order == Order::SeqCst;
        self.strong -= usize::from(is_strong);
        self.weak -= usize::from(!is_strong && event.place != Place::NOWHERE);
    }

    fn put(&mut self, program: &Program, thread: usize, mut event: Event, position: usize) {
        let index = self.threads[thread].events.len();
        self.count += 1;
        self.count_in(&event);
        let state = event.state.index();
        if self.left.len() <= state {
            self.left.resize(state + 1, 0);
        }
        self.left[state] += 1;
        if event.place != Place::NOWHERE {
            let location = self.location(event.place);
            let last = slot(&mut location.last, thread);
            event.previous_here = std::mem::replace(last, index as u32 + 1);
            if event.kind == Kind::Write {
                let writes = &mut location.writes;
                writes.insert(position - 1, Ev::new(thread, index));
                location.additions += u32::from(event.is_addition);
            }
            self.note_object(program, thread, &mut event, index);
        } else if event.kind == Kind::Other {
            self.take_effect(program, thread, &event, index);
        }
        self.threads[thread].events.push(event);
        if event.kind == Kind::Write && event.is_plain() {
            self.enter_shared_bytes(program, Ev::new(thread, index));
        }
    }

    fn note_object(&mut self, program: &Program, thread: usize, event: &mut Event, index: usize) {
        let Some(loc) = event.place.loc() else {
            return;
        };
        let info = program.tables().loc_info(loc);
        if info.life != NO_SLOT {
            let last = slot(&mut self.life_mut(info.object.index()).last, thread);
            event.previous_at_object = std::mem::replace(last, index as u32 + 1);
        }
    }

    /// What an operation does that reads and writes nothing.
    fn take_effect(&mut self, program: &Program, thread: usize, event: &Event, index: usize) {
        if event.is_fault {
            return;
        }
        let this = Ev::new(thread, index);
        match *program.op(event.state) {
            Op::Spawn { child, start } => {
                self.thread(child.index());
                let child = &mut self.threads[child.index()];
                child.is_started = true;
                child.cursor = Cursor {
                    state: start,
                    part: 0,
                    halt: Halt::No,
                };
                (child.known, child.past) = (event.message, event.head);
                child.started_by = this;
            }
            Op::Join { thread: target } | Op::Detach { thread: target } => {
                self.thread(target.index());
                self.claimed[target.index()] = this;
            }
            Op::Alloc { object } => {
                let is_zeroed = program.zeroes(event.state);
                self.life_mut(object.index()).is_zeroed = is_zeroed;
            }
            Op::Free { object } => self.life_mut(object.index()).freed = this,
            _ => {}
        }
    }

    fn take(&mut self, program: &Program, thread: usize) -> (Event, usize) {
        let event = self.threads[thread].events.pop().expect("an event to undo");
        let index = self.threads[thread].events.len();
        let this = Ev::new(thread, index);
        self.count -= 1;
        self.count_out(&event);
        self.left[event.state.index()] -= 1;
        let mut position = 0;
        if event.place != Place::NOWHERE {
            let location = &mut self.locations[event.place.index()];
            location.last[thread] = event.previous_here;
            if event.kind == Kind::Write {
                let writes = &mut location.writes;
                let found = writes.iter().rposition(|&write| write == this);
                position = found.expect("a write has its place");
                writes.remove(position);
                position += 1;
                location.additions -= u32::from(event.is_addition);
                if event.is_plain() {
                    self.leave_shared_bytes(program, event.place, this);
                }
            }
            if let Some(loc) = event.place.loc() {
                let info = program.tables().loc_info(loc);
                if info.life != NO_SLOT {
                    self.lives[info.object.index()].last[thread] = event.previous_at_object;
                }
            }
        } else if event.kind == Kind::Other && !event.is_fault {
            match *program.op(event.state) {
                Op::Spawn { child, .. } => self.threads[child.index()].is_started = false,
                Op::Join { thread: target } | Op::Detach { thread: target } => {
                    self.claimed[target.index()] = Ev::NONE;
                }
                Op::Free { object } => self.life_mut(object.index()).freed = Ev::NONE,
                _ => {}
            }
        }
        (event, position)
    }

    // ---- locations that share bytes

    /// A plain write is one of every location that shares bytes with its own. It is ordered with all atomic accesses to them, or
    /// there is a race; so its place is the order of stamps.
    fn enter_shared_bytes(&mut self, program: &Program, write: Ev) {
        let event = *self.event(write);
        let Some(loc) = event.place.loc() else {
            return;
        };
        if !program.tables().loc_info(loc).mixed {
            return;
        }
        for &other in program.tables().overlaps(loc) {
            self.enter(Place::of(other), write, event.stamp);
        }
    }

    fn enter(&mut self, place: Place, write: Ev, stamp: u32) {
        self.location(place);
        let writes = &self.locations[place.index()].writes;
        if writes.contains(&write) {
            return;
        }
        let later = |other: &Ev| self.event(*other).stamp > stamp;
        let position = writes.iter().position(later).unwrap_or(writes.len());
        let location = &mut self.locations[place.index()];
        location.writes.insert(position, write);
        location.is_shared = true;
    }

    fn leave_shared_bytes(&mut self, program: &Program, place: Place, write: Ev) {
        let Some(loc) = place.loc() else {
            return;
        };
        if !program.tables().loc_info(loc).mixed {
            return;
        }
        for &other in program.tables().overlaps(loc) {
            if let Some(location) = self.locations.get_mut(Place::of(other).index()) {
                location.writes.retain(|&entry| entry != write);
            }
        }
    }

    /// Enters the plain writes that share bytes with a location which was not known when they were made.
    pub(super) fn catch_up(&mut self, program: &Program, place: Place) {
        let Some(loc) = place.loc() else {
            return;
        };
        let mut missing: Vec<Ev> = Vec::new();
        for &other in program.tables().overlaps(loc) {
            for &write in self.writes(Place::of(other)) {
                let event = self.event(write);
                if event.is_plain() && event.place.loc() == Some(other) {
                    missing.push(write);
                }
            }
        }
        missing.sort_by_key(|&write| self.event(write).stamp);
        for write in missing {
            let stamp = self.event(write).stamp;
            self.enter(place, write, stamp);
        }
    }

    /// The threads that have been started.
    pub(super) fn started(&self) -> impl Iterator<Item = ThreadId> + '_ {
        (0..self.threads.len())
            .filter(|&thread| self.threads[thread].is_started)
            .map(ThreadId::from_index)
    }
}
