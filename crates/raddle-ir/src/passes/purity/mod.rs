//! Partial loop purity: when does an iteration of a loop come to nothing?
//!
//! Section III of *Awaiting for Godot* (Jonsson, Lång, Sagonas, FMCAD 2022). An iteration of a loop is *pure* if it starts and ends
//! at the header, changes no memory, changes no register that is read after it, and closes no loop inside. Taking a pure iteration
//! out of an execution leaves everything else as it was, so executions need not have any: theorem 1 of the paper.
//!
//! - `condition`: conditions on registers, in disjunctive normal form.
//! - `atomics`: variables that no data race can be about.
//! - `effects`: what a single instruction does: when it is without effect, whether a run may stop at it.
//! - `analyse`: forward purity conditions, propagated backwards from the back edges, and where each is known for the first time.
//! - `eliminate`: the program in which pure iterations end early; `write` makes instructions of conditions.
//!
//! How it maps to the paper: a [`Condition`] is one disjunct `c_i` of the purity condition at the header. It is found by walking
//! backwards (`FPC(s•)` to `FPC(•s)`, edges, blocks) and is known at [`Condition::at`], which is the point behind the last
//! definition of a register in it, and behind the last instruction on its way that a run may stop at (the paper's "earliest
//! insertion point"). Iterations that closed a loop inside are excluded by a flag that φ-nodes compute.
//!
//! Differences:
//!
//! 1. A φ-node of the header whose value on the back edge is another *register* does not make the edge impure: that both hold
//!    the same value becomes part of the condition.
//! 2. The paper guards against accesses that may be invalid. Divisions, signed overflow and accesses that may be in a data race
//!    are such places too: an iteration is cut only behind them, so that what would be reported there still is.
//! 3. Conditions that have become too large are dropped, which loses pure iterations, never others.
//!
//! All this is about one thread's code. It holds under sequential consistency and where stores are buffered: fences and failed
//! compare-exchanges in a pure iteration empty the buffer, which it may do by itself at any time.

mod analyse;
mod atomics;
mod condition;
mod effects;
mod eliminate;
mod write;

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;

pub use analyse::analyse;
pub use atomics::{AtomicGlobals, may_matter};
pub use condition::{Atom, Literal};
pub use effects::{CallEffect, Surroundings, known_call};
pub use eliminate::eliminate;

use crate::ids::BlockId;

/// A place in a body: before the instruction `index` of `block`; the terminator comes behind the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    pub block: BlockId,
    pub index: usize,
}

/// When an iteration of a loop is pure: if all literals hold, unless the iteration closed a loop inside. Registers that an iteration did not
/// assign may be taken to hold anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub literals: Vec<Literal>,
    /// Where this is known, and nothing that a run may stop at is left in the iteration.
    pub at: Point,
    /// Is there an access of memory in the iteration behind [`Self::at`]? Otherwise nothing is gained by cutting it there.
    pub saves_accesses: bool,
}

/// A loop with pure iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PureLoop {
    pub header: BlockId,
    /// At least one of them holds in every iteration that was found to be pure.
    pub conditions: Vec<Condition>,
}
