//! The functions that tell a verifier things.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::{Fault, Stop, Unsupported};
use crate::op::NumberKind;

pub(super) const MODELS: &[Model] = &[
    model("__VERIFIER_assume", assume),
    model("__VERIFIER_nondet_bool", nondet_bool),
    model("__VERIFIER_nondet__Bool", nondet_bool),
    model("__VERIFIER_nondet_char", nondet_byte),
    model("__VERIFIER_nondet_schar", nondet_byte),
    model("__VERIFIER_nondet_uchar", nondet_byte),
    model("__VERIFIER_nondet_*", nondet),
    model("__VERIFIER_atomic_begin", atomic_begin),
    model("__VERIFIER_atomic_end", atomic_end),
    model("__VERIFIER_error", error),
    model("reach_error", error).overriding(),
];

fn assume(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(if cx.arg_i32(0) == 0 {
        Outcome::AssumeFailed
    } else {
        Outcome::Void
    })
}

fn nondet_bool(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.any_value(1, NumberKind::Unsigned)?))
}

fn nondet_byte(cx: &mut Script<'_, '_>) -> ModelResult {
    let kind = kind_of(cx.function_name());
    Ok(Outcome::Return(cx.any_value(8, kind)?))
}

/// A value out of more than an exploring engine can try; the caller takes as many bits as it has use for.
fn nondet(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.machine.world.options.wide_choices {
        let kind = kind_of(cx.function_name());
        let value = cx.any_value(cx.result_bits() as u8, kind)?;
        return Ok(Outcome::Return(value));
    }
    let function = cx.function_name().into();
    Err(Pause::Stop(Stop::Unsupported(Unsupported::NondetValue {
        function,
    })))
}

/// What kind of number the function returns.
fn kind_of(function: &str) -> NumberKind {
    match function.trim_start_matches("__VERIFIER_nondet_") {
        "float" | "double" => NumberKind::Floating,
        "size_t" | "pointer" | "pchar" => NumberKind::Unsigned,
        kind if kind.starts_with(['u', 'U']) => NumberKind::Unsigned,
        _ => NumberKind::Signed,
    }
}

fn atomic_begin(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.atomic_begin()?;
    Ok(Outcome::Void)
}

fn atomic_end(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.atomic_end()?;
    Ok(Outcome::Void)
}

fn error(cx: &mut Script<'_, '_>) -> ModelResult {
    let function = cx.function_name().into();
    Err(Fault::ErrorReached { function }.into())
}
