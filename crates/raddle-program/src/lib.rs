//! What does a thread do next, given the values that its reads returned?
//!
//! A thread is deterministic, so it *is* an automaton: states are local states, edges are labelled with the values that
//! operations returned. [`Program`] holds that automaton and computes each edge once; engines see only [`Op`]s and dense
//! ids. Nothing here knows of other threads' progress, of memory contents or of search.
//!
//! A race, up to the first operation that other threads can notice:
//!
//! ```
//! use raddle_program::{InterpOptions, Interpreter, Op};
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
//! let first = program.main();
//! assert!(matches!(program.op(first), Op::Spawn { .. }));
//! let second = program.after(first, 0);
//! assert!(matches!(program.op(second), Op::Store { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod automaton;
pub mod coverage;
pub mod errno;
pub mod fault;
mod first_bytes;
pub mod ids;
pub mod interp;
pub mod journal;
pub mod models;
pub mod names;
mod nothing;
pub mod op;
pub mod orderings;
pub mod tables;
mod uses;

pub use automaton::{Meaning, Program, Semantics, TakenFor, Transition};
pub use coverage::{AssertSite, CodeCoverage, NamedPlace, WeakOrderings};
pub use fault::{
    AccessKind, ComparedAs, Comparison, Fault, Leaves, Limit, Misuse, PanicEnd, Stop, Unsupported,
};
pub use first_bytes::{FirstBytes, Given, Made, Seen};
pub use ids::{LocId, ObjectId, SrcId, StateId, StopId, ThreadId};
pub use interp::{InterpOptions, Interpreter, LoadError, OnMainReturn, PanicPolicy};
pub use journal::Journal;
pub use names::{NoThreadName, ThreadName};
pub use op::{
    ChoiceOf, MutexKind, NumberKind, Op, Order, ReleaseSequences, RmwKind, SyncAction, Value,
};
pub use orderings::{Met, OrderOf, OrderSite, Orderings};
pub use tables::{LocInfo, ObjectInfo, ObjectKind, SourceLoc, Tables, ThreadInfo};
pub use uses::{Kinds, LOOKED_AT};
