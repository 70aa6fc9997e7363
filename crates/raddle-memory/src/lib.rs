//! Which values may a read return, given what all threads did?
//!
//! [`Machine`] is the operational answer under sequential consistency, TSO and PSO: memory contents, store buffers, thread
//! states, one step of one thread at a time, undone in any number. Nothing here knows of search.
//!
//! ```
//! use raddle_memory::{Machine, Readiness};
//! use raddle_program::{InterpOptions, Interpreter, ThreadId};
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
//! let mut machine = Machine::new(&program);
//! let start = machine.mark();
//! machine.step(&mut program, ThreadId::MAIN, &[]);
//! assert_eq!(machine.steps().len(), 1);
//! machine.undo_to(start);
//! assert!(machine.steps().is_empty());
//! assert!(matches!(machine.readiness(&program, ThreadId::MAIN), Readiness::Ready));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
pub mod axioms;
pub mod cells;
pub mod clocks;
pub mod consistency;
pub mod goodwrites;
pub mod machine;
pub mod mixer;
pub mod perform;
pub mod race;
pub mod sync;
pub mod uninit;

pub use access::{Access, AccessMode, accesses, attempted};
pub use machine::block::BLOCK_BUDGET;
pub use machine::{
    Chosen, DelayedStore, Effect, Ending, Machine, Mark, MemoryModel, MemoryNumber, MicroStep,
    Placed, Placement, Readiness, StepEnd,
};
pub use race::{RaceAccess, RaceDetector, RaceInfo};
pub use uninit::UninitDetector;
