//! Engine `bmc`: bounded model checking of a module by one formula for the ordering theory.

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

pub use engine::{BmcOptions, check};
