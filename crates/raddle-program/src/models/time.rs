//! Time. Each thread has a clock of its own, which stands still until time passes for the thread:
//!
//! - A wait that is given up moves it past the deadline: libraries look at it to find out whether time is up.
//! - Sleeping takes as long as it is asked to take. That is noticed when the thread looks at its clock; until then, sleeping
//!   for the second time makes it very late, and from then on it makes no difference: a loop that sleeps and never looks comes
//!   back to where it was. Where the program has no clock to look at, sleeping is nothing at all.
//! - A thread that looks at its clock from where it looked before, without time having passed since, finds it to have moved: by
//!   a second, then by ten, and so on up to a day. Whoever waits for a time thereby sees it come after a few rounds, and a loop
//!   that looks once in each round goes round once at least: where the thread looks for the first time again, time stands still.
//! - If the thread has waited with a deadline since, the second and third look at a place find what that took, and no more: whoever waits until
//!   a deadline and looks again is not late. From the fourth look on the clock moves all the same, so that a loop of short waits comes to its end.
//!
//! All of this a real clock may do, so what goes wrong is real. How long things take beyond that is not explored.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, sign_extend};

pub(super) const MODELS: &[Model] = &[
    model("time", time),
    model("clock", processor_time),
    model("clock_gettime", clock_gettime),
    model("clock_getres", clock_resolution),
    model("timespec_get", timespec_get),
    model("gettimeofday", gettimeofday),
    model("_ZNSt6chrono3_V212steady_clock3nowEv", nanoseconds),
    model("_ZNSt6chrono3_V212system_clock3nowEv", nanoseconds),
    model("llvm.x86.rdtsc", nanoseconds),
    model("llvm.readcyclecounter", nanoseconds),
    model("llvm.x86.rdtscp", cycles_and_processor),
    model(CYCLES, halves_of_cycles),
    model("sleep", sleep),
    model("usleep", sleep_microseconds).no_op(),
    model("nanosleep", sleep_timespec),
    model("thrd_sleep", sleep_timespec),
    model("clock_nanosleep", clock_sleep),
];

/// What inline assembly with `rdtsc` in it calls.
pub(crate) const CYCLES: &str = "raddle.rdtsc";

/// Functions that tell the time.
const LOOKS: [&str; 10] = [
    "time",
    "clock",
    "clock_gettime",
    "timespec_get",
    "gettimeofday",
    "_ZNSt6chrono3_V212steady_clock3nowEv",
    "_ZNSt6chrono3_V212system_clock3nowEv",
    "llvm.x86.rdtsc",
    "llvm.readcyclecounter",
    "llvm.x86.rdtscp",
];

/// Can the program look at a clock? Otherwise time makes no difference to it.
#[must_use]
pub fn looks_at_clocks(module: &raddle_ir::Module) -> bool {
    LOOKS
        .iter()
        .any(|name| module.function_named(name).is_some())
}

/// The second at which every thread starts: late enough that differences to earlier ones are positive.
const START: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Kinds of thread values: the nanoseconds since the start; those slept since the last look; where the thread looked since
/// time last passed by itself, and how often; how often that happened; has the clock been moved by a wait since?
const CLOCK: u32 = 5;
const LOOKED: u32 = 6;
const SLEPT: u32 = 7;
const PASSED: u32 = 8;
pub(crate) const WAITED: u32 = 20;

/// So often a thread looks from one place before the clock moves by itself, if it has waited in between: at first, after a wait that
/// ended for no reason, and when time is up.
const MOST_LOOKS: u64 = 3;

/// Nobody sleeps that long, however often.
const VERY_LATE: u64 = 365 * 24 * 3600 * SECOND;
/// How much time passes by itself, at first and at most.
const FIRST_LEAP: u64 = SECOND;
const GROWTH: u64 = 10;
const MOST_GROWTH: u64 = 5;
/// Absurd deadlines must not make time overflow.
const LATEST: u64 = u32::MAX as u64 * SECOND;

impl Script<'_, '_> {
    /// Looks at this thread's clock: nanoseconds.
    fn now(&mut self) -> Result<u64, Pause> {
        let thread = self.thread();
        self.machine.world.clocks.looks(thread);
        let here = self.place_of_call()?;
        let mut passed = self.thread_value(SLEPT, 0)?;
        if passed > 0 {
            self.set_thread_value(SLEPT, 0, 0)?;
        }
        let looks = self.thread_value(LOOKED, here)?;
        let has_waited = self.thread_value(WAITED, 0)? != 0;
        if looks == 0 || (looks < MOST_LOOKS && has_waited) {
            self.set_thread_value(LOOKED, here, looks + 1)?;
        } else {
            let before = self.thread_value(PASSED, 0)?;
            self.set_thread_value(PASSED, 0, (before + 1).min(MOST_GROWTH))?;
            passed = passed.max(FIRST_LEAP * GROWTH.pow(before as u32));
            self.forget_looks()?;
        }
        let clock = self.thread_value(CLOCK, 0)?;
        let now = clock.saturating_add(passed).min(LATEST);
        if now != clock {
            self.set_thread_value(CLOCK, 0, now)?;
        }
        Ok(START * SECOND + now)
    }

    fn forget_looks(&mut self) -> Result<(), Pause> {
        let mut place = 0;
        loop {
            place = self.next_thread_key(LOOKED, place)?;
            if place == 0 {
                return self.set_thread_value(WAITED, 0, 0);
            }
            self.set_thread_value(LOOKED, place, 0)?;
        }
    }

    /// The last argument, which is where functions have their deadline.
    pub(super) fn last_arg(&self) -> u64 {
        self.frame.args.last().copied().unwrap_or(0)
    }

    /// The seconds and their parts at an address (a `timespec` or `timeval`).
    fn load_time(&mut self, address: u64) -> Result<(u64, u64), Pause> {
        let word = self.word();
        let seconds = self.load(address, word, Order::Plain)?;
        let parts = self.load(address.wrapping_add(word.into()), word, Order::Plain)?;
        let seconds = sign_extend(seconds, word).cast_unsigned();
        Ok((seconds, sign_extend(parts, word).cast_unsigned()))
    }

    fn store_time(&mut self, address: u64, seconds: u64, parts: u64) -> Result<(), Pause> {
        let word = self.word();
        self.store(address, word, seconds, Order::Plain)?;
        self.store(address.wrapping_add(word.into()), word, parts, Order::Plain)
    }

    /// The deadline at an address (a `timespec`) has passed.
    pub(super) fn pass_deadline(&mut self, deadline: u64) -> Result<(), Pause> {
        let (seconds, nanoseconds) = self.load_time(deadline)?;
        self.pass_time(seconds, nanoseconds)
    }

    /// A wait that had a deadline has ended otherwise.
    pub(super) fn has_waited(&mut self) -> Result<(), Pause> {
        match looks_at_clocks(&self.machine.world.module) {
            true => self.set_thread_value(WAITED, 0, 1),
            false => Ok(()),
        }
    }

    /// So long after the beginning of time has passed: it is later than that.
    pub(super) fn pass_time(&mut self, seconds: u64, nanoseconds: u64) -> Result<(), Pause> {
        let thread = self.thread();
        self.machine.world.clocks.moves(thread);
        let time = seconds.saturating_mul(SECOND).saturating_add(nanoseconds);
        let since_start = time.saturating_sub(START * SECOND);
        let since_start = since_start.saturating_add(1).min(LATEST);
        if since_start > self.thread_value(CLOCK, 0)? {
            self.set_thread_value(CLOCK, 0, since_start)?;
            self.set_thread_value(WAITED, 0, 1)?;
        }
        Ok(())
    }

    /// So many nanoseconds pass, and a little more.
    pub(super) fn sleep(&mut self, nanoseconds: u64) -> Result<(), Pause> {
        if !looks_at_clocks(&self.machine.world.module) {
            return Ok(());
        }
        let thread = self.thread();
        self.machine.world.clocks.moves(thread);
        let slept = nanoseconds.saturating_add(1).min(LATEST);
        let slept = match self.thread_value(SLEPT, 0)? {
            0 => slept,
            _ => slept.max(VERY_LATE),
        };
        self.set_thread_value(SLEPT, 0, slept)
    }

    /// The duration at an address (a `timespec`) passes.
    pub(super) fn sleep_duration(&mut self, duration: u64) -> Result<(), Pause> {
        if !looks_at_clocks(&self.machine.world.module) {
            return Ok(());
        }
        let (seconds, nanoseconds) = self.load_time(duration)?;
        self.sleep(seconds.saturating_mul(SECOND).saturating_add(nanoseconds))
    }
}

fn sleep(cx: &mut Script<'_, '_>) -> ModelResult {
    if let Some(leaves) = cx.cancellation_point()? {
        return Ok(leaves);
    }
    cx.sleep((cx.arg(0) & 0xFFFF_FFFF) * SECOND)?;
    Ok(Outcome::Return(0))
}

fn sleep_microseconds(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sleep((cx.arg(0) & 0xFFFF_FFFF) * (SECOND / MICROSECONDS))?;
    Ok(Outcome::Return(0))
}

fn sleep_timespec(cx: &mut Script<'_, '_>) -> ModelResult {
    if let Some(leaves) = cx.cancellation_point()? {
        return Ok(leaves);
    }
    cx.sleep_duration(cx.arg(0))?;
    Ok(Outcome::Return(0))
}

/// `(clock, flags, time, rest)`: the time is a duration, or a deadline.
fn clock_sleep(cx: &mut Script<'_, '_>) -> ModelResult {
    if let Some(leaves) = cx.cancellation_point()? {
        return Ok(leaves);
    }
    const ABSOLUTE: i32 = 1;
    if cx.arg_i32(1) & ABSOLUTE == 0 {
        cx.sleep_duration(cx.arg(2))?;
    } else if looks_at_clocks(&cx.machine.world.module) {
        cx.pass_deadline(cx.arg(2))?;
    }
    Ok(Outcome::Return(0))
}

const MICROSECONDS: u64 = 1_000_000;

/// In microseconds, as if the thread had used the processor all the time.
fn processor_time(cx: &mut Script<'_, '_>) -> ModelResult {
    let since_start = cx.now()? - START * SECOND;
    Ok(Outcome::Return(since_start / (SECOND / MICROSECONDS)))
}

fn clock_resolution(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg(1) != 0 {
        cx.store_time(cx.arg(1), 0, 1)?;
    }
    Ok(Outcome::Return(0))
}

fn time(cx: &mut Script<'_, '_>) -> ModelResult {
    let now = cx.now()? / SECOND;
    cx.store_if_wanted(cx.arg(0), cx.word(), now)?;
    Ok(Outcome::Return(now))
}

fn nanoseconds(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.now()?))
}

/// Cycles, as `rdtscp` counts them, and the processor that counted.
fn cycles_and_processor(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Values(vec![cx.now()?, 0]))
}

/// Cycles in two registers; with a third one, the processor is in it.
fn halves_of_cycles(cx: &mut Script<'_, '_>) -> ModelResult {
    let now = cx.now()?;
    let mut values = vec![now & 0xFFFF_FFFF, now >> 32];
    values.resize(cx.arg(0) as usize, 0);
    Ok(Outcome::Values(values))
}

/// Fills in seconds and their parts.
fn tell(cx: &mut Script<'_, '_>, address: u64, parts: u64, result: u64) -> ModelResult {
    if address != 0 {
        let now = cx.now()?;
        cx.store_time(address, now / SECOND, now % SECOND / (SECOND / parts))?;
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
    tell(cx, cx.arg(0), MICROSECONDS, 0)
}
