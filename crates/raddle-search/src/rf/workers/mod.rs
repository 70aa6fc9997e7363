//! `rf` with several workers ([`crate::parallel::shared`]).
//!
//! A piece is an alternative of a node, with all that follows. Nodes above a piece are *junctions*: several may find alternatives there. Who claims
//! one first makes a piece of it, so that each is explored once. `docs/parallel.md` says why that is exact.

mod kept;
mod pieces;

pub(crate) use pieces::Piece;

use super::Search;
use super::event::Fingerprint;
use crate::driver::Reductions;
use crate::frame::Frame;
use crate::parallel::room::{Failure, Room, Stock};
use crate::parallel::shared::Sharing;
use crate::verdict::EngineKind;
use raddle_judge::link::Link;
use raddle_program::{LocId, Program};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A node where several may find alternatives.
#[derive(Debug)]
pub(super) struct Junction {
    /// What somebody explores, has explored, or has found inconsistent.
    claimed: Mutex<FxHashSet<Fingerprint>>,
}

impl Junction {
    fn new(claimed: impl Iterator<Item = Fingerprint>) -> Self {
        Self {
            claimed: Mutex::new(claimed.collect()),
        }
    }

    fn claimed(&self) -> MutexGuard<'_, FxHashSet<Fingerprint>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True for the first who finds it.
    pub(super) fn claim(&self, alternative: Fingerprint) -> bool {
        self.claimed().insert(alternative)
    }
}

/// Pieces that nobody explores now, those with the shortest prefix first: much is behind them.
#[derive(Default)]
pub(crate) struct Pieces {
    pending: BTreeMap<(usize, u64), Piece>,
    made: u64,
}

impl Pieces {
    fn add(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            self.pending.insert((piece.depth(), self.made), piece);
            self.made += 1;
        }
    }
}

impl Stock for Pieces {
    type Piece = Piece;

    const WORTH_A_PIECE: u64 = 6;

    fn take(&mut self) -> Option<Piece> {
        self.pending.pop_first().map(|(_, piece)| piece)
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }

    fn share(piece: &Piece) -> f64 {
        piece.share
    }
}

/// What a search that explores pieces knows of the others.
pub(super) struct Company {
    room: Arc<Room<Pieces>>,
}

/// What a search is told when it begins.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    reductions: Reductions,
    /// What is known about waiting: see `awaits`.
    chained: Vec<LocId>,
    refused: Vec<LocId>,
}

impl Plan {
    pub(crate) fn new(reductions: Reductions) -> Self {
        Self {
            reductions,
            chained: Vec::new(),
            refused: Vec::new(),
        }
    }
}

impl Sharing for Search {
    type Stock = Pieces;
    type Plan = Plan;

    const ENGINE: EngineKind = EngineKind::Rf;

    fn begin(program: &Program, plan: &Plan) -> Self {
        let mut search = Self::new(program, plan.reductions);
        search.trace = search.trace.renewed(plan.chained.clone());
        search.awaits.refused.clone_from(&plan.refused);
        search
    }

    fn plan(&self, _: &Program) -> Plan {
        Plan {
            reductions: self.awaits.reductions(),
            chained: self.trace.chained().to_vec(),
            refused: self.awaits.refused.clone(),
        }
    }

    fn run(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        Self::run(self, program, frame)
    }

    fn pause(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<(), bool> {
        self.look_back(program, frame)?;
        self.is_between = true;
        ControlFlow::Continue(true)
    }

    fn into_stock(mut self, program: &Program) -> Pieces {
        let mut pieces = Pieces::default();
        pieces.add(self.cut_everywhere(program));
        pieces
    }

    fn join(&mut self, room: &Arc<Room<Pieces>>) {
        let room = Arc::clone(room);
        self.company = Some(Box::new(Company { room }));
    }

    fn enter(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        piece: Piece,
    ) -> ControlFlow<(), Result<(), Failure>> {
        let found = self.go_to(program, frame, &piece)?;
        ControlFlow::Continue(found.ok_or(Failure::Diverged))
    }

    /// What is pending at the highest node that has anything. What is pending below is explored here.
    fn give_away(&mut self, program: &mut Program, _: &mut Frame) -> ControlFlow<()> {
        let mut behind = self.nodes.iter().skip(self.cut);
        if let Some(highest) = behind.position(|node| !node.pending.is_empty()) {
            let pieces = self.cut_behind(program, self.cut + highest);
            self.tell(pieces);
        }
        ControlFlow::Continue(())
    }

    fn put_back(&mut self, program: &Program) {
        let pieces = self.cut_everywhere(program);
        self.tell(pieces);
    }

    fn leave(&mut self) {}

    /// What becomes of a thread in a loop depends on what memory holds in the end, and that on the order of writes that nobody reads: on
    /// which execution of its class was explored.
    fn failure(&self) -> Option<Failure> {
        (self.is_over() || self.left_in_loop).then_some(Failure::Indivisible)
    }

    fn explored(pieces: &Pieces, links: &[Arc<Link>]) -> f64 {
        let pending: f64 = pieces.pending.values().map(|piece| piece.share).sum();
        let taken: f64 = links.iter().map(|link| link.left()).sum();
        1.0 - pending - taken
    }

    fn written(pieces: &Pieces, plan: &Plan, program: &Program) -> Option<Vec<String>> {
        Some(kept::written(pieces, plan, program))
    }

    fn read(lines: &[String], plan: &Plan, program: &Program) -> Option<(Pieces, Plan)> {
        kept::read(lines, plan.reductions, program)
    }
}
