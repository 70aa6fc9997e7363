//! Engine `bmc`: bounded model checking of a module by one formula for the ordering theory.

#![allow(dead_code)]

mod contents;
mod encode;
mod engine;
mod events;
mod facts;
mod guide;
mod order;
mod path;
mod problem;
mod shape;
mod state;
mod value;
mod waits;

pub use engine::{BmcOptions, check};
