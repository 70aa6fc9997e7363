//! What executions there are at all: an answer about none says nothing.

/// Does any execution come to its end: every thread that it starts finishes, the process exits, or a fault ends it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Some,
    /// Threads wait or go round for good, assumptions fail, or the bound cuts every execution short.
    None,
    /// Some formula was too hard to tell.
    Unknown,
}
