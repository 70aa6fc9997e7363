//! Names, switches and counters of the theory.

use super::graph::Detection;
use std::ops::BitOr;

/// An event: a read, a write, a fence, or any other point in time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub(crate) u32);

impl EventId {
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One acyclicity requirement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GraphId(pub(super) u8);

impl GraphId {
    pub(crate) fn index(self) -> u32 {
        self.0.into()
    }
}

/// Some of a theory's graphs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct GraphSet(pub(super) u8);

impl GraphSet {
    pub const NONE: Self = Self(0);

    /// Bit `n` is for graph `n`.
    pub(crate) fn mask(self) -> u32 {
        self.0.into()
    }

    pub(super) fn contains(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..8).filter(move |&index| self.contains(index))
    }
}

impl From<GraphId> for GraphSet {
    fn from(graph: GraphId) -> Self {
        Self(1 << graph.0)
    }
}

impl<G: Into<GraphSet>> BitOr<G> for GraphSet {
    type Output = Self;

    fn bitor(self, other: G) -> Self {
        Self(self.0 | other.into().0)
    }
}

impl BitOr for GraphId {
    type Output = GraphSet;

    fn bitor(self, other: Self) -> GraphSet {
        GraphSet::from(self) | GraphSet::from(other)
    }
}

/// Switches to compare with (section 6.3 of the paper). The defaults are what the paper proposes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderConfig {
    pub detection: Detection,
    /// Imply the negation of literals whose edge would close a cycle (section 5.5.1).
    pub unit_edges: bool,
    /// Derive from-reads inside the theory (section 5.5.2). If not, the formula must say them with conditional edges.
    pub derive_from_reads: bool,
    /// Imply also the negation of literals that would derive a from-read which would close a cycle.
    pub lookahead: bool,
    /// Suggest to decide write serialisations the way the graph's levels run already (incremental detection only).
    pub suggest_phases: bool,
    /// Give all narrowest clauses of a conflict, not just one.
    pub all_clauses: bool,
    /// Check every clause and explanation for being implied and irredundant, by brute force.
    pub paranoid: bool,
}

impl Default for OrderConfig {
    fn default() -> Self {
        Self {
            detection: Detection::Incremental,
            unit_edges: true,
            derive_from_reads: true,
            lookahead: true,
            suggest_phases: true,
            all_clauses: true,
            paranoid: false,
        }
    }
}

/// Counters over the life of a theory.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct OrderStats {
    /// Edges that literals put into graphs.
    pub edges: u64,
    pub from_reads: u64,
    pub cycles: u64,
    pub clauses: u64,
    /// Literals implied because their edge would close a cycle.
    pub unit_edges: u64,
    /// Literals decided and edges found superfluous by the fixed order alone.
    pub settled_false: u64,
    pub settled_redundant: u64,
}
