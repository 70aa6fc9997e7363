//! POSIX threads.

use super::{Entry, Model, ModelResult, Outcome, Script, model};
use crate::fault::{Fault, Misuse};
use crate::op::{MutexKind, Op, Order, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("pthread_create", create).capturing(&[3]),
    model("pthread_join", join),
    model("pthread_detach", detach),
    model("pthread_exit", exit),
    model("pthread_self", own_handle),
    model("pthread_equal", equal),
    model("pthread_mutex_init", mutex_init).capturing(&[0]),
    model("pthread_mutex_destroy", mutex_destroy).capturing(&[0]),
    model("pthread_mutex_lock", mutex_lock).capturing(&[0]),
    model("pthread_mutex_trylock", mutex_trylock).capturing(&[0]),
    model("pthread_mutex_unlock", mutex_unlock).capturing(&[0]),
];

fn create(cx: &mut Script<'_, '_>) -> ModelResult {
    let entry = Entry::Function(cx.arg(2));
    // The handle is stored before the thread runs, as libraries do: the thread may read it.
    let handle = cx.new_thread(&entry)?;
    cx.store(cx.arg(0), 8, handle, Order::Plain)?;
    cx.start_thread(handle, &entry, &[cx.arg(3)])?;
    Ok(Outcome::Return(0))
}

fn join(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread_of(cx.arg(0))?;
    if thread == cx.thread() {
        return Err(Fault::Misuse {
            misuse: Misuse::JoinSelf,
            object: None,
            thread: Some(thread),
        }
        .into());
    }
    let value = cx.op(Op::Join { thread })?;
    if cx.arg(1) != 0 {
        cx.store(cx.arg(1), 8, value, Order::Plain)?;
    }
    Ok(Outcome::Return(0))
}

fn detach(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread_of(cx.arg(0))?;
    Ok(Outcome::Return(cx.op(Op::Detach { thread })?))
}

fn exit(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(cx.leave_thread(cx.arg(0)))
}

fn own_handle(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread();
    Ok(Outcome::Return(cx.tables().handle_of_thread(thread)))
}

fn equal(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(u64::from(cx.arg(0) == cx.arg(1))))
}

fn mutex_init(cx: &mut Script<'_, '_>) -> ModelResult {
    // The attribute object holds its kind in its first bytes.
    let kind = match cx.arg(1) {
        0 => 0,
        attributes => cx.load(attributes, 4, Order::Plain)?,
    };
    let kind = match kind & 3 {
        1 => MutexKind::Recursive,
        2 => MutexKind::ErrorCheck,
        _ => MutexKind::Normal,
    };
    sync(cx, SyncAction::MutexInit { kind })
}

fn mutex_destroy(cx: &mut Script<'_, '_>) -> ModelResult {
    sync(cx, SyncAction::MutexDestroy)
}

fn mutex_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    sync(cx, SyncAction::Lock)
}

fn mutex_trylock(cx: &mut Script<'_, '_>) -> ModelResult {
    sync(cx, SyncAction::TryLock)
}

fn mutex_unlock(cx: &mut Script<'_, '_>) -> ModelResult {
    sync(cx, SyncAction::Unlock)
}

/// One action on the object at the first argument; its result is the function's.
fn sync(cx: &mut Script<'_, '_>, action: SyncAction) -> ModelResult {
    Ok(Outcome::Return(cx.sync(cx.arg(0), action)?))
}
