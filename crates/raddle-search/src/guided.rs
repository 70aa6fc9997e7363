//! Runs one execution that something else than exploring found, and judges it like any other.

use crate::dpor::Listener;
use crate::driver::{InternalError, SearchOptions};
use crate::frame::Frame;
use crate::verdict::{EngineKind, Outcome};
use raddle_memory::{Machine, Readiness};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

/// One event: who acts, and what it chooses on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub thread: ThreadId,
    pub choices: Vec<u32>,
}

/// Says which event comes next.
pub trait Guide {
    /// None when the execution need not go on.
    fn next(&mut self, program: &mut Program, machine: &mut Machine) -> Option<Move>;
}

/// Runs the execution that `guide` leads through. The answer is a violation, or `verified` if there was nothing wrong with
/// that execution: it is for the caller to know what that means.
pub fn run(
    program: &mut Program,
    engine: EngineKind,
    options: SearchOptions,
    guide: &mut impl Guide,
) -> Result<Outcome, InternalError> {
    let mut frame = Frame::new(options);
    let mut machine = Machine::new(program);
    let flow = lead(program, &mut machine, &mut frame, guide);
    debug_assert!(
        flow.is_continue() || frame.has_reason(),
        "the frame says why"
    );
    frame.conclude(program, engine)
}

fn lead(
    program: &mut Program,
    machine: &mut Machine,
    frame: &mut Frame,
    guide: &mut impl Guide,
) -> ControlFlow<()> {
    frame.arrived(program, machine, ThreadId::MAIN)?;
    while let Some(Move { thread, choices }) = guide.next(program, machine) {
        if machine.readiness(program, thread) != Readiness::Ready {
            break;
        }
        let end = machine.step(program, thread, &choices);
        frame.stepped(program, machine, thread, end)?;
    }
    let mut threads = crate::ending::threads(machine);
    let is_over = threads.all(|thread| machine.readiness(program, thread) != Readiness::Ready);
    if is_over {
        frame.ended(program, machine)?;
    }
    ControlFlow::Continue(())
}
