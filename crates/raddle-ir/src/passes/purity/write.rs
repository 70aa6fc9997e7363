//! Conditions as instructions.

use super::condition::{Atom, Literal};
use super::{Condition, Point, PureLoop};
use crate::constant::Constant;
use crate::ids::{BlockId, TypeId, ValueId};
use crate::inst::{
    ArithFlags, BinaryOp, Block, Body, Inst, InstKind, IntPredicate, Operand, Phi, RmwOp,
};
use crate::module::Module;
use crate::passes::cfg::Cfg;
use crate::passes::dominators::Dominators;
use crate::passes::loops::Loop;
use crate::types::Type;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Code that computes a condition, to be put into a body.
pub(super) struct Insertion {
    pub(super) at: Point,
    pub(super) header: BlockId,
    pub(super) code: Vec<Inst>,
    /// Is the iteration pure?
    pub(super) condition: Operand,
}

fn boolean(module: &mut Module, holds: bool) -> Operand {
    let ty = module.types.intern(Type::Int(1));
    Operand::Const(module.intern_constant(Constant::Int(ty, u128::from(holds))))
}

fn push(body: &mut Body, code: &mut Vec<Inst>, ty: TypeId, kind: InstKind) -> Operand {
    let result = body.new_value(ty);
    code.push(Inst {
        result: Some(result),
        kind,
        loc: None,
    });
    Operand::Value(result)
}

fn binary(
    module: &mut Module,
    body: &mut Body,
    code: &mut Vec<Inst>,
    op: BinaryOp,
    ty: TypeId,
    [lhs, rhs]: [Operand; 2],
) -> Operand {
    debug_assert!(matches!(module.types.get(ty), Type::Int(_)));
    let kind = InstKind::Binary {
        op,
        flags: ArithFlags::default(),
        ty,
        lhs,
        rhs,
    };
    push(body, code, ty, kind)
}

fn negate(module: &mut Module, body: &mut Body, code: &mut Vec<Inst>, bit: Operand) -> Operand {
    let (ty, one) = (module.types.intern(Type::Int(1)), boolean(module, true));
    binary(module, body, code, BinaryOp::Xor, ty, [bit, one])
}

fn compare(
    module: &mut Module,
    body: &mut Body,
    code: &mut Vec<Inst>,
    predicate: IntPredicate,
    ty: TypeId,
    [lhs, rhs]: [Operand; 2],
) -> Operand {
    let bit = module.types.intern(Type::Int(1));
    let kind = InstKind::ICmp {
        predicate,
        ty,
        lhs,
        rhs,
    };
    push(body, code, bit, kind)
}

/// Writes conditions as instructions.
pub(super) struct Writer<'a> {
    pub(super) module: &'a mut Module,
    pub(super) body: &'a mut Body,
    /// As the body was before.
    pub(super) cfg: &'a Cfg,
    pub(super) dominators: &'a Dominators,
    pub(super) insertions: Vec<Insertion>,
}

/// Values of something at the end of each block of a loop, in the current iteration.
type Carried = FxHashMap<BlockId, (Operand, Operand)>;

impl Writer<'_> {
    pub(super) fn conditions(&mut self, natural: &Loop, pure: &PureLoop) {
        let closes_inside = self.closed_inside(natural);
        let mut carried: FxHashMap<ValueId, Carried> = FxHashMap::default();
        for condition in &pure.conditions {
            if condition.saves_accesses {
                self.condition(natural, condition, closes_inside.as_ref(), &mut carried);
            }
        }
    }

    /// "Took internal backedge": per block of the loop, whether the iteration has closed a loop inside before its start.
    fn closed_inside(&mut self, natural: &Loop) -> Option<Carried> {
        let order = |block| self.cfg.order(block);
        let closes = natural.blocks.iter().any(|&block| {
            block != natural.header
                && self
                    .cfg
                    .predecessors(block)
                    .iter()
                    .any(|&from| order(from) >= order(block))
        });
        if !closes {
            return None;
        }
        let (no, yes) = (boolean(self.module, false), boolean(self.module, true));
        let ty = self.module.types.intern(Type::Int(1));
        Some(self.carry(natural, ty, (no, yes), |_| None))
    }

    /// Brings a value that `defines` some blocks of a loop to all of them; `start` is its value at the start of an iteration, and
    /// `closed` behind an edge that closes a loop inside.
    fn carry(
        &mut self,
        natural: &Loop,
        ty: TypeId,
        (start, closed): (Operand, Operand),
        defines: impl Fn(BlockId) -> Option<Operand>,
    ) -> Carried {
        let mut carried = Carried::default();
        for &block in &natural.blocks {
            let before = if block == natural.header {
                start
            } else {
                let incoming: Vec<(BlockId, Operand)> = self
                    .cfg
                    .predecessors(block)
                    .iter()
                    .map(|&from| {
                        let known = carried.get(&from).map_or(closed, |&(_, end)| end);
                        (from, known)
                    })
                    .collect();
                self.merge(block, ty, incoming)
            };
            let after = defines(block).unwrap_or(before);
            carried.insert(block, (before, after));
        }
        carried
    }

    fn merge(&mut self, block: BlockId, ty: TypeId, incoming: Vec<(BlockId, Operand)>) -> Operand {
        let first = incoming[0].1;
        if incoming.iter().all(|&(_, operand)| operand == first) {
            return first;
        }
        let result = self.body.new_value(ty);
        self.body.blocks[block.index()].phis.push(Phi {
            result,
            ty,
            incoming,
        });
        Operand::Value(result)
    }

    fn condition(
        &mut self,
        natural: &Loop,
        condition: &Condition,
        closed_inside: Option<&Carried>,
        carried: &mut FxHashMap<ValueId, Carried>,
    ) {
        let at = condition.at;
        let mut code = Vec::new();
        let mut all: Option<Operand> = None;
        let bit = self.module.types.intern(Type::Int(1));
        for literal in &condition.literals {
            let one = self.literal(natural, at, *literal, &mut code, carried);
            all = Some(self.and(&mut code, bit, all, one));
        }
        if let Some((closed, _)) = closed_inside.and_then(|inside| inside.get(&at.block)) {
            let (module, body) = (&mut *self.module, &mut *self.body);
            if *closed != boolean(module, false) {
                let not = negate(module, body, &mut code, *closed);
                all = Some(self.and(&mut code, bit, all, not));
            }
        }
        let condition = all.unwrap_or_else(|| boolean(self.module, true));
        self.insertions.push(Insertion {
            at,
            header: natural.header,
            code,
            condition,
        });
    }

    fn and(
        &mut self,
        code: &mut Vec<Inst>,
        bit: TypeId,
        all: Option<Operand>,
        one: Operand,
    ) -> Operand {
        match all {
            None => one,
            Some(all) => {
                let (module, body) = (&mut *self.module, &mut *self.body);
                binary(module, body, code, BinaryOp::And, bit, [all, one])
            }
        }
    }

    fn literal(
        &mut self,
        natural: &Loop,
        at: Point,
        literal: Literal,
        code: &mut Vec<Inst>,
        carried: &mut FxHashMap<ValueId, Carried>,
    ) -> Operand {
        let mut here = |writer: &mut Self, operand| writer.here(natural, at, operand, carried);
        let truth = match literal.atom {
            Atom::True(value) => here(self, Operand::Value(value)),
            Atom::Is { ty, value, bits } => {
                let lhs = here(self, Operand::Value(value));
                let rhs = match self.module.types.get(ty) {
                    Type::Ptr => Constant::Null,
                    _ => Constant::Int(ty, bits),
                };
                let rhs = Operand::Const(self.module.intern_constant(rhs));
                self.compare(code, IntPredicate::Eq, ty, [lhs, rhs])
            }
            Atom::Equal { ty, lhs, rhs } => {
                let sides = [here(self, lhs), here(self, rhs)];
                self.compare(code, IntPredicate::Eq, ty, sides)
            }
            Atom::Exchanged(pair) => {
                let aggregate = here(self, Operand::Value(pair));
                let kind = InstKind::ExtractValue {
                    aggregate_ty: self.body.value_types[pair.index()],
                    aggregate,
                    indices: vec![1],
                };
                let bit = self.module.types.intern(Type::Int(1));
                push(self.body, code, bit, kind)
            }
            Atom::Unchanged(old) => {
                let Some((op, ty, value)) = self.update(old) else {
                    return boolean(self.module, false);
                };
                let sides = [here(self, Operand::Value(old)), here(self, value)];
                self.unchanged(code, op, ty, sides)
            }
        };
        if literal.holds {
            truth
        } else {
            negate(self.module, self.body, code, truth)
        }
    }

    fn compare(
        &mut self,
        code: &mut Vec<Inst>,
        predicate: IntPredicate,
        ty: TypeId,
        sides: [Operand; 2],
    ) -> Operand {
        compare(self.module, self.body, code, predicate, ty, sides)
    }

    /// Does a read-modify-write of `old` by `value` give `old`?
    fn unchanged(
        &mut self,
        code: &mut Vec<Inst>,
        op: RmwOp,
        ty: TypeId,
        [old, value]: [Operand; 2],
    ) -> Operand {
        let bits = match op {
            RmwOp::Max => return self.compare(code, IntPredicate::Sge, ty, [old, value]),
            RmwOp::Min => return self.compare(code, IntPredicate::Sle, ty, [old, value]),
            RmwOp::UMax => return self.compare(code, IntPredicate::Uge, ty, [old, value]),
            RmwOp::UMin => return self.compare(code, IntPredicate::Ule, ty, [old, value]),
            RmwOp::Or => BinaryOp::Or,
            RmwOp::And => BinaryOp::And,
            _ => return boolean(self.module, false),
        };
        let new = binary(self.module, self.body, code, bits, ty, [old, value]);
        self.compare(code, IntPredicate::Eq, ty, [old, new])
    }

    fn update(&self, old: ValueId) -> Option<(RmwOp, TypeId, Operand)> {
        let mut insts = self.body.blocks.iter().flat_map(|block| &block.insts);
        let inst = insts.find(|inst| inst.result == Some(old))?;
        match inst.kind {
            InstKind::AtomicRmw { op, ty, value, .. } => Some((op, ty, value)),
            _ => None,
        }
    }

    /// The operand as it is known at a point of the iteration; 0 where the iteration did not define it.
    fn here(
        &mut self,
        natural: &Loop,
        at: Point,
        operand: Operand,
        carried: &mut FxHashMap<ValueId, Carried>,
    ) -> Operand {
        let Operand::Value(value) = operand else {
            return operand;
        };
        let Some(home) = self.home(value) else {
            return operand;
        };
        if self.dominators.dominates(home, at.block) {
            return operand;
        }
        if let Entry::Vacant(unknown) = carried.entry(value) {
            let ty = self.body.value_types[value.index()];
            let zero = match self.module.types.get(ty) {
                Type::Int(_) => Constant::Int(ty, 0),
                Type::Ptr => Constant::Null,
                _ => Constant::Zero(ty),
            };
            let zero = Operand::Const(self.module.intern_constant(zero));
            let everywhere = self.carry(natural, ty, (zero, zero), |block| {
                (block == home).then_some(operand)
            });
            unknown.insert(everywhere);
        }
        // A block that does not define it: what holds at its start holds all through it.
        carried[&value]
            .get(&at.block)
            .map_or(operand, |&(before, _)| before)
    }

    /// The block that defines a register; none for parameters.
    fn home(&self, value: ValueId) -> Option<BlockId> {
        let defines = |block: &Block| {
            block.phis.iter().any(|phi| phi.result == value)
                || block.insts.iter().any(|inst| inst.result == Some(value))
                || block.terminator.result() == Some(value)
        };
        let index = self.body.blocks.iter().position(defines)?;
        Some(BlockId::from_index(index))
    }
}
