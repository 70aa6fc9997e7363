//! Where those who explore pieces of one search meet, whatever a piece is.
//!
//! Invariants
//! - Everything that is left belongs to one piece that is pending or being explored.
//! - Something is done, found or given away under the lock, all at once.

use raddle_judge::link::Link;
use raddle_judge::verdict::Statistics;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// After so many pieces it is asked whether they are worth it.
const PIECES_BEFORE_DOUBT: u64 = 256;

/// The pieces of a search, and what else those who explore them know together.
pub(crate) trait Stock {
    type Piece;

    /// To get to a piece takes as long as so many executions.
    const WORTH_A_PIECE: u64 = 0;

    /// A piece for somebody to explore.
    fn take(&mut self) -> Option<Self::Piece>;

    /// How many pieces nobody explores now.
    fn pending(&self) -> usize;

    /// How much of the search a piece is, as its worker tells it ([`Link::set_left`]).
    fn share(_: &Self::Piece) -> f64 {
        1.0
    }
}

/// Why a search is begun anew by one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is something to tell: which one, and how, the sequential search says.
    Found,
    /// What is explored depends on what was explored before.
    Indivisible,
    /// A piece was not found in the tree.
    Diverged,
    /// Pieces are so small that it takes longer to get to them than to explore them.
    TooSmall,
    /// The program could not be made again, or no thread could be started.
    NoWorker,
}

/// What somebody who was called has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    GoOn,
    /// Somebody is idle.
    Split,
    /// What is left is looked at: it goes back.
    PutBack,
    /// Nothing more is to be done.
    Leave,
}

#[derive(Default)]
pub(crate) struct State<S> {
    pub(crate) stock: S,
    /// Those who explore, and those who wait for a piece.
    pub(crate) busy: usize,
    pub(super) idle: usize,
    /// Nobody takes a piece, and whoever has one puts it back.
    pub(super) on_hold: bool,
    /// A limit, or the user, ends it.
    pub(crate) is_stopped: bool,
    pub(crate) failure: Option<Failure>,
    /// How many pieces were taken.
    taken: u64,
    /// Pieces are explored however small they are.
    is_patient: bool,
    /// Are the pieces those of a file? It may hold anything.
    pub(super) is_from_file: bool,
}

impl<S: Stock> State<S> {
    fn is_done(&self) -> bool {
        self.failure.is_some() || self.is_stopped || self.stock.pending() == 0 && self.busy == 0
    }

    /// Is anybody idle for whom there is nothing?
    pub(super) fn wants_pieces(&self) -> bool {
        self.idle > self.stock.pending()
    }
}

/// See the module.
pub(crate) struct Room<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
    pub(crate) links: Vec<Arc<Link>>,
}

impl<S: Stock> Room<S> {
    pub(crate) fn new(stock: S, workers: usize) -> Self {
        Self {
            state: Mutex::new(State {
                stock,
                busy: 0,
                idle: 0,
                on_hold: false,
                is_stopped: false,
                failure: None,
                taken: 0,
                is_patient: false,
                is_from_file: false,
            }),
            changed: Condvar::new(),
            links: (0..workers).map(|_| Arc::default()).collect(),
        }
    }

    /// Nobody begins anew because pieces are small: they are to be kept, or were.
    pub(crate) fn be_patient(&self) {
        self.lock().is_patient = true;
    }

    /// What the pieces say was read from a file: that they are no part of the tree is no mistake of a worker.
    pub(crate) fn trust_no_piece(&self) {
        self.lock().is_from_file = true;
    }

    /// What is behind the lock is whole at any time, whoever panicked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<S>>) -> MutexGuard<'a, State<S>> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn call_all(&self) {
        for link in &self.links {
            link.set_call(true);
        }
    }

    pub(super) fn notify(&self) {
        self.changed.notify_all();
    }

    /// How many executions there were so far.
    fn counted(&self) -> u64 {
        let counts = self.links.iter().map(|link| link.counts());
        counts.map(|(complete, blocked)| complete + blocked).sum()
    }

    /// How many there were with those that were counted before there were workers.
    pub(crate) fn counted_after(&self, before: &Statistics) -> u64 {
        before.complete + before.blocked + self.counted()
    }

    // ---- for those who explore

    /// A piece; none when all is over.
    pub(crate) fn take(&self, link: &Link) -> Option<S::Piece> {
        link.set_left(0.0);
        let mut state = self.lock();
        state.idle += 1;
        loop {
            if state.is_done() {
                state.idle -= 1;
                self.notify();
                return None;
            }
            let is_doubted = state.taken >= PIECES_BEFORE_DOUBT && !state.is_patient;
            if is_doubted && self.counted() < state.taken * S::WORTH_A_PIECE {
                state.failure = Some(Failure::TooSmall);
                self.call_all();
                continue;
            }
            if !state.on_hold {
                if let Some(piece) = state.stock.take() {
                    state.taken += 1;
                    state.idle -= 1;
                    state.busy += 1;
                    link.set_left(S::share(&piece));
                    return Some(piece);
                }
                self.call_all();
            }
            state = self.wait(state);
        }
    }

    /// Somebody was called.
    pub(crate) fn wish(&self, link: &Link) -> Wish {
        let state = self.lock();
        if state.failure.is_some() {
            return Wish::Leave;
        }
        if state.is_stopped || state.on_hold {
            return Wish::PutBack;
        }
        if state.wants_pieces() {
            return Wish::Split;
        }
        link.set_call(false);
        Wish::GoOn
    }

    /// Changes what all know; there may be pieces for those who wait.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut S) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state.stock);
        if state.idle > 0 && state.stock.pending() > 0 {
            self.notify();
        }
        changed
    }

    /// A piece was explored, or is not wanted any more.
    pub(crate) fn drop_piece(&self) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        drop(state);
        self.notify();
    }

    /// A limit, or the user, ends the search; this is left.
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.call_all();
        self.notify();
    }

    pub(crate) fn fail(&self, failure: Failure) {
        let is_from_file = {
            let mut state = self.lock();
            state.failure.get_or_insert(failure);
            state.is_from_file
        };
        self.call_all();
        self.notify();
        debug_assert!(
            failure != Failure::Diverged || is_from_file,
            "a piece is part of the tree"
        );
    }

    // ---- for whoever leads

    /// Waits a moment, or until something has changed.
    pub(crate) fn wait_a_moment(&self, moment: Duration) {
        let waited = self.changed.wait_timeout(self.lock(), moment);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Are there no pieces, or is nobody to explore them any more?
    pub(crate) fn is_done(&self) -> bool {
        let state = self.lock();
        state.is_done() && state.busy == 0
    }

    /// Has everybody put their pieces back, and shows what is there.
    pub(super) fn hold<T>(&self, look: impl FnOnce(&State<S>) -> T) -> T {
        let mut state = self.lock();
        state.on_hold = true;
        self.call_all();
        while state.busy > 0 {
            state = self.wait(state);
        }
        let seen = look(&state);
        state.on_hold = false;
        drop(state);
        self.notify();
        seen
    }
}

/// Nobody waits for somebody who has panicked.
pub(crate) struct Alive<'a, S: Stock>(pub(crate) &'a Room<S>);

impl<S: Stock> Drop for Alive<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Failure::NoWorker);
            self.0.drop_piece();
        }
    }
}
