//! What does an execution show?
//!
//! Whoever finds executions, by exploring them or by asking a formula, brings them here: to be run, to be looked at for faults, races and
//! deadlocks, to be made plain, and to be counted. What comes of it is an [`Outcome`]; wording is `raddle-report`'s business.
//!
//! | part | what it does |
//! |---|---|
//! | [`verdict`], [`checks`] | what a check answers, and what is looked for |
//! | [`engine`] | which engines there are, and what each can do |
//! | [`options`] | what all engines are told |
//! | [`watch`] | limits, and the way to end a check from outside |
//! | [`frame`], [`listener`] | judges the executions of a search, as its engine tells of them |
//! | [`guided`] | runs and judges one execution that somebody describes |
//! | [`replay`] | schedules, and running them again |
//! | [`simplify`], [`shorten`] | the plainest execution that shows a violation |
//! | [`ending`], [`interleavings`] | what threads can do next, and what it means if they cannot |
//! | [`piece`], [`link`] | parts of a search, and what those who explore them tell each other |
//!
//! ```
//! use raddle_judge::replay::{self, Schedule, ScheduleStep};
//! use raddle_judge::MemoryModel;
//! use raddle_program::{InterpOptions, Interpreter, ThreadId};
//!
//! let text = "
//! @x = global i32 0
//! define i32 @main() {
//!   store i32 2, ptr @x
//!   ret i32 0
//! }";
//! let module = raddle_ir::parse_module(text.to_owned(), "write.ll")?;
//! let mut program = Interpreter::load(module, InterpOptions::default())?;
//! let step = ScheduleStep::Run { thread: ThreadId::MAIN, choices: Vec::new() };
//! let schedule = Schedule { memory: MemoryModel::Sc, steps: vec![step] };
//! let replayed = replay::replay(&mut program, &schedule).expect("`main` can write");
//! assert_eq!(replayed.trace.steps.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod checks;
pub mod ending;
pub mod engine;
pub mod frame;
mod gathered;
pub mod guided;
pub mod interleavings;
pub mod link;
pub mod listener;
pub mod options;
pub mod piece;
pub mod replay;
pub mod shorten;
pub mod simplify;
pub mod verdict;
pub mod watch;

pub use checks::{Check, Checks, ViolationKey, check_of};
pub use engine::{Descriptor, EngineKind};
pub use frame::Frame;
pub use listener::Listener;
pub use options::{InternalError, Limits, Progress, Reductions, SearchOptions};
pub use raddle_memory::Effect;
pub use verdict::{
    BlockedBy, BlockedCounts, Bound, Causality, Coverage, Glance, LeftOut, MemoryModel,
    MemoryReason, OrderAdvice, Outcome, Reason, Stale, Statistics, Strengthening, Trace, TraceStep,
    UnsupportedAt, Unsynchronised, Verdict, Violation, ViolationKind, Waiting, Work,
};
pub use watch::{Cause, MemoryLimit, Phase, Watch, peak_memory_bytes};
