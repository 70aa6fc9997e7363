//! The end of the process, assertions, and functions that only pass time.

use super::{Model, ModelResult, Outcome, Script, model};
use crate::fault::Fault;

pub(super) const MODELS: &[Model] = &[
    model("__assert_fail", assert_fail),
    model("abort", abort),
    model("exit", exit),
    model("_exit", exit),
    model("_Exit", exit),
    model("quick_exit", exit),
    model("sched_yield", nothing),
    model("pthread_yield", nothing),
    model("usleep", nothing),
    model("sleep", nothing),
    model("nanosleep", nothing),
];

fn assert_fail(cx: &mut Script<'_, '_>) -> ModelResult {
    let condition = cx.text(cx.arg(0))?.into();
    Err(Fault::Assertion { condition }.into())
}

fn abort(cx: &mut Script<'_, '_>) -> ModelResult {
    const SIGABRT_STATUS: i32 = 134;
    if cx.machine.world.options.svcomp_abort_silent {
        return Ok(Outcome::ExitProcess(SIGABRT_STATUS));
    }
    Err(Fault::Abort.into())
}

fn exit(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::ExitProcess(cx.arg_i32(0)))
}

fn nothing(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(0))
}
