//! Loop iterations that take a lock, look, and give it back: zero net effect (docs/purity.md).
//!
//! The thread is blocked behind such an iteration, as it is under `dpor`. A graph says less than an execution about who came in between: another thread could still find the lock
//! taken, in an event that is added later. So whether an iteration is left out must be told by something that holds in whatever graph. Two kinds of locks are such that nobody looks at them: whoever finds
//! one taken waits. With a third kind of iteration it does not matter who looks.
//!
//! - *Given back by an update*: synchronisation objects, and variables that are taken and given back by updates. Nobody reads them otherwise, unless that happens before everything else there, or after
//!   it. All who find something there are updates of one chain then; nobody has been in between if the update that gives the lock back reads from the one that took it.
//! - *Given back by a store*: variables that are taken by updates. Nobody reads from another thread's update, and nobody stores right behind one. So nobody has been in between if the store stands right
//!   behind the update that took the lock. An attempt that fails and is followed by a loop which looks until the lock is free (test and test-and-set) is as good as waiting: its thread comes
//!   back to the attempt only, and the read that would lead it there is one at which it waits.
//! - *Given away for a moment*: the iteration begins with a mutex in hand, gives it back and takes it again, and the operation that takes it reads from the one that gave it back. An attempt that finds the mutex free takes it,
//!   so nobody else reads what was there in between; who finds it taken finds the same before and behind the moment. (`lock(a); if (trylock(b)) { unlock(a); again }`, in two threads that try the other's.)
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

/// How a lock is given back in an iteration, or given away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GivenBack {
    ByUpdate,
    ByStore,
    ForAMoment,
}

impl Locks {
    #[inline]
    fn is_looked_at(&self, place: Place, given_back: GivenBack) -> bool {
        let looked_at = self.looked_at.get(given_back as usize);
        looked_at.is_some_and(|all| all.get(place.index()).is_some_and(|&it| it))
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

/// Does the operation take a lock that only one thread has at a time, and that everybody who finds it free takes?
fn takes_exclusively(op: &Op) -> bool {
    let Op::Sync { action, .. } = op else {
        return false;
    };
    matches!(
        action,
        SyncAction::Lock { .. }
            | SyncAction::TryLock { .. }
            | SyncAction::WriteLock
            | SyncAction::TryWriteLock
    )
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
        // The thread has gone on behind an attempt after all.
        if let Some(attempt) = self.attempt_before(read) {
            self.look_inside(program, attempt)?;
        }
        if !(self.locks.is_looked_at(place, GivenBack::ByStore)
            || self.is_inside(read, source) && self.is_attempt_to_wait(program, read))
        {
            self.look_inside(program, read)?;
        }
        if is_look
            && !self.locks.is_looked_at(place, GivenBack::ByUpdate)
            && !self.is_ordered(read, |_| true)
        {
            self.look_at_lock(program, place, GivenBack::ByUpdate)?;
        }
        ControlFlow::Continue(())
    }

    /// Remembers that a read sees a variable taken, if it does.
    fn look_inside(&mut self, program: &mut Program, read: Ev) -> ControlFlow<()> {
        let (place, source) = (self.graph.event(read).place, self.graph.event(read).source);
        match !self.locks.is_looked_at(place, GivenBack::ByStore) && self.is_inside(read, source) {
            true => self.look_at_lock(program, place, GivenBack::ByStore),
            false => ControlFlow::Continue(()),
        }
    }

    /// The read of the thread's operation before, if that left a variable as it was.
    fn attempt_before(&self, read: Ev) -> Option<Ev> {
        let before = &self.graph.threads[read.of()].events[..read.at()];
        let index = match before {
            [.., attempt, write] if write.is_update && write.kind == Kind::Write => {
                (attempt.value == write.value).then(|| before.len() - 2)
            }
            [.., attempt] if attempt.kind == Kind::Read && !attempt.is_update => {
                Some(before.len() - 1)
            }
            _ => None,
        };
        let attempt = Ev::new(read.of(), index?);
        (!self.graph.event(attempt).is_cell).then_some(attempt)
    }

    /// Is it an attempt that leaves the variable as it was, and is behind it a look at the same variable which is done again as long as that holds the same?
    fn is_attempt_to_wait(&self, program: &mut Program, read: Ev) -> bool {
        let e = self.graph.event(read);
        let (state, found) = (e.state, e.value);
        let op = *program.op(state);
        let loc = match op {
            Op::Rmw { loc, .. } | Op::Cas { loc, .. } => loc,
            _ => return false,
        };
        let written = op.written(program.tables(), found);
        if written.is_some_and(|written| written != found) || program.ignores_result(state) {
            return false;
        }
        let next = program.after(state, found);
        let looks =
            matches!(*program.op(next), Op::Load { loc: looked_at, .. } if looked_at == loc);
        looks && program.after(next, found) == next
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
        match self.is_inside(store, self.write_before(place, store)) {
            true => self.look_at_lock(program, place, GivenBack::ByStore),
            false => ControlFlow::Continue(()),
        }
    }

    /// The write right before a store, but for attempts of others: where the place is not looked at, these are attempts to wait.
    fn write_before(&self, place: Place, store: Ev) -> Ev {
        let mut position = self.graph.position(place, store) - 1;
        loop {
            let before = self.graph.write_at(place, position);
            let is_attempt = before.is_event() && before.thread != store.thread && {
                let write = self.graph.event(before);
                let events = &self.graph.threads[before.of()].events;
                write.is_update && !write.is_cell && events[before.at() - 1].value == write.value
            };
            if !is_attempt {
                return before;
            }
            position -= 1;
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

    /// Blocks a thread behind a write, if that gives a lock back, or takes it again, and completes an iteration that comes to nothing.
    pub(super) fn leave_out_round(&mut self, program: &mut Program, write: Ev) -> ControlFlow<()> {
        let e = self.graph.event(write);
        let Cursor {
            state: next, halt, ..
        } = self.graph.threads[write.of()].cursor;
        let op = program.op(e.state);
        let may_complete = !e.is_cell || use_of(op) == Use::GiveBack || takes_exclusively(op);
        if halt != Halt::No
            || !self.graph.was_left(next)
            || !may_complete
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
            if taken.given_back == GivenBack::ForAMoment {
                continue;
            }
            let lock = (taken.place, taken.given_back);
            if !self.locks.left_out.contains(&lock) {
                self.locks.left_out.push(lock);
            }
            // Whoever has a part of this search must know.
            self.has_commuted = true;
        }
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
        if Place::of(loc) != place || self.program.is_mixed(loc) {
            return Did::Other;
        }
        // What comes last in an iteration, and is met first, gives it back, or takes it again.
        let last = match write.is_update {
            true if write.is_cell && takes_exclusively(self.program.op(write.state)) => {
                GivenBack::ForAMoment
            }
            true => GivenBack::ByUpdate,
            false => GivenBack::ByStore,
        };
        let known = self.places.iter_mut().find(|taken| taken.place == place);
        let given_back = match &known {
            Some(taken) if taken.is_met && write.is_update => taken.given_back,
            Some(taken) if taken.is_met || taken.given_back != last => return Did::Other,
            _ => last,
        };
        // That somebody looks may be known from the search before.
        if given_back != GivenBack::ForAMoment
            && (self.search.locks.is_looked_at(place, given_back)
                || self.program.tells_additions_apart(loc))
        {
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
            let before = self.search.write_before(place, at);
            let found = (graph.value_from(self.program, place, before), before);
            self.events = rest;
            return Some((write.state, self.change(write, at, found)));
        }
        let (state, is_pure) = operation_before(self.program, &mut self.events)?;
        let did = if is_pure { Did::Nothing } else { Did::Other };
        Some((state, did))
    }
}
