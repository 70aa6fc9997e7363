//! Casts between scalar types of one size, as a store of one type and a load of another would do.

use crate::ids::{DebugLocId, TypeId};
use crate::inst::{Body, CastOp, Inst, InstKind, Operand};
use crate::module::Module;
use crate::types::{FloatKind, Type};

/// Bits of the formats whose every bit is part of the value.
pub(super) fn float_bits(kind: FloatKind) -> Option<u32> {
    match kind {
        FloatKind::Half | FloatKind::BFloat => Some(16),
        FloatKind::Float => Some(32),
        FloatKind::Double => Some(64),
        FloatKind::Fp128 => Some(128),
        FloatKind::X86Fp80 | FloatKind::PpcFp128 => None,
    }
}

/// Appends to `code` what turns `value` of type `from` into the same bits of type `to`, and returns that.
pub(super) fn cast(
    module: &mut Module,
    body: &mut Body,
    code: &mut Vec<Inst>,
    loc: Option<DebugLocId>,
    value: Operand,
    (from, to): (TypeId, TypeId),
) -> Operand {
    if from == to {
        return value;
    }
    let is_int = |ty| matches!(module.types.get(ty), Type::Int(_));
    let is_ptr = |ty| *module.types.get(ty) == Type::Ptr;
    let steps = if is_ptr(from) {
        // There is no cast between pointers and floats but through an integer.
        let int = module
            .types
            .intern(Type::Int(module.types.layout.pointer_bits()));
        vec![(CastOp::PtrToInt, int), (CastOp::Bitcast, to)]
    } else if is_ptr(to) {
        let int = if is_int(from) {
            from
        } else {
            module
                .types
                .intern(Type::Int(module.types.layout.pointer_bits()))
        };
        vec![(CastOp::Bitcast, int), (CastOp::IntToPtr, to)]
    } else {
        vec![(CastOp::Bitcast, to)]
    };
    let (mut value, mut from) = (value, from);
    for (op, to) in steps {
        if from == to {
            continue;
        }
        let result = body.new_value(to);
        code.push(Inst {
            result: Some(result),
            kind: InstKind::Cast {
                op,
                from,
                to,
                value,
            },
            loc,
        });
        (value, from) = (Operand::Value(result), to);
    }
    value
}
