//! Time. Each thread has a clock of its own, and it stands still: sleeping takes no time. What depends on how long things
//! take is thereby left out; that a thread may be late is not, since any thread may be. (A clock that sleeping moved would
//! make every round of a loop with a `sleep` in it a new local state, and such loops endless.)
//!
//! Only waiting in vain moves the clock, to the deadline: libraries look at it to find out whether time is up.

use super::errno::zero;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::Order;

pub(super) const MODELS: &[Model] = &[
    model("time", time),
    model("clock", clock),
    model("clock_gettime", clock_gettime),
    model("clock_getres", clock_gettime),
    model("timespec_get", timespec_get),
    model("gettimeofday", gettimeofday),
    model("_ZNSt6chrono3_V212steady_clock3nowEv", nanoseconds),
    model("_ZNSt6chrono3_V212system_clock3nowEv", nanoseconds),
    model("sleep", zero),
    model("usleep", zero).idle(),
    model("nanosleep", zero),
    model("clock_nanosleep", zero),
];

/// The second at which every thread starts: late enough that differences to earlier ones are positive.
const START: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// The kind of thread value that holds the nanoseconds since the start.
const CLOCK: u32 = 5;

impl Script<'_, '_> {
    /// Nanoseconds on this thread's clock.
    fn now(&mut self) -> Result<u64, Pause> {
        self.look_at_clock()?;
        Ok(START * SECOND + self.thread_value(CLOCK, 0)?)
    }

    /// A thread that goes round a loop for good does not if it waits for time to pass.
    fn look_at_clock(&mut self) -> Result<(), Pause> {
        if !self.is_symbolic() {
            self.note(|machine| {
                machine.looks_at_clock = true;
                Ok(0)
            })?;
        }
        Ok(())
    }

    /// The last argument, which is where functions have their deadline.
    pub(super) fn last_arg(&self) -> u64 {
        self.frame.args.last().copied().unwrap_or(0)
    }

    /// The deadline at an address (a `timespec`) has passed.
    pub(super) fn pass_deadline(&mut self, deadline: u64) -> Result<(), Pause> {
        let seconds = self.load(deadline, 8, Order::Plain)?;
        let nanoseconds = self.load(deadline.wrapping_add(8), 8, Order::Plain)?;
        self.pass_time(seconds, nanoseconds)
    }

    /// So long after the beginning of time has passed.
    pub(super) fn pass_time(&mut self, seconds: u64, nanoseconds: u64) -> Result<(), Pause> {
        let time = seconds.saturating_mul(SECOND).saturating_add(nanoseconds);
        let since_start = time.saturating_sub(START * SECOND);
        // Absurd deadlines must not make time overflow.
        let since_start = since_start.min(u64::from(u32::MAX) * SECOND);
        if since_start > self.thread_value(CLOCK, 0)? {
            self.set_thread_value(CLOCK, 0, since_start)?;
        }
        Ok(())
    }
}

/// Processor time, of which nothing is used up.
fn clock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at_clock()?;
    Ok(Outcome::Return(0))
}

fn time(cx: &mut Script<'_, '_>) -> ModelResult {
    let now = cx.now()? / SECOND;
    cx.store_if_wanted(cx.arg(0), 8, now)?;
    Ok(Outcome::Return(now))
}

fn nanoseconds(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.now()?))
}

/// Fills in seconds and their parts.
fn tell(cx: &mut Script<'_, '_>, address: u64, parts: u64, result: u64) -> ModelResult {
    if address != 0 {
        let now = cx.now()?;
        cx.store(address, 8, now / SECOND, Order::Plain)?;
        let rest = now % SECOND / (SECOND / parts);
        cx.store(address.wrapping_add(8), 8, rest, Order::Plain)?;
    }
    Ok(Outcome::Return(result))
}

fn clock_gettime(cx: &mut Script<'_, '_>) -> ModelResult {
    tell(cx, cx.arg(1), SECOND, 0)
}

fn timespec_get(cx: &mut Script<'_, '_>) -> ModelResult {
    tell(cx, cx.arg(0), SECOND, cx.arg(1))
}

fn gettimeofday(cx: &mut Script<'_, '_>) -> ModelResult {
    const MICROSECONDS: u64 = 1_000_000;
    tell(cx, cx.arg(0), MICROSECONDS, 0)
}
