//! Loop iterations that take a lock, look, and give it back: zero net effect (docs/purity.md).
//!
//! The thread is blocked behind such an iteration, as it is under `dpor`. A graph says less than an execution about who came in between: another thread could still find the lock
//! taken, in an event that is added later. So that is left to locks which nobody looks at, in whatever graph: whoever finds one taken waits. They are synchronisation objects, or
//! variables that are taken and given back by updates. All who find something there are updates of one chain then; nobody has been in between if the update that gives the lock back reads from the one that
//! took it. That is told by the thread's own events, so it is the same in all graphs that have them.
//!
//! Whoever looks before everything else there, or after it, finds nobody. Where a lock is looked at after all for which iterations were left out,
//! the search begins anew and leaves out none, as for additions.

use super::Search;
use super::event::{Ev, Event, Kind, Place};
use super::ops::operation_before;
use super::store::Halt;
use crate::purity::{Change, Did, comes_to_nothing};
use raddle_program::{Op, Program, StateId, SyncAction};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Places of which a search has found something out.
#[derive(Default)]
pub(super) struct Locks {
    /// Iterations were left out in which they are taken and given back.
    left_out: Vec<Place>,
    /// By place: may somebody see that it is taken?
    looked_at: Vec<bool>,
}

impl Locks {
    #[inline]
    fn is_looked_at(&self, place: Place) -> bool {
        self.looked_at.get(place.index()).is_some_and(|&it| it)
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
    #[inline]
    pub(super) fn meet_lock(&mut self, program: &mut Program, read: Ev) -> ControlFlow<()> {
        let e = self.graph.event(read);
        let place = e.place;
        if self.locks.is_looked_at(place) || !self.leaves_out_rounds() {
            return ControlFlow::Continue(());
        }
        match is_look(program, e) && !self.is_ordered(read, |_| true) {
            true => self.look_at_lock(program, place),
            false => ControlFlow::Continue(()),
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

    fn look_at_lock(&mut self, program: &mut Program, place: Place) -> ControlFlow<()> {
        if self.locks.looked_at.len() <= place.index() {
            self.locks.looked_at.resize(place.index() + 1, false);
        }
        self.locks.looked_at[place.index()] = true;
        if !self.locks.left_out.contains(&place) {
            return ControlFlow::Continue(());
        }
        if let Some(loc) = place.loc() {
            program.tell_additions_apart(loc);
        }
        ControlFlow::Break(())
    }

    /// Blocks a thread behind the write of an update, if that gives a lock back and completes an iteration that comes to nothing.
    pub(super) fn leave_out_round(&mut self, program: &mut Program, write: Ev) -> ControlFlow<()> {
        let e = self.graph.event(write);
        let next = self.graph.threads[write.of()].cursor.state;
        let gives_back = match e.is_cell {
            true => use_of(program.op(e.state)) == Use::GiveBack,
            false => true,
        };
        if !self.graph.was_left(next) || !gives_back || !self.leaves_out_rounds() {
            return ControlFlow::Continue(());
        }
        let mut places = SmallVec::<[(Place, Ev); 2]>::new();
        let events = self.graph.threads[write.of()].events.as_slice();
        let mut round = Round {
            search: self,
            program,
            thread: write.of(),
            events,
            places: &mut places,
        };
        let Some(last) = round.next() else {
            return ControlFlow::Continue(());
        };
        if !comes_to_nothing(program, last, next, round) {
            return ControlFlow::Continue(());
        }
        let looks = |event: &Event| is_look(program, event);
        let found = places
            .iter()
            .find(|(_, event)| !self.is_ordered(*event, looks));
        if let Some(&(place, _)) = found {
            return self.look_at_lock(program, place);
        }
        for (place, _) in places {
            if !self.locks.left_out.contains(&place) {
                self.locks.left_out.push(place);
            }
        }
        // Whoever has a part of this search must know.
        self.has_commuted = true;
        self.graph.threads[write.of()].cursor.halt = Halt::Spin;
        ControlFlow::Continue(())
    }
}

/// The operations of a thread, the last one first: the state of each, and what it did.
struct Round<'a> {
    search: &'a Search,
    program: &'a Program,
    thread: usize,
    events: &'a [Event],
    /// The locks that are taken and given back, each with an event.
    places: &'a mut SmallVec<[(Place, Ev); 2]>,
}

impl Round<'_> {
    /// What an update did.
    fn change(&mut self, read: &Event, write: &Event, at: Ev) -> Did {
        let (Op::Sync { cell: loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. }) =
            *self.program.op(write.state)
        else {
            return Did::Other;
        };
        let place = write.place;
        let is_looked_at = self.search.locks.is_looked_at(place)
            || self.program.tells_additions_apart(loc)
            || self.program.is_mixed(loc);
        // It may be the mutex of a condition variable.
        if is_looked_at || Place::of(loc) != place {
            return Did::Other;
        }
        if self.places.iter().all(|(known, _)| *known != place) {
            self.places.push((place, at));
        }
        let is_own = read.source.is_event() && read.source.of() == self.thread;
        Did::Change(Change {
            loc,
            before: read.value,
            after: write.value,
            is_own,
            is_alone: is_own,
        })
    }
}

impl Iterator for Round<'_> {
    type Item = (StateId, Did);

    fn next(&mut self) -> Option<Self::Item> {
        while self.events.last()?.waits() {
            self.events = &self.events[..self.events.len() - 1];
        }
        if let [rest @ .., read, write] = self.events
            && write.kind == Kind::Write
            && write.is_update
            && (write.is_cell || read.value != write.value)
        {
            let at = Ev::new(self.thread, self.events.len() - 1);
            self.events = rest;
            return Some((write.state, self.change(read, write, at)));
        }
        let (state, is_pure) = operation_before(self.program, &mut self.events)?;
        let did = if is_pure { Did::Nothing } else { Did::Other };
        Some((state, did))
    }
}
