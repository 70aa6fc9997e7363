//! Which values may a read return, given what all threads did?
//!
//! [`Machine`] is the operational answer under sequential consistency, TSO and PSO: memory contents, store buffers, thread
//! states, one step of one thread at a time, undone in any number. Nothing here knows of search.

pub mod access;
pub mod axioms;
pub mod cells;
pub mod clocks;
pub mod consistency;
pub mod goodwrites;
pub mod machine;
pub mod race;
pub mod sync;
pub mod uninit;

pub use access::{Access, AccessMode, accesses, attempted};
pub use machine::block::BLOCK_BUDGET;
pub use machine::{
    Chosen, DelayedStore, Effect, Ending, Machine, Mark, MemoryModel, MicroStep, Placed, Placement,
    Readiness, StepEnd,
};
pub use race::{RaceAccess, RaceDetector, RaceInfo};
pub use uninit::UninitDetector;
