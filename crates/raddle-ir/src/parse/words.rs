//! The vocabulary of LLVM IR.

use crate::inst::{AtomicOrdering, BinaryOp, CastOp, FloatPredicate, IntPredicate, RmwOp};

pub(super) fn binary_op(word: &str) -> Option<BinaryOp> {
    Some(match word {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        "mul" => BinaryOp::Mul,
        "udiv" => BinaryOp::UDiv,
        "sdiv" => BinaryOp::SDiv,
        "urem" => BinaryOp::URem,
        "srem" => BinaryOp::SRem,
        "shl" => BinaryOp::Shl,
        "lshr" => BinaryOp::LShr,
        "ashr" => BinaryOp::AShr,
        "and" => BinaryOp::And,
        "or" => BinaryOp::Or,
        "xor" => BinaryOp::Xor,
        "fadd" => BinaryOp::FAdd,
        "fsub" => BinaryOp::FSub,
        "fmul" => BinaryOp::FMul,
        "fdiv" => BinaryOp::FDiv,
        "frem" => BinaryOp::FRem,
        _ => return None,
    })
}

pub(super) fn is_float_op(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem
    )
}

pub(super) fn cast_op(word: &str) -> Option<CastOp> {
    Some(match word {
        "trunc" => CastOp::Trunc,
        "zext" => CastOp::ZExt,
        "sext" => CastOp::SExt,
        "fptrunc" => CastOp::FpTrunc,
        "fpext" => CastOp::FpExt,
        "fptoui" => CastOp::FpToUi,
        "fptosi" => CastOp::FpToSi,
        "uitofp" => CastOp::UiToFp,
        "sitofp" => CastOp::SiToFp,
        "ptrtoint" | "ptrtoaddr" => CastOp::PtrToInt,
        "inttoptr" => CastOp::IntToPtr,
        "bitcast" => CastOp::Bitcast,
        "addrspacecast" => CastOp::AddrSpaceCast,
        _ => return None,
    })
}

pub(super) fn int_predicate(word: &str) -> Option<IntPredicate> {
    Some(match word {
        "eq" => IntPredicate::Eq,
        "ne" => IntPredicate::Ne,
        "ugt" => IntPredicate::Ugt,
        "uge" => IntPredicate::Uge,
        "ult" => IntPredicate::Ult,
        "ule" => IntPredicate::Ule,
        "sgt" => IntPredicate::Sgt,
        "sge" => IntPredicate::Sge,
        "slt" => IntPredicate::Slt,
        "sle" => IntPredicate::Sle,
        _ => return None,
    })
}

pub(super) fn float_predicate(word: &str) -> Option<FloatPredicate> {
    Some(match word {
        "false" => FloatPredicate::False,
        "oeq" => FloatPredicate::Oeq,
        "ogt" => FloatPredicate::Ogt,
        "oge" => FloatPredicate::Oge,
        "olt" => FloatPredicate::Olt,
        "ole" => FloatPredicate::Ole,
        "one" => FloatPredicate::One,
        "ord" => FloatPredicate::Ord,
        "ueq" => FloatPredicate::Ueq,
        "ugt" => FloatPredicate::Ugt,
        "uge" => FloatPredicate::Uge,
        "ult" => FloatPredicate::Ult,
        "ule" => FloatPredicate::Ule,
        "une" => FloatPredicate::Une,
        "uno" => FloatPredicate::Uno,
        "true" => FloatPredicate::True,
        _ => return None,
    })
}

pub(super) fn ordering(word: &str) -> Option<AtomicOrdering> {
    Some(match word {
        "unordered" => AtomicOrdering::Unordered,
        "monotonic" => AtomicOrdering::Monotonic,
        "acquire" => AtomicOrdering::Acquire,
        "release" => AtomicOrdering::Release,
        "acq_rel" => AtomicOrdering::AcqRel,
        "seq_cst" => AtomicOrdering::SeqCst,
        _ => return None,
    })
}

pub(super) fn rmw_op(word: &str) -> Option<RmwOp> {
    Some(match word {
        "xchg" => RmwOp::Xchg,
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "and" => RmwOp::And,
        "nand" => RmwOp::Nand,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "max" => RmwOp::Max,
        "min" => RmwOp::Min,
        "umax" => RmwOp::UMax,
        "umin" => RmwOp::UMin,
        "fadd" => RmwOp::FAdd,
        "fsub" => RmwOp::FSub,
        "fmax" => RmwOp::FMax,
        "fmin" => RmwOp::FMin,
        "uinc_wrap" => RmwOp::UIncWrap,
        "udec_wrap" => RmwOp::UDecWrap,
        "usub_cond" => RmwOp::USubCond,
        "usub_sat" => RmwOp::USubSat,
        "fmaximum" => RmwOp::FMaximum,
        "fminimum" => RmwOp::FMinimum,
        _ => return None,
    })
}

/// Constants of one word.
pub(super) fn is_simple_constant(word: &str) -> bool {
    matches!(
        word,
        "null" | "undef" | "poison" | "zeroinitializer" | "none" | "true" | "false"
    ) || word.starts_with("u0x")
        || word.starts_with("s0x")
        || word.starts_with("f0x")
        || word.starts_with(['+', '-'])
}

/// Words that begin a value, and so end the attributes in front of it.
pub(super) fn is_value_word(word: &str) -> bool {
    is_simple_constant(word)
        || matches!(
            word,
            "getelementptr"
                | "icmp"
                | "fcmp"
                | "select"
                | "asm"
                | "splat"
                | "blockaddress"
                | "dso_local_equivalent"
                | "no_cfi"
                | "ptrauth"
                | "extractelement"
                | "insertelement"
                | "shufflevector"
                | "extractvalue"
                | "insertvalue"
                | "fneg"
        )
        || cast_op(word).is_some()
        || binary_op(word).is_some()
}

/// Words that begin an instruction, and so end the attributes of the call in front of it.
pub(super) fn is_opcode(word: &str) -> bool {
    is_terminator(word)
        || matches!(
            word,
            "call"
                | "tail"
                | "musttail"
                | "notail"
                | "load"
                | "store"
                | "alloca"
                | "fence"
                | "cmpxchg"
                | "atomicrmw"
                | "phi"
                | "freeze"
                | "landingpad"
                | "va_arg"
                | "catchpad"
                | "cleanuppad"
                | "uselistorder"
                | "uselistorder_bb"
        )
        || (!is_simple_constant(word) && is_value_word(word))
}

pub(super) fn is_terminator(word: &str) -> bool {
    matches!(
        word,
        "ret"
            | "br"
            | "switch"
            | "indirectbr"
            | "invoke"
            | "resume"
            | "unreachable"
            | "callbr"
            | "catchswitch"
            | "catchret"
            | "cleanupret"
    )
}
