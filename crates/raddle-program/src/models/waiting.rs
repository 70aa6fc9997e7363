//! POSIX condition variables, barriers and one-time initialisation.

use super::errno::{ETIMEDOUT, int, zero};
use super::locks::act;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::SyncAction;

pub(super) const MODELS: &[Model] = &[
    model("pthread_cond_init", cond_init).capturing(&[0]),
    model("pthread_cond_destroy", cond_destroy).capturing(&[0]),
    model("pthread_cond_wait", cond_wait).capturing(&[0, 1]),
    model("pthread_cond_timedwait", cond_timed_wait).capturing(&[0, 1]),
    model("pthread_cond_clockwait", cond_timed_wait).capturing(&[0, 1]),
    model("pthread_cond_signal", cond_signal).capturing(&[0]),
    model("pthread_cond_broadcast", cond_broadcast).capturing(&[0]),
    model("pthread_condattr_init", zero),
    model("pthread_condattr_destroy", zero),
    model("pthread_condattr_setclock", zero),
    model("pthread_condattr_setpshared", zero),
    model("pthread_barrier_init", barrier_init).capturing(&[0]),
    model("pthread_barrier_destroy", barrier_destroy).capturing(&[0]),
    model("pthread_barrier_wait", barrier_wait).capturing(&[0]),
    model("pthread_barrierattr_init", zero),
    model("pthread_barrierattr_destroy", zero),
    model("pthread_barrierattr_setpshared", zero),
    model("pthread_once", once).capturing(&[0]),
];

// ---- condition variables

pub(super) fn cond_init(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::CondInit)
}

pub(super) fn cond_destroy(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::CondDestroy)
}

pub(super) fn cond_signal(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::Signal)
}

pub(super) fn cond_broadcast(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::Broadcast)
}

fn cond_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.cond_wait(cx.arg(0), cx.arg(1))?;
    Ok(Outcome::Return(0))
}

fn cond_timed_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    let deadline = cx.last_arg();
    let result = cx.cond_timed_wait(cx.arg(0), cx.arg(1), deadline)?;
    Ok(Outcome::Return(result))
}

impl Script<'_, '_> {
    /// Releases the mutex, waits to be woken, and takes the mutex again.
    pub(super) fn cond_wait(&mut self, cond: u64, mutex: u64) -> Result<(), Pause> {
        let released = self.cell(mutex)?;
        self.sync(cond, SyncAction::CondRelease { mutex: released })?;
        self.sync(cond, SyncAction::CondAwait)?;
        self.sync(mutex, SyncAction::Lock)?;
        Ok(())
    }

    /// The same with a deadline: returns 0 or `ETIMEDOUT`. Where a signal is meant for this thread or another, both may
    /// get it. The thread does not wait: being woken later is the same as looking later, and a thread that would give up
    /// by itself is no part of a deadlock.
    pub(super) fn cond_timed_wait(
        &mut self,
        cond: u64,
        mutex: u64,
        deadline: u64,
    ) -> Result<u64, Pause> {
        let released = self.cell(mutex)?;
        self.sync(cond, SyncAction::CondRelease { mutex: released })?;
        let action = if self.choice(2)? == 0 {
            SyncAction::CondPoll
        } else {
            SyncAction::CondTimeout
        };
        let result = self.sync(cond, action)?;
        if result == ETIMEDOUT {
            self.pass_deadline(deadline)?;
        }
        self.sync(mutex, SyncAction::Lock)?;
        Ok(result)
    }
}

// ---- barriers

fn barrier_init(cx: &mut Script<'_, '_>) -> ModelResult {
    let count = cx.arg(2) as u32;
    act(cx, SyncAction::BarrierInit { count })
}

fn barrier_destroy(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::BarrierDestroy)
}

/// The last to arrive is the one that is told so.
fn barrier_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    const SERIAL_THREAD: i32 = -1;
    let barrier = cx.arg(0);
    let arrived = cx.sync(barrier, SyncAction::BarrierArrive)?;
    if arrived & 1 == 1 {
        return int(SERIAL_THREAD);
    }
    let generation = (arrived >> 1) as u32;
    cx.sync(barrier, SyncAction::BarrierAwait { generation })?;
    int(0)
}

// ---- once

pub(super) fn once(cx: &mut Script<'_, '_>) -> ModelResult {
    let control = cx.arg(0);
    if cx.sync(control, SyncAction::OnceBegin)? == 0 {
        cx.call(cx.arg(1), &[])?;
        cx.sync(control, SyncAction::OnceEnd)?;
    }
    Ok(Outcome::Return(0))
}
