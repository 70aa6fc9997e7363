//! The threads of C11: `<threads.h>`.

use super::errno::{EBUSY, ETIMEDOUT, int, zero};
use super::{Entry, Model, ModelResult, Outcome, Script, keys, model, pthread, waiting};
use crate::op::{MutexKind, Op, Order, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("thrd_create", thread_create).capturing(&[2]),
    model("thrd_join", thread_join),
    model("thrd_detach", thread_detach),
    model("thrd_exit", thread_exit),
    model("thrd_current", pthread::own_handle),
    model("thrd_equal", pthread::equal),
    model("thrd_yield", zero).no_op(),
    model("mtx_init", mutex_init).capturing(&[0]),
    model("mtx_destroy", mutex_destroy).capturing(&[0]),
    model("mtx_lock", mutex_lock).capturing(&[0]),
    model("mtx_trylock", mutex_try_lock).capturing(&[0]),
    model("mtx_timedlock", mutex_timed_lock).capturing(&[0]),
    model("mtx_unlock", mutex_unlock).capturing(&[0]),
    model("cnd_init", waiting::cond_init).capturing(&[0]),
    model("cnd_destroy", waiting::cond_destroy).capturing(&[0]),
    model("cnd_signal", waiting::cond_signal).capturing(&[0]),
    model("cnd_broadcast", waiting::cond_broadcast).capturing(&[0]),
    model("cnd_wait", cond_wait).capturing(&[0, 1]),
    model("cnd_timedwait", cond_timed_wait).capturing(&[0, 1]),
    model("tss_create", key_create),
    model("tss_delete", keys::key_delete),
    model("tss_get", keys::get_specific),
    model("tss_set", keys::set_specific).capturing(&[1]),
    model("call_once", waiting::once).capturing(&[0]),
];

const SUCCESS: i32 = 0;
const BUSY: i32 = 1;
const ERROR: i32 = 2;
const TIMED_OUT: i32 = 4;

/// Bits of the type that a mutex is made with.
const RECURSIVE: u64 = 1;

/// The C11 name of an error number.
fn result(error: u64) -> ModelResult {
    int(match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    })
}

// ---- threads

fn thread_create(cx: &mut Script<'_, '_>) -> ModelResult {
    let entry = Entry::Function(cx.arg(1));
    let handle = cx.new_thread(&entry)?;
    cx.store(cx.arg(0), cx.word(), handle, Order::Plain)?;
    cx.start_thread(handle, &entry, &[cx.arg(2)])?;
    int(SUCCESS)
}

fn thread_join(cx: &mut Script<'_, '_>) -> ModelResult {
    let value = cx.join(cx.arg(0))?;
    cx.store_if_wanted(cx.arg(1), 4, value)?;
    int(SUCCESS)
}

fn thread_detach(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread_of(cx.arg(0))?;
    result(cx.op(Op::Detach { thread })?)
}

fn thread_exit(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(cx.leave_thread(cx.arg(0) & 0xFFFF_FFFF))
}

// ---- mutexes

fn mutex_init(cx: &mut Script<'_, '_>) -> ModelResult {
    let kind = if cx.arg(1) & RECURSIVE != 0 {
        MutexKind::Recursive
    } else {
        MutexKind::Normal
    };
    result(cx.sync(cx.arg(0), SyncAction::MutexInit { kind })?)
}

fn mutex_destroy(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(0), SyncAction::MutexDestroy)?;
    Ok(Outcome::Void)
}

fn mutex_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    result(cx.sync(cx.arg(0), SyncAction::LOCK)?)
}

fn mutex_try_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    // C11 lets it fail although nobody has the mutex.
    if cx.fails_spuriously(BUSY as u64)? {
        return int(BUSY);
    }
    result(cx.sync(cx.arg(0), SyncAction::TRY_LOCK)?)
}

/// A mutex that is only tried: see `locks`.
fn mutex_timed_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    let tried = cx.sync(cx.arg(0), SyncAction::TRY_LOCK)?;
    if tried != EBUSY {
        return result(tried);
    }
    cx.pass_deadline(cx.arg(1))?;
    result(ETIMEDOUT)
}

fn mutex_unlock(cx: &mut Script<'_, '_>) -> ModelResult {
    result(cx.sync(cx.arg(0), SyncAction::UNLOCK)?)
}

// ---- condition variables and thread-specific data

fn cond_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.cond_wait(cx.arg(0), cx.arg(1))?;
    int(SUCCESS)
}

fn cond_timed_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    result(cx.cond_timed_wait(cx.arg(0), cx.arg(1), cx.arg(2))?)
}

fn key_create(cx: &mut Script<'_, '_>) -> ModelResult {
    match keys::key_create(cx)? {
        Outcome::Return(error) => result(error),
        other => Ok(other),
    }
}
