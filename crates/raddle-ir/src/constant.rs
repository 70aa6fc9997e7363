//! Constants, interned per module.

use crate::ids::{ConstId, FuncId, GlobalId, TypeId};
use crate::inst::{BinaryOp, CastOp, FloatPredicate, IntPredicate};

/// A constant. Aliases are resolved to what they stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// The bits, zero-extended; `true` is `Int(i1, 1)`.
    Int(TypeId, u128),
    /// The bits of the value in its own format.
    Float(TypeId, u128),
    Null,
    Undef(TypeId),
    Poison(TypeId),
    Zero(TypeId),
    /// Array, vector or struct elements in order.
    Aggregate(TypeId, Box<[ConstId]>),
    /// `c"..."`, or any array of bytes.
    Bytes(TypeId, Box<[u8]>),
    Global(GlobalId),
    Function(FuncId),
    /// `blockaddress(@f, %bb)`: the block's label; resolved when the function's body is parsed.
    BlockAddress(FuncId, Box<str>),
    Expr(TypeId, ConstantExpr),
    /// Operands such as `metadata ...` that have no value of their own.
    Metadata,
    /// `asm "text", "constraints"` as a callee.
    InlineAsm {
        text: Box<str>,
        constraints: Box<str>,
        side_effect: bool,
    },
    /// `token none`
    NoneToken,
}

/// A constant expression of type given beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConstantExpr {
    Gep {
        source: TypeId,
        base: ConstId,
        indices: Box<[ConstId]>,
    },
    Cast {
        op: CastOp,
        value: ConstId,
    },
    Binary {
        op: BinaryOp,
        lhs: ConstId,
        rhs: ConstId,
    },
    ICmp {
        predicate: IntPredicate,
        lhs: ConstId,
        rhs: ConstId,
    },
    FCmp {
        predicate: FloatPredicate,
        lhs: ConstId,
        rhs: ConstId,
    },
    Select {
        condition: ConstId,
        then: ConstId,
        otherwise: ConstId,
    },
}
