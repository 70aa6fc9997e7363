//! Time. The clock stands still: every question is answered with the same instant, and sleeping takes no time. What
//! depends on how long things take is thereby left out; that a thread may be late is not, since any thread may be.

use super::errno::zero;
use super::{Model, ModelResult, Outcome, Script, model};
use crate::op::Order;

pub(super) const MODELS: &[Model] = &[
    model("time", time),
    model("clock", zero),
    model("clock_gettime", clock_gettime),
    model("clock_getres", clock_gettime),
    model("timespec_get", timespec_get),
    model("gettimeofday", gettimeofday),
    model("sleep", zero),
    model("usleep", zero),
    model("nanosleep", zero),
    model("clock_nanosleep", zero),
];

/// Some second, late enough that differences to earlier ones are positive.
pub(super) const NOW: u64 = 1_000_000;

fn time(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store_if_wanted(cx.arg(0), 8, NOW)?;
    Ok(Outcome::Return(NOW))
}

/// Fills in a `timespec` or a `timeval`, which look alike.
fn tell(cx: &mut Script<'_, '_>, address: u64, result: u64) -> ModelResult {
    if address != 0 {
        cx.store(address, 8, NOW, Order::Plain)?;
        cx.store(address + 8, 8, 0, Order::Plain)?;
    }
    Ok(Outcome::Return(result))
}

fn clock_gettime(cx: &mut Script<'_, '_>) -> ModelResult {
    tell(cx, cx.arg(1), 0)
}

fn timespec_get(cx: &mut Script<'_, '_>) -> ModelResult {
    tell(cx, cx.arg(0), cx.arg(1))
}

fn gettimeofday(cx: &mut Script<'_, '_>) -> ModelResult {
    tell(cx, cx.arg(0), 0)
}
