//! Promotion of private stack variables to SSA values.
//!
//! Front ends put every local variable into memory. One whose address is not used for anything but loading and storing
//! it is invisible to other threads, and as an SSA value it costs no memory, no event, and nothing at all once it is dead.
//! Structs and arrays are promoted piece by piece.

mod casts;
mod collect;
mod names;
mod rename;
mod slots;
mod unwritten;

pub(crate) use collect::{constant_int, gep_offset};
pub(crate) use rename::Replacements;

use crate::ids::BlockId;
use crate::inst::Body;
use crate::module::Module;
use crate::passes::cfg::Cfg;

/// What becomes of variables that may be read before they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unwritten {
    /// They are promoted, too: what nobody has written is `undef`.
    #[default]
    Undefined,
    /// They stay in memory.
    InMemory,
}

/// Promotes what can be promoted in one round; true if anything changed. Allocas that are no longer needed, and address
/// computations on them, are left to the clean-up.
///
/// A further round may find more: the address of one variable may have been in another. The body must be without
/// unreachable blocks.
pub fn promote(module: &mut Module, body: &mut Body, unwritten: Unwritten) -> bool {
    let cfg = Cfg::new(body);
    // A φ-node in an entry block that is jumped to has no operand for the call of the function. LLVM forbids such blocks.
    if body.blocks.is_empty() || !cfg.predecessors(BlockId(0)).is_empty() {
        return false;
    }
    let plan = slots::plan(module, body, &cfg, unwritten);
    if plan.is_empty() {
        return false;
    }
    rename::rename(module, body, &cfg, plan);
    true
}

#[cfg(test)]
mod tests;
