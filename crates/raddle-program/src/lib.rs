//! What does a thread do next, given the values that its reads returned?
//!
//! A thread is deterministic, so it *is* an automaton: states are local states, edges are labelled with the values that
//! operations returned. [`Program`] holds that automaton and computes each edge once; engines see only [`Op`]s and dense
//! ids. Nothing here knows of other threads' progress, of memory contents or of search.

pub mod automaton;
pub mod builder;
pub mod coverage;
pub mod errno;
pub mod fault;
pub mod generate;
pub mod ids;
pub mod interp;
pub mod litmus;
pub mod models;
pub mod names;
pub mod op;
pub mod samples;
pub mod tables;
mod uses;

pub use automaton::{Meaning, Program, Semantics, TakenFor, Transition};
pub use coverage::{AssertSite, CodeCoverage, NamedPlace, WeakOrderings};
pub use fault::{
    AccessKind, ComparedAs, Comparison, Fault, Leaves, Limit, Misuse, PanicEnd, Stop, Unsupported,
};
pub use ids::{LocId, ObjectId, SrcId, StateId, StopId, ThreadId};
pub use interp::{InterpOptions, Interpreter, LoadError, OnMainReturn, PanicPolicy};
pub use names::{NoThreadName, ThreadName};
pub use op::{
    ChoiceOf, MutexKind, NumberKind, Op, Order, ReleaseSequences, RmwKind, SyncAction, Value,
};
pub use tables::{LocInfo, ObjectInfo, ObjectKind, SourceLoc, Tables, ThreadInfo};
pub use uses::Kinds;
