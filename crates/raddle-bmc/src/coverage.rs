//! What executions there are at all: an answer about none says nothing.

use raddle_search::Outcome;

/// Does any execution come to its end: every thread that it starts finishes, or the process exits?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    Some,
    /// Threads wait or go round for good, assumptions fail, or the bound cuts every execution short.
    None,
    /// The question was not asked, or given up.
    #[default]
    Unknown,
}

/// What the formulas cover that an answer is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub ends: Ends,
    /// Threads that may be started, with the main thread.
    pub threads: usize,
}

/// An answer, and what it covers.
#[derive(Clone, Debug)]
pub struct Solved {
    pub outcome: Outcome,
    pub coverage: Coverage,
}
