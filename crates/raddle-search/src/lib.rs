//! Which executions are worth looking at?
//!
//! Engines live in modules of their own behind one driver; they see programs and memory only. What they find is judged by
//! `raddle-judge`, on which all engines stand.
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
mod engines;
mod graph;
mod icb;
mod mcr;
pub mod parallel;
#[cfg(test)]
mod properties;
mod purity;
mod rf;
mod rvf;
#[cfg(test)]
mod spinning;
mod states;

#[cfg(test)]
use raddle_testing::oracle;

pub use choice::choose_engine;
pub use driver::{EngineOptions, check, check_with};
// What engines and those who ask them talk about.
pub use raddle_judge::*;
pub use rvf::RvfHeuristics;
