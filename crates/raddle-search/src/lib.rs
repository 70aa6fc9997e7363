//! Which executions are worth looking at?
//!
//! Engines live in modules of their own behind one driver; they see programs and memory only. What they find is a
//! [`Verdict`] with its [`Statistics`]; wording is `raddle-report`'s business.

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
mod mcr;
mod naive;
pub mod oracle;
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
