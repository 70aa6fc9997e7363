//! What language runtimes ask of Linux before and beside the program's own code: enough for Rust's standard library.

use super::errno::{ENOENT, int, zero};
use super::{Model, ModelResult, Outcome, Script, model};
use crate::op::Order;
use crate::tables::Tables;

pub(super) const MODELS: &[Model] = &[
    model("sigaction", sigaction),
    model("sigaltstack", sigaltstack),
    model("getauxval", zero),
    model("dlsym", look_up),
    model("getrandom", getrandom),
    model("getcwd", zero),
    model("writev", writev),
    model("isatty", zero),
    model("prctl", zero),
    model("sched_getcpu", zero),
    model("sched_getaffinity", zero),
    model("sched_setaffinity", zero),
    // Nothing is known about files but what is in them.
    model("stat", missing),
    model("stat64", missing),
    model("lstat", missing),
    model("lstat64", missing),
    model("fstatat", missing),
    model("fstatat64", missing),
    model("statx", missing),
    model("faccessat", missing),
    model("readlink", missing_link),
    model("realpath", no_path),
    model("opendir", no_path),
    model("readv", read),
];

fn missing(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.fail(ENOENT)
}

/// As `missing`, for results of pointer size.
fn missing_link(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.set_errno(ENOENT)?;
    Ok(Outcome::Return(u64::MAX))
}

fn no_path(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.set_errno(ENOENT)?;
    Ok(Outcome::Return(0))
}

/// `(file, …)`: standard input is at its end.
fn read(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg_i32(0) != 0 {
        return Err(cx.unsupported("files"));
    }
    Ok(Outcome::Return(0))
}

/// `(signal, new, old)`. Signals are ignored: a runtime that is told so leaves them alone, and needs no stack for them.
fn sigaction(cx: &mut Script<'_, '_>) -> ModelResult {
    const IGNORED: u64 = 1;
    cx.store_if_wanted(cx.arg(2), 8, IGNORED)?;
    int(0)
}

/// `(new, old)`: there is one already.
fn sigaltstack(cx: &mut Script<'_, '_>) -> ModelResult {
    const STACK_SIZE: u64 = 24;
    const DONE: usize = 0;
    if cx.arg(1) != 0 {
        cx.fill(cx.arg(1), 0, STACK_SIZE, DONE)?;
    }
    int(0)
}

/// `(buffer, length, flags)`.
fn getrandom(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.random_bytes(cx.arg(0), cx.arg(1))
}

impl Script<'_, '_> {
    /// Zeros. Hash tables ask for these to be unpredictable; what depends on the order in such a table is left out.
    pub(super) fn random_bytes(&mut self, to: u64, len: u64) -> ModelResult {
        const DONE: usize = 0;
        self.fill(to, 0, len, DONE)?;
        Ok(Outcome::Return(len))
    }
}

/// `(library, name)`. Who asks whether the system has a function does without, but for random numbers, which are there in any case: nobody has to be prepared
/// for them to be missing.
fn look_up(cx: &mut Script<'_, '_>) -> ModelResult {
    const RANDOM: &str = "getrandom";
    let module = &cx.machine.world.module;
    let Some(index) = module.function_named(RANDOM) else {
        return Ok(Outcome::Return(0));
    };
    let address = match cx.text(cx.arg(1))? == RANDOM {
        true => Tables::function_address(index.0),
        false => 0,
    };
    Ok(Outcome::Return(address))
}

/// `(file, list of (address, length), how many)`.
fn writev(cx: &mut Script<'_, '_>) -> ModelResult {
    if !matches!(cx.arg_i32(0), 1 | 2) {
        return Err(cx.unsupported("files"));
    }
    let mut bytes = Vec::new();
    for index in 0..u64::from(cx.arg(2) as u32) {
        let entry = cx.arg(1).wrapping_add(16 * index);
        let address = cx.load(entry, 8, Order::Plain)?;
        let len = cx.load(entry.wrapping_add(8), 8, Order::Plain)?;
        for at in 0..len {
            bytes.push(cx.byte(address.wrapping_add(at))?);
        }
    }
    cx.print(&String::from_utf8_lossy(&bytes))?;
    Ok(Outcome::Return(bytes.len() as u64))
}
