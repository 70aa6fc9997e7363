//! Assertions, the end of the process, and what a process knows about itself.

use super::errno::{EINVAL, int, zero};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::Fault;
use crate::op::Order;

pub(super) const MODELS: &[Model] = &[
    model("__assert_fail", assert_fail),
    model("__assert", assert_fail),
    model("__assert_rtn", assert_rtn),
    model("__assert_perror_fail", assert_perror),
    model("abort", abort),
    model("exit", exit),
    model("_exit", exit_at_once),
    model("_Exit", exit_at_once),
    model("quick_exit", exit_at_once),
    model("atexit", at_exit),
    model("getenv", zero),
    model("secure_getenv", zero),
    model("getpid", process_id),
    model("getppid", process_id),
    model("gettid", thread_id),
    model("getuid", zero),
    model("geteuid", zero),
    model("getgid", zero),
    model("getegid", zero),
    model("sysconf", sysconf),
    model("getpagesize", page_size),
    model("get_nprocs", processors),
    model("setlocale", zero),
    // Nobody sends signals.
    model("signal", zero),
    model("sigemptyset", zero),
    model("sigfillset", zero),
    model("sigaddset", zero),
    model("sigdelset", zero),
    model("sigprocmask", zero),
    model("rand", random),
    model("srand", zero),
    model("rand_r", random),
    model("random", random),
    model("srandom", zero),
    model("drand48", random),
    model("lrand48", random),
];

fn assert_fail(cx: &mut Script<'_, '_>) -> ModelResult {
    failed(cx, 0)
}

/// `(function, file, line, condition)`.
fn assert_rtn(cx: &mut Script<'_, '_>) -> ModelResult {
    failed(cx, 3)
}

fn failed(cx: &mut Script<'_, '_>, text: usize) -> ModelResult {
    let condition = cx.text(cx.arg(text))?.into();
    let comparison = cx.machine.comparison.take();
    let fault = Fault::Assertion {
        condition,
        comparison,
    };
    Err(fault.into())
}

fn assert_perror(cx: &mut Script<'_, '_>) -> ModelResult {
    let condition = format!("error number {} is 0", cx.arg_i32(0)).into();
    let comparison = None;
    let fault = Fault::Assertion {
        condition,
        comparison,
    };
    Err(fault.into())
}

fn abort(cx: &mut Script<'_, '_>) -> ModelResult {
    const SIGABRT_STATUS: i32 = 134;
    if cx.machine.world.options.svcomp_abort_silent {
        return Ok(Outcome::ExitProcess(SIGABRT_STATUS));
    }
    Err(Fault::Abort.into())
}

// ---- exit

fn exit(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.run_exit_functions()?;
    Ok(Outcome::ExitProcess(cx.arg_i32(0)))
}

fn exit_at_once(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::ExitProcess(cx.arg_i32(0)))
}

/// The functions registered by `atexit` are in shared memory: how many, then each. Any thread may run them.
const MOST_EXIT_FUNCTIONS: u64 = 64;

fn exit_functions(cx: &mut Script<'_, '_>) -> Result<u64, Pause> {
    let size = 8 * (MOST_EXIT_FUNCTIONS + 1);
    cx.global_object("functions run at exit", size)
}

fn at_exit(cx: &mut Script<'_, '_>) -> ModelResult {
    let table = exit_functions(cx)?;
    cx.atomic_begin()?;
    let count = cx.load(table, 8, Order::SeqCst)?.saturating_add(1);
    if count > MOST_EXIT_FUNCTIONS {
        return Err(cx.unsupported("so many functions"));
    }
    cx.store(table + 8 * count, 8, cx.arg(0), Order::SeqCst)?;
    cx.store(table, 8, count, Order::SeqCst)?;
    cx.atomic_end()?;
    int(0)
}

impl Script<'_, '_> {
    /// What `exit` does before the end: functions registered by `atexit`, last one first.
    pub(super) fn run_exit_functions(&mut self) -> Result<(), Pause> {
        // Looking at the table would be an operation in every program that ends.
        let module = &self.machine.world.module;
        if module.function_named("atexit").is_none() {
            return Ok(());
        }
        let table = exit_functions(self)?;
        loop {
            let count = self.load(table, 8, Order::SeqCst)?;
            if count == 0 || count > MOST_EXIT_FUNCTIONS {
                return Ok(());
            }
            let function = self.load(table + 8 * count, 8, Order::SeqCst)?;
            self.store(table, 8, count - 1, Order::SeqCst)?;
            self.call(function, &[])?;
        }
    }
}

// ---- the process and its machine

fn process_id(_: &mut Script<'_, '_>) -> ModelResult {
    const SOME_PROCESS: i32 = 4711;
    int(SOME_PROCESS)
}

fn thread_id(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread();
    int(cx.tables().handle_of_thread(thread) as i32)
}

const PAGE: u64 = 4096;
const PROCESSORS: u64 = 2;

fn page_size(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(PAGE))
}

fn processors(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(PROCESSORS))
}

fn sysconf(cx: &mut Script<'_, '_>) -> ModelResult {
    const PAGE_SIZE: i32 = 30;
    const CONFIGURED: i32 = 83;
    const ONLINE: i32 = 84;
    match cx.arg_i32(0) {
        PAGE_SIZE => Ok(Outcome::Return(PAGE)),
        CONFIGURED | ONLINE => Ok(Outcome::Return(PROCESSORS)),
        _ => {
            cx.set_errno(EINVAL)?;
            Ok(Outcome::Return(u64::MAX))
        }
    }
}

/// Any fixed sequence would hide what the others lead to.
fn random(cx: &mut Script<'_, '_>) -> ModelResult {
    Err(cx.unsupported("random numbers; use __VERIFIER_nondet_bool or _char for a choice"))
}
