//! When to stop, and how far a check has come: what the worker and whoever watches over it share.
//!
//! A check runs for as long as it takes to find an answer, in code of very different kinds. Everything in it that may take
//! long asks [`Watch::is_over`] now and then, or looks at the flag itself ([`Watch::flag`]). The flag may be raised by the clock, by
//! memory, or from outside (Ctrl-C, a supervising thread); the first reason counts. What is published here ([`Watch::enter`],
//! [`Watch::publish`]) is what can be said about a check that does not come back in time.

use crate::verdict::{Coverage, EngineKind, MemoryModel, Outcome, Reason, Statistics, Verdict};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a check is busy with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// clang or rustc runs.
    Compiling,
    /// LLVM IR is read.
    Reading,
    #[default]
    Exploring,
    /// Engine `bmc` makes a formula of the program.
    Encoding,
    /// Engine `bmc` looks for a solution of it.
    Solving,
    /// An execution that goes wrong was found, and is run again.
    Replaying,
    /// A plainer execution that goes wrong in the same way is looked for.
    Simplifying,
    /// There is an answer, and it is being written.
    Reporting,
}

impl Phase {
    const ALL: [Self; 8] = [
        Self::Compiling,
        Self::Reading,
        Self::Exploring,
        Self::Encoding,
        Self::Solving,
        Self::Replaying,
        Self::Simplifying,
        Self::Reporting,
    ];
}

/// How much memory there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    pub bytes: u64,
    /// Nobody asked for it: it is what keeps the machine alive.
    pub is_default: bool,
}

/// What made the check stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Interrupted,
    Time,
    Memory,
}

/// The reason to stop as it was when it arose.
#[derive(Clone, Copy, Debug)]
struct Raised {
    cause: Cause,
    during: Phase,
}

/// See the module.
#[derive(Debug)]
pub struct Watch {
    began: Instant,
    time: Option<Duration>,
    memory: Option<MemoryLimit>,
    /// Raised when it is time to stop. Apart, so that code that knows nothing of searches can look at it.
    flag: Arc<AtomicBool>,
    raised: Mutex<Option<Raised>>,
    phase: AtomicU8,
    engine: Mutex<Option<EngineKind>>,
    complete: AtomicU64,
    blocked: AtomicU64,
    threads: AtomicU64,
    max_events: AtomicU64,
}

impl Default for Watch {
    fn default() -> Self {
        Self::new(None, None)
    }
}

impl Watch {
    /// The time begins to run now.
    #[must_use]
    pub fn new(time: Option<Duration>, memory: Option<MemoryLimit>) -> Self {
        Self {
            began: Instant::now(),
            time,
            memory,
            flag: Arc::default(),
            raised: Mutex::default(),
            phase: AtomicU8::new(Phase::default() as u8),
            engine: Mutex::default(),
            complete: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
            threads: AtomicU64::new(1),
            max_events: AtomicU64::new(0),
        }
    }

    #[must_use]
    pub fn began(&self) -> Instant {
        self.began
    }

    #[must_use]
    pub fn memory_limit(&self) -> Option<MemoryLimit> {
        self.memory
    }

    /// When the time is over. A limit beyond what the clock can say is none.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.began.checked_add(self.time?)
    }

    // ---- stopping

    /// Tells the check to stop. Only the first reason counts.
    pub fn raise(&self, cause: Cause) {
        let mut raised = lock(&self.raised);
        raised.get_or_insert(Raised {
            cause,
            during: self.phase(),
        });
        self.flag.store(true, Ordering::Release);
    }

    /// Was the check told to stop?
    #[inline]
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// The flag itself, for code that cannot know about the rest.
    #[must_use]
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// Is it time to stop? Looks at the clock, too: there may be nobody else who does.
    #[must_use]
    pub fn is_over(&self) -> bool {
        if !self.is_raised() && self.deadline().is_some_and(|at| Instant::now() >= at) {
            self.raise(Cause::Time);
        }
        self.is_raised()
    }

    /// Compares the process's memory with the limit.
    pub fn look_at_memory(&self) {
        if let Some(limit) = self.memory
            && resident_bytes() > limit.bytes
        {
            self.raise(Cause::Memory);
        }
    }

    #[must_use]
    pub fn cause(&self) -> Option<Cause> {
        lock(&self.raised).map(|raised| raised.cause)
    }

    /// Why the check was stopped.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        let Raised { cause, during } = (*lock(&self.raised))?;
        Some(match cause {
            Cause::Interrupted => Reason::Interrupted { during },
            Cause::Time => Reason::Time {
                limit: self.time.unwrap_or_default(),
                during,
            },
            Cause::Memory => {
                let limit = self.memory.unwrap_or(MemoryLimit {
                    bytes: 0,
                    is_default: true,
                });
                Reason::Memory { limit, during }
            }
        })
    }

    // ---- progress

    /// Says what comes now, and returns what it was before.
    pub fn enter(&self, phase: Phase) -> Phase {
        let before = self.phase.swap(phase as u8, Ordering::Relaxed);
        Phase::ALL[usize::from(before)]
    }

    #[must_use]
    pub fn phase(&self) -> Phase {
        Phase::ALL[usize::from(self.phase.load(Ordering::Relaxed))]
    }

    /// Says which engine is at work.
    pub fn set_engine(&self, engine: EngineKind) {
        *lock(&self.engine) = Some(engine);
    }

    #[must_use]
    pub fn engine(&self) -> Option<EngineKind> {
        *lock(&self.engine)
    }

    /// An execution, or a formula, has so many threads.
    pub fn saw_threads(&self, count: usize) {
        self.threads.fetch_max(count as u64, Ordering::Relaxed);
    }

    /// The most threads that an execution, or a formula, had so far.
    pub fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed) as usize
    }

    /// Says what has been done so far.
    #[inline]
    pub fn publish(&self, statistics: &Statistics) {
        self.complete.store(statistics.complete, Ordering::Relaxed);
        self.blocked.store(statistics.blocked, Ordering::Relaxed);
        let (threads, events) = (statistics.threads as u64, statistics.max_events as u64);
        self.threads.store(threads, Ordering::Relaxed);
        self.max_events.store(events, Ordering::Relaxed);
    }

    /// What is known of a check that was stopped and did not say itself what it had found. See [`Self::outcome`].
    #[must_use]
    pub fn unfinished(&self, engine: Option<EngineKind>, memory: MemoryModel) -> Option<Outcome> {
        let verdict = Verdict::Inconclusive(self.reason()?);
        Some(self.outcome(engine, memory, verdict))
    }

    /// A verdict with what has been done so far. `engine` is the one that was asked for, if any, in case that none has begun.
    #[must_use]
    pub fn outcome(
        &self,
        engine: Option<EngineKind>,
        memory: MemoryModel,
        verdict: Verdict,
    ) -> Outcome {
        Outcome {
            // Most programs would have got this one.
            engine: self.engine().or(engine).unwrap_or(EngineKind::Rf),
            memory,
            verdict,
            statistics: Statistics {
                complete: self.complete.load(Ordering::Relaxed),
                blocked: self.blocked.load(Ordering::Relaxed),
                threads: self.threads.load(Ordering::Relaxed) as usize,
                max_events: self.max_events.load(Ordering::Relaxed) as usize,
                elapsed: self.began.elapsed(),
                peak_memory_bytes: peak_memory_bytes(),
                ..Statistics::default()
            },
            coverage: Coverage::default(),
        }
    }
}

/// What is behind these locks is whole at any time, whoever panicked.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The most memory that this process has had, in bytes; 0 where the system does not say.
#[must_use]
pub fn peak_memory_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// The memory that this process has now, in bytes; 0 where the system does not say.
#[must_use]
pub fn resident_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// A line of the process's status.
fn status_bytes(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.map(|rest| rest.trim().trim_end_matches("kB").trim());
    let kibibytes = number.and_then(|number| number.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts_with_what_was_done_then() {
        let watch = Watch::new(Some(Duration::from_secs(3600)), None);
        assert!(!watch.is_over());
        assert_eq!(watch.reason(), None);
        assert!(watch.unfinished(None, MemoryModel::Sc).is_none());
        watch.enter(Phase::Encoding);
        watch.raise(Cause::Interrupted);
        assert_eq!(watch.enter(Phase::Solving), Phase::Encoding);
        watch.raise(Cause::Time);
        let during = Phase::Encoding;
        assert_eq!(watch.reason(), Some(Reason::Interrupted { during }));
        assert!(watch.is_over() && watch.flag().load(Ordering::Relaxed));
    }

    #[test]
    fn phases_are_told_apart() {
        let watch = Watch::default();
        for phase in Phase::ALL {
            watch.enter(phase);
            assert_eq!(watch.phase(), phase);
        }
    }

    #[test]
    fn the_clock_raises_the_flag() {
        let limit = Duration::from_nanos(1);
        let watch = Watch::new(Some(limit), None);
        while !watch.is_over() {}
        let during = Phase::Exploring;
        assert_eq!(watch.reason(), Some(Reason::Time { limit, during }));
        assert!(!Watch::new(Some(Duration::MAX), None).is_over());
    }

    #[test]
    fn what_was_published_is_the_answer_of_a_check_that_does_not_come_back() {
        let watch = Watch::default();
        watch.set_engine(EngineKind::Dpor);
        watch.publish(&Statistics {
            complete: 5,
            blocked: 2,
            threads: 3,
            max_events: 40,
            ..Statistics::default()
        });
        watch.raise(Cause::Memory);
        let outcome = watch.unfinished(None, MemoryModel::Sc).unwrap();
        assert_eq!(outcome.engine, EngineKind::Dpor);
        let it = &outcome.statistics;
        assert_eq!(
            (it.complete, it.blocked, it.threads, it.max_events),
            (5, 2, 3, 40)
        );
        assert!(matches!(
            outcome.verdict,
            Verdict::Inconclusive(Reason::Memory { .. })
        ));
    }
}
