//! What of the user's own code was run: for answers that say so little was looked at that they mean little.
//!
//! Code is run when an edge of an automaton is walked for the first time, so this costs nothing while executions are explored.
//! Code of libraries is nobody's business here.

use crate::ids::{SrcId, ThreadId};
use crate::op::{Op, Order};

/// A place where an assertion is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssertSite {
    pub at: SrcId,
    /// Did an execution come to the decision?
    pub reached: bool,
}

/// A function by its source name, and where it is defined or called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlace {
    pub name: Box<str>,
    pub at: SrcId,
}

/// What of the user's code was run. All lists are sorted by file and line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeCoverage {
    pub asserts: Vec<AssertSite>,
    /// Functions that were never called.
    pub unreached_functions: Vec<NamedPlace>,
    /// A position in each line that has code, none of which was run.
    pub unreached_lines: Vec<SrcId>,
    /// Calls of functions that nobody knows, in code that was not run: it may lie behind what could not be run.
    pub unknown_calls: Vec<NamedPlace>,
}

/// Which threads look at clocks, and for which of them time passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clocks {
    looked: Users,
    moved: Users,
}

/// Threads: none, one, or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Users {
    #[default]
    None,
    One(ThreadId),
    Several,
}

impl Users {
    fn add(&mut self, thread: ThreadId) {
        *self = match *self {
            Self::None => Self::One(thread),
            Self::One(other) if other == thread => *self,
            _ => Self::Several,
        };
    }
}

impl Clocks {
    pub(crate) fn looks(&mut self, thread: ThreadId) {
        self.looked.add(thread);
    }

    pub(crate) fn moves(&mut self, thread: ThreadId) {
        self.moved.add(thread);
    }

    /// Does a thread look at its clock while time passes for another one?
    pub(crate) fn are_several(&self) -> bool {
        match (self.looked, self.moved) {
            (Users::None, _) | (_, Users::None) => false,
            (looked, moved) => looked == Users::Several || looked != moved,
        }
    }
}

/// The first operations with an ordering weaker than `seq_cst` that threads came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeakOrderings {
    /// In the user's code: atomics that it uses itself.
    pub user: Option<SrcId>,
    /// In what libraries do on their own account.
    pub library: Option<SrcId>,
}

impl WeakOrderings {
    /// The one to show.
    #[must_use]
    pub fn first(&self) -> Option<SrcId> {
        self.user.or(self.library)
    }
}

impl Order {
    /// Is it an atomic ordering that allows more than sequential consistency?
    #[must_use]
    pub fn is_weak(self) -> bool {
        !matches!(self, Self::Plain | Self::SeqCst)
    }
}

impl Op {
    /// Has the operation an atomic ordering that allows more than sequential consistency?
    #[must_use]
    pub fn is_weak(&self) -> bool {
        match *self {
            Self::Load { order, .. }
            | Self::Store { order, .. }
            | Self::Rmw { order, .. }
            | Self::Fence { order } => order.is_weak(),
            Self::Cas {
                success, failure, ..
            } => success.is_weak() || failure.is_weak(),
            _ => false,
        }
    }
}
