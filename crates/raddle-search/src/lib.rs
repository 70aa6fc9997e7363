//! Which executions are worth looking at?
//!
//! Engines live in modules of their own behind one driver; they see programs and memory only. What they find is a
//! [`Verdict`] with its [`Statistics`]; wording is `raddle-report`'s business.
//!
//! ```
//! use raddle_program::{InterpOptions, Interpreter};
//! use raddle_search::{EngineKind, SearchOptions, Verdict, ViolationKind, check};
//!
//! let text = "
//! @x = global i32 0
//! declare i32 @pthread_create(ptr, ptr, ptr, ptr)
//! define ptr @thread(ptr %argument) {
//!   store i32 1, ptr @x
//!   ret ptr null
//! }
//! define i32 @main() {
//!   %handle = alloca i64
//!   %error = call i32 @pthread_create(ptr %handle, ptr null, ptr @thread, ptr null)
//!   store i32 2, ptr @x
//!   ret i32 0
//! }";
//! let module = raddle_ir::parse_module(text.to_owned(), "race.ll")?;
//! let mut program = Interpreter::load(module, InterpOptions::default())?;
//! let outcome = check(&mut program, EngineKind::Rf, SearchOptions::default())?;
//! let Verdict::Violation(violations) = &outcome.verdict else {
//!     panic!("both threads write `x`");
//! };
//! assert!(matches!(violations[0].kind, ViolationKind::Race(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
#[cfg(test)]
mod counting;
pub mod dpor;
pub mod driver;
pub mod ending;
mod frame;
mod gathered;
mod graph;
pub mod guided;
mod icb;
mod listener;
mod mcr;
mod naive;
pub mod oracle;
pub mod parallel;
#[cfg(test)]
mod properties;
mod purity;
pub mod replay;
mod rf;
mod rvf;
mod shorten;
pub mod simplify;
#[cfg(test)]
mod spinning;
pub mod verdict;
pub mod watch;

pub use choice::choose_engine;
pub use driver::{InternalError, Limits, Progress, Reductions, SearchOptions, check};
pub use raddle_memory::Effect;
pub use rvf::RvfHeuristics;
pub use verdict::{
    BlockedBy, BlockedCounts, Bound, Causality, Check, Checks, Coverage, EngineKind, Glance,
    LeftOut, MemoryModel, MemoryReason, OrderAdvice, Outcome, Reason, Stale, Statistics,
    Strengthening, Trace, TraceStep, UnsupportedAt, Unsynchronised, Verdict, Violation,
    ViolationKind, Waiting,
};
pub use watch::{Cause, MemoryLimit, Phase, Watch, peak_memory_bytes};
