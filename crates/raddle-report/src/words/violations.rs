//! What is wrong: kinds of violations, and a headline for each.

use crate::names::{Names, bytes, demangled};
use crate::operands;
use crate::steps::intention;
use crate::waits::waits_for_lock;
use raddle_judge::verdict::Waiting;
use raddle_judge::{Effect, MemoryModel, TraceStep, Violation, ViolationKind};
use raddle_memory::race::{RaceAccess, RaceInfo};
use raddle_program::{
    AccessKind, Fault, Leaves, Misuse, ObjectKind, Op, Order, PanicEnd, Program, ThreadId,
};

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
        Op::Free { object } => {
            let is_local = names.tables().object_info(object).kind == ObjectKind::ThreadLocal;
            let verb = if is_local { "end" } else { "free" };
            (verb, names.object(object))
        }
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
            match names.tables().object_info(*object).kind {
                ObjectKind::Stack => {
                    format!("{access} of the local variable `{place}` after the end of its life")
                }
                ObjectKind::ThreadLocal => format!(
                    "{access} of the thread-local variable `{place}` after the end of its thread"
                ),
                _ => format!("use after free: {access} of `{place}`"),
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
