//! Verdicts for people and for scripts: text with a timeline, and JSON.
//!
//! Engines hand over data ([`raddle_judge::Outcome`]); every word that a user reads about it is chosen here. Nothing
//! here prints: callers get strings.
//!
//! ```
//! use raddle_program::{InterpOptions, Interpreter};
//! use raddle_report::{Report, source::Sources, text::{self, Look}};
//! use raddle_search::{EngineKind, SearchOptions, check};
//!
//! let ir = "
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
//! let module = raddle_ir::parse_module(ir.to_owned(), "race.ll")?;
//! let mut program = Interpreter::load(module, InterpOptions::default())?;
//! let outcome = check(&mut program, EngineKind::Rf, SearchOptions::default())?;
//! let report = Report { outcome: &outcome, program: &program, file: "race.ll" };
//! let said = text::render(&report, &Sources::default(), Look::default());
//! assert!(said.contains("data race"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod advice;
pub mod compare;
mod covered;
pub mod html;
pub mod json;
pub mod names;
mod number;
mod operands;
pub mod orderings;
pub mod repeat;
pub mod sarif;
pub mod source;
mod steps;
mod style;
pub mod text;
mod timeline;
pub mod trace_file;
mod view;
mod waits;
pub mod witness;
pub mod words;

use raddle_judge::Outcome;
use raddle_program::Program;

/// Everything a report is made from.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    pub outcome: &'a Outcome,
    /// The automata that the states of the outcome's traces belong to.
    pub program: &'a Program,
    /// The checked file as the user named it.
    pub file: &'a str,
}
