//! The words for everything that an answer consists of: one place, so that the same thing is always called the same.

use crate::names::{Names, bytes, demangled};
use crate::operands;
use crate::steps::intention;
use crate::waits::waits_for_lock;
use raddle_judge::verdict::{Statistics, Waiting};
use raddle_judge::{
    BlockedBy, BlockedCounts, Bound, Effect, MemoryModel, Phase, Reason, TraceStep, Violation,
    ViolationKind,
};
use raddle_memory::race::{RaceAccess, RaceInfo};
use raddle_program::{
    AccessKind, Fault, Leaves, Limit, Misuse, ObjectKind, Op, Order, PanicEnd, Program, ThreadId,
    Unsupported,
};
use std::time::Duration;

/// What is said where a violation comes after the end of `main`.
pub(crate) const MAIN_RETURNED: &str = "`main` had returned by then, which ends the process; what can only happen later is left out with `--on-main-return exit`";

/// The kind of a violation for scripts. Stable.
#[must_use]
pub fn violation_kind(kind: &ViolationKind) -> &'static str {
    match kind {
        ViolationKind::Fault(fault) => fault_kind(fault),
        ViolationKind::Race(_) => "race",
        ViolationKind::Deadlock { .. } => "deadlock",
        ViolationKind::Livelock { .. } => "livelock",
    }
}

/// The kinds of violations, each in one sentence. Names are stable.
pub const KINDS: &[(&str, &str)] = &[
    ("assertion", "An assertion fails."),
    ("error-reached", "A function that marks an error is called."),
    ("abort", "The program calls abort."),
    ("panic", "A thread panics."),
    ("exception", "An exception is thrown that nobody catches."),
    (
        "null-dereference",
        "Memory is accessed through a null pointer.",
    ),
    ("wild-pointer", "Memory is accessed where no object lies."),
    ("out-of-bounds", "Memory is accessed outside of an object."),
    ("misaligned", "An atomic access is misaligned."),
    ("write-to-constant", "A constant is written to."),
    (
        "use-after-free",
        "Memory is accessed after the end of its life.",
    ),
    ("double-free", "Memory is freed twice."),
    (
        "invalid-free",
        "Something is freed that malloc did not return.",
    ),
    ("division-by-zero", "An integer is divided by zero."),
    ("overflow", "Signed arithmetic overflows."),
    (
        "uninitialised",
        "Something depends on memory, or on a variable, that nobody has written.",
    ),
    ("unreachable", "Code that must never run is reached."),
    (
        "misuse",
        "A synchronisation object or a thread handle is used against its rules.",
    ),
    (
        "race",
        "Two threads access the same memory without synchronisation, and one of them writes.",
    ),
    ("deadlock", "Threads wait for each other for good."),
    ("livelock", "Threads spin for good."),
];

/// What a kind of violation is, in one sentence.
#[must_use]
pub fn kind_description(kind: &str) -> &'static str {
    let known = KINDS.iter().find(|(name, _)| *name == kind);
    known.map_or("The program goes wrong.", |(_, text)| text)
}

fn fault_kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::Assertion { .. } => "assertion",
        Fault::ErrorReached { .. } => "error-reached",
        Fault::Abort => "abort",
        Fault::Panic { .. } => "panic",
        Fault::Exception { .. } => "exception",
        Fault::NullDereference { .. } => "null-dereference",
        Fault::WildPointer { .. } => "wild-pointer",
        Fault::OutOfBounds { .. } => "out-of-bounds",
        Fault::Misaligned { .. } => "misaligned",
        Fault::WriteToConstant { .. } => "write-to-constant",
        Fault::UseAfterFree { .. } => "use-after-free",
        Fault::DoubleFree { .. } => "double-free",
        Fault::InvalidFree { .. } => "invalid-free",
        Fault::DivisionByZero => "division-by-zero",
        Fault::Overflow { .. } => "overflow",
        Fault::Uninitialised { .. } => "uninitialised",
        Fault::Unreachable => "unreachable",
        Fault::Misuse { .. } => "misuse",
    }
}

/// What is wrong, in one line.
#[must_use]
pub fn headline(names: &Names<'_>, program: &Program, kind: &ViolationKind) -> String {
    match kind {
        ViolationKind::Fault(fault) => fault_headline(names, fault),
        ViolationKind::Race(race) => race_headline(names, program, race),
        ViolationKind::Livelock { spinning } => match spinning.as_slice() {
            [one] => format!("livelock: {} spins for good", names.thread(one.thread)),
            _ => format!("livelock: {} threads spin for good", spinning.len()),
        },
        ViolationKind::Deadlock { waiting } => match waiting.as_slice() {
            [one] if one.spins() && !waits_for_lock(names, program, one) => {
                format!("deadlock: {} spins for good", names.thread(one.thread))
            }
            [one] => format!("deadlock: {} waits for good", names.thread(one.thread)),
            _ => match circle(waiting).as_slice() {
                [] => lone_spinners(names, program, waiting).unwrap_or_else(|| {
                    format!("deadlock: {} threads wait for good", waiting.len())
                }),
                [one] => format!("deadlock: {} waits for itself", names.thread(*one)),
                [others @ .., last] => {
                    let others: Vec<String> = others.iter().map(|&it| names.short(it)).collect();
                    format!(
                        "deadlock: {} and {} wait for each other",
                        others.join(", "),
                        names.short(*last)
                    )
                }
            },
        },
    }
}

/// The headline where threads wait in loops, and all others wait to join them.
fn lone_spinners(names: &Names<'_>, program: &Program, waiting: &[Waiting]) -> Option<String> {
    let joins = |it: &Waiting| matches!(program.op(it.state), Op::Join { .. });
    let spins = |it: &Waiting| it.spins() && !waits_for_lock(names, program, it);
    if !waiting.iter().all(|it| spins(it) || joins(it)) {
        return None;
    }
    let spinning = waiting.iter().filter(|it| it.spins());
    let spinning: Vec<String> = spinning.map(|it| names.short(it.thread)).collect();
    let (last, others) = spinning.split_last()?;
    Some(match others {
        [] => format!("deadlock: {last} spins for good"),
        _ => format!("deadlock: {} and {last} spin for good", others.join(", ")),
    })
}

/// The name of a cause for scripts. Stable.
#[must_use]
pub fn cause_name(cause: BlockedBy) -> &'static str {
    match cause {
        BlockedBy::Cut => "cut",
        BlockedBy::Assumption => "assumption",
        BlockedBy::Stopped => "stopped",
        BlockedBy::WakeUp => "wake-up",
        BlockedBy::Failure => "failure",
        BlockedBy::Unfinished => "unfinished",
        BlockedBy::Spinning => "spinning",
        BlockedBy::Waiting => "waiting",
    }
}

/// Why executions did not come to their end, in one line: `raddle explain blocked` says more. None if all did.
#[must_use]
pub fn blocked(complete: u64, by: &BlockedCounts) -> Option<String> {
    // What is cut short is counted beside the answer.
    let causes = by.iter().filter(|&(cause, _)| cause != BlockedBy::Cut);
    let causes: Vec<(BlockedBy, u64)> = causes.collect();
    let none_ends = complete == 0 && by.of(BlockedBy::Cut) == 0;
    let phrase = |cause| match cause {
        BlockedBy::Cut => "loops are cut short",
        BlockedBy::Assumption => "an assumption fails",
        BlockedBy::Stopped => "a thread stops early",
        BlockedBy::Unfinished => {
            "a thread is left in a loop whose other rounds are explored elsewhere"
        }
        BlockedBy::WakeUp => "a thread wakes up for nothing and waits again, which changes nothing",
        BlockedBy::Failure => {
            "an attempt comes to nothing, and other executions show what comes of it"
        }
        BlockedBy::Spinning => "threads wait for good in loops (`--check deadlock` says where)",
        BlockedBy::Waiting => "threads wait for good (`--check deadlock` says where)",
    };
    let text = match causes.as_slice() {
        [] => return None,
        &[(cause, count)] => {
            let which = match (none_ends, count) {
                (true, _) => "every execution is blocked".to_owned(),
                (_, 1) => "1 execution is blocked".to_owned(),
                (_, count) => format!("{} executions are blocked", grouped(count)),
            };
            format!("{which}: {}", phrase(cause))
        }
        several => {
            let which = match none_ends {
                true => "every execution is blocked".to_owned(),
                false => format!(
                    "{} executions are blocked",
                    grouped(several.iter().map(|(_, count)| count).sum())
                ),
            };
            let each = |&(cause, count): &(BlockedBy, u64)| {
                format!("in {} {}", grouped(count), phrase(cause))
            };
            let each: Vec<String> = several.iter().map(each).collect();
            format!("{which}: {}", each.join(", "))
        }
    };
    Some(text)
}

/// Threads of which each waits for the next one, and the last for the first; the first circle that there is.
fn circle(waiting: &[Waiting]) -> Vec<ThreadId> {
    let next = |thread: ThreadId| {
        let entry = waiting.iter().find(|it| it.thread == thread)?;
        entry.on.first().copied()
    };
    for first in waiting {
        let mut path = vec![first.thread];
        while let Some(thread) = path.last().and_then(|&last| next(last)) {
            if thread == first.thread {
                return path;
            }
            if path.contains(&thread) {
                break;
            }
            path.push(thread);
        }
    }
    Vec::new()
}

fn race_headline(names: &Names<'_>, program: &Program, race: &RaceInfo) -> String {
    let (first, second) = (&race.first, &race.second);
    let thread = |access: &RaceAccess| names.thread(access.thread);
    let parts = |access: &RaceAccess| access_parts(names, program.op(access.state));
    match (parts(first), parts(second)) {
        (Some((verb, place)), Some((other, same))) if place == same => format!(
            "data race on {place}: {verb} by {}, {other} by {}",
            thread(first),
            thread(second)
        ),
        _ => format!(
            "data race: {} by {}, {} by {}",
            access(names, program.op(first.state)),
            thread(first),
            access(names, program.op(second.state)),
            thread(second)
        ),
    }
}

/// One side of a race: `atomic write of x`.
pub(crate) fn access(names: &Names<'_>, op: &Op) -> String {
    match (access_parts(names, op), op) {
        (Some((verb, place)), _) => format!("{verb} of {place}"),
        (None, &Op::Sync { cell, action }) => intention(names, cell, action),
        (None, _) => "access".to_owned(),
    }
}

/// What is done, and where.
fn access_parts(names: &Names<'_>, op: &Op) -> Option<(&'static str, String)> {
    let by_order = |order: Order, atomic, plain| if order.is_atomic() { atomic } else { plain };
    let (verb, place) = match *op {
        Op::Load { loc, order } => (by_order(order, "atomic read", "read"), names.location(loc)),
        Op::Store { loc, order, .. } => {
            let verb = by_order(order, "atomic write", "write");
            (verb, names.location(loc))
        }
        Op::Rmw { loc, .. } | Op::Cas { loc, .. } => ("atomic update", names.location(loc)),
        Op::Free { object } => ("free", names.object(object)),
        _ => return None,
    };
    Some((verb, place))
}

/// The values that an assertion compared, where they are known: `counter is 1`.
pub(crate) fn operands(names: &Names<'_>, fault: &Fault) -> Option<String> {
    match fault {
        Fault::Assertion {
            condition,
            comparison: Some(comparison),
        } => operands::operands(names, condition, comparison),
        _ => None,
    }
}

/// A panic, and how it ends the program.
fn panic_headline(message: &str, end: &PanicEnd) -> String {
    let what = match end {
        PanicEnd::Here => "the thread panics",
        PanicEnd::CannotUnwind => "the thread panics where it cannot be unwound",
        PanicEnd::Unseen => "a thread panics, and nobody joins it",
        PanicEnd::PassedOn { .. } => "a thread panics",
    };
    let mut text = what.to_owned();
    if !message.is_empty() {
        text += &format!(": {message}");
    }
    if let PanicEnd::PassedOn { by } = end
        && !by.is_empty()
    {
        text += &format!(" (passed on: {by})");
    }
    text
}

/// A C++ exception that goes too far.
fn exception_headline(type_symbol: &str, message: &str, leaves: Leaves) -> String {
    let demangled = demangled(type_symbol);
    let name = demangled
        .strip_prefix("typeinfo for ")
        .unwrap_or(&demangled);
    let whose = match leaves {
        Leaves::Main => "leaves `main`",
        Leaves::Thread => "leaves its thread",
        Leaves::Function => "leaves a function that may not throw",
        Leaves::Cleanup => "leaves a destructor that runs because of another exception",
    };
    match (name, message) {
        ("", _) => format!("an exception {whose}"),
        (_, "") => format!("an exception of type `{name}` {whose}"),
        _ => format!("an exception of type `{name}` {whose}: {message}"),
    }
}

fn fault_headline(names: &Names<'_>, fault: &Fault) -> String {
    match fault {
        Fault::Assertion { condition, .. } => format!("assertion failed: {condition}"),
        Fault::ErrorReached { function } => format!("`{function}` is reached"),
        Fault::Abort => "`abort` is called".to_owned(),
        Fault::Panic { message, end } => panic_headline(message, end),
        Fault::Exception {
            type_symbol,
            message,
            leaves,
        } => exception_headline(type_symbol, message, *leaves),
        Fault::NullDereference { access, address: 0 } => {
            format!("{} through a null pointer", access_noun(*access))
        }
        Fault::NullDereference { access, address } => format!(
            "{} at address {address:#x}: a null pointer plus an offset",
            access_noun(*access)
        ),
        Fault::WildPointer { access, address } => format!(
            "{} at address {address:#x}, where no object lies",
            access_noun(*access)
        ),
        Fault::OutOfBounds {
            access,
            object,
            offset,
            size,
        } => format!(
            "{} of {} at offset {offset} of {}: out of bounds",
            access_noun(*access),
            bytes(*size),
            names.object_phrase(*object)
        ),
        Fault::Misaligned {
            access,
            object,
            offset,
            size,
        } => format!(
            "atomic {} of {} at offset {offset} of {}: misaligned",
            access_noun(*access),
            bytes(*size),
            names.object_phrase(*object)
        ),
        Fault::WriteToConstant { object, offset } => {
            format!(
                "write to {} at offset {offset}",
                names.object_phrase(*object)
            )
        }
        Fault::UseAfterFree {
            access,
            object,
            offset,
        } => {
            let place = names.place(*object, *offset, 1);
            let access = access_noun(*access);
            if names.tables().object_info(*object).kind == ObjectKind::Stack {
                format!("{access} of the local variable `{place}` after the end of its life")
            } else {
                format!("use after free: {access} of `{place}`")
            }
        }
        Fault::DoubleFree { object } => {
            format!("{} is freed twice", names.object_phrase(*object))
        }
        Fault::InvalidFree {
            object: Some(object),
            offset: 0,
            ..
        } => format!(
            "`free` of {}, which `malloc` did not return",
            names.object_phrase(*object)
        ),
        Fault::InvalidFree {
            object: Some(object),
            offset,
            ..
        } => format!(
            "`free` of an address {} into {}",
            bytes(offset.unsigned_abs()),
            names.object_phrase(*object)
        ),
        Fault::InvalidFree { address, .. } => {
            format!("`free` of {address:#x}, which `malloc` did not return")
        }
        Fault::DivisionByZero => "division by zero".to_owned(),
        Fault::Overflow { operation } => format!("signed overflow in {operation}"),
        Fault::Uninitialised {
            object: Some(object),
            offset,
        } => format!(
            "read of `{}`, which nobody has written",
            names.place(*object, *offset, 1)
        ),
        Fault::Uninitialised { object: None, .. } => {
            "use of a value that nobody has written".to_owned()
        }
        Fault::Unreachable => "code that must never run is reached".to_owned(),
        Fault::Misuse {
            misuse,
            object,
            thread,
        } => {
            let what = match (object, thread) {
                (Some(object), _) => format!("`{}`", names.object(*object)),
                (None, Some(thread)) => names.thread(*thread),
                (None, None) => "it".to_owned(),
            };
            misuse_headline(*misuse, &what)
        }
    }
}

fn misuse_headline(misuse: Misuse, what: &str) -> String {
    match misuse {
        Misuse::UnlockNotOwned => format!("{what} is unlocked by a thread that does not hold it"),
        Misuse::UnlockUnlocked => format!("{what} is unlocked, but nobody holds it"),
        Misuse::DestroyLocked => format!("{what} is destroyed while it is locked"),
        Misuse::UseDestroyed => format!("{what} is used after it was destroyed"),
        Misuse::WaitWithoutMutex => {
            format!("wait on {what} with a mutex that the thread does not hold")
        }
        Misuse::DestroyWithWaiters => format!("{what} is destroyed while threads wait on it"),
        Misuse::JoinTwice => format!("{what} is joined twice"),
        Misuse::JoinDetached => format!("{what} is joined, but it is detached"),
        Misuse::JoinSelf => format!("{what} joins itself"),
        Misuse::JoinUnknown => "a thread handle names no thread".to_owned(),
        Misuse::DetachTwice => format!("{what} is detached twice"),
        Misuse::WrongKind => format!("{what} was never initialised as what it is used for"),
        Misuse::BarrierCountZero => format!("the barrier {what} is initialised for no threads"),
    }
}

fn access_noun(access: AccessKind) -> &'static str {
    match access {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Update => "update",
        AccessKind::Free => "free",
    }
}

/// A function as the source calls it.
pub(crate) fn function(name: &str) -> String {
    // The header has the library's own name for it.
    let name = name.strip_prefix("__isoc99_").unwrap_or(name);
    let name = name.strip_prefix("__isoc23_").unwrap_or(name);
    demangled(name)
}

/// What the program meets that Raddle cannot run.
#[must_use]
pub fn unsupported(what: &Unsupported) -> String {
    match what {
        Unsupported::UnknownFunction { name } => {
            format!(
                "`{}` is called, and Raddle does not know what it does",
                function(name)
            )
        }
        Unsupported::UnknownVariable { name } => {
            format!("`{}` is used, and defined nowhere", demangled(name))
        }
        Unsupported::NondetValue { function } => format!(
            "`{function}` returns any value, and engines that explore executions cannot try them all"
        ),
        Unsupported::Instruction { what } => {
            format!("the instruction `{what}` is not supported")
        }
        Unsupported::InlineAsm { text } => {
            format!("inline assembly is not supported: `{text}`")
        }
        Unsupported::Library { function, why } => {
            format!("`{function}` is called in a way that is not supported: {why}")
        }
        Unsupported::Unwind => "an exception is thrown, which this engine cannot follow".to_owned(),
        Unsupported::Parse { message } => {
            format!("a function of the compiled program cannot be read: {message}")
        }
    }
}

/// What the user can do about a violation, where that is more than to mend what is shown.
#[must_use]
pub fn violation_hint(violation: &Violation) -> Option<&'static str> {
    let is_delayed = |step: &TraceStep| matches!(step.effect, Effect::Delayed);
    match &violation.kind {
        ViolationKind::Race(_) => {
            Some("let one mutex protect both accesses, or make both atomic (raddle explain race)")
        }
        ViolationKind::Deadlock { .. } => Some("raddle explain deadlock"),
        ViolationKind::Livelock { .. } => Some("raddle explain livelock"),
        ViolationKind::Fault(_) if violation.trace.steps.iter().any(is_delayed) => {
            match violation.schedule.memory {
                MemoryModel::Pso => Some(
                    "a delayed store is seen by other threads later than what comes after it: a fence in between, or memory_order_seq_cst, prevents that (raddle explain pso)",
                ),
                _ => Some(
                    "a delayed store is seen by other threads later than what comes after it: a fence in between, or memory_order_seq_cst, prevents that (raddle explain tso)",
                ),
            }
        }
        ViolationKind::Fault(_) => None,
    }
}

/// What the user can do about it, in this language.
#[must_use]
pub fn unsupported_hint(what: &Unsupported, is_rust: bool) -> &'static str {
    match what {
        Unsupported::UnknownFunction { .. } | Unsupported::UnknownVariable { .. } if is_rust => {
            "leave it out while checking, or put something in its place: `cfg(raddle)` is set; an `extern \"C\" fn` of that name in Rust that does what matters here is enough"
        }
        Unsupported::InlineAsm { .. } if is_rust => {
            "use atomics instead, or leave it out while checking: `cfg(raddle)` is set; `cargo raddle --cfg-miri` sets `cfg(miri)` for dependencies, too"
        }
        Unsupported::Library { .. } if is_rust => {
            "call it differently while checking: `cfg(raddle)` is set"
        }
        Unsupported::UnknownFunction { .. } => {
            "name the file that defines it as well, or a build directory (`-p`); a stub that does what matters here is enough"
        }
        Unsupported::UnknownVariable { .. } => "name the file that defines it as well",
        Unsupported::NondetValue { .. } => {
            "`--engine bmc` takes any value into account; or narrow it to a few `__VERIFIER_nondet_bool()`"
        }
        Unsupported::Instruction { .. } => "rewrite the line, or report it as a missing feature",
        Unsupported::InlineAsm { .. } => {
            "use atomics instead, or leave it out while checking: Raddle defines the macro `RADDLE`, and `cfg(raddle)` in Rust"
        }
        Unsupported::Library { .. } => {
            "call it differently while checking: Raddle defines the macro `RADDLE`, and `cfg(raddle)` in Rust"
        }
        Unsupported::Unwind => "use an engine that explores executions, such as `--engine rf`",
        Unsupported::Parse { .. } => {
            "report it with the program; another version of clang (`RADDLE_CLANG`) may help"
        }
    }
}

/// Which limit was reached.
#[must_use]
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Executions { limit } => {
            format!("the limit of {} was reached", executions(*limit))
        }
        Reason::Time { limit, during } => {
            let limit = seconds(*limit);
            format!("the time limit of {limit} was reached{}", while_(*during))
        }
        Reason::Memory { limit, during } => {
            let bytes = mebibytes(limit.bytes);
            let whose = match limit.is_default {
                true => " (80 % of what there is)",
                false => "",
            };
            let during = while_(*during);
            format!("the memory limit of {bytes}{whose} was reached{during}")
        }
        Reason::Interrupted { during } => format!("it was interrupted{}", while_(*during)),
        Reason::Effort => "the effort that was allowed was not enough".to_owned(),
        Reason::NotLookedFor { what } => {
            format!("no violation was found, without looking for {what}")
        }
        Reason::Unwritten { line } => {
            let line = line
                .iter()
                .map(|line| format!(" ({line})"))
                .collect::<String>();
            format!(
                "no violation was found, but what happens depends on memory that nobody has written{line}, of which only zeroes were tried"
            )
        }
        Reason::Unrolled { bound } => {
            format!(
                "loops or calls go round more than {bound} times, the last bound that was tried"
            )
        }
        Reason::NothingEnds { bound: None } => {
            "no execution comes to its end: threads wait or spin for good, or assumptions fail"
                .to_owned()
        }
        Reason::NothingEnds { bound: Some(bound) } => format!(
            "no execution comes to its end within {bound} iteration{} of each loop, so nothing is known of what lies behind",
            if *bound == 1 { "" } else { "s" }
        ),
        Reason::Thread { limit, thread, .. } => {
            // `T0` is `main`, `T2.1` the first thread that its second one starts.
            let path: Vec<String> = thread.path().iter().map(u32::to_string).collect();
            let path = if path.is_empty() {
                "0".to_owned()
            } else {
                path.join(".")
            };
            format!("{} in T{path}", thread_limit(limit))
        }
    }
}

/// What a check was busy with, where that is not what a user would expect.
fn while_(phase: Phase) -> &'static str {
    match phase {
        Phase::Exploring => "",
        Phase::Compiling => " while the compiler was running",
        Phase::Reading => " while the compiled program was read",
        Phase::Encoding => " while a formula was made of the program",
        Phase::Solving => " while the formula was being solved",
        Phase::Replaying => " while a violation was being reproduced",
        Phase::Simplifying => " while a violation was being simplified",
        Phase::Reporting => " while the report was written",
    }
}

/// What there is instead of an answer.
#[must_use]
pub fn found_so_far(reason: &Reason) -> &'static str {
    let (Reason::Time { during, .. }
    | Reason::Memory { during, .. }
    | Reason::Interrupted { during }) = reason
    else {
        return "no violation was found in the part that was explored";
    };
    match during {
        Phase::Compiling | Phase::Reading => "the program was not run",
        Phase::Exploring | Phase::Encoding | Phase::Solving => {
            "no violation was found in the part that was explored"
        }
        Phase::Replaying | Phase::Simplifying | Phase::Reporting => {
            "an execution that goes wrong was found, but could not be run again to make sure"
        }
    }
}

/// What the user can do about a limit.
#[must_use]
pub fn reason_hint(reason: &Reason) -> &'static str {
    match reason {
        Reason::Executions { .. } => "raise `--max-executions`, or make the program smaller",
        Reason::Time { .. } => {
            "raise `--time-limit`, bound loops with `--unroll N`, or make the program smaller"
        }
        Reason::Memory { .. } => "raise `--memory-limit`, or make the program smaller",
        Reason::Interrupted { .. } => {
            "a program with fewer threads and rounds takes less time, `--unroll N` bounds loops, `--time-limit S` stops by itself"
        }
        Reason::Effort => "another engine may do better",
        Reason::NotLookedFor { .. } => "the rest of the property holds",
        Reason::Unwritten { .. } => {
            "`--check uninit` shows an execution; give the memory a value, or any value: `__VERIFIER_nondet_int()` and its kin"
        }
        Reason::Unrolled { .. } => {
            "`--unroll N` checks up to N rounds; loops that wait are better written as `__VERIFIER_assume`"
        }
        Reason::NothingEnds { bound: None } => {
            "`--check deadlock` says where threads wait for good; `raddle explain inconclusive` says more"
        }
        Reason::NothingEnds { bound: Some(_) } => "raise `--unroll`; is the loop meant to end?",
        Reason::Thread { limit, .. } => match limit {
            Limit::Unroll { .. } => "raise `--unroll`",
            Limit::PrivateSteps { .. } => {
                "is this loop endless? `--unroll N` stops a loop after N iterations"
            }
            Limit::CallDepth { .. } => "is this recursion endless? bound it",
            Limit::Memory { .. } => "raise `--memory-limit`, or make the program smaller",
            Limit::Ids { .. } => "make the program smaller",
            Limit::NameClash { .. } => {
                "this is chance: start a thread or declare a variable more, or less, before them"
            }
        },
    }
}

fn thread_limit(limit: &Limit) -> String {
    match limit {
        Limit::Unroll { bound } => format!("a loop went round more than {bound} times"),
        Limit::PrivateSteps { steps } => {
            format!(
                "{} steps were run without any effect on other threads",
                grouped(*steps)
            )
        }
        Limit::CallDepth { depth } => format!("calls nest deeper than {depth}"),
        Limit::Memory { bytes } => {
            format!("the threads' states need more than {}", mebibytes(*bytes))
        }
        Limit::Ids { what } => format!("there are more {what} than Raddle can count"),
        Limit::NameClash { what } => {
            format!("there are two {what} that Raddle gives the same place in memory")
        }
    }
}

/// How often executions reached what Raddle cannot run.
pub(crate) fn out_of_reach(places: usize) -> String {
    match places {
        1 => "executions reach something that Raddle cannot run".to_owned(),
        _ => format!("executions reach {places} things that Raddle cannot run"),
    }
}

/// What was made of orderings weaker than `seq_cst`, which this memory model does not tell apart from stronger ones.
#[must_use]
pub fn weak_orderings(memory: MemoryModel) -> &'static str {
    match memory {
        MemoryModel::Sc => "atomics weaker than seq_cst were explored as seq_cst (memory sc)",
        MemoryModel::Tso => {
            "atomics weaker than seq_cst were explored as memory tso has them: loads are never reordered, stores reach memory in order"
        }
        MemoryModel::Pso => {
            "atomics weaker than seq_cst were explored as memory pso has them: loads are never reordered"
        }
        MemoryModel::C11 => "atomics weaker than seq_cst were explored as the language has them",
    }
}

/// What a `verified` covers.
#[must_use]
pub fn coverage(bound: &Bound) -> String {
    match bound {
        Bound::Complete => "no violation in any execution".to_owned(),
        Bound::Unrolled { iterations } => {
            format!("no violation in any execution of up to {iterations} iterations of each loop")
        }
    }
}

pub(crate) fn executions(count: u64) -> String {
    if count == 1 {
        "1 execution".to_owned()
    } else {
        format!("{} executions", grouped(count))
    }
}

/// Digits in groups of three: counts are compared by eye.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if time.subsec_nanos() == 0 {
        format!("{seconds:.0} s")
    } else if seconds < 10.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{seconds:.1} s")
    }
}

/// The time that there was to wait: `24.1 s, 23.9 s of it compiling`. That part is told where it matters.
pub(crate) fn time_spent(statistics: &Statistics) -> String {
    const WORTH_TELLING: Duration = Duration::from_secs(1);
    let (all, part) = (statistics.waited(), statistics.preparation);
    let matters = part >= WORTH_TELLING && part >= all / 10;
    match matters {
        true => format!("{}, {} of it compiling", seconds(all), seconds(part)),
        false => seconds(all),
    }
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::{grouped, seconds, time_spent};
    use raddle_judge::verdict::Statistics;
    use std::time::Duration;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1 000");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }

    #[test]
    fn compiling_is_part_of_the_time() {
        let spent = |compiling, searching| {
            time_spent(&Statistics {
                preparation: Duration::from_millis(compiling),
                elapsed: Duration::from_millis(searching),
                ..Statistics::default()
            })
        };
        assert_eq!(spent(23_900, 204), "24.1 s, 23.9 s of it compiling");
        assert_eq!(spent(290, 1), "0.29 s");
        assert_eq!(spent(1500, 60_010), "61.5 s");
    }

    #[test]
    fn times_have_as_many_digits_as_matter() {
        assert_eq!(seconds(Duration::from_secs(5)), "5 s");
        assert_eq!(seconds(Duration::from_millis(1234)), "1.23 s");
        assert_eq!(seconds(Duration::from_millis(123_456)), "123.5 s");
    }
}
