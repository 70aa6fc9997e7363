//! POSIX condition variables, barriers and one-time initialisation.

use super::errno::{ETIMEDOUT, int, zero};
use super::jumps::Words;
use super::locks::act;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::Stop;
use crate::interp::woken::{WOKEN, Wait};
use crate::op::{MutexKind, Order, SyncAction};
use std::rc::Rc;

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
    cx.look_at(cx.arg(0))?;
    act(cx, SyncAction::Signal)
}

pub(super) fn cond_broadcast(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    act(cx, SyncAction::Broadcast)
}

/// Who gives a mutex up to wait has held it: it knows its kind already.
const LOCK_AGAIN: SyncAction = SyncAction::Lock {
    kind: Some(MutexKind::Normal),
};

fn cond_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.may_be_cancelled()? {
        let leaves = cx.cond_wait_cancellably(cx.arg(0), cx.arg(1))?;
        return Ok(leaves.unwrap_or(Outcome::Return(0)));
    }
    cx.cond_wait(cx.arg(0), cx.arg(1))?;
    Ok(Outcome::Return(0))
}

fn cond_timed_wait(cx: &mut Script<'_, '_>) -> ModelResult {
    if let Some(leaves) = cx.cancellation_point()? {
        return Ok(leaves);
    }
    let deadline = cx.last_arg();
    let result = cx.cond_timed_wait(cx.arg(0), cx.arg(1), deadline)?;
    let leaves = cx.cancellation_point()?;
    Ok(leaves.unwrap_or(Outcome::Return(result)))
}

impl Script<'_, '_> {
    /// Releases the mutex, waits to be woken, and takes the mutex again. The thread may also wake up spuriously.
    pub(super) fn cond_wait(&mut self, cond: u64, mutex: u64) -> Result<(), Pause> {
        self.stop_if_woken_in_vain()?;
        self.look_at(cond)?;
        let released = self.cell(mutex)?;
        self.sync(cond, SyncAction::CondRelease { mutex: released })?;
        if self.wakes_spuriously()? {
            return self.wake_spuriously(cond, mutex);
        }
        self.sync(cond, SyncAction::CondAwait)?;
        self.sync(mutex, LOCK_AGAIN)?;
        Ok(())
    }

    /// The same in a program that cancels threads. If this one is, it leaves with the mutex in its hands.
    fn cond_wait_cancellably(&mut self, cond: u64, mutex: u64) -> Result<Option<Outcome>, Pause> {
        self.stop_if_woken_in_vain()?;
        self.look_at(cond)?;
        let released = self.cell(mutex)?;
        let Words { cancelled, waits } = self.own_cancellation()?;
        self.atomic_begin()?;
        if self.load(cancelled, 8, Order::SeqCst)? != 0 {
            self.atomic_end()?;
            return self.cancellation_point();
        }
        self.store(waits, 8, cond, Order::SeqCst)?;
        self.sync(cond, SyncAction::CondRelease { mutex: released })?;
        self.atomic_end()?;
        if self.wakes_spuriously()? {
            self.wake_spuriously(cond, mutex)?;
            self.store(waits, 8, 0, Order::SeqCst)?;
        } else {
            // Who cancels the thread finds it waiting, or woken up.
            self.atomic_begin()?;
            self.sync(cond, SyncAction::CondAwait)?;
            self.store(waits, 8, 0, Order::SeqCst)?;
            self.atomic_end()?;
            self.sync(mutex, LOCK_AGAIN)?;
        }
        self.cancellation_point()
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
        self.stop_if_woken_in_vain()?;
        self.look_at(cond)?;
        let released = self.cell(mutex)?;
        self.sync(cond, SyncAction::CondRelease { mutex: released })?;
        if self.wakes_spuriously()? {
            self.wake_spuriously(cond, mutex)?;
            self.has_waited()?;
            return Ok(0);
        }
        let action = if self.choice(2)? == 0 {
            SyncAction::CondPoll
        } else {
            SyncAction::CondTimeout
        };
        let result = self.sync(cond, action)?;
        if result == ETIMEDOUT {
            self.pass_deadline(deadline)?;
        }
        self.sync(mutex, LOCK_AGAIN)?;
        Ok(result)
    }

    /// A spurious wake-up from a condition variable: leaves the queue, and takes the mutex.
    ///
    /// Where repetitions are left out, it leaves the queue only when it has the mutex. Nobody can tell: a signal that would
    /// have come between the two, and been lost, now wakes the thread; and that is what another execution shows.
    fn wake_spuriously(&mut self, cond: u64, mutex: u64) -> Result<(), Pause> {
        if !self.leaves_out_vain_wakeups() {
            self.sync(cond, SyncAction::CondSpurious)?;
            self.sync(mutex, LOCK_AGAIN)?;
            return Ok(());
        }
        self.sync(mutex, LOCK_AGAIN)?;
        if self.sync(cond, SyncAction::CondSpurious)? == 0 {
            // There was a signal for it.
            return Err(Pause::Stop(Stop::WokenInVain));
        }
        self.note_spurious_wakeup()
    }

    // ---- spurious wake-ups

    /// Remembers what the thread woke up from, for [`Self::stop_if_woken_in_vain`].
    pub(super) fn note_spurious_wakeup(&mut self) -> Result<(), Pause> {
        let (model, args) = (self.frame.model, self.frame.args.clone());
        self.note(|machine| {
            let wait = Wait::new(&machine.state, model, args);
            machine.state.woken = Some(Rc::new(wait));
            Ok(0)
        })?;
        Ok(())
    }

    /// Does the thread wake up from this wait without being signalled? Both courses are explored; but it does so once
    /// at most at each place, or loops would have no end.
    pub(super) fn wakes_spuriously(&mut self) -> Result<bool, Pause> {
        if !self.machine.world.options.spurious_wakeups {
            return Ok(false);
        }
        let place = self.place_of_call()?;
        if self.thread_value(WOKEN, place)? != 0 || !self.chooses_to_wake()? {
            return Ok(false);
        }
        self.set_thread_value(WOKEN, place, 1)?;
        Ok(true)
    }

    /// Stops a thread that woke up spuriously, has only looked around since, and now waits again as before. If there was a
    /// signal meanwhile that nobody got, there is an execution in which that woke it; otherwise one in which it slept on.
    pub(super) fn stop_if_woken_in_vain(&mut self) -> Result<(), Pause> {
        if !self.leaves_out_vain_wakeups() {
            return Ok(());
        }
        let (model, args) = (self.frame.model, self.frame.args.clone());
        let is_back = self.note(|machine| {
            let woken = machine.state.woken.take();
            let is_back = woken.is_some_and(|it| *it == Wait::new(&machine.state, model, args));
            Ok(u64::from(is_back))
        })?;
        match is_back {
            0 => Ok(()),
            _ => Err(Pause::Stop(Stop::WokenInVain)),
        }
    }

    /// Are wake-ups that change nothing left out? Others might see that the mutex is taken if they tried to lock it.
    pub(super) fn leaves_out_vain_wakeups(&self) -> bool {
        let world = &self.machine.world;
        world.options.spurious_wakeups
            && world.options.leaves_out_pure_iterations
            && !world.has_try_locks
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
    let arrived = cx.sync_looking(barrier, SyncAction::BarrierArrive)?;
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
