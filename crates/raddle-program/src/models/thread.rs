//! The beginnings and ends of threads. These "functions" are called by nobody but the interpreter.

use super::{Model, ModelResult, Outcome, Script, model};
use crate::ids::ObjectId;
use crate::interp::OnMainReturn;
use crate::op::Op;
use crate::tables::Tables;

pub(super) const MODELS: &[Model] = &[
    model("raddle.main", main),
    model("raddle.thread", thread),
    model("raddle.thread_exit", thread_exit),
    model("raddle.pause", pause),
    // The same in parts, for engines that do not run threads: what comes before and after what `main` and threads run.
    model("raddle.before_main", constructors),
    model("raddle.after_main", after_main),
    model("raddle.after_thread", after_thread),
];

/// The main thread: constructors, `main`, and what becomes of the others.
fn main(cx: &mut Script<'_, '_>) -> ModelResult {
    constructors(cx)?;
    let (argc, argv) = cx.machine.program_arguments()?;
    let status = cx.call(cx.arg(0), &[argc, argv])?;
    after_main(cx)?;
    let goes_on = cx.machine.world.options.on_main_return == OnMainReturn::Wait;
    cx.look_for_unseen_panics(goes_on)?;
    Ok(match cx.machine.world.options.on_main_return {
        OnMainReturn::Exit => Outcome::ExitProcess(status as u32 as i32),
        OnMainReturn::Wait => Outcome::ReturnFromMain(status),
    })
}

fn constructors(cx: &mut Script<'_, '_>) -> ModelResult {
    for constructor in cx.machine.world.module.constructors.clone() {
        cx.call(Tables::function_address(constructor.0), &[])?;
    }
    Ok(Outcome::Void)
}

/// To return from `main` is to call `exit`, which leaves thread-specific data alone. What runs then runs beside the other
/// threads, whether or not they go on after it.
fn after_main(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.run_thread_exit_functions()?;
    cx.run_exit_functions()?;
    Ok(Outcome::Void)
}

fn after_thread(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.end_thread()?;
    Ok(Outcome::Void)
}

/// A thread that runs the function at its first argument with the others.
fn thread(cx: &mut Script<'_, '_>) -> ModelResult {
    let args: Vec<u64> = cx.frame.args.iter().skip(1).copied().collect();
    let value = cx.call(cx.arg(0), &args)?;
    cx.end_thread()?;
    // Rust's threads return nothing else.
    Ok(Outcome::ExitThread(match cx.panic_of_thread()? {
        0 => value,
        panic => panic,
    }))
}

/// The rest of a thread that leaves from the middle: its value, and the stack variables to free.
fn thread_exit(cx: &mut Script<'_, '_>) -> ModelResult {
    for index in 1..cx.arg_count() {
        let object = ObjectId(cx.arg(index) as u32);
        cx.op(Op::Free { object })?;
    }
    cx.end_thread()?;
    Ok(Outcome::ExitThread(cx.arg(0)))
}

/// An operation that does nothing.
fn pause(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.choice(1)?;
    Ok(Outcome::Unnoticed)
}
