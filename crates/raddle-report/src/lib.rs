//! Verdicts for people and for scripts: text with a timeline, and JSON.
//!
//! Engines hand over data ([`raddle_search::Outcome`]); every word that a user reads about it is chosen here. Nothing
//! here prints: callers get strings.

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

use raddle_program::Program;
use raddle_search::Outcome;

/// Everything a report is made from.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    pub outcome: &'a Outcome,
    /// The automata that the states of the outcome's traces belong to.
    pub program: &'a Program,
    /// The checked file as the user named it.
    pub file: &'a str,
}
