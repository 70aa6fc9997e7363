//! What all engines share: limits, checks, statistics, and the one place where a verdict is made.
//!
//! An engine tells its [`Frame`] of every event, every step back and every end of an execution; the frame finds faults,
//! races and deadlocks there, has each replayed before it is believed, and says when to stop.
//!
//! Conventions
//! - A thread that meets a fault goes no further; the other threads do, as if it were slow. What they do then they could
//!   have done before the fault, so whatever is found there is real. The execution counts as blocked.
//! - A fault whose check is off is such a stop and nothing else. [`check_of`] says which check a fault belongs to.
//! - A thread that comes to something that Raddle cannot run stops in the same way. All that is out of reach is told when the
//!   search is over, behind the violations.
//! - The answer `verified` is given only if the engine ran to its end, some execution came to its end, and none was cut short,
//!   but for the bound on loop iterations that the user asked for.

use crate::dpor;
use crate::frame::Frame;
use crate::graph;
use crate::icb;
use crate::listener::Listener;
use crate::mcr;
use crate::naive;
use crate::replay::{Mismatch, Schedule};
use crate::rf;
use crate::rvf::{self, RvfHeuristics};
use crate::verdict::{
    Check, Checks, EngineKind, MemoryModel, Outcome, Violation, ViolationKind, Waiting,
};
use crate::watch::{MemoryLimit, Phase, Watch};
use raddle_memory::Machine;
use raddle_program::{Fault, Program, SrcId, ThreadId};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bounds on the search. Reaching one makes the answer inconclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub executions: Option<u64>,
    pub time: Option<Duration>,
    pub memory_bytes: Option<u64>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Complete and blocked ones.
    pub executions: u64,
    pub blocked: u64,
    pub elapsed: Duration,
    /// Executions a second.
    pub rate: f64,
    /// Events of the present execution.
    pub depth: usize,
    /// How much of all executions was explored, from 0 to 1: an estimate, where the engine can make one.
    pub explored: Option<f64>,
}

/// Is told how far the search is, now and then.
pub type ProgressSink = Box<dyn FnMut(&Progress)>;

/// Another engine that may have an answer where an exploration turns out to be long. It is asked again and again, each time
/// with leave to take more trouble, until it has one. Trouble is counted, not timed: the answer is the same on every machine.
pub type SecondOpinion = Box<dyn FnMut(Conflicts) -> Option<Outcome>>;

/// Is told of every violation that was found and reproduced, before anything else is done about it: looking for a plainer execution
/// may take long.
pub type ViolationSink = Box<dyn FnMut(&Program, &Violation)>;

/// Wrong turns of a solver.
pub type Conflicts = u64;

/// Ways to explore less, each of which can be switched off to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Loop iterations without effect are not explored.
    pub purity: bool,
    /// A thread whose iteration would have no effect waits until that changes, instead of being blocked for good.
    pub awaits: bool,
    /// Fetch-and-adds whose results nobody uses are independent (IFAA).
    pub ifaa: bool,
}

impl Default for Reductions {
    fn default() -> Self {
        Self {
            purity: true,
            awaits: true,
            ifaa: true,
        }
    }
}

/// What to look for, and for how long.
#[derive(Default)]
pub struct SearchOptions {
    pub memory: MemoryModel,
    pub checks: Checks,
    pub limits: Limits,
    pub reductions: Reductions,
    /// Worker threads; 0 is as good as 1. Only engine `mcr` uses more than one.
    pub jobs: usize,
    /// Engine `rvf`: heuristics that change no answer.
    pub rvf: RvfHeuristics,
    /// Find every distinct violation instead of the first.
    pub keep_going: bool,
    /// When the check began, if that was before the search: counts for statistics.
    pub began: Option<Instant>,
    /// A way to end the search from outside, and the place to say how far it is. Its limits of time and memory are those of the
    /// whole check, and hold instead of the search's own.
    pub watch: Option<Arc<Watch>>,
    pub progress: Option<ProgressSink>,
    pub second_opinion: Option<SecondOpinion>,
    pub reproduced: Option<ViolationSink>,
    /// Nobody will look at the executions: they are not made plainer, and there is no advice.
    pub verdict_only: bool,
    /// Stop at a value that would have to be tried in all its states: a formula will be asked.
    pub leaves_values_to_formulas: bool,
}

impl SearchOptions {
    /// What says when to stop.
    #[must_use]
    pub fn watch(&self) -> Arc<Watch> {
        if let Some(watch) = &self.watch {
            return Arc::clone(watch);
        }
        let memory = self.limits.memory_bytes.map(|bytes| MemoryLimit {
            bytes,
            is_default: false,
        });
        Arc::new(Watch::new(self.limits.time, memory))
    }
}

/// A mistake in Raddle, not in the program that is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InternalError {
    /// A violation was found, but running the same schedule again did not show it.
    NotReproduced {
        kind: Box<ViolationKind>,
        schedule: Schedule,
        mismatch: Mismatch,
    },
    /// A violation was found in a formula, but the program did not behave that way.
    Diverged { what: String },
    /// See [`EngineKind::supports`].
    ModelNotSupported {
        engine: EngineKind,
        memory: MemoryModel,
    },
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReproduced {
                kind,
                schedule,
                mismatch,
            } => write!(
                f,
                "internal error: a violation was not reproduced ({mismatch:?} after {} events): {kind:?}",
                schedule.steps.len()
            ),
            Self::Diverged { what } => write!(
                f,
                "internal error: an execution that was found could not be run: {what}"
            ),
            Self::ModelNotSupported { engine, memory } => write!(
                f,
                "internal error: engine {} was asked to explore under {}",
                engine.name(),
                memory.name()
            ),
        }
    }
}

impl std::error::Error for InternalError {}

/// Something that explores executions.
pub(crate) trait Engine {
    fn explore(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()>;
}

struct Naive(MemoryModel);

impl Engine for Naive {
    fn explore(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        naive::explore(program, self.0, naive::Sequence::Ascending, frame)
    }
}

struct Dpor(Reductions);

impl Engine for Dpor {
    fn explore(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        dpor::Search::new(program, self.0).run(program, frame)
    }
}

struct Rf(Reductions);

impl Engine for Rf {
    fn explore(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        let mut search = rf::Search::new(program, self.0);
        let flow = search.run(program, frame);
        frame.set_phases(search.phases());
        flow
    }
}

struct Mcr(mcr::Setup);

impl Engine for Mcr {
    fn explore(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        let mut search = mcr::Search::new(program, self.0.clone());
        let flow = search.run(program, frame);
        frame.set_causality(search.statistics());
        flow
    }
}

struct Rvf(rvf::RvfOptions);

impl Engine for Rvf {
    fn explore(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        let mut search = rvf::Search::new(program, self.0);
        let flow = search.run(program, frame);
        frame.set_decisions(search.decisions());
        flow
    }
}

/// Checks a program.
pub fn check(
    program: &mut Program,
    mut kind: EngineKind,
    options: SearchOptions,
) -> Result<Outcome, InternalError> {
    let (reductions, memory) = (options.reductions, options.memory);
    let watch = options.watch();
    if !kind.supports(memory) {
        return Err(InternalError::ModelNotSupported {
            engine: kind,
            memory,
        });
    }
    let rvf_options = rvf::RvfOptions {
        reductions,
        heuristics: options.rvf,
        races: options.checks.races,
    };
    let setup = mcr::Setup {
        reductions,
        races: options.checks.races,
        jobs: options.jobs,
        watch: Arc::clone(&watch),
    };
    watch.set_engine(kind);
    watch.enter(Phase::Exploring);
    let leaves_out = reductions.purity && kind.knows_purity();
    let minds_races = options.checks.races;
    let mut frame = Frame::of_search(options, watch);
    // `main` may stop before it does anything.
    let start = Machine::with_model(program, memory);
    let mut flow = frame.arrived(program, &start, ThreadId::MAIN);
    if leaves_out {
        program.learn_uses(minds_races);
    }
    let mut engine = kind;
    while flow.is_continue() {
        flow = match engine {
            EngineKind::Naive => Naive(memory).explore(program, &mut frame),
            EngineKind::Dpor => Dpor(reductions).explore(program, &mut frame),
            EngineKind::Rf => Rf(reductions).explore(program, &mut frame),
            EngineKind::Bmc => unreachable!("bmc does not explore: see raddle-bmc"),
            EngineKind::Rvf => Rvf(rvf_options).explore(program, &mut frame),
            EngineKind::Mcr => Mcr(setup.clone()).explore(program, &mut frame),
            EngineKind::Icb => icb::explore(program, &mut frame),
            EngineKind::Bpor => icb::bounded::explore(program, &mut frame),
            EngineKind::Graph => graph::explore(program, memory, reductions, &mut frame),
        };
        // Operations may have been taken for independent that are not.
        if program.must_read_kinds() && frame.begins_anew() {
            program.read_kinds();
            flow = ControlFlow::Continue(());
            continue;
        }
        // Additions may have been left in any order that are looked at meanwhile.
        if program.learn_additions() && frame.begins_anew() {
            flow = ControlFlow::Continue(());
            continue;
        }
        if flow.is_break() {
            break;
        }
        // Whether two accesses race may be another matter in an execution of the same class.
        if engine.leaves_writes_unordered() && frame.minds_order_of_writes() {
            (kind, engine) = (EngineKind::Dpor, EngineKind::Dpor);
            frame.restarted();
            continue;
        }
        // Iterations may have been left out that cannot be, by what is known now.
        if leaves_out && program.learn_uses(minds_races) {
            frame.restarted();
            continue;
        }
        // So may be whether a loop goes on for good.
        if !engine.leaves_writes_unordered() || !frame.may_have_missed_deadlock() {
            break;
        }
        engine = EngineKind::Dpor;
        frame.look_again();
    }
    debug_assert!(
        flow.is_continue() || frame.has_reason(),
        "an engine stops only when told to"
    );
    frame.conclude(program, kind)
}

/// The check that a fault belongs to. Undefined behaviour other than overflow goes with memory faults.
#[must_use]
pub fn check_of(fault: &Fault) -> Check {
    match fault {
        Fault::Assertion { .. }
        | Fault::ErrorReached { .. }
        | Fault::Abort
        | Fault::Panic { .. }
        | Fault::Exception { .. } => Check::Assert,
        Fault::Overflow { .. } => Check::Overflow,
        Fault::Uninitialised { .. } => Check::Uninit,
        Fault::NullDereference { .. }
        | Fault::WildPointer { .. }
        | Fault::OutOfBounds { .. }
        | Fault::Misaligned { .. }
        | Fault::WriteToConstant { .. }
        | Fault::UseAfterFree { .. }
        | Fault::DoubleFree { .. }
        | Fault::InvalidFree { .. }
        | Fault::DivisionByZero
        | Fault::Unreachable
        | Fault::Misuse { .. } => Check::Memory,
    }
}

impl Checks {
    /// Is this fault looked for?
    #[must_use]
    pub fn covers(&self, fault: &Fault) -> bool {
        let is_mark = matches!(fault, Fault::ErrorReached { .. });
        let check = check_of(fault);
        self.contains(check) && (is_mark || check != Check::Assert || !self.only_error_calls)
    }

    #[must_use]
    pub fn contains(&self, check: Check) -> bool {
        match check {
            Check::Assert => self.assertions,
            Check::Memory => self.memory,
            Check::Race => self.races,
            Check::Deadlock => self.deadlocks,
            Check::Livelock => self.livelocks,
            Check::Overflow => self.overflows,
            Check::Uninit => self.uninit,
        }
    }
}

/// What makes two violations the same one to a user: their kind and their places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKey {
    Fault(std::mem::Discriminant<Fault>, SrcId),
    /// The two places, the smaller first.
    Race(SrcId, SrcId),
    /// Where the threads wait, ascending.
    Deadlock(Vec<SrcId>),
    /// Where the threads spin, ascending.
    Livelock(Vec<SrcId>),
}

impl ViolationKey {
    /// The key of a violation at `at`.
    #[must_use]
    pub fn new(kind: &ViolationKind, at: SrcId) -> Self {
        match kind {
            ViolationKind::Fault(fault) => Self::Fault(std::mem::discriminant(fault), at),
            ViolationKind::Race(race) => {
                let (a, b) = (race.first.at, race.second.at);
                Self::Race(a.min(b), a.max(b))
            }
            ViolationKind::Deadlock { waiting } => Self::Deadlock(places(waiting)),
            ViolationKind::Livelock { spinning } => Self::Livelock(places(spinning)),
        }
    }
}

fn places(threads: &[Waiting]) -> Vec<SrcId> {
    let mut places: Vec<SrcId> = threads.iter().map(|thread| thread.at).collect();
    places.sort_unstable();
    places
}
