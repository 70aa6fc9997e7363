//! `setjmp` and `longjmp`, and what the C library builds on them: handlers of `pthread_cleanup_push`, and threads that are cancelled.
//!
//! A thread remembers, for each buffer, the call of `setjmp` as it was: the frame that called it, with the registers that matter
//! behind the call. `longjmp` leaves the frames above as an exception does, and returns once more from that call. Variables that live in registers then hold what
//! they held at `setjmp`, which the standard allows for all but volatile ones; those are in memory.
//!
//! `pthread_cleanup_push` in C is a `setjmp` whose buffer is registered. A thread that leaves by `pthread_exit`, or is cancelled, jumps to the buffer that was
//! registered last; the code there calls the handler and then `__pthread_unwind_next`.
//!
//! A cancelled thread acts on it at the functions that look ([`Script::cancellation_point`]). Each thread has two words for that: has it been cancelled,
//! and which condition variable does it wait for? Who cancels a thread wakes all that wait there, which may happen to them at any time.

use super::errno::{EINVAL, int};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::interp::unwind::Met;
use crate::op::{Op, Order, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("setjmp", set_jump),
    model("_setjmp", set_jump),
    model("sigsetjmp", set_jump),
    model("__sigsetjmp", set_jump),
    model("longjmp", long_jump),
    model("_longjmp", long_jump),
    model("siglongjmp", long_jump),
    model("__longjmp_chk", long_jump),
    // (buffer, value): what comes of a jump. Called by nobody but the interpreter.
    model("raddle.jump", jump),
    model("__pthread_register_cancel", push_cleanup),
    model("__pthread_unregister_cancel", pop_cleanup),
    model("__pthread_unwind_next", leave_further),
    model("pthread_exit", exit).capturing(&[0]),
    model("pthread_cancel", cancel),
    model("pthread_testcancel", test_cancel),
    model("pthread_setcancelstate", set_state),
    model("pthread_setcanceltype", set_type),
];

/// Kinds of thread values: the buffers of cleanup handlers by their number, and at 0 how many there are.
const CLEANUPS: u32 = 16;
/// What the thread returns that runs its handlers.
const LEAVING: u32 = 17;
/// Does it not act on being cancelled?
const DISABLED: u32 = 18;

fn set_jump(cx: &mut Script<'_, '_>) -> ModelResult {
    let buffer = cx.arg(0);
    if cx.asks() {
        // Cleanup handlers matter only if the thread leaves in between, which is refused there.
        return match cx.function_name() {
            "__sigsetjmp" => int(0),
            _ => Err(cx.unsupported("jumps are for engines that explore executions")),
        };
    }
    let thread = cx.thread();
    let own = cx.tables().handle_of_thread(thread);
    cx.store(buffer, 8, own, Order::Plain)?;
    cx.note(|machine| {
        machine.note_jump_target(buffer);
        Ok(0)
    })?;
    int(0)
}

fn long_jump(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() {
        return Err(cx.unsupported("jumps are for engines that explore executions"));
    }
    let buffer = cx.arg(0);
    let thread = cx.thread();
    let own = cx.tables().handle_of_thread(thread);
    if cx.load(buffer, 8, Order::Plain)? != own {
        return Err(
            cx.unsupported("another thread called `setjmp` with this buffer, or nobody did")
        );
    }
    let value = match cx.arg(1) & 0xFFFF_FFFF {
        0 => 1,
        value => value,
    };
    Ok(Outcome::Jump { buffer, value })
}

/// Leaves frames, innermost first, up to the one that called `setjmp`, and returns from that call.
fn jump(cx: &mut Script<'_, '_>) -> ModelResult {
    let (buffer, value) = (cx.arg(0), cx.arg(1));
    loop {
        let gone = "the function that called `setjmp` with this buffer has returned";
        let Some(depth) = cx.machine.jump_depth(buffer) else {
            return Err(cx.unsupported(gone));
        };
        let Some(link) = cx.machine.frames_below().next() else {
            return Err(cx.unsupported(gone));
        };
        if link.depth == depth {
            break;
        }
        if let Some(Met::Code { owned, atomic, .. }) = cx.machine.met(&link)? {
            for object in owned {
                cx.op(Op::Free { object })?;
            }
            cx.perform(|machine| Ok(machine.leave_atomic_frame(atomic)))?;
        }
        cx.machine.leave_frame_below();
        cx.checkpoint();
    }
    cx.machine.go_back(buffer);
    Ok(Outcome::Return(value))
}

// ---- handlers

fn push_cleanup(cx: &mut Script<'_, '_>) -> ModelResult {
    let count = cx.thread_value(CLEANUPS, 0)?.saturating_add(1);
    cx.set_thread_value(CLEANUPS, 0, count)?;
    if !cx.asks() {
        cx.set_thread_value(CLEANUPS, count, cx.arg(0))?;
    }
    Ok(Outcome::Void)
}

fn pop_cleanup(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.last_cleanup()?;
    Ok(Outcome::Void)
}

fn exit(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.leave_by_handlers(cx.arg(0))
}

/// A handler has run.
fn leave_further(cx: &mut Script<'_, '_>) -> ModelResult {
    let value = cx.thread_value(LEAVING, 0)?;
    cx.leave_by_handlers(value)
}

// ---- cancellation

fn cancel(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() {
        return Err(cx.unsupported("threads cannot be cancelled with this engine"));
    }
    cx.thread_of(cx.arg(0))?;
    let Words { cancelled, waits } = cx.cancellation_of(cx.arg(0))?;
    cx.atomic_begin()?;
    cx.store(cancelled, 8, 1, Order::SeqCst)?;
    match cx.load(waits, 8, Order::SeqCst)? {
        0 => {}
        ELSEWHERE => {
            let why = "the thread waits in `pthread_join` or `sem_wait`";
            return Err(cx.unsupported(why));
        }
        cond => {
            cx.sync(cond, SyncAction::Broadcast)?;
        }
    }
    cx.atomic_end()?;
    int(0)
}

fn test_cancel(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.cancellation_point()? {
        Some(leaves) => Ok(leaves),
        None => Ok(Outcome::Void),
    }
}

/// `(state, old state)`.
fn set_state(cx: &mut Script<'_, '_>) -> ModelResult {
    let state = cx.arg(0) & 0xFFFF_FFFF;
    if state > 1 {
        return int(EINVAL as i32);
    }
    let old = cx.thread_value(DISABLED, 0)?;
    cx.set_thread_value(DISABLED, 0, state)?;
    cx.store_if_wanted(cx.arg(1), 4, old)?;
    int(0)
}

/// `(type, old type)`: threads act on it at certain functions, not anywhere.
fn set_type(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg(0) & 0xFFFF_FFFF != 0 && cx.may_be_cancelled()? {
        return Err(cx.unsupported("threads that are cancelled anywhere"));
    }
    cx.store_if_wanted(cx.arg(1), 4, 0)?;
    int(0)
}

/// Where the two words of a thread lie.
pub(super) struct Words {
    pub(super) cancelled: u64,
    /// The condition variable that it waits for, or [`ELSEWHERE`].
    pub(super) waits: u64,
}

/// No address: the thread waits where nobody can wake it up.
const ELSEWHERE: u64 = 1;

impl Script<'_, '_> {
    /// Leaves the thread with a value, by way of the handlers that are left.
    fn leave_by_handlers(&mut self, value: u64) -> ModelResult {
        if self.asks() && self.thread_value(CLEANUPS, 0)? > 0 {
            return Err(self.unsupported("handlers of pthread_cleanup_push would have to run"));
        }
        match self.last_cleanup()? {
            0 if self.has_destructors()? => {
                Err(self.unsupported("destructors of C++ would have to run"))
            }
            0 => Ok(self.leave_thread(value)),
            buffer => {
                self.set_thread_value(LEAVING, 0, value)?;
                Ok(Outcome::Jump { buffer, value: 1 })
            }
        }
    }

    /// Does a frame that is left clean up where exceptions pass? So does the end of a thread in C++.
    fn has_destructors(&mut self) -> Result<bool, Pause> {
        if self.asks() {
            return Ok(false);
        }
        for link in self.machine.frames_below() {
            if let Some(Met::Code { pad: Some(pad), .. }) = self.machine.met(&link)?
                && pad.cleanup
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the buffer off that was registered last. 0 if there is none.
    fn last_cleanup(&mut self) -> Result<u64, Pause> {
        let count = self.thread_value(CLEANUPS, 0)?;
        if count == 0 {
            return Ok(0);
        }
        self.set_thread_value(CLEANUPS, 0, count - 1)?;
        if self.asks() {
            return Ok(0);
        }
        let buffer = self.thread_value(CLEANUPS, count)?;
        self.set_thread_value(CLEANUPS, count, 0)?;
        Ok(buffer)
    }

    /// Does the program cancel threads, and is this one ready for it?
    pub(super) fn may_be_cancelled(&mut self) -> Result<bool, Pause> {
        let module = &self.machine.world.module;
        let cancels = !self.asks() && module.function_named("pthread_cancel").is_some();
        Ok(cancels && self.thread_value(DISABLED, 0)? == 0)
    }

    fn cancellation_of(&mut self, handle: u64) -> Result<Words, Pause> {
        let tables = self.tables();
        let object = tables.library_object("cancellation of a thread", handle, 16)?;
        let cancelled = tables.address(object, 0);
        Ok(Words {
            cancelled,
            waits: cancelled + 8,
        })
    }

    pub(super) fn own_cancellation(&mut self) -> Result<Words, Pause> {
        let thread = self.thread();
        let handle = self.tables().handle_of_thread(thread);
        self.cancellation_of(handle)
    }

    /// If the thread has been cancelled: how it leaves.
    pub(super) fn cancellation_point(&mut self) -> Result<Option<Outcome>, Pause> {
        const CANCELED: u64 = u64::MAX;
        if !self.may_be_cancelled()? {
            return Ok(None);
        }
        let Words { cancelled, .. } = self.own_cancellation()?;
        if self.load(cancelled, 8, Order::SeqCst)? == 0 {
            return Ok(None);
        }
        self.set_thread_value(DISABLED, 0, 1)?;
        self.leave_by_handlers(CANCELED).map(Some)
    }

    /// Waits by an operation that nobody interrupts; if the thread has been cancelled before, how it leaves.
    pub(super) fn wait_uncancelled(
        &mut self,
        wait: impl FnOnce(&mut Self) -> Result<u64, Pause>,
    ) -> Result<Result<u64, Outcome>, Pause> {
        if !self.may_be_cancelled()? {
            return wait(self).map(Ok);
        }
        let Words { waits, .. } = self.own_cancellation()?;
        self.store(waits, 8, ELSEWHERE, Order::SeqCst)?;
        if let Some(leaves) = self.cancellation_point()? {
            return Ok(Err(leaves));
        }
        let result = wait(self)?;
        self.store(waits, 8, 0, Order::SeqCst)?;
        Ok(Ok(result))
    }
}
