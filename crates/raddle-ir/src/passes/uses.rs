//! What instructions and terminators use, in which role, and what they define.
//!
//! There is one list of operands per kind of instruction, here, and every pass walks it: a pass cannot forget one.

use crate::ids::{TypeId, ValueId};
use crate::inst::{Body, InstKind, Operand, Terminator};

/// What an instruction does with an operand, as far as the flow of addresses goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The memory that is read or written lies at this address.
    Address,
    /// The value is put into memory.
    Written,
    /// The value is compared, and nothing but the outcome is kept.
    Compared,
    /// The result may be, contain or be computed from the value.
    Flows,
    /// The value decides which way to go.
    Control,
    /// The called function.
    Callee,
    /// The argument of that index.
    Argument(usize),
    /// The value leaves the function by `ret` or `resume`.
    Returned,
    /// None of the above; assume nothing.
    Other,
}

macro_rules! call_operands {
    ($call:expr, $iter:ident, $visit:ident) => {{
        let call = $call;
        for (index, arg) in call.args.$iter().enumerate() {
            $visit(Role::Argument(index), arg);
        }
        // `call.callee` is taken by the same kind of reference as the arguments.
        let callee = call_callee!($iter, call);
        $visit(Role::Callee, callee);
    }};
}

macro_rules! call_callee {
    (iter, $call:ident) => {
        &$call.callee
    };
    (iter_mut, $call:ident) => {
        &mut $call.callee
    };
}

/// The one list of operands. It is a macro so that it serves shared and mutable references alike.
macro_rules! inst_operands {
    ($kind:expr, $iter:ident, $visit:ident) => {
        match $kind {
            InstKind::Binary { lhs, rhs, .. } | InstKind::ShuffleVector { lhs, rhs, .. } => {
                $visit(Role::Flows, lhs);
                $visit(Role::Flows, rhs);
            }
            InstKind::FNeg { value, .. }
            | InstKind::Cast { value, .. }
            | InstKind::Freeze { value, .. } => $visit(Role::Flows, value),
            InstKind::ICmp { lhs, rhs, .. } | InstKind::FCmp { lhs, rhs, .. } => {
                $visit(Role::Compared, lhs);
                $visit(Role::Compared, rhs);
            }
            InstKind::Select {
                condition,
                then,
                otherwise,
                ..
            } => {
                $visit(Role::Control, condition);
                $visit(Role::Flows, then);
                $visit(Role::Flows, otherwise);
            }
            InstKind::ExtractValue { aggregate, .. } => $visit(Role::Flows, aggregate),
            InstKind::InsertValue {
                aggregate, value, ..
            } => {
                $visit(Role::Flows, aggregate);
                $visit(Role::Flows, value);
            }
            InstKind::ExtractElement { vector, index, .. } => {
                $visit(Role::Flows, vector);
                $visit(Role::Flows, index);
            }
            InstKind::InsertElement {
                vector,
                value,
                index,
                ..
            } => {
                $visit(Role::Flows, vector);
                $visit(Role::Flows, value);
                $visit(Role::Flows, index);
            }
            InstKind::Alloca { count, .. } => $visit(Role::Other, count),
            InstKind::Load { ptr, .. } => $visit(Role::Address, ptr),
            InstKind::Store { value, ptr, .. } => {
                $visit(Role::Written, value);
                $visit(Role::Address, ptr);
            }
            InstKind::CmpXchg {
                ptr, expected, new, ..
            } => {
                $visit(Role::Address, ptr);
                $visit(Role::Compared, expected);
                $visit(Role::Written, new);
            }
            InstKind::AtomicRmw { ptr, value, .. } => {
                $visit(Role::Address, ptr);
                $visit(Role::Written, value);
            }
            InstKind::Gep { base, indices, .. } => {
                $visit(Role::Flows, base);
                for (_, index) in indices.$iter() {
                    $visit(Role::Flows, index);
                }
            }
            InstKind::Call(call) => call_operands!(call, $iter, $visit),
            InstKind::VaArg { list, .. } => $visit(Role::Other, list),
            InstKind::Fence { .. } | InstKind::LandingPad { .. } | InstKind::Other { .. } => {}
        }
    };
}

macro_rules! terminator_operands {
    ($terminator:expr, $iter:ident, $visit:ident) => {
        match $terminator {
            Terminator::Ret { value, .. } => {
                if let Some(value) = value {
                    $visit(Role::Returned, value);
                }
            }
            Terminator::CondBr { condition, .. } => $visit(Role::Control, condition),
            Terminator::Switch { value, .. } => $visit(Role::Control, value),
            Terminator::IndirectBr { address, .. } => $visit(Role::Control, address),
            Terminator::Invoke { call, .. } => call_operands!(call, $iter, $visit),
            Terminator::Resume { value } => $visit(Role::Returned, value),
            Terminator::Br { .. } | Terminator::Unreachable | Terminator::Other { .. } => {}
        }
    };
}

impl InstKind {
    /// Calls `visit` with every operand and the role it plays.
    pub fn visit_operands(&self, mut visit: impl FnMut(Role, &Operand)) {
        inst_operands!(self, iter, visit);
    }

    /// As [`Self::visit_operands`], to change them.
    pub fn visit_operands_mut(&mut self, mut visit: impl FnMut(Role, &mut Operand)) {
        inst_operands!(self, iter_mut, visit);
    }
}

impl Terminator {
    /// Calls `visit` with every operand and the role it plays.
    pub fn visit_operands(&self, mut visit: impl FnMut(Role, &Operand)) {
        terminator_operands!(self, iter, visit);
    }

    /// As [`Self::visit_operands`], to change them.
    pub fn visit_operands_mut(&mut self, mut visit: impl FnMut(Role, &mut Operand)) {
        terminator_operands!(self, iter_mut, visit);
    }

    /// The value that the terminator defines: the result of an `invoke`.
    #[must_use]
    pub fn result(&self) -> Option<ValueId> {
        match self {
            Self::Invoke { result, .. } => *result,
            _ => None,
        }
    }
}

impl Operand {
    /// The value, if it is not a constant.
    #[inline]
    #[must_use]
    pub fn value(self) -> Option<ValueId> {
        match self {
            Self::Value(value) => Some(value),
            Self::Const(_) => None,
        }
    }
}

/// Calls `visit` with every operand of `body`, to change them. Labels of φ-operands are not operands.
pub fn visit_body_operands_mut(body: &mut Body, mut visit: impl FnMut(&mut Operand)) {
    for block in &mut body.blocks {
        for phi in &mut block.phis {
            for (_, operand) in &mut phi.incoming {
                visit(operand);
            }
        }
        for inst in &mut block.insts {
            inst.kind.visit_operands_mut(|_, operand| visit(operand));
        }
        block
            .terminator
            .visit_operands_mut(|_, operand| visit(operand));
    }
}

/// The type of what an instruction accesses through its address, if it accesses memory itself (calls do not count).
#[must_use]
pub fn accessed_type(kind: &InstKind) -> Option<TypeId> {
    match kind {
        InstKind::Load { ty, .. }
        | InstKind::Store { ty, .. }
        | InstKind::CmpXchg { ty, .. }
        | InstKind::AtomicRmw { ty, .. } => Some(*ty),
        _ => None,
    }
}
