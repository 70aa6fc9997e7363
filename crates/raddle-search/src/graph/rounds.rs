//! Loop iterations that take a lock, look, and give it back: zero net effect (docs/purity.md).
//!
//! The thread is blocked behind such an iteration, as it is under `dpor`. A graph says less than an execution about who came in between: another thread could still find the lock
//! taken, in an event that is added later. So that is left to locks which nobody looks at, in whatever graph: whoever finds one taken waits. There are two kinds of them.
//!
//! - *Given back by an update*: synchronisation objects, and variables that are taken and given back by updates. Nobody reads them otherwise, unless that happens before everything else there, or after
//!   it. All who find something there are updates of one chain then; nobody has been in between if the update that gives the lock back reads from the one that took it.
//! - *Given back by a store*: variables that are taken by updates. Nobody reads from another thread's update, and nobody stores right behind one. So nobody has been in between if the store stands right
//!   behind the update that took the lock.
//!
//! Whether an iteration is left out is told by the thread's own events, so it is the same in all graphs that have them. Where a lock is looked at after all for which iterations were left out, the search
//! begins anew and leaves out none, as for additions.

use super::Search;
use super::event::{Ev, Event, Kind, Place};
use super::ops::operation_before;
use super::store::{Cursor, Halt};
use crate::purity::{Change, Did, Others, comes_to_nothing};
use raddle_program::{Op, Program, StateId, SyncAction, Value};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Places of which a search has found something out.
#[derive(Default)]
pub(super) struct Locks {
    /// Iterations were left out in which they are taken and given back.
    left_out: Vec<(Place, GivenBack)>,
    /// By kind of lock and place: may somebody see that it is taken?
    looked_at: [Vec<bool>; 2],
}

/// How a lock is given back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GivenBack {
    ByUpdate,
    ByStore,
}

impl Locks {
    #[inline]
    fn is_looked_at(&self, place: Place, given_back: GivenBack) -> bool {
        let looked_at = &self.looked_at[given_back as usize];
        looked_at.get(place.index()).is_some_and(|&it| it)
    }
}

/// How an operation uses a synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    GiveBack,
    /// Finds it taken or not, without waiting; or makes it, or ends it.
    Look,
    Other,
}

fn use_of(op: &Op) -> Use {
    let Op::Sync { action, .. } = op else {
        return Use::Other;
    };
    match action {
        SyncAction::Unlock { .. } | SyncAction::RwUnlock | SyncAction::SemPost => Use::GiveBack,
        SyncAction::TryLock { .. }
        | SyncAction::TryReadLock
        | SyncAction::TryWriteLock
        | SyncAction::SemTryWait
        | SyncAction::SemGet
        | SyncAction::MutexInit { .. }
        | SyncAction::MutexDestroy
        | SyncAction::RwInit
        | SyncAction::RwDestroy
        | SyncAction::SemInit { .. }
        | SyncAction::SemDestroy => Use::Look,
        _ => Use::Other,
    }
}

/// Does an event tell whether its place is taken? Whoever waits while it is does not.
fn is_look(program: &Program, event: &Event) -> bool {
    match event.is_cell {
        true => use_of(program.op(event.state)) == Use::Look,
        false => event.kind == Kind::Read && !event.is_update && !event.waits(),
    }
}

impl Search {
    fn leaves_out_rounds(&self) -> bool {
        self.rules.reductions.purity && self.rules.reductions.net_effect
    }

    /// A place was read, and the thread did not wait: does that tell whether it is taken?
    pub(super) fn meet_lock(&mut self, program: &mut Program, read: Ev) -> ControlFlow<()> {
        if !self.leaves_out_rounds() {
            return ControlFlow::Continue(());
        }
        let e = self.graph.event(read);
        let (place, source, is_look) = (e.place, e.source, is_look(program, e));
        if !self.locks.is_looked_at(place, GivenBack::ByStore) && self.is_inside(read, source) {
            self.look_at_lock(program, place, GivenBack::ByStore)?;
        }
        if is_look
            && !self.locks.is_looked_at(place, GivenBack::ByUpdate)
            && !self.is_ordered(read, |_| true)
        {
            self.look_at_lock(program, place, GivenBack::ByUpdate)?;
        }
        ControlFlow::Continue(())
    }

    /// The same of a store: does it stand right behind another thread's update?
    pub(super) fn meet_lock_by_store(
        &mut self,
        program: &mut Program,
        store: Ev,
    ) -> ControlFlow<()> {
        let place = self.graph.event(store).place;
        if self.locks.is_looked_at(place, GivenBack::ByStore) || !self.leaves_out_rounds() {
            return ControlFlow::Continue(());
        }
        let position = self.graph.position(place, store);
        match self.is_inside(store, self.graph.write_at(place, position - 1)) {
            true => self.look_at_lock(program, place, GivenBack::ByStore),
            false => ControlFlow::Continue(()),
        }
    }

    /// Is what comes right before an event the update of another thread, and no synchronisation object's?
    fn is_inside(&self, event: Ev, before: Ev) -> bool {
        before.is_event() && before.thread != event.thread && {
            let write = self.graph.event(before);
            write.is_update && !write.is_cell
        }
    }

    /// Do all events of other threads at the same place, of those that count, happen before this one?
    fn is_ordered(&self, event: Ev, counts: impl Fn(&Event) -> bool) -> bool {
        let (place, known) = (self.graph.event(event).place, self.graph.event(event).known);
        (0..self.graph.threads.len()).all(|other| {
            let last = match other == event.of() {
                true => None,
                false => self.graph.last_here(place, other),
            };
            std::iter::successors(last, |&at| self.graph.before_here(at))
                .take_while(|&at| !self.graph.is_known(at, known))
                .all(|at| !counts(self.graph.event(at)))
        })
    }

    fn look_at_lock(
        &mut self,
        program: &mut Program,
        place: Place,
        given_back: GivenBack,
    ) -> ControlFlow<()> {
        let looked_at = &mut self.locks.looked_at[given_back as usize];
        if looked_at.len() <= place.index() {
            looked_at.resize(place.index() + 1, false);
        }
        looked_at[place.index()] = true;
        if !self.locks.left_out.contains(&(place, given_back)) {
            return ControlFlow::Continue(());
        }
        if let Some(loc) = place.loc() {
            program.tell_additions_apart(loc);
        }
        ControlFlow::Break(())
    }

    /// Blocks a thread behind a write, if that gives a lock back and completes an iteration that comes to nothing.
    pub(super) fn leave_out_round(&mut self, program: &mut Program, write: Ev) -> ControlFlow<()> {
        let e = self.graph.event(write);
        let Cursor {
            state: next, halt, ..
        } = self.graph.threads[write.of()].cursor;
        let gives_back = match e.is_cell {
            true => use_of(program.op(e.state)) == Use::GiveBack,
            false => true,
        };
        if halt != Halt::No
            || !self.graph.was_left(next)
            || !gives_back
            || !self.leaves_out_rounds()
        {
            return ControlFlow::Continue(());
        }
        let mut places = SmallVec::<[Taken; 2]>::new();
        let events = self.graph.threads[write.of()].events.as_slice();
        let mut round = Round {
            search: self,
            program,
            thread: write.of(),
            events,
            next,
            places: &mut places,
        };
        let Some(last) = round.next() else {
            return ControlFlow::Continue(());
        };
        if comes_to_nothing(program, last, next, round).is_none() {
            return ControlFlow::Continue(());
        }
        let looks = |event: &Event| is_look(program, event);
        let is_looked_at = |taken: &&Taken| {
            taken.given_back == GivenBack::ByUpdate && !self.is_ordered(taken.at, looks)
        };
        if let Some(&Taken { place, .. }) = places.iter().find(is_looked_at) {
            return self.look_at_lock(program, place, GivenBack::ByUpdate);
        }
        for taken in places {
            let lock = (taken.place, taken.given_back);
            if !self.locks.left_out.contains(&lock) {
                self.locks.left_out.push(lock);
            }
        }
        // Whoever has a part of this search must know.
        self.has_commuted = true;
        self.graph.threads[write.of()].cursor.halt = Halt::Spin;
        ControlFlow::Continue(())
    }
}

/// A lock that an iteration takes and gives back.
struct Taken {
    place: Place,
    given_back: GivenBack,
    /// The event that gives it back.
    at: Ev,
    /// It was met in the iteration that is walked at present.
    is_met: bool,
}

/// The operations of a thread, the last one first: the state of each, and what it did.
struct Round<'a> {
    search: &'a Search,
    program: &'a Program,
    thread: usize,
    events: &'a [Event],
    /// The state in which iterations begin.
    next: StateId,
    places: &'a mut SmallVec<[Taken; 2]>,
}

impl Round<'_> {
    /// What a write did that is part of an update, or a store; `found`: what was there before, and who had written that.
    fn change(&mut self, write: &Event, at: Ev, found: (Value, Ev)) -> Did {
        let (Op::Sync { cell: loc, .. }
        | Op::Rmw { loc, .. }
        | Op::Cas { loc, .. }
        | Op::Store { loc, .. }) = *self.program.op(write.state)
        else {
            return Did::Other;
        };
        let place = write.place;
        // It may be the mutex of a condition variable.
        if Place::of(loc) != place
            || self.program.tells_additions_apart(loc)
            || self.program.is_mixed(loc)
        {
            return Did::Other;
        }
        // What comes last in an iteration, and is met first, gives it back.
        let last = match write.is_update {
            true => GivenBack::ByUpdate,
            false => GivenBack::ByStore,
        };
        let known = self.places.iter_mut().find(|taken| taken.place == place);
        let given_back = match &known {
            Some(taken) if taken.is_met && write.is_update => taken.given_back,
            Some(taken) if taken.is_met || taken.given_back != last => return Did::Other,
            _ => last,
        };
        if self.search.locks.is_looked_at(place, given_back) {
            return Did::Other;
        }
        match known {
            Some(taken) => taken.is_met = true,
            None => self.places.push(Taken {
                place,
                given_back,
                at,
                is_met: true,
            }),
        }
        let (before, by) = found;
        let is_own = by.is_event() && by.of() == self.thread;
        Did::Change(Change {
            loc,
            before,
            after: write.value,
            is_own,
            others: match is_own {
                true => Others::Nothing,
                false => Others::Something,
            },
            is_blind: false,
        })
    }
}

impl Iterator for Round<'_> {
    type Item = (StateId, Did);

    fn next(&mut self) -> Option<Self::Item> {
        let (state, did) = self.operation_before()?;
        if state == self.next {
            self.places
                .iter_mut()
                .for_each(|taken| taken.is_met = false);
        }
        Some((state, did))
    }
}

impl Round<'_> {
    fn operation_before(&mut self) -> Option<(StateId, Did)> {
        while self.events.last()?.waits() {
            self.events = &self.events[..self.events.len() - 1];
        }
        let at = Ev::new(self.thread, self.events.len() - 1);
        if let [rest @ .., read, write] = self.events
            && write.kind == Kind::Write
            && write.is_update
            && (write.is_cell || read.value != write.value)
        {
            self.events = rest;
            let found = (read.value, read.source);
            return Some((write.state, self.change(write, at, found)));
        }
        if let [rest @ .., write] = self.events
            && write.kind == Kind::Write
            && !(write.is_update || write.is_addition || write.is_plain())
        {
            let (graph, place) = (&self.search.graph, write.place);
            let before = graph.write_at(place, graph.position(place, at) - 1);
            let found = (graph.value_from(self.program, place, before), before);
            self.events = rest;
            return Some((write.state, self.change(write, at, found)));
        }
        let (state, is_pure) = operation_before(self.program, &mut self.events)?;
        let did = if is_pure { Did::Nothing } else { Did::Other };
        Some((state, did))
    }
}
