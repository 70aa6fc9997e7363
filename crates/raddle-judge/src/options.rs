//! What to look for, and for how long: what all engines are told.

use crate::engine::EngineKind;
use crate::replay::{Mismatch, Schedule};
use crate::verdict::{Checks, MemoryModel, Violation, ViolationKind};
use crate::watch::{MemoryLimit, Watch};
use raddle_program::Program;
use std::fmt;
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
    /// How many explore at the same time.
    pub workers: usize,
    /// Pieces of the search that are being explored or wait for it; 0 where it is not explored in pieces.
    pub pieces: usize,
}

/// Is told how far the search is, now and then.
pub type ProgressSink = Box<dyn FnMut(&Progress)>;

/// What somebody else says about a search that has become long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// Nothing: the search goes on.
    None,
    /// No execution goes wrong: the search ends without an answer of its own.
    NothingWrong,
    /// There is a violation. So does it then, unless it has found one before.
    Wrong,
}

/// Is told whenever a search has become longer than it should be, counted in executions, events and threads: the how-many-fold of what it may take before
/// anybody is told. Who is told of the same again says the same again.
pub type MilestoneSink = Box<dyn FnMut(u64) -> Opinion>;

/// Is told of every violation that was found and reproduced, before anything else is done about it: looking for a plainer execution
/// may take long.
pub type ViolationSink = Box<dyn FnMut(&Program, &Violation)>;

/// Ways to explore less, each of which can be switched off to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Loop iterations without effect are not explored.
    pub purity: bool,
    /// A thread whose iteration would have no effect waits until that changes, instead of being blocked for good.
    pub awaits: bool,
    /// Loop iterations that change something and take it back, with nobody looking in between, are not explored either. Goes beyond the papers, so their figures are without it.
    pub net_effect: bool,
    /// Fetch-and-adds whose results nobody uses are independent (IFAA).
    pub ifaa: bool,
}

impl Default for Reductions {
    fn default() -> Self {
        Self {
            purity: true,
            awaits: true,
            net_effect: true,
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
    /// Find every distinct violation instead of the first.
    pub keep_going: bool,
    /// When the check began, if that was before the search: counts for statistics.
    pub began: Option<Instant>,
    /// A way to end the search from outside, and the place to say how far it is. Its limits of time and memory are those of the
    /// whole check, and hold instead of the search's own.
    pub watch: Option<Arc<Watch>>,
    pub progress: Option<ProgressSink>,
    pub milestones: Option<MilestoneSink>,
    pub reproduced: Option<ViolationSink>,
    /// Nobody will look at the executions: they are not made plainer, and there is no advice.
    pub verdict_only: bool,
    /// Stop at a value that would have to be tried in all its states: somebody else will be asked.
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
    /// A checkpoint is not of this program.
    ForeignCheckpoint,
    /// The engine does not explore executions.
    DoesNotExplore { engine: EngineKind },
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
            Self::ForeignCheckpoint => f.write_str(
                "internal error: the program does not do what the checkpoint says that it did",
            ),
            Self::DoesNotExplore { engine } => write!(
                f,
                "internal error: engine {} was asked to explore",
                engine.name()
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
