//! Where those who explore pieces of one search meet.
//!
//! Invariants
//! - Every class that is left belongs to one piece that is pending or taken, or will be found from one of those.
//! - What is found, done or given away changes the tree under the lock, all at once.

use super::tree::{Stage, TopId, Tree, Way};
use raddle_judge::link::Link;
use raddle_judge::piece::Part;
use raddle_program::Journal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// After so many pieces it is asked whether they are worth it: to get to one takes as long as so many executions.
const PIECES_BEFORE_DOUBT: u64 = 256;
const WORTH_A_PIECE: u64 = 24;

/// Why the search is begun anew by one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// There is something to tell: which one, and how, the sequential search says.
    Found,
    /// Somebody is asleep where a piece would begin.
    Indivisible,
    /// A piece was not found in the tree.
    Diverged,
    /// Pieces are so small that it takes longer to get to them than to explore them.
    TooSmall,
    /// The program could not be made again, or no thread could be started.
    NoWorker,
}

/// What a worker leaves when it goes.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub(super) part: Part,
    pub(super) journal: Journal,
    /// The bound that has cut loops.
    pub(super) has_cuts: bool,
}

/// What somebody who was called has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    GoOn,
    /// Somebody is idle.
    Split,
    /// Nothing more is to be done.
    Leave,
}

pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) busy: usize,
    idle: usize,
    pub(super) is_stopped: bool,
    pub(super) failure: Option<Failure>,
    pub(super) findings: Vec<Findings>,
    /// How many pieces were taken.
    taken: u64,
}

impl State {
    fn is_done(&self) -> bool {
        self.failure.is_some() || self.is_stopped || self.tree.pending() == 0 && self.busy == 0
    }
}

/// See the module.
pub(in crate::dpor) struct Room {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) links: Vec<Arc<Link>>,
}

impl Room {
    pub(super) fn new(left: Vec<Stage>, workers: usize) -> Self {
        Self {
            state: Mutex::new(State {
                tree: Tree::new(left),
                busy: 0,
                idle: 0,
                is_stopped: false,
                failure: None,
                findings: Vec::new(),
                taken: 0,
            }),
            changed: Condvar::new(),
            links: (0..workers).map(|_| Arc::default()).collect(),
        }
    }

    /// What is behind the lock is whole at any time, whoever panicked.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many executions there were so far.
    fn counted(&self) -> u64 {
        let counts = self.links.iter().map(|link| link.counts());
        counts.map(|(complete, blocked)| complete + blocked).sum()
    }

    fn call_all(&self) {
        for link in &self.links {
            link.set_call(true);
        }
    }

    // ---- for those who explore

    /// A piece, and the version of the tree in which this is the way there; none when all is over.
    pub(super) fn take(&self, link: &Link) -> Option<(Way, u64)> {
        link.set_left(1.0);
        let mut state = self.lock();
        state.idle += 1;
        loop {
            if state.is_done() {
                state.idle -= 1;
                self.changed.notify_all();
                return None;
            }
            if state.taken >= PIECES_BEFORE_DOUBT && self.counted() < state.taken * WORTH_A_PIECE {
                state.failure = Some(Failure::TooSmall);
                self.call_all();
                continue;
            }
            if let Some(way) = state.tree.take() {
                state.taken += 1;
                state.idle -= 1;
                state.busy += 1;
                return Some((way, state.tree.version()));
            }
            self.call_all();
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Somebody was called.
    pub(super) fn wish(&self, link: &Link) -> Wish {
        let state = self.lock();
        if state.failure.is_some() || state.is_stopped {
            return Wish::Leave;
        }
        if state.idle > state.tree.pending() {
            return Wish::Split;
        }
        link.set_call(false);
        Wish::GoOn
    }

    /// Changes the tree; there may be pieces for those who wait.
    pub(in crate::dpor) fn add_pieces<T>(&self, change: impl FnOnce(&mut Tree) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state.tree);
        if state.idle > 0 && state.tree.pending() > 0 {
            self.changed.notify_all();
        }
        changed
    }

    /// A piece was explored.
    pub(super) fn done(&self, piece: Option<TopId>) {
        let mut state = self.lock();
        if let Some(piece) = piece {
            state.tree.done(piece);
        }
        state.busy -= 1;
        drop(state);
        self.changed.notify_all();
    }

    /// A piece will not be explored to its end.
    pub(super) fn drop_piece(&self) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        drop(state);
        self.changed.notify_all();
    }

    /// A limit, or the user, ends the search.
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

    /// The tree is not the one that was met.
    pub(in crate::dpor) fn diverged(&self) {
        debug_assert!(false, "a piece is part of the tree");
        self.fail(Failure::Diverged);
    }

    pub(super) fn leave(&self, findings: Findings) {
        self.lock().findings.push(findings);
    }

    // ---- for whoever leads

    /// How much of the tree has been explored: an estimate.
    pub(super) fn explored(&self) -> f64 {
        let left: f64 = self.links.iter().map(|link| link.left()).sum();
        let left = left / self.links.len().max(1) as f64;
        self.lock().tree.explored(&|_| left).clamp(0.0, 1.0)
    }

    /// Waits a moment, or until something has changed.
    pub(super) fn wait_a_moment(&self, moment: Duration) {
        let waited = self.changed.wait_timeout(self.lock(), moment);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Is there nothing left, or nobody to explore it any more?
    pub(super) fn is_done(&self) -> bool {
        let state = self.lock();
        state.is_done() && state.busy == 0
    }
}
