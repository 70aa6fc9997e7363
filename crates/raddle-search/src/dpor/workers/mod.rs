//! `dpor` with several workers, which share the top of the tree of executions ([`crate::parallel::shared`]).

mod kept;
mod pieces;
#[cfg(test)]
mod tests;
mod tree;

pub(super) use pieces::Company;

use super::Search;
use crate::driver::Reductions;
use crate::frame::Frame;
use crate::parallel::room::{Failure, Room, Stock};
use crate::parallel::shared::Sharing;
use crate::verdict::EngineKind;
use pieces::NoPiece;
use raddle_judge::link::Link;
use raddle_program::Program;
use std::ops::ControlFlow;
use std::sync::Arc;
use tree::{Tree, Way};

impl Stock for Tree {
    type Piece = (Way, u64);

    const WORTH_A_PIECE: u64 = 24;

    /// A piece, and the version of the tree in which this is the way there.
    fn take(&mut self) -> Option<(Way, u64)> {
        let way = self.take_piece()?;
        Some((way, self.version()))
    }

    fn pending(&self) -> usize {
        self.pieces()
    }
}

impl Sharing for Search {
    type Stock = Tree;
    type Plan = Reductions;

    const ENGINE: EngineKind = EngineKind::Dpor;

    fn begin(program: &Program, reductions: &Reductions) -> Self {
        Self::new(program, *reductions)
    }

    fn plan(&self, _: &Program) -> Reductions {
        self.reductions
    }

    fn run(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        Self::run(self, program, frame)
    }

    fn pause(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<(), bool> {
        ControlFlow::Continue(self.go_on(program, frame))
    }

    fn into_stock(self, program: &Program) -> Tree {
        Tree::new(self.left(program))
    }

    fn join(&mut self, room: &Arc<Room<Tree>>) {
        self.company = Some(Box::new(Company::new(Arc::clone(room))));
    }

    fn enter(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        (way, version): (Way, u64),
    ) -> ControlFlow<(), Result<(), Failure>> {
        let entered = self.go_to(program, frame, way, version)?;
        ControlFlow::Continue(entered.map_err(|none| match none {
            NoPiece::Diverged => Failure::Diverged,
            NoPiece::Sleepers => Failure::Indivisible,
        }))
    }

    fn give_away(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        if let Some(cut) = self.find_cut(program, frame)? {
            self.cut_at(program, cut);
        }
        ControlFlow::Continue(())
    }

    fn put_back(&mut self, program: &Program) {
        self.give_back(program);
    }

    fn leave(&mut self) {
        if let Some(company) = &self.company {
            company.done();
        }
    }

    fn explored(tree: &Tree, links: &[Arc<Link>]) -> f64 {
        let left: f64 = links.iter().map(|link| link.left()).sum();
        let left = left / links.len().max(1) as f64;
        tree.explored(&|_| left)
    }

    fn written(tree: &Tree, _: &Reductions, _: &Program) -> Option<Vec<String>> {
        tree.written()
    }

    fn read(lines: &[String], reductions: &Reductions, _: &Program) -> Option<(Tree, Reductions)> {
        Some((Tree::read(lines)?, *reductions))
    }
}
