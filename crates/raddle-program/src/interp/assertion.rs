//! What a failed assertion compared.
//!
//! `assert(a == b)` is a comparison, a branch on it, and a call of `__assert_fail` in a block of its own. By the time of the
//! call both sides are still in registers: that is where the values of a report come from. Where the code looks different
//! (a function that returns a truth value, comparisons before an access to memory) nothing is said.

use super::code::Code;
use super::exec::{Scalar, scalar_of};
use super::machine::Machine;
use crate::fault::{ComparedAs, Comparison};
use raddle_ir::inst::{BinaryOp, Block, CastOp, FloatPredicate, IntPredicate};
use raddle_ir::{Constant, InstKind, Operand, Terminator, TypeId, ValueId};

/// The functions that a failing assertion calls.
pub(crate) fn is_assertion(function: &str) -> bool {
    matches!(function, "__assert_fail" | "__assert" | "__assert_rtn")
}

/// One comparison of the code.
struct Compare {
    ty: TypeId,
    left: Operand,
    /// None where a value is compared with zero because it is a truth value.
    right: Option<Operand>,
    signed: Option<bool>,
}

impl Machine<'_> {
    /// The comparison that led to the present block, and its values.
    pub(crate) fn comparison(&mut self, code: &Code) -> Option<Comparison> {
        let frame = self.frame();
        let (here, from) = (frame.block, frame.came_from?);
        let block = &code.body.blocks[from as usize];
        let Terminator::CondBr {
            condition: Operand::Value(condition),
            ..
        } = block.terminator
        else {
            return None;
        };
        let compare = self.find(block, condition)?;
        // `a && b` comes here from either side: which one tells the part of the text that is false.
        let leads_here = |block: &Block| {
            let successors = block.terminator.successors();
            successors.iter().any(|target| target.0 == here)
        };
        let parts: Vec<u32> = (0..)
            .zip(&code.body.blocks)
            .filter(|(_, block)| leads_here(block))
            .map(|(index, _)| index)
            .collect();
        let part = parts.iter().position(|&part| part == from)? as u32;
        let kind = self.compared_as(compare.ty, compare.signed)?;
        let left = self.scalar(code, compare.left).ok()?;
        let right = match compare.right {
            Some(right) => Some(self.scalar(code, right).ok()?),
            None => None,
        };
        Some(Comparison {
            left,
            right,
            kind,
            part,
            parts: parts.len() as u32,
        })
    }

    fn compared_as(&self, ty: TypeId, signed: Option<bool>) -> Option<ComparedAs> {
        Some(match scalar_of(&self.world.module.types, ty)? {
            Scalar::Int(bits) if bits <= 64 => ComparedAs::Integer {
                bits: bits as u8,
                signed,
            },
            Scalar::Ptr => ComparedAs::Pointer,
            Scalar::Float(raddle_ir::FloatKind::Float) => ComparedAs::Float,
            Scalar::Float(raddle_ir::FloatKind::Double) => ComparedAs::Double,
            Scalar::Int(_) | Scalar::Float(_) => return None,
        })
    }

    /// The comparison behind a condition, through the conversions that compilers put between.
    fn find(&self, block: &Block, condition: ValueId) -> Option<Compare> {
        let index = block
            .insts
            .iter()
            .position(|inst| inst.result == Some(condition))?;
        // Registers that nobody reads any more do not survive an operation.
        let plain = |kind: &InstKind| {
            matches!(
                kind,
                InstKind::Cast { .. }
                    | InstKind::Binary { .. }
                    | InstKind::ICmp { .. }
                    | InstKind::FCmp { .. }
                    | InstKind::Freeze { .. }
            )
        };
        if !block.insts[index + 1..]
            .iter()
            .all(|inst| plain(&inst.kind))
        {
            return None;
        }
        let inner = |operand: Operand| match operand {
            Operand::Value(value) => self.find(block, value),
            Operand::Const(_) => None,
        };
        match block.insts[index].kind {
            InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let against_zero = predicate == IntPredicate::Ne && self.is_zero(rhs);
                if against_zero && let Some(inner) = inner(lhs) {
                    return Some(inner);
                }
                Some(Compare {
                    ty,
                    left: lhs,
                    right: (!against_zero).then_some(rhs),
                    signed: sign(predicate),
                })
            }
            InstKind::FCmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let against_zero = predicate == FloatPredicate::Une && self.is_zero(rhs);
                Some(Compare {
                    ty,
                    left: lhs,
                    right: (!against_zero).then_some(rhs),
                    signed: None,
                })
            }
            InstKind::Cast {
                op: CastOp::Trunc,
                from,
                value,
                ..
            } => inner(value).or(Some(Compare {
                ty: from,
                left: value,
                right: None,
                signed: Some(false),
            })),
            InstKind::Cast {
                op: CastOp::ZExt,
                value,
                ..
            } => inner(value),
            // Exclusive or with true: `!`.
            InstKind::Binary {
                op: BinaryOp::Xor,
                lhs,
                rhs: Operand::Const(_),
                ..
            } => inner(lhs),
            _ => None,
        }
    }

    fn is_zero(&self, operand: Operand) -> bool {
        let Operand::Const(id) = operand else {
            return false;
        };
        matches!(
            self.world.module.constant(id),
            Constant::Int(_, 0) | Constant::Float(_, 0) | Constant::Null | Constant::Zero(_)
        )
    }
}

fn sign(predicate: IntPredicate) -> Option<bool> {
    use IntPredicate as P;
    match predicate {
        P::Eq | P::Ne => None,
        P::Ugt | P::Uge | P::Ult | P::Ule => Some(false),
        P::Sgt | P::Sge | P::Slt | P::Sle => Some(true),
    }
}
