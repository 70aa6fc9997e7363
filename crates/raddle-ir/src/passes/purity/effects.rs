//! What single instructions do: under which condition they are without effect, and whether a run may stop at them.

use super::atomics::AtomicGlobals;
use super::condition::{Atom, Literal, Literals, Truth};
use crate::constant::{Constant, ConstantExpr};
use crate::ids::{ConstId, TypeId};
use crate::inst::{BinaryOp, Call, Inst, InstKind, Operand, RmwOp};
use crate::module::Module;
use crate::passes::intrinsics::{Intrinsic, called_function, intrinsic};
use crate::types::Type;

/// What a call does, as far as purity is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEffect {
    /// It returns, and nothing happened; the same result every time.
    Nothing,
    /// Nothing happens, but a run may stop there (a failed assumption, say).
    MayStop,
    /// Anything.
    Unknown,
}

/// What is known of calls without any knowledge of libraries: LLVM's own functions.
#[must_use]
pub fn known_call(module: &Module, call: &Call) -> CallEffect {
    match intrinsic(module, call) {
        Intrinsic::Debug | Intrinsic::Pure => CallEffect::Nothing,
        _ => match called_function(module, call.callee) {
            Some(id) if &*module.function(id).name == super::ASSUME => CallEffect::MayStop,
            _ => CallEffect::Unknown,
        },
    }
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// When it changes nothing.
    pub(super) nothing_if: Truth,
    /// May a run stop there, or something be reported?
    pub(super) may_stop: bool,
    pub(super) accesses: bool,
}

const NOTHING: Effect = Effect {
    nothing_if: Truth::Always,
    may_stop: false,
    accesses: false,
};

const ANYTHING: Effect = Effect {
    nothing_if: Truth::Never,
    may_stop: true,
    accesses: true,
};

/// What must be known besides a body.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// What calls do; [`known_call`] knows nothing of libraries.
    pub calls: &'a dyn Fn(&Module, &Call) -> CallEffect,
    pub atomics: &'a AtomicGlobals,
}

pub(super) struct Effects<'a> {
    pub(super) literals: &'a Literals<'a>,
    pub(super) around: Surroundings<'a>,
}

impl Effects<'_> {
    /// The condition `g` of the paper, and the guard against segmentation faults.
    pub(super) fn of(&self, inst: &Inst) -> Effect {
        match &inst.kind {
            InstKind::Binary { op, flags, rhs, .. } => Effect {
                may_stop: flags.nsw || self.may_trap(*op, *rhs),
                ..NOTHING
            },
            InstKind::FNeg { .. }
            | InstKind::Cast { .. }
            | InstKind::ICmp { .. }
            | InstKind::FCmp { .. }
            | InstKind::Select { .. }
            | InstKind::Freeze { .. }
            | InstKind::ExtractValue { .. }
            | InstKind::InsertValue { .. }
            | InstKind::ExtractElement { .. }
            | InstKind::InsertElement { .. }
            | InstKind::ShuffleVector { .. }
            | InstKind::Gep { .. } => NOTHING,
            // Fences count as accesses: leaving one out spares an event too.
            InstKind::Fence { .. } => Effect {
                accesses: true,
                ..NOTHING
            },
            InstKind::Load {
                ty, ptr, atomic, ..
            } => Effect {
                nothing_if: Truth::Always,
                may_stop: atomic.is_none() || !self.is_valid(*ty, *ptr),
                accesses: true,
            },
            InstKind::CmpXchg { ty, ptr, .. } => Effect {
                nothing_if: inst.result.map_or(Truth::Never, |pair| {
                    Truth::If(Literal {
                        atom: Atom::Exchanged(pair),
                        holds: false,
                    })
                }),
                may_stop: !self.is_valid(*ty, *ptr),
                accesses: true,
            },
            InstKind::AtomicRmw {
                op, ty, ptr, value, ..
            } => Effect {
                nothing_if: self.leaves_memory(*op, *ty, *value, inst),
                may_stop: !self.is_valid(*ty, *ptr),
                accesses: true,
            },
            InstKind::Call(call) => match (self.around.calls)(self.literals.module, call) {
                CallEffect::Nothing => NOTHING,
                CallEffect::MayStop => Effect {
                    may_stop: true,
                    ..NOTHING
                },
                CallEffect::Unknown => ANYTHING,
            },
            InstKind::Store { .. }
            | InstKind::Alloca { .. }
            | InstKind::VaArg { .. }
            | InstKind::LandingPad { .. }
            | InstKind::Other { .. } => ANYTHING,
        }
    }

    /// When a read-modify-write writes what was there.
    fn leaves_memory(&self, op: RmwOp, ty: TypeId, value: Operand, inst: &Inst) -> Truth {
        let Some(old) = inst.result else {
            return Truth::Never;
        };
        let literals = self.literals;
        match op {
            RmwOp::Xchg => literals.equal(ty, Operand::Value(old), value),
            RmwOp::Add | RmwOp::Sub | RmwOp::Xor => literals.is(ty, value, 0),
            RmwOp::Or | RmwOp::And | RmwOp::Max | RmwOp::Min | RmwOp::UMax | RmwOp::UMin => {
                unchanged(literals, ty, old)
            }
            _ => Truth::Never,
        }
    }

    fn may_trap(&self, op: BinaryOp, divisor: Operand) -> bool {
        match op {
            BinaryOp::UDiv | BinaryOp::URem => {
                self.literals.constant(divisor).is_none_or(|bits| bits == 0)
            }
            // -1 overflows with the smallest dividend: only small positive divisors are taken to be safe.
            BinaryOp::SDiv | BinaryOp::SRem => self
                .literals
                .constant(divisor)
                .is_none_or(|bits| bits == 0 || bits > 63),
            _ => false,
        }
    }

    /// Is nothing to be reported of an atomic access there? Only variables that live as long as the program are known to be there
    /// at any time, and only those that are never accessed otherwise are known not to be raced for.
    fn is_valid(&self, ty: TypeId, ptr: Operand) -> bool {
        let module = self.literals.module;
        let Ok(size) = module.types.store_size(ty) else {
            return false;
        };
        let Some((global, offset)) = self.place(ptr) else {
            return false;
        };
        if !self.around.atomics.contains(global) {
            return false;
        }
        let global = module.global(global);
        let Ok(room) = module.types.alloc_size(global.ty) else {
            return false;
        };
        let natural = module.types.align(global.ty).unwrap_or(1);
        global.initializer.is_some()
            && offset.checked_add(size).is_some_and(|end| end <= room)
            && size.is_power_of_two()
            && offset.is_multiple_of(size)
            && global.align.max(natural).is_multiple_of(size)
    }

    /// The variable and the offset in it that an address is made of.
    fn place(&self, ptr: Operand) -> Option<(crate::ids::GlobalId, u64)> {
        let module = self.literals.module;
        match ptr {
            Operand::Const(id) => constant_place(module, id),
            Operand::Value(value) => {
                let kind = &self.literals.definitions[value.index()]?.kind;
                let InstKind::Gep {
                    source,
                    base,
                    indices,
                    ..
                } = kind
                else {
                    return None;
                };
                let (global, start) = self.place(*base)?;
                let steps: Option<Vec<u128>> = indices
                    .iter()
                    .map(|&(_, index)| self.literals.constant(index))
                    .collect();
                Some((
                    global,
                    start.checked_add(offset(module, *source, &steps?)?)?,
                ))
            }
        }
    }
}

fn unchanged(literals: &Literals<'_>, ty: TypeId, old: crate::ids::ValueId) -> Truth {
    if !matches!(literals.module.types.get(ty), Type::Int(1..=128)) {
        return Truth::Never;
    }
    Truth::If(Literal {
        atom: Atom::Unchanged(old),
        holds: true,
    })
}

fn constant_place(module: &Module, id: ConstId) -> Option<(crate::ids::GlobalId, u64)> {
    match module.constant(id) {
        Constant::Global(global) if !module.global(*global).thread_local => Some((*global, 0)),
        Constant::Expr(
            _,
            ConstantExpr::Gep {
                source,
                base,
                indices,
            },
        ) => {
            let (global, start) = constant_place(module, *base)?;
            let steps: Option<Vec<u128>> = indices
                .iter()
                .map(|&index| match module.constant(index) {
                    Constant::Int(_, bits) => Some(*bits),
                    _ => None,
                })
                .collect();
            Some((
                global,
                start.checked_add(offset(module, *source, &steps?)?)?,
            ))
        }
        _ => None,
    }
}

/// How far constant indices lead. Negative ones are huge here, and lead nowhere.
fn offset(module: &Module, source: TypeId, steps: &[u128]) -> Option<u64> {
    let types = &module.types;
    let mut ty = source;
    let mut at = 0u64;
    let scaled = |ty, step: u128| {
        let size = types.alloc_size(ty).ok()?;
        u64::try_from(step).ok()?.checked_mul(size)
    };
    for (position, &step) in steps.iter().enumerate() {
        if position == 0 {
            at = at.checked_add(scaled(ty, step)?)?;
            continue;
        }
        match types.get(ty) {
            Type::Array { element, .. } => {
                ty = *element;
                at = at.checked_add(scaled(ty, step)?)?;
            }
            Type::Struct { fields, .. } => {
                let field = usize::try_from(step).ok()?;
                let layout = types.struct_layout(ty).ok()?;
                at = at.checked_add(*layout.offsets.get(field)?)?;
                ty = *fields.get(field)?;
            }
            _ => return None,
        }
    }
    Some(at)
}
