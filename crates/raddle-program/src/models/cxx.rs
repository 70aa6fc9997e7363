//! What the C++ standard library (libstdc++) leaves to its binary: threads, condition variables, `call_once`, static
//! locals, clocks, and the ends that exceptions lead to.
//!
//! Most of `<mutex>`, `<atomic>`, `<memory>` and the containers is in headers, and ends in functions of other tables.

use super::errno::zero;
use super::{Entry, Model, ModelResult, Outcome, Pause, Script, model, waiting};
use crate::fault::{Fault, PanicEnd};
use crate::op::{Op, Order, SyncAction};
use raddle_ir::module::Symbol;

/// What a thread of `std::thread` runs.
pub(super) const THREAD: &str = "std::thread";

pub(super) const MODELS: &[Model] = &[
    model(
        "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
        start_thread,
    )
    .capturing(&[1]),
    model(THREAD, run_state),
    model("_ZNSt6thread4joinEv", join),
    model("_ZNSt6thread6detachEv", detach),
    model("_ZNSt6thread6_StateD2Ev", zero),
    model("_ZNSt6thread6_StateD1Ev", zero),
    model("_ZNSt6thread20hardware_concurrencyEv", concurrency),
    // std::condition_variable
    model("_ZNSt18condition_variableC1Ev", waiting::cond_init).capturing(&[0]),
    model("_ZNSt18condition_variableC2Ev", waiting::cond_init).capturing(&[0]),
    model("_ZNSt18condition_variableD1Ev", waiting::cond_destroy).capturing(&[0]),
    model("_ZNSt18condition_variableD2Ev", waiting::cond_destroy).capturing(&[0]),
    model(
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
        cond_wait,
    )
    .capturing(&[0]),
    model(
        "_ZNSt18condition_variable10notify_oneEv",
        waiting::cond_signal,
    )
    .capturing(&[0]),
    model(
        "_ZNSt18condition_variable10notify_allEv",
        waiting::cond_broadcast,
    )
    .capturing(&[0]),
    // std::call_once, by way of pthread_once
    model("__once_proxy", once_proxy),
    // static local variables
    model("__cxa_guard_acquire", guard_acquire).capturing(&[0]),
    model("__cxa_guard_release", guard_release).capturing(&[0]),
    model("__cxa_guard_abort", guard_abort).capturing(&[0]),
    model("__cxa_finalize", zero),
    // std::allocator<char>, which is empty
    model("_ZNSaIcEC1Ev", zero),
    model("_ZNSaIcEC2Ev", zero),
    model("_ZNSaIcEC1ERKS_", zero),
    model("_ZNSaIcEC2ERKS_", zero),
    model("_ZNSaIcED1Ev", zero),
    model("_ZNSaIcED2Ev", zero),
    // the end
    model("__cxa_pure_virtual", pure_virtual),
    model("__cxa_deleted_virtual", pure_virtual),
    // Older libraries define theirs in a header.
    model("_ZSt21__glibcxx_assert_failPKciS0_S0_", library_assert),
    model("_ZSt20__replacement_assertPKciS0_S0_", library_assert).overriding(),
    // the results of futures
    model("_ZNSt13__future_base12_Result_baseC2Ev", result_init),
    model("_ZNSt13__future_base12_Result_baseD2Ev", result_end),
];

// ---- threads

/// `(thread, pointer to the state, …)`: the state is an object with a virtual function to run.
fn start_thread(cx: &mut Script<'_, '_>) -> ModelResult {
    let (thread, owner) = (cx.arg(0), cx.arg(1));
    let state = cx.load(owner, 8, Order::Plain)?;
    let entry = Entry::Model(THREAD);
    let handle = cx.new_thread(&entry)?;
    cx.store(thread, 8, handle, Order::Plain)?;
    cx.start_thread(handle, &entry, &[state])?;
    // The pointer was unique: the new thread has it now.
    cx.store(owner, 8, 0, Order::Plain)?;
    Ok(Outcome::Void)
}

/// Runs the state, and deletes it.
fn run_state(cx: &mut Script<'_, '_>) -> ModelResult {
    const DELETE: u64 = 8;
    const RUN: u64 = 16;
    let state = cx.arg(0);
    let table = cx.load(state, 8, Order::Plain)?;
    let run = cx.load(table.wrapping_add(RUN), 8, Order::Plain)?;
    cx.call(run, &[state])?;
    let delete = cx.load(table.wrapping_add(DELETE), 8, Order::Plain)?;
    cx.call(delete, &[state])?;
    cx.end_thread()?;
    Ok(Outcome::ExitThread(0))
}

fn join(cx: &mut Script<'_, '_>) -> ModelResult {
    let handle = cx.load(cx.arg(0), 8, Order::Plain)?;
    cx.join(handle)?;
    cx.store(cx.arg(0), 8, 0, Order::Plain)?;
    Ok(Outcome::Void)
}

fn detach(cx: &mut Script<'_, '_>) -> ModelResult {
    let handle = cx.load(cx.arg(0), 8, Order::Plain)?;
    let thread = cx.thread_of(handle)?;
    cx.op(Op::Detach { thread })?;
    cx.store(cx.arg(0), 8, 0, Order::Plain)?;
    Ok(Outcome::Void)
}

fn concurrency(_: &mut Script<'_, '_>) -> ModelResult {
    const SOME: u64 = 2;
    Ok(Outcome::Return(SOME))
}

// ---- waiting

/// `(condition variable, lock)`: a lock begins with the pointer to its mutex.
fn cond_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    let mutex = cx.load(cx.arg(1), 8, Order::Plain)?;
    cx.cond_wait(cx.arg(0), mutex)?;
    Ok(Outcome::Void)
}

/// Calls what `std::call_once` put into a thread-local variable.
fn once_proxy(cx: &mut Script<'_, '_>) -> ModelResult {
    const CALL: &str = "_ZSt11__once_call";
    let Some(&Symbol::Global(global)) = cx.machine.world.module.symbols.get(CALL) else {
        return Err(cx.unsupported("without the variable that says what to call"));
    };
    let place = cx.machine.global_address(global)?;
    let function = cx.load(place, 8, Order::Plain)?;
    cx.call(function, &[])?;
    Ok(Outcome::Void)
}

/// Returns 1 to whoever has to initialise. The program itself looks at the first byte before it calls this.
fn guard_acquire(cx: &mut Script<'_, '_>) -> ModelResult {
    let is_done = cx.sync(cx.arg(0), SyncAction::OnceBegin)?;
    Ok(Outcome::Return(1 - is_done.min(1)))
}

fn guard_release(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0), 1, 1, Order::Release)?;
    cx.sync(cx.arg(0), SyncAction::OnceEnd)?;
    Ok(Outcome::Void)
}

/// The initialiser was left by an exception.
fn guard_abort(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(0), SyncAction::OnceAbort)?;
    Ok(Outcome::Void)
}

/// The base of a future's result: a table of virtual functions, which the derived class sets, and no exception.
fn result_init(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0).wrapping_add(8), 8, 0, Order::Plain)?;
    Ok(Outcome::Void)
}

fn result_end(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.release_pointer(cx.arg(0).wrapping_add(8))?;
    Ok(Outcome::Void)
}

// ---- ends

fn panic(message: &str) -> Pause {
    let message = message.into();
    let end = PanicEnd::Here;
    Fault::Panic { message, end }.into()
}

fn pure_virtual(_: &mut Script<'_, '_>) -> ModelResult {
    Err(panic("a pure virtual function was called"))
}

/// `(file, line, function, condition)`.
fn library_assert(cx: &mut Script<'_, '_>) -> ModelResult {
    let condition = match cx.arg(3) {
        0 => "unreachable".into(),
        text => cx.text(text)?.into(),
    };
    let comparison = None;
    let fault = Fault::Assertion {
        condition,
        comparison,
    };
    Err(fault.into())
}
