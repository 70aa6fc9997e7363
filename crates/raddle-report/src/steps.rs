//! What one step of an execution did, in words.

use crate::names::{Names, RustLock, RwChange};
use crate::number::Number;
use raddle_judge::{Effect, TraceStep};
use raddle_program::errno::{EAGAIN, EBUSY, EDEADLK, EPERM, ETIMEDOUT};
use raddle_program::op::mask;
use raddle_program::{
    ChoiceOf, LocId, NumberKind, ObjectId, ObjectKind, Op, Order, Program, RmwKind, SyncAction,
    Value,
};

/// What a nondeterministic function returned, if the step is the first piece of that.
pub(crate) fn value_chosen(program: &Program, steps: &[TraceStep], index: usize) -> Option<Number> {
    let first = &steps[index];
    let Op::Choice {
        of: ChoiceOf::Value {
            shift: 0,
            bits,
            kind,
        },
        ..
    } = *program.op(first.state)
    else {
        return None;
    };
    let mut value = 0_u64;
    for step in steps[index..]
        .iter()
        .filter(|step| step.thread == first.thread)
    {
        match *program.op(step.state) {
            Op::Choice {
                of: ChoiceOf::Value { shift, .. },
                ..
            } if shift > 0 || std::ptr::eq(step, first) => value |= step.value << shift,
            _ => break,
        }
    }
    let unused = 64 - u32::from(bits);
    Some(match (kind, bits) {
        (NumberKind::Floating, 32) => Number::Single(f32::from_bits(value as u32)),
        (NumberKind::Floating, 64) => Number::Double(f64::from_bits(value)),
        (NumberKind::Signed, 2..) => {
            Number::Whole(i128::from((value << unused).cast_signed() >> unused))
        }
        _ => Number::Whole(i128::from(value)),
    })
}

/// Does another step tell what this one does? A piece of a value is told with the first piece, and a spurious wake-up where it is chosen.
pub(crate) fn is_told_elsewhere(program: &Program, step: &TraceStep) -> bool {
    match program.op(step.state) {
        Op::Choice { of, .. } => match of {
            ChoiceOf::Value { shift, .. } => *shift > 0,
            ChoiceOf::Waking | ChoiceOf::Failing => step.value == 0,
            ChoiceOf::Course => false,
        },
        Op::Sync { action, .. } => *action == SyncAction::CondSpurious,
        _ => false,
    }
}

/// The step in words: `x = 1`, `read x → 0`, `lock m`.
pub(crate) fn phrase(names: &Names<'_>, program: &Program, step: &TraceStep) -> String {
    if let Some(phrase) = rust_lock(names, program.op(step.state), step.value) {
        return phrase;
    }
    match *program.op(step.state) {
        // Whether it is visible is worth more than its ordering.
        Op::Store { loc, value, .. } if step.effect != Effect::Whole => {
            let now = match step.effect {
                Effect::Flushed { .. } => "becomes visible",
                Effect::Whole | Effect::Delayed => "(delayed)",
                Effect::Abandoned => "(taken back)",
            };
            format!(
                "{} = {} {now}",
                names.location(loc),
                names.value(loc, value)
            )
        }
        Op::Load { loc, order } => format!(
            "read {} → {}{}",
            names.location(loc),
            names.value(loc, step.value),
            order_suffix(order)
        ),
        Op::Store { loc, value, order } => format!(
            "{} = {}{}",
            names.location(loc),
            names.value(loc, value),
            order_suffix(order)
        ),
        Op::Rmw {
            loc,
            kind,
            operand,
            order,
        } => {
            let size = names.tables().loc_info(loc).size;
            let new = kind.apply(step.value, operand, size);
            format!(
                "{} ({} → {}){}",
                rmw(names, loc, kind, operand),
                names.value(loc, step.value),
                names.value(loc, new),
                order_suffix(order)
            )
        }
        Op::Cas {
            loc,
            expected,
            new,
            success,
            failure,
        } => {
            let size = names.tables().loc_info(loc).size;
            let ok = (step.value ^ expected) & mask(size) == 0;
            let attempt = format!(
                "CAS {} {}→{}",
                names.location(loc),
                names.value(loc, expected),
                names.value(loc, new)
            );
            if ok {
                format!("{attempt} ok{}", order_suffix(success))
            } else {
                format!(
                    "{attempt} fails: {}{}",
                    names.value(loc, step.value),
                    order_suffix(failure)
                )
            }
        }
        Op::Fence { order } => format!("fence{}", order_suffix(order)),
        Op::Sync { cell, action } => sync(names, cell, action, step.value),
        Op::Spawn { child, .. } => format!("start {}", names.thread(child)),
        Op::Join { thread } => format!("join {}", names.short(thread)),
        Op::Detach { thread } => format!("detach {}", names.short(thread)),
        Op::Alloc { .. } | Op::Free { .. } => life(names, program.op(step.state)),
        Op::Choice {
            of: ChoiceOf::Value { .. },
            ..
        } => format!("choose {}", step.value),
        Op::Choice {
            of: ChoiceOf::Waking,
            ..
        } if step.value == 0 => "wait for a signal".to_owned(),
        Op::Choice {
            of: ChoiceOf::Waking,
            ..
        } => "wake up without a signal (spuriously)".to_owned(),
        Op::Choice {
            of: ChoiceOf::Failing,
            ..
        } if step.value == 0 => "go on".to_owned(),
        Op::Choice {
            of: ChoiceOf::Failing,
            ..
        } => "the next operation fails for no reason (spuriously)".to_owned(),
        Op::Choice { count, .. } => format!("choose {} of 0..{count}", step.value),
        Op::AtomicBegin => "atomic {".to_owned(),
        Op::AtomicEnd => "} atomic".to_owned(),
        Op::AssumeFailed => "assumption fails".to_owned(),
        Op::Exit { .. } => "finish".to_owned(),
        Op::ExitProcess { code } => format!("exit({code})"),
        Op::Stop(_) => "stop".to_owned(),
    }
}

/// What is done to the word of a lock of Rust's standard library: `lock m`. A mutex is 0 if it is free, 1 if it is taken, 2 if others may sleep.
fn rust_lock(names: &Names<'_>, op: &Op, found: Value) -> Option<String> {
    let (Op::Cas { loc, .. } | Op::Rmw { loc, .. }) = *op else {
        return None;
    };
    let lock = names.rust_lock(loc)?;
    let place = names.location(loc);
    match (lock, *op) {
        (RustLock::RwLock, _) => Some(match RwChange::of(op, found)? {
            RwChange::LockForReading => format!("lock {place} for reading"),
            RwChange::LockForWriting => format!("lock {place} for writing"),
            RwChange::Fails => format!("find {place} locked"),
            RwChange::Announce => format!("queue up for {place}"),
            RwChange::Unlock => format!("unlock {place}"),
        }),
        (
            RustLock::Mutex,
            Op::Cas {
                expected: 0,
                new: 1,
                ..
            }
            | Op::Rmw {
                kind: RmwKind::Exchange,
                operand: 2,
                ..
            },
        ) => Some(match found {
            0 => format!("lock {place}"),
            _ => format!("find {place} locked"),
        }),
        (
            RustLock::Mutex,
            Op::Rmw {
                kind: RmwKind::Exchange,
                operand: 0,
                ..
            },
        ) => Some(format!("unlock {place}")),
        (
            RustLock::Condvar,
            Op::Rmw {
                kind: RmwKind::Add, ..
            },
        ) => Some(format!("notify {place}")),
        _ => None,
    }
}

pub(crate) fn is_heap(names: &Names<'_>, object: ObjectId) -> bool {
    names.tables().object_info(object).kind == ObjectKind::Heap
}

/// The beginning or the end of an object's life.
pub(crate) fn life(names: &Names<'_>, op: &Op) -> String {
    match *op {
        Op::Alloc { object } if is_heap(names, object) => {
            format!("allocate {}", names.object(object))
        }
        Op::Free { object } if is_heap(names, object) => format!("free {}", names.object(object)),
        Op::Alloc { object } => format!("{} comes to life", names.object(object)),
        Op::Free { object } => format!("{} dies", names.object(object)),
        _ => String::new(),
    }
}

/// The operation's name for scripts. Stable.
pub(crate) fn op_kind(op: &Op) -> &'static str {
    match op {
        Op::Load { .. } => "load",
        Op::Store { .. } => "store",
        Op::Rmw { .. } => "rmw",
        Op::Cas { .. } => "cas",
        Op::Fence { .. } => "fence",
        Op::Sync { action, .. } => sync_kind(*action),
        Op::Spawn { .. } => "spawn",
        Op::Join { .. } => "join",
        Op::Detach { .. } => "detach",
        Op::Alloc { .. } => "alloc",
        Op::Free { .. } => "free",
        Op::Choice { .. } => "choice",
        Op::AtomicBegin => "atomic-begin",
        Op::AtomicEnd => "atomic-end",
        Op::AssumeFailed => "assume-failed",
        Op::Exit { .. } => "exit",
        Op::ExitProcess { .. } => "exit-process",
        Op::Stop(_) => "stop",
    }
}

fn sync_kind(action: SyncAction) -> &'static str {
    match action {
        SyncAction::MutexInit { .. } => "mutex-init",
        SyncAction::MutexDestroy => "mutex-destroy",
        SyncAction::Lock { .. } => "lock",
        SyncAction::TryLock { .. } => "trylock",
        SyncAction::Unlock { .. } => "unlock",
        SyncAction::CondRelease { .. } => "cond-release",
        SyncAction::CondAwait => "cond-await",
        SyncAction::CondTimeout => "cond-timeout",
        SyncAction::CondSpurious => "cond-spurious",
        SyncAction::CondPoll => "cond-poll",
        SyncAction::Signal => "signal",
        SyncAction::Broadcast => "broadcast",
        SyncAction::CondInit => "cond-init",
        SyncAction::CondDestroy => "cond-destroy",
        SyncAction::RwInit => "rwlock-init",
        SyncAction::RwDestroy => "rwlock-destroy",
        SyncAction::ReadLock => "read-lock",
        SyncAction::TryReadLock => "try-read-lock",
        SyncAction::WriteLock => "write-lock",
        SyncAction::TryWriteLock => "try-write-lock",
        SyncAction::RwUnlock => "rwlock-unlock",
        SyncAction::SemInit { .. } => "sem-init",
        SyncAction::SemWait => "sem-wait",
        SyncAction::SemTryWait => "sem-trywait",
        SyncAction::SemPost => "sem-post",
        SyncAction::SemGet => "sem-get",
        SyncAction::SemDestroy => "sem-destroy",
        SyncAction::BarrierInit { .. } => "barrier-init",
        SyncAction::BarrierDestroy => "barrier-destroy",
        SyncAction::BarrierArrive => "barrier-arrive",
        SyncAction::BarrierAwait { .. } => "barrier-await",
        SyncAction::OnceBegin => "once-begin",
        SyncAction::OnceEnd => "once-end",
        SyncAction::OnceAbort => "once-abort",
    }
}

fn rmw(names: &Names<'_>, loc: LocId, kind: RmwKind, operand: Value) -> String {
    let place = names.location(loc);
    let operand = names.value(loc, operand);
    let sign = match kind {
        RmwKind::Exchange => return format!("exchange {place}"),
        RmwKind::Add | RmwKind::FAdd => "+=",
        RmwKind::Sub | RmwKind::FSub => "-=",
        RmwKind::And => "&=",
        RmwKind::Or => "|=",
        RmwKind::Xor => "^=",
        RmwKind::Nand => return format!("{place} nand= {operand}"),
        RmwKind::Max | RmwKind::UMax | RmwKind::FMax => return format!("{place} max= {operand}"),
        RmwKind::Min | RmwKind::UMin | RmwKind::FMin => return format!("{place} min= {operand}"),
        RmwKind::UIncWrap => return format!("{place} += 1 wrapping at {operand}"),
        RmwKind::UDecWrap => return format!("{place} -= 1 wrapping at {operand}"),
        RmwKind::USubCond => return format!("{place} -= {operand} if it fits"),
        RmwKind::USubSat => return format!("{place} -= {operand} down to 0"),
    };
    format!("{place} {sign} {operand}")
}

fn sync(names: &Names<'_>, cell: LocId, action: SyncAction, result: Value) -> String {
    let phrase = intention(names, cell, action);
    match action {
        SyncAction::SemTryWait if names.is_queue(cell) && result == EAGAIN => {
            format!("wake nobody on {}", names.location(cell))
        }
        SyncAction::BarrierArrive if result & 1 == 1 => format!("{phrase} (last)"),
        SyncAction::BarrierArrive => phrase,
        SyncAction::OnceBegin if result == 0 => format!("{phrase}: runs the initialiser"),
        SyncAction::OnceBegin => format!("{phrase}: was run"),
        SyncAction::CondSpurious => phrase,
        SyncAction::SemGet => format!("{phrase} → {result}"),
        _ if result == 0 => phrase,
        _ => format!("{phrase} → {}", error_name(result)),
    }
}

fn error_name(result: Value) -> String {
    match result {
        EPERM => "EPERM".to_owned(),
        EAGAIN => "EAGAIN".to_owned(),
        EBUSY => "EBUSY".to_owned(),
        EDEADLK => "EDEADLK".to_owned(),
        ETIMEDOUT => "ETIMEDOUT".to_owned(),
        other => other.to_string(),
    }
}

/// What an operation on a synchronisation object sets out to do: also said of threads that wait to do it.
pub(crate) fn intention(names: &Names<'_>, cell: LocId, action: SyncAction) -> String {
    let place = names.location(cell);
    let verb = match action {
        // Those who wait for a futex are a queue.
        SyncAction::Lock { .. } if names.is_queue(cell) => "enter the queue of",
        SyncAction::SemPost if names.is_queue(cell) => "queue up on",
        SyncAction::SemTryWait if names.is_queue(cell) => "take one from the queue of",
        SyncAction::Signal if names.is_queue(cell) => "wake a thread on",
        SyncAction::MutexInit { .. }
        | SyncAction::CondInit
        | SyncAction::RwInit
        | SyncAction::SemInit { .. }
        | SyncAction::BarrierInit { .. } => "initialise",
        SyncAction::MutexDestroy
        | SyncAction::CondDestroy
        | SyncAction::RwDestroy
        | SyncAction::SemDestroy
        | SyncAction::BarrierDestroy => "destroy",
        SyncAction::Lock { .. } => "lock",
        SyncAction::TryLock { .. } => "trylock",
        SyncAction::Unlock { .. } | SyncAction::RwUnlock => "unlock",
        SyncAction::CondRelease { mutex } if names.location(mutex) == place => "wait on",
        SyncAction::CondRelease { mutex } => {
            return format!("wait on {place}, unlock {}", names.location(mutex));
        }
        SyncAction::CondAwait => "wake up on",
        SyncAction::CondTimeout => "stop waiting on",
        SyncAction::CondSpurious => "leave the queue of",
        SyncAction::CondPoll => "stop waiting, unless signalled, on",
        SyncAction::Signal => "signal",
        SyncAction::Broadcast => "broadcast",
        SyncAction::ReadLock => "lock for reading",
        SyncAction::TryReadLock => "trylock for reading",
        SyncAction::WriteLock => "lock for writing",
        SyncAction::TryWriteLock => "trylock for writing",
        SyncAction::SemWait => "take from semaphore",
        SyncAction::SemTryWait => "try to take from semaphore",
        SyncAction::SemPost => "post to semaphore",
        SyncAction::SemGet => "count of semaphore",
        SyncAction::BarrierArrive => "arrive at barrier",
        SyncAction::BarrierAwait { .. } => "pass barrier",
        SyncAction::OnceBegin => "enter once",
        SyncAction::OnceEnd => "finish once",
        SyncAction::OnceAbort => "give up once",
    };
    format!("{verb} {place}")
}

/// Orderings are named where they are neither plain nor the strongest.
fn order_suffix(order: Order) -> &'static str {
    match order {
        Order::Plain | Order::SeqCst => "",
        Order::Relaxed => " (relaxed)",
        Order::Acquire => " (acquire)",
        Order::Release => " (release)",
        Order::AcqRel => " (acq_rel)",
    }
}
