//! `graph`: execution graphs under the memory model of C, C++ and Rust.

use crate::frame::Frame;
use raddle_program::Program;
use std::ops::ControlFlow;

/// Explores every consistent execution graph once.
pub(crate) fn explore(_program: &mut Program, _frame: &mut Frame) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
