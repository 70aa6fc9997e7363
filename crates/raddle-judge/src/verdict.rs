//! What a check answers. A verdict is never a `bool`.

pub use crate::checks::{Check, Checks};
pub use crate::engine::EngineKind;
use crate::replay::Schedule;
use crate::watch::{MemoryLimit, Phase};
pub use raddle_memory::MemoryModel;
use raddle_memory::consistency::Phases;
use raddle_memory::goodwrites::Decisions;
use raddle_memory::{Effect, RaceInfo};
use raddle_program::{
    CodeCoverage, Fault, Limit, LocId, Order, OrderOf, SrcId, StateId, ThreadId, ThreadName,
    Unsupported, Value, WeakOrderings,
};
use std::time::Duration;

/// A thread that waits for good, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub thread: ThreadId,
    /// Its local state: the operation there is what it waits to do.
    pub state: StateId,
    /// The threads that could let it go on if they could go on themselves: the owner of the mutex, the thread joined. Empty
    /// where anybody could.
    pub on: Vec<ThreadId>,
    pub at: SrcId,
    /// What each iteration of the loop reads in which it waits. Empty if the operation itself blocks.
    pub iteration: Vec<Glance>,
}

impl Waiting {
    /// Does it wait in a loop?
    #[must_use]
    pub fn spins(&self) -> bool {
        !self.iteration.is_empty()
    }
}

/// A read of a thread that waits in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    /// The local state whose operation it is.
    pub state: StateId,
    /// What the operation returns, in every iteration.
    pub value: Value,
}

/// Why an execution did not come to its end. Where several things did, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockedBy {
    /// The bound on loops cut it.
    Cut,
    /// A thread's assumption failed.
    Assumption,
    /// A thread stopped: at a limit, at something unsupported, at a fault that may not be looked for.
    Stopped,
    /// A thread woke up from a wait for nothing, and waits again: other executions show what comes next.
    WakeUp,
    /// A thread was to fail for no reason, and had one: other executions show it fail for that.
    Failure,
    /// A thread has done an iteration of a loop for nothing, and its engine left it at that: other executions show it going on.
    Unfinished,
    /// Threads wait for good, some of them in loops.
    Spinning,
    /// Threads wait for good.
    Waiting,
}

impl BlockedBy {
    pub const ALL: [Self; 8] = [
        Self::Cut,
        Self::Assumption,
        Self::Stopped,
        Self::WakeUp,
        Self::Failure,
        Self::Unfinished,
        Self::Spinning,
        Self::Waiting,
    ];
}

/// How many executions were blocked by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockedCounts([u64; BlockedBy::ALL.len()]);

impl BlockedCounts {
    #[must_use]
    pub fn of(&self, cause: BlockedBy) -> u64 {
        self.0[cause as usize]
    }

    pub fn count(&mut self, cause: BlockedBy) {
        self.0[cause as usize] += 1;
    }

    /// Counts what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    /// By cause, in the order of [`BlockedBy::ALL`].
    #[must_use]
    pub fn numbers(&self) -> &[u64] {
        &self.0
    }

    /// What [`Self::numbers`] has told; none if there are not as many.
    #[must_use]
    pub fn from_numbers(numbers: &[u64]) -> Option<Self> {
        numbers.try_into().ok().map(Self)
    }

    /// Those that there were.
    pub fn iter(&self) -> impl Iterator<Item = (BlockedBy, u64)> + use<> {
        let counts = BlockedBy::ALL.into_iter().zip(self.0);
        counts.filter(|&(_, count)| count > 0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// Committed by one thread.
    Fault(Fault),
    Race(RaceInfo),
    /// Threads wait for good, in operations that block or in loops that come to nothing.
    Deadlock {
        waiting: Vec<Waiting>,
    },
    /// The part of a deadlock that waits in loops, where deadlocks are not looked for.
    Livelock {
        spinning: Vec<Waiting>,
    },
}

/// One step of a reported execution: one operation of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    pub thread: ThreadId,
    /// The local state whose operation this was: `program.op(state)`, `program.at(state)`.
    pub state: StateId,
    /// What the operation returned.
    pub value: Value,
    /// Was it done at once, delayed, or is it that a delayed store reached memory?
    pub effect: Effect,
    /// Index of the step whose write this step's read got its (last) bytes from; `None` for initial values and
    /// operations that read nothing. For a delayed store that is the step in which its thread did it.
    pub reads_from: Option<usize>,
    /// Location and value written, if any.
    pub wrote: Option<(LocId, Value)>,
    /// Under C11, if this step read an older write than that of an earlier step.
    pub stale: Option<Stale>,
    /// Under C11, if this step wrote what is older than the write of an earlier step: that which comes right behind it in the modification order.
    pub older_than: Option<usize>,
}

/// A read of an old value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The step with the newest write of the location.
    pub newest: usize,
    /// Why nothing orders that before the read: the reads on the shortest way from one to the other that do not synchronise. None if
    /// there is no such way.
    pub because: Vec<Unsynchronised>,
}

/// A read that would order what its writer did before what its reader does, if both had the orderings for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsynchronised {
    pub write: usize,
    pub read: usize,
    /// Does the write release, or a fence before it?
    pub releases: bool,
    /// Does the read acquire, or a fence after it?
    pub acquires: bool,
}

/// An execution that was run: replaying the same choices gives the same steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub steps: Vec<TraceStep>,
}

/// A violation that was replayed and reproduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub kind: ViolationKind,
    /// The thread that committed it; for a race the second access, for a deadlock the first that waits.
    pub thread: ThreadId,
    pub at: SrcId,
    /// How to run the execution again.
    pub schedule: Schedule,
    pub trace: Trace,
    /// What stronger orderings would do about it, where they could.
    pub advice: Option<OrderAdvice>,
}

/// What orderings have to do with a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderAdvice {
    /// Does sequential consistency allow the execution?
    pub is_sc: bool,
    /// Each of these sets of changes forbids the execution; for a race, it orders the two accesses. The sets are minimal, and there may be more.
    pub remedies: Vec<Vec<Strengthening>>,
}

/// A stronger ordering for an operation of the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strengthening {
    /// The first step that does it.
    pub step: usize,
    pub at: SrcId,
    pub of: OrderOf,
    pub from: Order,
    pub to: Order,
}

/// What of the program's behaviours was covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Everything.
    Complete,
    /// Everything up to bounds that the user asked for, and which some execution exceeds: one at least.
    UpTo {
        iterations: Option<u32>,
        threads: Option<u32>,
    },
}

impl Bound {
    /// What is covered if executions exceed these bounds.
    #[must_use]
    pub fn of(iterations: Option<u32>, threads: Option<u32>) -> Self {
        match (iterations, threads) {
            (None, None) => Self::Complete,
            _ => Self::UpTo {
                iterations,
                threads,
            },
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    Executions {
        limit: u64,
    },
    Time {
        limit: Duration,
        during: Phase,
    },
    Memory {
        limit: MemoryLimit,
        during: Phase,
    },
    Interrupted {
        during: Phase,
    },
    /// The engine was to give up soon, and did.
    Effort,
    /// Nothing was found, but a part of what was asked for is not looked for.
    NotLookedFor {
        what: &'static str,
    },
    /// Nothing was found, but executions depend on memory that nobody has written, which was taken to be zero: first at this line, if that is
    /// known.
    Unwritten {
        line: Option<String>,
    },
    /// Some execution goes round a loop, or calls itself, more often than any bound that was tried.
    Unrolled {
        bound: u32,
    },
    /// Some execution starts more threads than the engine can have in a formula.
    Threads {
        most: u32,
    },
    /// Nothing was found, but no execution came to its end: so little was looked at that it says nothing. Where a bound cut
    /// executions, that bound.
    NothingEnds {
        bound: Option<u32>,
    },
    /// The same, where a bound on threads cut executions.
    NothingEndsWithin {
        threads: u32,
    },
    /// A limit inside one thread (endless private loop, call depth …) was reached at this place.
    Thread {
        limit: Limit,
        thread: ThreadName,
        at: SrcId,
    },
}

impl Reason {
    /// No execution came to its end; these are the bounds that cut some.
    #[must_use]
    pub fn nothing_ends(iterations: Option<u32>, threads: Option<u32>) -> Self {
        match (iterations, threads) {
            (None, Some(threads)) => Self::NothingEndsWithin { threads },
            (bound, _) => Self::NothingEnds { bound },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At least one; more than one only with `--keep-going`.
    Violation(Vec<Violation>),
    Verified(Bound),
    Inconclusive(Reason),
    /// The input is at fault: executions reached what Raddle does not support, and nothing else is wrong. At least one.
    Unsupported(Vec<UnsupportedAt>),
}

/// Something that Raddle does not support, and where an execution reached it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedAt {
    pub what: Unsupported,
    pub thread: ThreadId,
    pub at: SrcId,
    pub trace: Trace,
}

/// What the answer rests on besides the executions that were counted. Engines that do not run the program fill in what they know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Did some execution come to its end, with all threads finished, or the process? None where the engine does not know.
    pub ended: Option<bool>,
    /// Where the bound on loops cut executions, by position.
    pub cuts: Vec<SrcId>,
    /// What of the user's code was run; none where that is not known.
    pub code: Option<CodeCoverage>,
    /// Orderings weaker than `seq_cst`, in programs with more than one thread.
    pub weak: WeakOrderings,
    /// What executions reached beyond Raddle, where the verdict is about something else.
    pub unsupported: Vec<UnsupportedAt>,
    /// Why the search ended before its time, where the verdict is about something else.
    pub unfinished: Option<Reason>,
    /// Checks that were asked for and that the engine does not make, or not of all executions.
    pub not_checked: Vec<Check>,
    /// What standards allow, and users do not want to be explored.
    pub left_out: Vec<LeftOut>,
    /// Where a thread went round and round in the execution that was being explored when the search was ended.
    pub endless: Option<SrcId>,
    /// Why this memory model, where nobody asked for one.
    pub memory_because: Option<MemoryReason>,
}

/// Why a memory model was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryReason {
    /// Sequential consistency: the program has no atomics of its own, nor do libraries use any weaker ones. Without races it cannot tell the
    /// model of its language from it.
    NoAtomics,
    /// The same, since all its atomics are `seq_cst`.
    AllSeqCst,
    /// Sequential consistency: only what libraries do on their own account is weaker.
    WeakInLibraries,
    /// Sequential consistency, although the program uses weaker orderings: a violation was found there, or there is no answer even there.
    EnoughAlready,
    /// Sequential consistency, although the program uses weaker orderings: engine `graph` cannot explore it, or was not asked because a formula had the
    /// answer.
    NotExplored,
    /// That of the language: the program uses weaker orderings.
    WeakOrderings,
    /// That of the language: the program tries to lock, and such an attempt may fail without ordering anything.
    LockAttempts,
}

/// Behaviour that the standards allow, and what else answers leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Operations that fail for no reason (`--no-spurious-failures`).
    SpuriousFailures,
    /// Data races of volatile accesses: they were taken for relaxed atomics (`--volatile-is-atomic`).
    RacesOfVolatile,
    /// Of condition variables.
    SpuriousWakeups,
    /// What races may do under the model of the language, since nobody looked for them: plain accesses were taken for relaxed atomics.
    RacesAsRelaxed,
    /// The same, since sequential consistency was explored.
    RacesAsSc,
    /// That time which passes for one thread passes for others, too: a violation may be one of clocks that contradict each other.
    TimeOfOthers,
}

/// What engine `mcr` did besides running executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causality {
    /// Questions that its solver answered.
    pub queries: u64,
    /// Executions in which every thread went the same way as in another one. There should be none.
    pub duplicates: u64,
    /// Races found in executions that had not been run.
    pub predicted_races: u64,
}

/// What an engine did besides running executions: each counts something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    #[default]
    None,
    /// Engine `rf`: how often each phase of the consistency check had the last word.
    Consistency(Phases),
    /// Engine `mcr`: what its solver was used for.
    Causality(Causality),
    /// Engine `rvf`: how often VerifySC was asked, how it decided, and the time that it took.
    Verify(Decisions),
    /// Engine `states`: so many.
    States(u64),
}

/// What was done for the verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Executions in which every thread finished.
    pub complete: u64,
    /// Executions in which some thread stayed blocked, or that were given up midway.
    pub blocked: u64,
    /// Why they were.
    pub blocked_by: BlockedCounts,
    /// Those of them that the bound on loops cut.
    pub cut: u64,
    /// The engine that explored these executions, if it is not the one that has the answer.
    pub explored_by: Option<EngineKind>,
    /// Most threads in one execution.
    pub threads: usize,
    /// Most events in one execution.
    pub max_events: usize,
    /// Local states met.
    pub states: usize,
    /// What the engine did besides running executions.
    pub work: Work,
    /// Time that the search took.
    pub elapsed: Duration,
    /// Time before that: compiling the program and reading what came of it.
    pub preparation: Duration,
    pub peak_memory_bytes: u64,
}

impl Statistics {
    /// All the time that there was to wait for the answer.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.preparation + self.elapsed
    }

    /// The work of engine `rf`.
    #[must_use]
    pub fn consistency(&self) -> Phases {
        match self.work {
            Work::Consistency(phases) => phases,
            _ => Phases::default(),
        }
    }

    /// The work of engine `mcr`.
    #[must_use]
    pub fn causality(&self) -> Causality {
        match self.work {
            Work::Causality(causality) => causality,
            _ => Causality::default(),
        }
    }

    /// The work of engine `rvf`.
    #[must_use]
    pub fn verify(&self) -> Decisions {
        match self.work {
            Work::Verify(decisions) => decisions,
            _ => Decisions::default(),
        }
    }

    /// Counts what another engine did before. The answer does not rest on it, so what became of its executions is not told; it depends on
    /// which were the first ones, too, where several workers explored them.
    pub fn follow(&mut self, before: &Self, explorer: EngineKind) {
        self.complete += before.complete + before.blocked;
        self.elapsed = before.elapsed;
        self.explored_by = Some(explorer);
    }
}

/// The answer with everything a report needs.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub engine: EngineKind,
    pub memory: MemoryModel,
    pub verdict: Verdict,
    pub statistics: Statistics,
    pub coverage: Coverage,
}

impl Outcome {
    /// Everything that executions reached beyond Raddle, whatever the verdict is.
    #[must_use]
    pub fn unsupported(&self) -> &[UnsupportedAt] {
        match &self.verdict {
            Verdict::Unsupported(unsupported) => unsupported,
            _ => &self.coverage.unsupported,
        }
    }
}
