//! Random numbers: any that the functions may return.
//!
//! Engines that explore executions cannot try all of them, and need not where the program looks at no more than the rest of a division by
//! a small constant (`rand() % 6`) or at some low bits (`rand() & 1`): then they try one number for each result.

use super::errno::zero;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::{Stop, Unsupported};
use crate::op::NumberKind;

pub(super) const MODELS: &[Model] = &[
    model("rand", random),
    model("srand", zero),
    model("rand_r", random),
    model("random", random),
    model("srandom", zero),
    model("lrand48", random),
    model("srand48", zero),
    model("drand48", any_fraction),
];

/// Bits of `RAND_MAX`.
const BITS: u8 = 31;

fn random(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.machine.results_that_differ() {
        Some(0 | 1) => Ok(Outcome::Return(0)),
        Some(count) => Ok(Outcome::Return(cx.any_number(count)?)),
        None if cx.machine.world.options.wide_choices => {
            Ok(Outcome::Return(cx.any_value(BITS, NumberKind::Signed)?))
        }
        None => {
            let function = cx.function_name().into();
            Err(Pause::Stop(Stop::Unsupported(Unsupported::NondetValue {
                function,
            })))
        }
    }
}

fn any_fraction(cx: &mut Script<'_, '_>) -> ModelResult {
    Err(cx.unsupported("random fractions; use __VERIFIER_nondet_bool or _char for a choice"))
}
