//! Data races: two accesses to the same bytes, one of them a write, one of them plain, unordered by happens-before.

use raddle_program::{SrcId, StateId, ThreadId};

/// One side of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceAccess {
    pub thread: ThreadId,
    /// The local state whose operation is the access.
    pub state: StateId,
    pub at: SrcId,
    /// Index of the access in the execution's sequence of steps.
    pub step: usize,
}

/// A data race with both accesses, in the order of the execution it was seen in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceInfo {
    pub first: RaceAccess,
    pub second: RaceAccess,
}
