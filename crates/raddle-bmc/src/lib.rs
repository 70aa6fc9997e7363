//! Engine `bmc`: bounded model checking of a module by one formula for the ordering theory.
//!
//! ```
//! use raddle_bmc::BmcOptions;
//! use raddle_program::interp::view::View;
//! use raddle_program::{InterpOptions, Interpreter};
//! use raddle_judge::{MemoryModel, SearchOptions, Verdict};
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
//! let view = View::new(module.clone(), InterpOptions { unroll: Some(1), ..InterpOptions::default() })?;
//! let mut program = Interpreter::load(module, InterpOptions::default())?;
//! let options = BmcOptions {
//!     threads: None,
//!     memory: MemoryModel::Sc,
//!     unroll: None,
//!     exit_with_main: false,
//!     spurious_wakeups: true,
//!     spurious_failures: raddle_program::interp::SpuriousFailures::None,
//!     any_unwritten: false,
//!     silent_abort: false,
//!     effort: None,
//!     may_be_large: false,
//!     patience: raddle_bmc::PATIENCE,
//! };
//! let outcome = raddle_bmc::check(view, &mut program, options, SearchOptions::default())?;
//! assert!(matches!(outcome.verdict, Verdict::Violation(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod carried;
mod contents;
mod counters;
mod coverage;
mod encode;
mod engine;
mod events;
mod facts;
mod frees;
mod guide;
mod order;
mod path;
mod problem;
mod protected;
mod races;
mod shape;
mod state;
mod sums;
mod value;
mod waits;

pub use engine::{Again, BmcOptions, Conflicts, PATIENCE, Workers, check, check_with};
pub use raddle_order::proof::ProofFile;
