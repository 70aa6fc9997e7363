//! Which loops end by themselves: only the others are cut by a bound.

use super::arith;
use crate::tables::is_library_file;
use raddle_ir::inst::{BinaryOp, IntPredicate};
use raddle_ir::passes::{Cfg, Dominators, Loop, Loops};
use raddle_ir::{
    BlockId, Body, ConstId, Constant, FuncId, InstKind, Module, Operand, Terminator, Type, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The edges that close loops which are not known to end, and where they lead.
#[derive(Debug, Default)]
pub(crate) struct Unbounded {
    pub(crate) headers: FxHashSet<BlockId>,
    pub(crate) back_edges: FxHashSet<(BlockId, BlockId)>,
    /// The blocks of those that have a header, by it.
    blocks: FxHashMap<BlockId, FxHashSet<BlockId>>,
    /// The headers of those that users did not write.
    library: FxHashSet<BlockId>,
}

impl Unbounded {
    pub(crate) fn new(module: &Module, function: FuncId, body: &Body) -> Self {
        let cfg = Cfg::new(body);
        let dominators = Dominators::new(&cfg);
        let loops = Loops::new(&cfg, &dominators);
        let counting = Counting { module, body };
        let mut unbounded = Self::default();
        for (_, natural) in loops.iter() {
            if !counting.counts(natural, &dominators) {
                let header = natural.header;
                unbounded.headers.insert(header);
                let edges = natural.latches.iter().map(|&latch| (latch, header));
                unbounded.back_edges.extend(edges);
                let blocks = natural.blocks.iter().copied().collect();
                unbounded.blocks.insert(header, blocks);
            }
        }
        for &(from, to) in loops.irreducible_edges() {
            unbounded.blocks.remove(&to);
            unbounded.headers.insert(to);
            unbounded.back_edges.insert((from, to));
        }
        let headers = unbounded.headers.iter().copied();
        unbounded.library = headers
            .filter(|&header| is_library(module, function, body, header))
            .collect();
        unbounded
    }

    /// Is the loop with this header part of a library?
    pub(crate) fn is_library(&self, header: BlockId) -> bool {
        self.library.contains(&header)
    }

    /// Is a loop still run when `block` is entered? Of a cycle without header that is not known.
    pub(crate) fn stays(&self, header: BlockId, block: BlockId) -> bool {
        let blocks = self.blocks.get(&header);
        blocks.is_none_or(|blocks| blocks.contains(&block))
    }
}

/// Did users not write the block? It is known by the position of its end, or else of its instructions, or of the function.
/// Without any position everything is the user's.
fn is_library(module: &Module, function: FuncId, body: &Body, block: BlockId) -> bool {
    let block = &body.blocks[block.index()];
    let locs = block.insts.iter().rev().map(|inst| inst.loc);
    let own = std::iter::once(block.terminator_loc)
        .chain(locs)
        .flatten()
        .filter_map(|loc| module.debug.locs.get(loc.index()))
        .find(|loc| loc.line != 0);
    let at = own.or(module.function(function).defined_at.as_ref());
    at.is_some_and(|at| is_library_file(&at.file))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

struct Counting<'a> {
    module: &'a Module,
    body: &'a Body,
}

impl Counting<'_> {
    /// Is the number of iterations bounded by a comparison of a counter with a constant, made in every iteration?
    fn counts(&self, natural: &Loop, dominators: &Dominators) -> bool {
        natural.exits.iter().any(|&(block, outside)| {
            let mut latches = natural.latches.iter();
            latches.all(|&latch| dominators.dominates(block, latch))
                && self.ends_by_counting(natural, block, outside)
        })
    }

    fn ends_by_counting(&self, natural: &Loop, block: BlockId, outside: BlockId) -> bool {
        let Terminator::CondBr {
            condition: Operand::Value(condition),
            then,
            ..
        } = &self.body.blocks[block.index()].terminator
        else {
            return false;
        };
        let Some(InstKind::ICmp {
            predicate,
            lhs: Operand::Value(counter),
            rhs: Operand::Const(_),
            ..
        }) = self.definition(*condition)
        else {
            return false;
        };
        let Some(direction) = self.direction(natural, *counter) else {
            return false;
        };
        let goes_on = if *then == outside {
            negated(*predicate)
        } else {
            *predicate
        };
        match goes_on {
            IntPredicate::Slt | IntPredicate::Sle | IntPredicate::Ult | IntPredicate::Ule => {
                direction == Direction::Up
            }
            IntPredicate::Sgt | IntPredicate::Sge | IntPredicate::Ugt | IntPredicate::Uge => {
                direction == Direction::Down
            }
            // Written for counting one by one to a number nearby.
            IntPredicate::Ne => true,
            IntPredicate::Eq => false,
        }
    }

    fn definition(&self, value: ValueId) -> Option<&InstKind> {
        let mut insts = self.body.blocks.iter().flat_map(|block| &block.insts);
        insts
            .find(|inst| inst.result == Some(value))
            .map(|inst| &inst.kind)
    }

    /// Which way a counter goes in every iteration: it is a φ of the header that a constant is added to, or that sum.
    fn direction(&self, natural: &Loop, counter: ValueId) -> Option<Direction> {
        let header = &self.body.blocks[natural.header.index()];
        header.phis.iter().find_map(|phi| {
            let mut direction = None;
            for (from, operand) in &phi.incoming {
                if !natural.contains(*from) {
                    continue;
                }
                let Operand::Value(next) = *operand else {
                    return None;
                };
                let here = self.added(next, phi.result)?;
                let is_counter = counter == phi.result || counter == next;
                if !is_counter || direction.is_some_and(|known| known != here) {
                    return None;
                }
                direction = Some(here);
            }
            direction
        })
    }

    /// The direction of `next = base ± constant`.
    fn added(&self, next: ValueId, base: ValueId) -> Option<Direction> {
        let InstKind::Binary {
            op: op @ (BinaryOp::Add | BinaryOp::Sub),
            lhs: Operand::Value(lhs),
            rhs: Operand::Const(step),
            ..
        } = self.definition(next)?
        else {
            return None;
        };
        let step = self
            .signed(*step)
            .filter(|&step| *lhs == base && step != 0)?;
        Some(if (step > 0) == (*op == BinaryOp::Add) {
            Direction::Up
        } else {
            Direction::Down
        })
    }

    fn signed(&self, id: ConstId) -> Option<i128> {
        let Constant::Int(ty, bits) = self.module.constant(id) else {
            return None;
        };
        match self.module.types.get(*ty) {
            Type::Int(width @ 1..=128) => Some(arith::signed(*bits, *width)),
            _ => None,
        }
    }
}

fn negated(predicate: IntPredicate) -> IntPredicate {
    match predicate {
        IntPredicate::Eq => IntPredicate::Ne,
        IntPredicate::Ne => IntPredicate::Eq,
        IntPredicate::Ugt => IntPredicate::Ule,
        IntPredicate::Uge => IntPredicate::Ult,
        IntPredicate::Ult => IntPredicate::Uge,
        IntPredicate::Ule => IntPredicate::Ugt,
        IntPredicate::Sgt => IntPredicate::Sle,
        IntPredicate::Sge => IntPredicate::Slt,
        IntPredicate::Slt => IntPredicate::Sge,
        IntPredicate::Sle => IntPredicate::Sgt,
    }
}
