//! The functions that tell a verifier things.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::{Fault, Stop, Unsupported};

pub(super) const MODELS: &[Model] = &[
    model("__VERIFIER_assume", assume),
    model(raddle_ir::passes::purity::ASSUME, assume),
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
    Ok(Outcome::Return(u64::from(cx.choice(2)?)))
}

fn nondet_byte(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(u64::from(cx.choice(256)?)))
}

/// A value out of more than an exploring engine can try. Where it may be chosen, it is in pieces, low ones first; the
/// caller takes as many bits as it has use for.
fn nondet(cx: &mut Script<'_, '_>) -> ModelResult {
    const PIECE_BITS: u32 = 16;
    if cx.machine.world.options.wide_choices {
        let mut value = 0;
        for shift in (0..cx.result_bits()).step_by(PIECE_BITS as usize) {
            value |= u64::from(cx.choice(1 << PIECE_BITS)?) << shift;
        }
        return Ok(Outcome::Return(value));
    }
    let function = cx.function_name().into();
    Err(Pause::Stop(Stop::Unsupported(Unsupported::NondetValue {
        function,
    })))
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
