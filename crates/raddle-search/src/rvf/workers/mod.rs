//! `rvf` with several workers ([`crate::parallel::shared`]).
//!
//! The outcomes of a read are explored by several; whoever explores the last of them knows all signals that the read got, and goes on with the node.
//! `docs/parallel.md` says why that is exact.

mod kept;
mod pieces;
mod tree;

use super::signals::Experience;
use super::{RvfOptions, Search};
use crate::frame::Frame;
use crate::parallel::room::{Failure, Room};
use crate::parallel::shared::Sharing;
use crate::verdict::EngineKind;
use raddle_judge::link::Link;
use raddle_program::journal::Entry;
use raddle_program::{Program, StateId, ThreadId};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use tree::{JunctionId, Piece, Tree};

/// What is one's own affair.
#[derive(Debug, Default)]
struct Own {
    /// The nodes of the present path that others know, from the root on.
    above: Vec<JunctionId>,
    /// How many outcomes of the last of them are one's own, and are not told to be explored.
    owed: usize,
    /// How much of the search each of these outcomes is.
    share: f64,
}

/// What a search that explores pieces knows of the others.
pub(super) struct Company {
    room: Arc<Room<Tree>>,
    own: Own,
    /// So many threads were known when the pieces were made. Others have other numbers in each program.
    threads: usize,
    /// One that is not known was met.
    has_met_strangers: bool,
}

impl Company {
    pub(super) fn meet(&mut self, thread: ThreadId) {
        self.has_met_strangers |= thread.index() >= self.threads;
    }
}

/// What a search is told when it begins.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    options: RvfOptions,
    by_source: bool,
    /// What was learned: the states of reads that got signals, as the places of the entries of the journal that led there first. None if it is still to
    /// be learned.
    signalled: Option<Vec<usize>>,
    threads: usize,
}

impl Plan {
    pub(crate) fn new(options: RvfOptions) -> Self {
        Self {
            options,
            by_source: false,
            signalled: None,
            threads: 0,
        }
    }
}

fn led_to(entry: &Entry) -> StateId {
    match *entry {
        Entry::Start { to, .. } | Entry::Edge { to, .. } | Entry::Child { start: to } => to,
    }
}

impl Sharing for Search {
    type Stock = Tree;
    type Plan = Plan;

    const ENGINE: EngineKind = EngineKind::Rvf;

    fn begin(program: &Program, plan: &Plan) -> Self {
        let mut search = Self::new(program, plan.options);
        search.by_source = plan.by_source;
        if let Some(signalled) = &plan.signalled {
            let entries = &program.journal().entries;
            let states = signalled.iter().filter_map(|&place| entries.get(place));
            search.experience = Experience::settled(states.map(led_to));
        }
        search.known_threads = plan.threads;
        search
    }

    fn plan(&self, program: &Program) -> Plan {
        let mut seen = FxHashSet::default();
        let entries = program.journal().entries.iter().enumerate();
        let first = entries.filter(|(_, entry)| seen.insert(led_to(entry)));
        let signalled = first.filter(|(_, entry)| self.experience.expects_signal(led_to(entry)));
        Plan {
            options: self.options,
            by_source: self.by_source,
            signalled: Some(signalled.map(|(place, _)| place).collect()),
            threads: program.tables().thread_count(),
        }
    }

    fn run(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        Self::run(self, program, frame)
    }

    /// Pieces are a function of the program when nothing is learned any more.
    fn pause(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<(), bool> {
        if !self.experience.is_settled() {
            if frame.is_stopped() {
                return ControlFlow::Break(());
            }
            self.run_while(program, frame, |it| !it.experience.is_settled())?;
        }
        ControlFlow::Continue(!self.nodes.is_empty())
    }

    fn into_stock(mut self, _: &Program) -> Tree {
        let mut tree = Tree::default();
        self.leave_all(&mut tree, &mut Own::default());
        tree
    }

    fn join(&mut self, room: &Arc<Room<Tree>>) {
        self.company = Some(Box::new(Company {
            room: Arc::clone(room),
            own: Own::default(),
            threads: self.known_threads,
            has_met_strangers: false,
        }));
    }

    fn enter(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        piece: Piece,
    ) -> ControlFlow<(), Result<(), Failure>> {
        let found = self.go_to(program, frame, piece)?;
        ControlFlow::Continue(found.ok_or(self.failure().unwrap_or(Failure::Diverged)))
    }

    fn give_away(&mut self, _: &mut Program, _: &mut Frame) -> ControlFlow<()> {
        self.cut_at_highest();
        ControlFlow::Continue(())
    }

    fn put_back(&mut self, _: &Program) {
        if let Some(mut company) = self.company.take() {
            let Company { room, own, .. } = &mut *company;
            room.change(|tree| self.leave_all(tree, own));
            self.company = Some(company);
        }
    }

    fn leave(&mut self) {}

    fn failure(&self) -> Option<Failure> {
        let company = self.company.as_ref();
        let is_lost = company.is_some_and(|it| it.has_met_strangers)
            || company.is_some() && self.is_contested && !self.by_source
            || self.was_rebuilt;
        is_lost.then_some(Failure::Indivisible)
    }

    fn explored(tree: &Tree, links: &[Arc<Link>]) -> f64 {
        let taken: f64 = links.iter().map(|link| link.left()).sum();
        1.0 - tree.left() - taken
    }

    fn written(tree: &Tree, plan: &Plan, program: &Program) -> Option<Vec<String>> {
        kept::written(tree, plan, program)
    }

    fn read(lines: &[String], plan: &Plan, program: &Program) -> Option<(Tree, Plan)> {
        kept::read(lines, plan.options, program)
    }
}
