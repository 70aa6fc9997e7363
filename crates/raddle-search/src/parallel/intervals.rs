//! Pieces that are intervals in the order of the sequential search, and what was counted in them.
//!
//! Invariants
//! - Every place of the tree belongs to exactly one piece that is pending or being explored, or to one part that was counted, or comes behind the
//!   bound. Pieces and parts are intervals in the order of the sequential search: what somebody gives away is the last of what it has.
//! - The *bound* is where the sequential search would stop, as far as is known. Nobody explores what begins behind it, and what was counted there does not
//!   count. What begins before is explored to its end: the bound can only move forward.

use super::room::{Room, State, Stock};
use raddle_judge::link::Link;
use raddle_judge::piece::{Part, Piece, Place};
use raddle_program::Journal;
use std::collections::BTreeMap;

/// Why the sequential search would stop somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopper {
    /// Something was found, and nobody looks for more.
    Found,
    /// Kinds of mutexes must be read: all begins anew.
    Kinds,
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

/// See the module.
#[derive(Default)]
pub(super) struct Intervals {
    pub(super) pending: BTreeMap<Place, Piece>,
    pub(super) parts: BTreeMap<Place, Part>,
    pub(super) bound: Option<(Place, Stopper)>,
    /// By whom: what they have found out about the program. Kept when they are on hold, and when they leave.
    pub(super) journals: Vec<Journal>,
    /// Parts with something to tell that the leader has not seen yet.
    pub(super) news: Vec<Place>,
}

impl Stock for Intervals {
    type Piece = Piece;

    fn take(&mut self) -> Option<Piece> {
        self.pending.pop_first().map(|(_, piece)| piece)
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }

    fn share(piece: &Piece) -> f64 {
        piece.share()
    }
}

impl Intervals {
    pub(super) fn new(pending: Vec<Piece>, parts: Vec<Part>, workers: usize) -> Self {
        let news = parts.iter().filter(|part| !part.notes.is_empty());
        let news = news.map(|part| part.start.clone()).collect();
        let by_place = parts.into_iter().map(|part| (part.start.clone(), part));
        Self {
            pending: by_start(pending),
            parts: by_place.collect(),
            bound: None,
            journals: vec![Journal::default(); workers],
            news,
        }
    }

    fn is_behind_bound(&self, start: &Place) -> bool {
        matches!(&self.bound, Some((bound, _)) if start > bound)
    }
}

impl Room<Intervals> {
    // ---- for those who explore

    /// Somebody was called who explores the piece that begins at `start`; `split` gives a part of it away.
    pub(super) fn answer(
        &self,
        link: &Link,
        start: &Place,
        split: impl FnOnce() -> Option<Piece>,
    ) -> Answer {
        let mut state = self.lock();
        if state.failure.is_some() || state.stock.is_behind_bound(start) {
            return Answer::Drop;
        }
        if state.on_hold || state.is_stopped {
            return Answer::PutBack;
        }
        if state.wants_pieces()
            && let Some(piece) = split()
        {
            state.stock.pending.insert(piece.start(), piece);
            self.notify();
        }
        // Whoever could give nothing away is asked again when it has gone on.
        if !state.wants_pieces() {
            link.set_call(false);
        }
        Answer::GoOn
    }

    /// A piece was explored, up to what is left.
    pub(super) fn put_back(&self, part: Part, left: Vec<Piece>) {
        let mut state = self.lock();
        if !state.stock.is_behind_bound(&part.start) {
            state.stock.pending.extend(by_start(left));
        }
        self.settle(&mut state, part);
    }

    /// The sequential search would stop in this piece, behind what was counted.
    pub(super) fn stop_at(&self, part: Part, stopper: Stopper) {
        let mut state = self.lock();
        let stock = &mut state.stock;
        let start = part.start.clone();
        if !stock.is_behind_bound(&start) {
            stock.bound = Some((start.clone(), stopper));
            stock.pending.retain(|place, _| *place < start);
            self.call_all();
        }
        self.settle(&mut state, part);
    }

    fn settle(&self, state: &mut State<Intervals>, part: Part) {
        state.busy -= 1;
        let stock = &mut state.stock;
        if !part.notes.is_empty() {
            stock.news.push(part.start.clone());
        }
        match stock.parts.get_mut(&part.start) {
            // It was begun before, and put back.
            Some(before) => before.follow(part),
            None => {
                stock.parts.insert(part.start.clone(), part);
            }
        }
        self.notify();
    }

    /// What a worker has found out about the program.
    pub(super) fn keep_journal(&self, worker: usize, journal: &Journal) {
        self.lock().stock.journals[worker].clone_from(journal);
    }

    // ---- for whoever leads

    /// How much of the tree has been explored: an estimate.
    pub(super) fn explored(&self) -> f64 {
        let pending: f64 = self.lock().stock.pending.values().map(Piece::share).sum();
        let taken: f64 = self.links.iter().map(|link| link.left()).sum();
        (1.0 - pending - taken).clamp(0.0, 1.0)
    }
}

fn by_start(pieces: Vec<Piece>) -> BTreeMap<Place, Piece> {
    let with_start = |piece: Piece| (piece.start(), piece);
    pieces.into_iter().map(with_start).collect()
}
