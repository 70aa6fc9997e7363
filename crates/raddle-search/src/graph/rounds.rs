//! Loop iterations that take a lock, look, and give it back: zero net effect (docs/purity.md).
//!
//! The thread is blocked behind such an iteration, as it is under `dpor`. A graph says less than an execution about who came in between: another thread could still find the lock
//! taken, in an event that is added later. So that is left to locks which nobody looks at, in whatever graph: they are taken and given back only, and
//! whoever finds one taken waits. These are updates of one chain; nobody has been in between if the update that gives the lock back reads from the one that took it. That is told by
//! the thread's own events, so it is the same in all graphs that have them.
//!
//! Initialising or destroying a lock is no look if it happens before everything else there, or after it. Where a lock is looked at after all for which iterations were left out,
//! the search begins anew and leaves out none, as for additions.

use super::Search;
use super::event::{Ev, Event, Kind, Place};
use super::ops::operation_before;
use super::store::Halt;
use crate::purity::{Change, Did, comes_to_nothing};
use raddle_program::{Op, Program, StateId, SyncAction};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Locks of which a search has found something out.
#[derive(Default)]
pub(super) struct Locks {
    /// Iterations were left out in which they are taken and given back.
    left_out: Vec<Place>,
    /// Somebody may see that they are taken.
    looked_at: Vec<Place>,
}

/// How an operation uses a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Waits, and takes it.
    Take,
    GiveBack,
    /// Finds it taken or not; or makes it, or ends it.
    Look,
    Make,
}

fn use_of(op: &Op) -> Option<Use> {
    let Op::Sync { action, .. } = op else {
        return None;
    };
    Some(match action {
        SyncAction::Lock { .. }
        | SyncAction::ReadLock
        | SyncAction::WriteLock
        | SyncAction::SemWait => Use::Take,
        SyncAction::Unlock { .. }
        | SyncAction::RwUnlock
        | SyncAction::SemPost
        | SyncAction::CondRelease { .. } => Use::GiveBack,
        SyncAction::TryLock { .. }
        | SyncAction::TryReadLock
        | SyncAction::TryWriteLock
        | SyncAction::SemTryWait
        | SyncAction::SemGet => Use::Look,
        SyncAction::MutexInit { .. }
        | SyncAction::MutexDestroy
        | SyncAction::RwInit
        | SyncAction::RwDestroy
        | SyncAction::SemInit { .. }
        | SyncAction::SemDestroy => Use::Make,
        _ => return None,
    })
}

impl Search {
    fn leaves_out_rounds(&self) -> bool {
        self.rules.reductions.purity && self.rules.reductions.net_effect
    }

    /// A synchronisation object was accessed: does that tell whether it is taken?
    pub(super) fn meet_lock(&mut self, program: &mut Program, event: Ev) -> ControlFlow<()> {
        let e = self.graph.event(event);
        let place = e.place;
        if !self.leaves_out_rounds() || self.locks.looked_at.contains(&place) {
            return ControlFlow::Continue(());
        }
        match use_of(program.op(e.state)) {
            Some(Use::Look) => self.look_at_lock(program, place),
            Some(Use::Make) if !self.is_ordered(event, |_| true) => {
                self.look_at_lock(program, place)
            }
            _ => ControlFlow::Continue(()),
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
        self.locks.looked_at.push(place);
        if !self.locks.left_out.contains(&place) {
            return ControlFlow::Continue(());
        }
        if let Some(loc) = place.loc() {
            program.tell_additions_apart(loc);
        }
        ControlFlow::Break(())
    }

    /// Blocks a thread behind the write of an update that gives a lock back, if it completes an iteration that comes to nothing.
    pub(super) fn leave_out_round(&mut self, program: &mut Program, write: Ev) -> ControlFlow<()> {
        let e = self.graph.event(write);
        let next = self.graph.threads[write.of()].cursor.state;
        if !e.is_update
            || use_of(program.op(e.state)) != Some(Use::GiveBack)
            || !self.leaves_out_rounds()
            || !self.graph.was_left(next)
        {
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
        let is_made = |event: &Event| use_of(program.op(event.state)) == Some(Use::Make);
        let found = places
            .iter()
            .find(|(_, event)| !self.is_ordered(*event, is_made));
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
    /// What an update of a synchronisation object did, of which this is the write.
    fn change(&mut self, read: &Event, write: &Event, at: Ev) -> Did {
        let Op::Sync { cell, .. } = *self.program.op(write.state) else {
            return Did::Other;
        };
        let place = write.place;
        let is_looked_at = self.search.locks.looked_at.contains(&place)
            || self.program.tells_additions_apart(cell)
            || self.program.is_mixed(cell);
        // It may be the mutex of a condition variable.
        if is_looked_at || Place::of(cell) != place {
            return Did::Other;
        }
        if self.places.iter().all(|(known, _)| *known != place) {
            self.places.push((place, at));
        }
        let is_own = read.source.is_event() && read.source.of() == self.thread;
        Did::Change(Change {
            loc: cell,
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
            && write.is_cell
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
