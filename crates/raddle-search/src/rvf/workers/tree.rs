//! What those who explore pieces of one search know together: nodes whose present read is explored by several.
//!
//! Invariants
//! - An outcome of a junction's read is either explored, or part of a piece, or what somebody explores now, or the way to another junction. `open`
//!   counts those that are not explored.
//! - Whoever explores the last of them goes on with the node, which is no junction any more.

use crate::parallel::room::Stock;
use crate::rvf::signals::Threads;
use raddle_program::ThreadId;
use std::collections::BTreeMap;
use std::ops::Range;

/// A place in `Tree::junctions`.
pub(super) type JunctionId = usize;

/// What leads from the root to a node, at one of the nodes above: which reads were explored there, and which is explored now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// The threads whose next events are explored, in order. It is chosen by what was learned when the node was made.
    pub(super) order: Vec<ThreadId>,
    /// For each read that was explored: who signalled, if the read has a causal map since.
    pub(super) before: Vec<Option<Threads>>,
    /// How many outcomes the present read has. None if no read is begun.
    pub(super) count: Option<usize>,
}

/// A node whose present read is explored by several.
#[derive(Clone, Debug)]
pub(super) struct Junction {
    /// The junction above, and which of its outcomes leads here.
    pub(super) above: Option<(JunctionId, usize)>,
    pub(super) way: Way,
    /// Who has signalled to the present read, as far as was told.
    pub(super) signalled: Threads,
    /// One of the outcomes has an execution.
    pub(super) has_child: bool,
    /// How many outcomes are not explored.
    pub(super) open: usize,
    pub(super) depth: usize,
    /// How much of the search an outcome is, as far as the shape of the tree tells.
    pub(super) share: f64,
}

/// Some outcomes of the present read of a junction. If there are none, the read was explored, and the node is gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) junction: JunctionId,
    pub(super) outcomes: Range<usize>,
}

/// A part, and how to get there.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(super) outcomes: Range<usize>,
    /// From the root to the node: for each but the last, which outcome leads on.
    pub(super) path: Vec<(JunctionId, Way, usize)>,
    /// If the node is gone on with: who signalled, and whether an outcome of the read has an execution.
    pub(super) rest: Option<(Threads, bool)>,
    pub(super) share: f64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    junctions: Vec<Option<Junction>>,
    free: Vec<JunctionId>,
    /// Nobody explores them now. Those near the root come first: much is behind them.
    pending: BTreeMap<(usize, u64), Part>,
    made: u64,
}

impl Tree {
    pub(super) fn add(&mut self, junction: Junction) -> JunctionId {
        match self.free.pop() {
            Some(id) => {
                self.junctions[id] = Some(junction);
                id
            }
            None => {
                self.junctions.push(Some(junction));
                self.junctions.len() - 1
            }
        }
    }

    /// None if it is no junction any more.
    pub(super) fn junction(&self, id: JunctionId) -> Option<&Junction> {
        self.junctions.get(id)?.as_ref()
    }

    fn junction_mut(&mut self, id: JunctionId) -> Option<&mut Junction> {
        self.junctions.get_mut(id)?.as_mut()
    }

    pub(super) fn junctions(&self) -> impl Iterator<Item = (JunctionId, &Junction)> {
        let all = self.junctions.iter().enumerate();
        all.filter_map(|(id, it)| Some((id, it.as_ref()?)))
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.pending.values()
    }

    /// Somebody is to explore this.
    pub(super) fn leave_part(&mut self, part: Part) {
        let depth = self.junction(part.junction).map_or(0, |it| it.depth);
        self.pending.insert((depth, self.made), part);
        self.made += 1;
    }

    /// Takes note of what was learned at a junction.
    pub(super) fn note(&mut self, id: JunctionId, signalled: Threads, has_child: bool) {
        if let Some(junction) = self.junction_mut(id) {
            junction.signalled.union(signalled);
            junction.has_child |= has_child;
        }
    }

    /// So many outcomes of a junction were explored. True if these were the last ones.
    pub(super) fn explored(&mut self, id: JunctionId, outcomes: usize) -> bool {
        let Some(junction) = self.junction_mut(id) else {
            return false;
        };
        junction.open = junction.open.saturating_sub(outcomes);
        junction.open == 0
    }

    /// So many outcomes of a junction are not explored.
    pub(super) fn open(&mut self, id: JunctionId, outcomes: usize) {
        if let Some(junction) = self.junction_mut(id) {
            junction.open = outcomes;
        }
    }

    /// A node is no junction any more.
    pub(super) fn remove(&mut self, id: JunctionId) -> Option<Junction> {
        let junction = self.junctions.get_mut(id)?.take()?;
        self.free.push(id);
        Some(junction)
    }

    fn path(&self, part: &Part) -> Vec<(JunctionId, Way, usize)> {
        let mut path = Vec::new();
        let mut next = Some((part.junction, part.outcomes.start));
        while let Some((id, outcome)) = next
            && let Some(junction) = self.junction(id)
        {
            path.push((id, junction.way.clone(), outcome));
            next = junction.above;
        }
        path.reverse();
        path
    }

    /// How much of the search is pending, as far as the shape of the tree tells.
    pub(super) fn left(&self) -> f64 {
        let share = |part: &Part| {
            let share = self.junction(part.junction).map_or(0.0, |it| it.share);
            share * part.outcomes.len() as f64
        };
        self.pending.values().map(share).sum()
    }
}

impl Stock for Tree {
    type Piece = Piece;

    const WORTH_A_PIECE: u64 = 4;

    fn take(&mut self) -> Option<Piece> {
        let (_, part) = self.pending.pop_first()?;
        let path = self.path(&part);
        let share = self.junction(part.junction).map_or(0.0, |it| it.share);
        let rest = match part.outcomes.is_empty() {
            true => self.remove(part.junction),
            false => None,
        };
        Some(Piece {
            share: share * part.outcomes.len() as f64,
            outcomes: part.outcomes,
            path,
            rest: rest.map(|it| (it.signalled, it.has_child)),
        })
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }

    fn share(piece: &Piece) -> f64 {
        piece.share
    }
}
