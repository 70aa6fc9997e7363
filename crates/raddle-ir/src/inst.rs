//! Instructions, blocks and function bodies.

use crate::debug::DebugVariable;
use crate::ids::{BlockId, ConstId, DebugLocId, TypeId, ValueId};

/// What an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    Value(ValueId),
    Const(ConstId),
}

/// Binary operators on integers, floats and vectors of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// `nuw`, `nsw`, `exact` and the newer flags that make a result poison. Fast-math flags are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ArithFlags {
    pub nuw: bool,
    pub nsw: bool,
    pub exact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    /// Also `ptrtoaddr`.
    PtrToInt,
    IntToPtr,
    Bitcast,
    AddrSpaceCast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntPredicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatPredicate {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    True,
}

/// Atomic orderings as LLVM has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOrdering {
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// `syncscope("singlethread")` orders against signal handlers of the same thread only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SyncScope {
    #[default]
    System,
    SingleThread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
    UIncWrap,
    UDecWrap,
    USubCond,
    USubSat,
    FMaximum,
    FMinimum,
}

/// What a landing pad takes exceptions for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// Exceptions of a type: the address of its description, or null for all.
    Catch(ConstId),
    /// Exceptions of other types than those in this array.
    Filter(ConstId),
}

/// A call's parts, shared by `call` and `invoke`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub callee: Operand,
    /// The full function type of the callee (with `varargs` set where the call site says so).
    pub fn_type: TypeId,
    pub args: Vec<Operand>,
    /// Type of each argument, beside [`Self::args`].
    pub arg_types: Vec<TypeId>,
    /// `byval(T)` arguments are copied by the callee's side: index of the argument and T.
    pub byval: Vec<(u32, TypeId)>,
    /// `sret(T)`: the result is made at this argument, index and T. What is there before is no part of it.
    pub sret: Option<(u32, TypeId)>,
}

/// What an instruction does. Types are those of the operands unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstKind {
    Binary {
        op: BinaryOp,
        flags: ArithFlags,
        ty: TypeId,
        lhs: Operand,
        rhs: Operand,
    },
    FNeg {
        ty: TypeId,
        value: Operand,
    },
    Cast {
        op: CastOp,
        from: TypeId,
        to: TypeId,
        value: Operand,
    },
    ICmp {
        predicate: IntPredicate,
        ty: TypeId,
        lhs: Operand,
        rhs: Operand,
    },
    FCmp {
        predicate: FloatPredicate,
        ty: TypeId,
        lhs: Operand,
        rhs: Operand,
    },
    /// `condition` is an `i1` or a vector of them (`condition_ty`).
    Select {
        condition_ty: TypeId,
        condition: Operand,
        ty: TypeId,
        then: Operand,
        otherwise: Operand,
    },
    Freeze {
        ty: TypeId,
        value: Operand,
    },
    ExtractValue {
        aggregate_ty: TypeId,
        aggregate: Operand,
        indices: Vec<u32>,
    },
    InsertValue {
        aggregate_ty: TypeId,
        aggregate: Operand,
        value_ty: TypeId,
        value: Operand,
        indices: Vec<u32>,
    },
    ExtractElement {
        vector_ty: TypeId,
        vector: Operand,
        index_ty: TypeId,
        index: Operand,
    },
    InsertElement {
        vector_ty: TypeId,
        vector: Operand,
        value: Operand,
        index_ty: TypeId,
        index: Operand,
    },
    /// `mask` has one entry a result lane; `None` is a poison lane.
    ShuffleVector {
        vector_ty: TypeId,
        lhs: Operand,
        rhs: Operand,
        mask: Vec<Option<u32>>,
    },
    Alloca {
        ty: TypeId,
        count_ty: TypeId,
        count: Operand,
        align: u64,
    },
    Load {
        ty: TypeId,
        ptr: Operand,
        align: u64,
        volatile: bool,
        atomic: Option<(AtomicOrdering, SyncScope)>,
    },
    Store {
        ty: TypeId,
        value: Operand,
        ptr: Operand,
        align: u64,
        volatile: bool,
        atomic: Option<(AtomicOrdering, SyncScope)>,
    },
    Fence {
        ordering: AtomicOrdering,
        scope: SyncScope,
    },
    /// The result is `{ ty, i1 }`.
    CmpXchg {
        ty: TypeId,
        ptr: Operand,
        expected: Operand,
        new: Operand,
        success: AtomicOrdering,
        failure: AtomicOrdering,
        scope: SyncScope,
        weak: bool,
        volatile: bool,
        align: u64,
    },
    AtomicRmw {
        op: RmwOp,
        ty: TypeId,
        ptr: Operand,
        value: Operand,
        ordering: AtomicOrdering,
        scope: SyncScope,
        volatile: bool,
        align: u64,
    },
    /// Indices with their types; `source` is the type the first index steps over.
    Gep {
        source: TypeId,
        base: Operand,
        indices: Vec<(TypeId, Operand)>,
        inbounds: bool,
    },
    Call(Call),
    VaArg {
        list: Operand,
        ty: TypeId,
    },
    /// Where an exception arrives: at the first clause that it matches, or for cleaning up.
    LandingPad {
        ty: TypeId,
        cleanup: bool,
        clauses: Vec<Clause>,
    },
    /// An instruction we know the name of but not the meaning (`catchpad`, …): unsupported when reached.
    Other {
        name: Box<str>,
    },
}

/// A φ-node: the value comes from the predecessor the block was entered from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phi {
    pub result: ValueId,
    pub ty: TypeId,
    pub incoming: Vec<(BlockId, Operand)>,
}

/// One instruction that is neither φ nor terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Absent for instructions of type `void`.
    pub result: Option<ValueId>,
    pub kind: InstKind,
    pub loc: Option<DebugLocId>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    Ret {
        ty: TypeId,
        value: Option<Operand>,
    },
    Br {
        target: BlockId,
    },
    CondBr {
        condition: Operand,
        then: BlockId,
        otherwise: BlockId,
    },
    /// Case values are zero-extended bits.
    Switch {
        ty: TypeId,
        value: Operand,
        default: BlockId,
        cases: Vec<(u128, BlockId)>,
    },
    IndirectBr {
        address: Operand,
        targets: Vec<BlockId>,
    },
    Invoke {
        result: Option<ValueId>,
        call: Call,
        normal: BlockId,
        unwind: BlockId,
    },
    Resume {
        value: Operand,
    },
    Unreachable,
    /// A terminator we know the name of but not the meaning (`callbr`, `catchswitch`, …), with its successors.
    Other {
        name: Box<str>,
        targets: Vec<BlockId>,
    },
}

impl Terminator {
    /// Calls `f` with every successor in order, to redirect it.
    pub fn for_each_target_mut(&mut self, mut f: impl FnMut(&mut BlockId)) {
        match self {
            Self::Ret { .. } | Self::Resume { .. } | Self::Unreachable => {}
            Self::Br { target } => f(target),
            Self::CondBr {
                then, otherwise, ..
            } => {
                f(then);
                f(otherwise);
            }
            Self::Switch { default, cases, .. } => {
                f(default);
                cases.iter_mut().for_each(|(_, block)| f(block));
            }
            Self::IndirectBr { targets, .. } | Self::Other { targets, .. } => {
                targets.iter_mut().for_each(f);
            }
            Self::Invoke { normal, unwind, .. } => {
                f(normal);
                f(unwind);
            }
        }
    }

    /// The successors in order, repeated where several edges lead to one block.
    #[must_use]
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Ret { .. } | Self::Resume { .. } | Self::Unreachable => Vec::new(),
            Self::Br { target } => vec![*target],
            Self::CondBr {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            Self::Switch { default, cases, .. } => std::iter::once(*default)
                .chain(cases.iter().map(|&(_, block)| block))
                .collect(),
            Self::IndirectBr { targets, .. } | Self::Other { targets, .. } => targets.clone(),
            Self::Invoke { normal, unwind, .. } => vec![*normal, *unwind],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The label without `%`, for messages and `blockaddress`.
    pub label: Box<str>,
    pub phis: Vec<Phi>,
    pub insts: Vec<Inst>,
    pub terminator: Terminator,
    pub terminator_loc: Option<DebugLocId>,
}

/// The body of a defined function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// How many of the first values are parameters.
    pub param_count: u32,
    pub value_types: Vec<TypeId>,
    /// Names without `%`; numbered values have none.
    pub value_names: Vec<Option<Box<str>>>,
    pub blocks: Vec<Block>,
    /// Source variables by the value (alloca or SSA value) that holds them.
    pub variables: Vec<(ValueId, DebugVariable)>,
}

impl Body {
    /// Makes a new SSA value of type `ty`.
    pub fn new_value(&mut self, ty: TypeId) -> ValueId {
        let id = ValueId::from_index(self.value_types.len());
        self.value_types.push(ty);
        self.value_names.push(None);
        id
    }
}
