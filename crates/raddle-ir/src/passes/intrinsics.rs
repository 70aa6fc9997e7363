//! What the passes know about calls of LLVM's own functions.

use crate::constant::{Constant, ConstantExpr};
use crate::ids::FuncId;
use crate::inst::{Call, CastOp, Operand};
use crate::module::Module;

/// A call, as far as the passes care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intrinsic {
    /// `llvm.dbg.*`: no effect at all.
    Debug,
    /// `llvm.lifetime.start` and `llvm.lifetime.end`: the content of the variable is undefined from here.
    Lifetime,
    /// `memset(pointer, byte, length, volatile)`
    Fill,
    /// `memcpy` and `memmove` `(destination, source, length, volatile)`
    Copy,
    /// The result depends on the arguments alone, and nothing else happens.
    Pure,
    /// Anything else, with no claim about it.
    Other,
}

/// Names after `llvm.`, each followed by a dot and types or by nothing. A division is not among them: it may trap.
const PURE: &[&str] = &[
    "abs",
    "annotation",
    "bitreverse",
    "bswap",
    "ceil",
    "copysign",
    "ctlz",
    "ctpop",
    "cttz",
    "expect",
    "expect.with.probability",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fptosi.sat",
    "fptoui.sat",
    "fshl",
    "fshr",
    "is.constant",
    "is.fpclass",
    "launder.invariant.group",
    "maximum",
    "maxnum",
    "minimum",
    "minnum",
    "nearbyint",
    "objectsize",
    "ptrmask",
    "rint",
    "round",
    "roundeven",
    "sadd.sat",
    "sadd.with.overflow",
    "scmp",
    "smax",
    "smin",
    "smul.with.overflow",
    "sqrt",
    "sshl.sat",
    "ssub.sat",
    "ssub.with.overflow",
    "strip.invariant.group",
    "threadlocal.address",
    "trunc",
    "uadd.sat",
    "uadd.with.overflow",
    "ucmp",
    "umax",
    "umin",
    "umul.with.overflow",
    "ushl.sat",
    "usub.sat",
    "usub.with.overflow",
];

/// The function that a constant callee names, through casts.
#[must_use]
pub fn called_function(module: &Module, callee: Operand) -> Option<FuncId> {
    let Operand::Const(mut id) = callee else {
        return None;
    };
    loop {
        match module.constant(id) {
            Constant::Function(function) => return Some(*function),
            Constant::Expr(
                _,
                ConstantExpr::Cast {
                    op: CastOp::Bitcast | CastOp::AddrSpaceCast,
                    value,
                },
            ) => id = *value,
            _ => return None,
        }
    }
}

/// Classifies a call by the name of the function it calls.
#[must_use]
pub fn intrinsic(module: &Module, call: &Call) -> Intrinsic {
    called_function(module, call.callee).map_or(Intrinsic::Other, |function| {
        classify(&module.function(function).name)
    })
}

/// Classifies a function by its name.
#[must_use]
pub fn classify(name: &str) -> Intrinsic {
    let Some(name) = name.strip_prefix("llvm.") else {
        return Intrinsic::Other;
    };
    if name.starts_with("dbg.") {
        return Intrinsic::Debug;
    }
    if is(name, "lifetime.start") || is(name, "lifetime.end") {
        return Intrinsic::Lifetime;
    }
    if name.contains(".element.") {
        // Element-wise atomic copies are accesses of another kind.
        return Intrinsic::Other;
    }
    if is(name, "memset") {
        return Intrinsic::Fill;
    }
    if is(name, "memcpy") || is(name, "memmove") {
        return Intrinsic::Copy;
    }
    if PURE.iter().any(|pure| is(name, pure)) {
        return Intrinsic::Pure;
    }
    Intrinsic::Other
}

/// Whether `name` is `stem` or an overload of it. `fptosi.sat` must not match a stem `fptosi`, so that what follows the
/// dot has to look like a type: `i32`, `v4i32`, `p0`, `f64`, `nxv2f64`, or be one of the forms `inline` of `memcpy`.
fn is(name: &str, stem: &str) -> bool {
    let Some(rest) = name.strip_prefix(stem) else {
        return false;
    };
    let Some(rest) = rest.strip_prefix('.') else {
        return rest.is_empty();
    };
    let rest = rest.strip_prefix("inline.").unwrap_or(rest);
    let mangled = rest.trim_start_matches("nx");
    mangled.starts_with(['i', 'v', 'p', 'f', 'a', 's', 'b'])
        && mangled.bytes().any(|byte| byte.is_ascii_digit())
        && !mangled.starts_with("sat")
        && !mangled.starts_with("with")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, expected) in [
            ("llvm.dbg.declare", Intrinsic::Debug),
            ("llvm.lifetime.start.p0", Intrinsic::Lifetime),
            ("llvm.lifetime.end.p0i8", Intrinsic::Lifetime),
            ("llvm.memset.p0.i64", Intrinsic::Fill),
            ("llvm.memset.inline.p0.i64", Intrinsic::Fill),
            ("llvm.memcpy.p0.p0.i64", Intrinsic::Copy),
            ("llvm.memmove.p0i8.p0i8.i64", Intrinsic::Copy),
            (
                "llvm.memcpy.element.unordered.atomic.p0.p0.i64",
                Intrinsic::Other,
            ),
            ("llvm.ctpop.i64", Intrinsic::Pure),
            ("llvm.uadd.with.overflow.i32", Intrinsic::Pure),
            ("llvm.threadlocal.address.p0", Intrinsic::Pure),
            ("llvm.threadlocal.address", Intrinsic::Pure),
            ("llvm.trap", Intrinsic::Other),
            ("llvm.stacksave.p0", Intrinsic::Other),
            ("memcpy", Intrinsic::Other),
            ("llvm.sadd.sat.v4i32", Intrinsic::Pure),
        ] {
            assert_eq!(classify(name), expected, "{name}");
        }
    }
}
