//! Where those who explore pieces of one search meet.
//!
//! Invariants
//! - Every place of the tree belongs to exactly one piece that is pending or being explored, or to one part that was counted, or comes behind the
//!   bound. Pieces and parts are intervals in the order of the sequential search: what somebody gives away is the last of what it has.
//! - Something is done or given away under the lock, all at once: whoever looks sees every place in one of these.
//! - The *bound* is where the sequential search would stop, as far as is known. Nobody explores what begins behind it, and what was counted there does not
//!   count. What begins before is explored to its end: the bound can only move forward.

use raddle_judge::link::Link;
use raddle_judge::piece::{Part, Piece, Place};
use raddle_program::Journal;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why the sequential search would stop somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopper {
    /// Something was found, and nobody looks for more.
    Found,
    /// Kinds of mutexes must be read: all begins anew.
    Kinds,
}

/// Why this search cannot be explored in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// What is explored depends on what was explored before.
    Indivisible,
    /// A piece was not found in the tree.
    Diverged,
    /// The program could not be made again.
    NoProgram,
    /// No thread could be started.
    NoWorker,
}

/// What somebody who was called has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    GoOn,
    /// Put back what is left.
    PutBack,
    /// It is not wanted any more.
    Drop,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) pending: BTreeMap<Place, Piece>,
    pub(super) parts: BTreeMap<Place, Part>,
    pub(super) bound: Option<(Place, Stopper)>,
    pub(super) failure: Option<Failure>,
    /// Those who explore, and those who wait for a piece.
    pub(super) busy: usize,
    idle: usize,
    /// Nobody takes a piece, and whoever has one puts it back.
    on_hold: bool,
    /// A limit, or the user, ends it.
    pub(super) is_stopped: bool,
    /// By whom: what they have found out about the program. Kept when they are on hold, and when they leave.
    pub(super) journals: Vec<Journal>,
    /// Parts with something to tell that the leader has not seen yet.
    pub(super) news: Vec<Place>,
}

impl State {
    fn is_done(&self) -> bool {
        self.failure.is_some() || self.is_stopped || self.pending.is_empty() && self.busy == 0
    }

    fn is_behind_bound(&self, start: &Place) -> bool {
        matches!(&self.bound, Some((bound, _)) if start > bound)
    }
}

/// See the module.
pub(super) struct Room {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) links: Vec<Arc<Link>>,
}

impl Room {
    pub(super) fn new(pending: Vec<Piece>, parts: Vec<Part>, workers: usize) -> Self {
        let news = parts.iter().filter(|part| !part.notes.is_empty());
        let news = news.map(|part| part.start.clone()).collect();
        Self {
            state: Mutex::new(State {
                pending: by_start(pending),
                parts: parts
                    .into_iter()
                    .map(|part| (part.start.clone(), part))
                    .collect(),
                journals: vec![Journal::default(); workers],
                news,
                ..State::default()
            }),
            changed: Condvar::new(),
            links: (0..workers).map(|_| Arc::default()).collect(),
        }
    }

    /// What is behind the lock is whole at any time, whoever panicked.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn call_all(&self) {
        for link in &self.links {
            link.set_call(true);
        }
    }

    // ---- for those who explore

    /// The first piece that is pending; none when all is over.
    pub(super) fn take(&self, link: &Link) -> Option<Piece> {
        link.set_left(0.0);
        let mut state = self.lock();
        state.idle += 1;
        loop {
            if state.is_done() {
                state.idle -= 1;
                self.changed.notify_all();
                return None;
            }
            if !state.on_hold {
                if let Some((_, piece)) = state.pending.pop_first() {
                    state.idle -= 1;
                    state.busy += 1;
                    link.set_left(piece.share());
                    return Some(piece);
                }
                self.call_all();
            }
            state = self.wait(state);
        }
    }

    /// Somebody was called who explores the piece that begins at `start`; `split` gives a part of it away.
    pub(super) fn answer(
        &self,
        link: &Link,
        start: &Place,
        split: impl FnOnce() -> Option<Piece>,
    ) -> Answer {
        let mut state = self.lock();
        if state.failure.is_some() || state.is_behind_bound(start) {
            return Answer::Drop;
        }
        if state.on_hold || state.is_stopped {
            return Answer::PutBack;
        }
        if state.idle > state.pending.len()
            && let Some(piece) = split()
        {
            state.pending.insert(piece.start(), piece);
            self.changed.notify_all();
        }
        // Whoever could give nothing away is asked again when it has gone on.
        if state.idle <= state.pending.len() {
            link.set_call(false);
        }
        Answer::GoOn
    }

    /// A piece was explored, up to what is left.
    pub(super) fn put_back(&self, part: Part, left: Vec<Piece>) {
        let mut state = self.lock();
        if !state.is_behind_bound(&part.start) {
            state.pending.extend(by_start(left));
        }
        self.settle(&mut state, part);
    }

    /// The sequential search would stop in this piece, behind what was counted.
    pub(super) fn stop_at(&self, part: Part, stopper: Stopper) {
        let mut state = self.lock();
        let start = part.start.clone();
        if !state.is_behind_bound(&start) {
            state.bound = Some((start.clone(), stopper));
            state.pending.retain(|place, _| *place < start);
            self.call_all();
        }
        self.settle(&mut state, part);
    }

    fn settle(&self, state: &mut State, part: Part) {
        state.busy -= 1;
        if !part.notes.is_empty() {
            state.news.push(part.start.clone());
        }
        match state.parts.get_mut(&part.start) {
            // It was begun before, and put back.
            Some(before) => before.follow(part),
            None => {
                state.parts.insert(part.start.clone(), part);
            }
        }
        self.changed.notify_all();
    }

    /// A piece is not wanted any more.
    pub(super) fn drop_piece(&self) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        drop(state);
        self.changed.notify_all();
    }

    /// A limit, or the user, ends the search; this is left.
    pub(super) fn stop(&self) {
        self.lock().is_stopped = true;
        self.call_all();
        self.changed.notify_all();
    }

    pub(super) fn fail(&self, failure: Failure) {
        self.lock().failure.get_or_insert(failure);
        self.call_all();
        self.changed.notify_all();
    }

    /// What a worker has found out about the program.
    pub(super) fn keep_journal(&self, worker: usize, journal: &Journal) {
        self.lock().journals[worker].clone_from(journal);
    }

    // ---- for whoever leads

    /// How much of the tree has been explored: an estimate.
    pub(super) fn explored(&self) -> f64 {
        let pending: f64 = self.lock().pending.values().map(Piece::share).sum();
        let taken: f64 = self.links.iter().map(|link| link.left()).sum();
        (1.0 - pending - taken).clamp(0.0, 1.0)
    }

    /// Waits a moment, or until something has changed.
    pub(super) fn wait_a_moment<'a>(
        &self,
        state: MutexGuard<'a, State>,
        moment: Duration,
    ) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, moment);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Are there no pieces, or is nobody to explore them any more?
    pub(super) fn is_done(&self) -> bool {
        let state = self.lock();
        state.is_done() && state.busy == 0
    }

    /// Has everybody put their pieces back, and shows what is there.
    pub(super) fn hold<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        let mut state = self.lock();
        state.on_hold = true;
        self.call_all();
        while state.busy > 0 {
            state = self.wait(state);
        }
        let seen = look(&state);
        state.on_hold = false;
        drop(state);
        self.changed.notify_all();
        seen
    }
}

fn by_start(pieces: Vec<Piece>) -> BTreeMap<Place, Piece> {
    let with_start = |piece: Piece| (piece.start(), piece);
    pieces.into_iter().map(with_start).collect()
}
