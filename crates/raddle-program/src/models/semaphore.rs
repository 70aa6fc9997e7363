//! POSIX semaphores.

use super::errno::{EAGAIN, EINVAL, ETIMEDOUT, int};
use super::{Model, ModelResult, Script, model};
use crate::op::{Order, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("sem_init", init).capturing(&[0]),
    model("sem_destroy", destroy).capturing(&[0]),
    model("sem_wait", wait).capturing(&[0]),
    model("sem_trywait", try_wait).capturing(&[0]),
    model("sem_timedwait", timed_wait).capturing(&[0]),
    model("sem_clockwait", timed_wait).capturing(&[0]),
    model("sem_post", post).capturing(&[0]),
    model("sem_getvalue", get_value).capturing(&[0]),
];

fn init(cx: &mut Script<'_, '_>) -> ModelResult {
    let value = cx.arg(2) as u32;
    if value > i32::MAX.cast_unsigned() {
        return cx.fail(EINVAL);
    }
    cx.sync(cx.arg(0), SyncAction::SemInit { value })?;
    int(0)
}

fn destroy(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(0), SyncAction::SemDestroy)?;
    int(0)
}

fn wait(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.wait_uncancelled(|cx| cx.sync_looking(cx.arg(0), SyncAction::SemWait))? {
        Ok(_) => int(0),
        Err(leaves) => Ok(leaves),
    }
}

fn try_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.sync_looking(cx.arg(0), SyncAction::SemTryWait)? {
        0 => int(0),
        _ => cx.fail(EAGAIN),
    }
}

/// A semaphore that is only tried: see `locks`.
fn timed_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.sync_looking(cx.arg(0), SyncAction::SemTryWait)? {
        0 => int(0),
        _ => {
            cx.pass_deadline(cx.last_arg())?;
            cx.fail(ETIMEDOUT)
        }
    }
}

fn post(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync_looking(cx.arg(0), SyncAction::SemPost)?;
    int(0)
}

fn get_value(cx: &mut Script<'_, '_>) -> ModelResult {
    let value = cx.sync_looking(cx.arg(0), SyncAction::SemGet)?;
    cx.store(cx.arg(1), 4, value, Order::Plain)?;
    int(0)
}
