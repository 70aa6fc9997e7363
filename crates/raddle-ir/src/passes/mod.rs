//! Analyses and transformations of function bodies.
//!
//! [`prepare`] is what a body goes through once after parsing; the analyses work on prepared bodies. Nothing here knows
//! about threads: what may be *seen* by another thread is decided by [`escape`], from the flow of addresses alone.

pub mod bitset;
pub mod cfg;
pub mod cleanup;
pub mod counters;
pub mod dominators;
pub mod escape;
pub mod intrinsics;
pub mod liveness;
pub mod loops;
pub mod print;
pub mod promote;
pub mod purity;
pub mod spins;
pub mod stack;
pub mod uses;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use bitset::BitSet;
pub use cfg::Cfg;
pub use dominators::Dominators;
pub use escape::{EscapeInfo, Escapes};
pub use liveness::{Checkpoints, LivePoints, Liveness};
pub use loops::{Loop, LoopId, Loops};
pub use promote::Unwritten;
pub use stack::{Dead, StackLiveness};

use crate::ids::FuncId;
use crate::inst::Body;
use crate::module::Module;

/// Hands out (prepared) bodies, parsed when they are first asked for.
pub trait BodyProvider {
    /// The body of `function`, the same at every call; `None` if it has none, or if it is not to be looked into because
    /// something else stands for it.
    fn body(&mut self, module: &mut Module, function: FuncId) -> Option<&Body>;
}

/// Brings a parsed body into the form that everything else works on: no unreachable blocks, private variables as SSA
/// values, no registers that nobody reads, values numbered without gaps.
///
/// Accesses to memory that is not private to the function all stay, in their order, whether their results are used or not.
#[must_use]
pub fn prepare(module: &mut Module, body: Body) -> Body {
    prepare_with(module, body, Unwritten::Undefined)
}

/// The same; and what becomes of variables that may be read before they are written.
#[must_use]
pub fn prepare_with(module: &mut Module, mut body: Body, unwritten: Unwritten) -> Body {
    cfg::remove_unreachable(&mut body);
    simplify(module, &mut body);
    // Promoting a variable that held an address may show another variable to be private. Every round that changes
    // something removes instructions for good, so this ends.
    while promote::promote(module, &mut body, unwritten) {
        simplify(module, &mut body);
    }
    cleanup::compact_values(module, &mut body);
    body
}

fn simplify(module: &mut Module, body: &mut Body) {
    while cleanup::remove_trivial_phis(module, body) || cleanup::remove_dead(module, body) {}
}
