//! Linux futexes: what locks of other languages' libraries are made of.
//!
//! The address of the word is the name of a queue. Whoever waits reads the word; whoever wakes does not touch it, so it may be
//! freed by then, or be no address at all. The queue is that of a condition variable, in memory that only these models know
//! ([`Script::queue_of`]). To look at the word and to enter the queue is one step, as in the kernel: an atomic block. Entering takes a mutex, as it does for condition variables; it has its cell at
//! the next byte and is held inside of blocks only. How many threads wait without having been woken is counted by a
//! semaphore at the byte after that, since who wakes is told how many it woke.

use super::errno::{EAGAIN, EBADF, ENOSYS, ETIMEDOUT, int};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{MutexKind, Order, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("syscall", syscall).capturing(&[1]),
    // What std::future and std::promise wait by.
    model(
        "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
        wait_until,
    )
    .capturing(&[1]),
    model(
        "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
        wait_until,
    )
    .capturing(&[1]),
    model(
        "_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj",
        notify_all,
    )
    .capturing(&[0]),
];

/// System calls by number.
const FUTEX: u64 = 202;
const GETTID: u64 = 186;
const CLOSE: u64 = 3;
const SCHED_YIELD: u64 = 24;
const GETRANDOM: u64 = 318;
const MEMBARRIER: u64 = 324;

fn syscall(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.arg(0) {
        FUTEX => futex(cx),
        GETTID => {
            let thread = cx.thread();
            Ok(Outcome::Return(cx.tables().handle_of_thread(thread)))
        }
        SCHED_YIELD => Ok(Outcome::Return(0)),
        CLOSE if cx.asks() => Err(cx.refuse_files()),
        CLOSE => match cx.close_file(cx.arg(1))? {
            true => Ok(Outcome::Return(0)),
            false => fail(cx, EBADF),
        },
        // Who is told that the kernel does not know them does without. (A fence of the caller alone would order less than `membarrier` does, and show races that
        // do not exist.)
        MEMBARRIER => fail(cx, ENOSYS),
        // `(318, buffer, length, flags)`.
        GETRANDOM => cx.random_bytes(cx.arg(1), cx.arg(2)),
        number => {
            let why = format!("system call {number}");
            Err(cx.unsupported(&why))
        }
    }
}

/// -1 as a `long`.
fn fail(cx: &mut Script<'_, '_>, error: u64) -> ModelResult {
    cx.set_errno(error)?;
    Ok(Outcome::Return(u64::MAX))
}

/// `(202, word, operation, value, timeout, …)`.
fn futex(cx: &mut Script<'_, '_>) -> ModelResult {
    const WAIT: u64 = 0;
    const WAKE: u64 = 1;
    const WAIT_BITSET: u64 = 9;
    const WAKE_BITSET: u64 = 10;
    const OPERATION: u64 = 0x7F;
    let (word, value) = (cx.arg(1), cx.arg(3));
    match cx.arg(2) & OPERATION {
        operation @ (WAIT | WAIT_BITSET) => {
            let timeout = cx.arg(4);
            match cx.futex_wait(word, value, timeout != 0)? {
                0 => {
                    if timeout != 0 {
                        cx.has_waited()?;
                    }
                    return Ok(Outcome::Return(0));
                }
                // Of the two, one has a deadline and the other a duration.
                ETIMEDOUT if operation == WAIT_BITSET => cx.pass_deadline(timeout)?,
                ETIMEDOUT => cx.sleep_duration(timeout)?,
                error => return fail(cx, error),
            }
            fail(cx, ETIMEDOUT)
        }
        WAKE | WAKE_BITSET => {
            let most = (value as u32 as i32).max(0);
            Ok(Outcome::Return(cx.futex_wake(word, most as u64)?))
        }
        _ => Err(cx.unsupported("this operation on a futex")),
    }
}

/// `(this, word, value, is there a deadline, …)`: did something else than time end it?
fn wait_until(cx: &mut Script<'_, '_>) -> ModelResult {
    let has_deadline = cx.arg(3) & 1 == 1;
    let result = cx.futex_wait(cx.arg(1), cx.arg(2), has_deadline)?;
    if result == ETIMEDOUT {
        cx.pass_time(cx.arg(4), cx.arg(5))?;
    }
    int(i32::from(result != ETIMEDOUT))
}

fn notify_all(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.futex_wake(cx.arg(0), u64::MAX)?;
    Ok(Outcome::Void)
}

impl Script<'_, '_> {
    /// Waits while the word has a value. Returns 0 if woken, or an error number.
    pub(super) fn futex_wait(
        &mut self,
        word: u64,
        value: u64,
        has_deadline: bool,
    ) -> Result<u64, Pause> {
        self.atomic_begin()?;
        let is_expected = self.load(word, 4, Order::SeqCst)? == value & 0xFFFF_FFFF;
        let Some(queue) = self.queue_of(word)? else {
            return Err(self.unsupported("a word that no other thread can see"));
        };
        if is_expected {
            self.enter_queue(queue)?;
        }
        self.atomic_end()?;
        if !is_expected {
            return Ok(EAGAIN);
        }
        if !has_deadline {
            self.sync(queue, SyncAction::CondAwait)?;
            return Ok(0);
        }
        let action = if self.choice(2)? == 0 {
            SyncAction::CondPoll
        } else {
            SyncAction::CondTimeout
        };
        self.leave_queue(queue, action)
    }

    /// Enters the queue of a word, inside of an atomic block.
    pub(super) fn enter_queue(&mut self, queue: u64) -> Result<(), Pause> {
        let (mutex, waiting) = (queue.wrapping_add(1), queue.wrapping_add(2));
        let released = self.cell(mutex)?;
        self.sync(mutex, SyncAction::LOCK.of_kind(MutexKind::Normal))?;
        self.sync(waiting, SyncAction::SemPost)?;
        self.sync(queue, SyncAction::CondRelease { mutex: released })?;
        Ok(())
    }

    /// Leaves the queue by an action that does not wait. Returns 0 if somebody has woken the thread.
    pub(super) fn leave_queue(&mut self, queue: u64, action: SyncAction) -> Result<u64, Pause> {
        self.atomic_begin()?;
        let result = self.sync(queue, action)?;
        if result != 0 {
            self.sync(queue.wrapping_add(2), SyncAction::SemTryWait)?;
        }
        self.atomic_end()?;
        Ok(result)
    }

    /// Wakes so many threads at most, and returns how many it woke.
    pub(super) fn futex_wake(&mut self, word: u64, most: u64) -> Result<u64, Pause> {
        let Some(queue) = self.queue_of(word)? else {
            return Ok(0);
        };
        self.atomic_begin()?;
        let woken = self.wake_in_queue(queue, most)?;
        self.atomic_end()?;
        Ok(woken)
    }

    /// The same inside of an atomic block.
    pub(super) fn wake_in_queue(&mut self, queue: u64, most: u64) -> Result<u64, Pause> {
        let waiting = queue.wrapping_add(2);
        let mut woken = 0;
        while woken < most && self.sync(waiting, SyncAction::SemTryWait)? == 0 {
            self.sync(queue, SyncAction::Signal)?;
            woken += 1;
        }
        Ok(woken)
    }
}
