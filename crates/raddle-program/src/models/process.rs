//! Assertions, the end of the process, and what a process knows about itself.

use super::errno::{EINVAL, int, zero};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::Fault;
use crate::op::{Order, RmwKind};
use crate::tables::Tables;

pub(super) const MODELS: &[Model] = &[
    model("__assert_fail", assert_fail),
    model("__assert", assert_fail),
    model("__assert_rtn", assert_rtn),
    model("__assert_perror_fail", assert_perror),
    model("abort", abort),
    model("exit", exit),
    model("_exit", exit_at_once),
    model("_Exit", exit_at_once),
    model("quick_exit", quick_exit),
    model("atexit", at_exit),
    model("at_quick_exit", at_quick_exit),
    // What registers destructors of static objects.
    model("__cxa_atexit", at_exit).capturing(&[1]),
    model("getpid", process_id),
    model("getppid", process_id),
    model("gettid", thread_id),
    model("getuid", zero),
    model("geteuid", zero),
    model("getgid", zero),
    model("getegid", zero),
    model("sysconf", sysconf),
    model("__sysconf", sysconf),
    model("getpagesize", page_size),
    model("get_nprocs", processors),
    model("setlocale", zero),
    model("gnu_get_libc_version", library_version),
    // Nobody sends signals.
    model("signal", zero),
    model("sigemptyset", zero),
    model("sigfillset", zero),
    model("sigaddset", zero),
    model("sigdelset", zero),
    model("sigprocmask", zero),
];

/// That of a library whose functions do what the models do.
fn library_version(cx: &mut Script<'_, '_>) -> ModelResult {
    const TEXT: &[u8] = b"2.36\0";
    let address = cx.constant_bytes("version of the C library", TEXT)?;
    Ok(Outcome::Return(address))
}

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
    cx.run_thread_exit_functions()?;
    cx.run_exit_functions()?;
    cx.look_for_unseen_panics(false)?;
    Ok(Outcome::ExitProcess(cx.arg_i32(0)))
}

fn exit_at_once(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_for_unseen_panics(false)?;
    Ok(Outcome::ExitProcess(cx.arg_i32(0)))
}

fn quick_exit(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx
        .machine
        .world
        .module
        .function_named(AT_QUICK_EXIT)
        .is_some()
    {
        cx.run_registered(QUICK_EXIT_TABLE)?;
    }
    Ok(Outcome::ExitProcess(cx.arg_i32(0)))
}

/// Functions that are registered to be run at exit are in shared memory: how many, then each with its argument. Any thread may
/// register some, and run them.
const EXIT_TABLE: &str = "functions run at exit";
const QUICK_EXIT_TABLE: &str = "functions run at quick_exit";
const MOST_EXIT_FUNCTIONS: u64 = 256;
/// Bytes of an entry.
const ENTRY: u64 = 16;

/// The thread value that is the address of the static object whose destructor runs at exit: reports name its declaration.
pub(crate) const ENDING_STATIC: (u32, u64) = (19, 0);

/// Functions that register others.
const REGISTERING: [&str; 2] = ["atexit", "__cxa_atexit"];
const AT_QUICK_EXIT: &str = "at_quick_exit";

/// Is there anything to run when the process exits? Looking whether there is would be an operation in every program.
#[must_use]
pub fn runs_functions_at_exit(module: &raddle_ir::Module) -> bool {
    let is_there = |name: &&str| module.function_named(name).is_some();
    !module.destructors.is_empty() || REGISTERING.iter().any(is_there)
}

/// `(function)` or `(function, argument, …)`.
fn at_exit(cx: &mut Script<'_, '_>) -> ModelResult {
    register(cx, EXIT_TABLE)
}

fn at_quick_exit(cx: &mut Script<'_, '_>) -> ModelResult {
    register(cx, QUICK_EXIT_TABLE)
}

fn register(cx: &mut Script<'_, '_>, table: &'static str) -> ModelResult {
    // Flushes streams, of which there are none.
    const STREAMS: &str = "_ZNSt8ios_base4InitD1Ev";
    if cx
        .function_at(cx.arg(0))
        .is_some_and(|(_, name)| name == STREAMS)
    {
        return int(0);
    }
    let table = exit_table(cx, table)?;
    let count = cx.rmw(table, 8, RmwKind::Add, 1, Order::SeqCst)?;
    if count >= MOST_EXIT_FUNCTIONS {
        return Err(cx.unsupported("so many functions"));
    }
    let entry = table + ENTRY * (count + 1);
    if cx.arg_count() > 1 && cx.arg(1) != 0 {
        cx.store(entry + 8, 8, cx.arg(1), Order::SeqCst)?;
    }
    cx.store(entry, 8, cx.arg(0), Order::SeqCst)?;
    int(0)
}

fn exit_table(cx: &mut Script<'_, '_>, table: &'static str) -> Result<u64, Pause> {
    cx.global_object(table, ENTRY * (MOST_EXIT_FUNCTIONS + 1))
}

impl Script<'_, '_> {
    /// What `exit` does before the end: functions registered by `atexit` and destructors of static objects, last one first;
    /// then the functions that are marked as destructors. Other threads run all the while.
    pub(super) fn run_exit_functions(&mut self) -> Result<(), Pause> {
        if !runs_functions_at_exit(&self.machine.world.module) {
            return Ok(());
        }
        self.run_registered(EXIT_TABLE)?;
        for destructor in self.machine.world.module.destructors.clone() {
            self.call(Tables::function_address(destructor.0), &[])?;
        }
        Ok(())
    }

    /// Functions may register others, which are then run next.
    fn run_registered(&mut self, table: &'static str) -> Result<(), Pause> {
        let table = exit_table(self, table)?;
        loop {
            let count = self.load(table, 8, Order::SeqCst)?;
            if count == 0 || count > MOST_EXIT_FUNCTIONS {
                return Ok(());
            }
            let entry = table + ENTRY * count;
            let function = self.load(entry, 8, Order::SeqCst)?;
            let takes_argument = self.parameter_count(function) > 0;
            let argument = match takes_argument {
                true => self.load(entry + 8, 8, Order::SeqCst)?,
                false => 0,
            };
            if function != 0 {
                self.store(entry, 8, 0, Order::SeqCst)?;
            }
            self.store(table, 8, count - 1, Order::SeqCst)?;
            // Another thread that is about to register one is too late.
            if function != 0 {
                let (kind, key) = ENDING_STATIC;
                if takes_argument {
                    self.set_thread_value(kind, key, argument)?;
                }
                self.call(function, &[argument][..usize::from(takes_argument)])?;
                if takes_argument {
                    self.set_thread_value(kind, key, 0)?;
                }
            }
        }
    }

    fn parameter_count(&self, function: u64) -> usize {
        let module = &self.machine.world.module;
        let ty = self
            .function_at(function)
            .map(|(id, _)| module.function(id).ty);
        match ty.map(|ty| module.types.get(ty)) {
            Some(raddle_ir::Type::Function { params, .. }) => params.len(),
            _ => 0,
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
    const CLOCK_TICKS: i32 = 2;
    const OPEN_FILES: i32 = 4;
    const PAGE_SIZE: i32 = 30;
    const LONGEST_VECTOR: i32 = 60;
    const SMALLEST_STACK: i32 = 75;
    const CONFIGURED: i32 = 83;
    const ONLINE: i32 = 84;
    const PAGES: i32 = 85;
    const FREE_PAGES: i32 = 86;
    const CACHE_LINE: i32 = 190;
    match cx.arg_i32(0) {
        PAGE_SIZE => Ok(Outcome::Return(PAGE)),
        CONFIGURED | ONLINE => Ok(Outcome::Return(PROCESSORS)),
        CLOCK_TICKS => Ok(Outcome::Return(100)),
        OPEN_FILES | LONGEST_VECTOR => Ok(Outcome::Return(1024)),
        SMALLEST_STACK => Ok(Outcome::Return(4 * PAGE)),
        PAGES | FREE_PAGES => Ok(Outcome::Return(1 << 20)),
        CACHE_LINE => Ok(Outcome::Return(64)),
        _ => {
            cx.set_errno(EINVAL)?;
            Ok(Outcome::Return(u64::MAX))
        }
    }
}
