//! Runs one execution that something else than exploring found, and judges it like any other.

use crate::ending;
use crate::frame::Frame;
use crate::interleavings::{self, Next};
use crate::listener::Listener;
use crate::options::{InternalError, SearchOptions};
use crate::replay::ScheduleStep;
use crate::verdict::{EngineKind, Outcome, Verdict};
use raddle_memory::{Machine, Readiness};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

/// Says which event comes next.
pub trait Guide {
    /// None when the execution need not go on.
    fn next(&mut self, program: &mut Program, machine: &mut Machine) -> Option<ScheduleStep>;
}

/// Runs the execution that `guide` leads through. The answer is a violation, or `verified` if there was nothing wrong with
/// that execution: it is for the caller to know what that means.
///
/// A thread that comes to something that is beyond Raddle goes no further, and the others do: it is what they come to that
/// was asked for.
pub fn run(
    program: &mut Program,
    engine: EngineKind,
    options: SearchOptions,
    guide: &mut impl Guide,
) -> Result<Outcome, InternalError> {
    let memory = options.memory;
    let watch = options.watch();
    let options = SearchOptions {
        keep_going: true,
        ..options
    };
    let mut frame = Frame::new(options, watch);
    let mut machine = Machine::with_model(program, memory);
    let flow = lead(program, &mut machine, &mut frame, guide);
    debug_assert!(
        flow.is_continue() || frame.has_reason(),
        "the frame says why"
    );
    let mut outcome = frame.conclude(program, engine)?;
    if let Verdict::Violation(violations) = &mut outcome.verdict {
        violations.truncate(1);
    }
    Ok(outcome)
}

fn lead(
    program: &mut Program,
    machine: &mut Machine,
    frame: &mut Frame,
    guide: &mut impl Guide,
) -> ControlFlow<()> {
    frame.arrived(program, machine, ThreadId::MAIN)?;
    while let Some(step) = guide.next(program, machine) {
        let thread = step.thread();
        let end = match step {
            ScheduleStep::Run { choices, .. } => {
                if machine.readiness(program, thread) != Readiness::Ready {
                    break;
                }
                machine.step(program, thread, &choices)
            }
            ScheduleStep::Flush { position, .. } => {
                let position = position as usize;
                if !machine.may_flush(thread, position) {
                    break;
                }
                machine.flush(program, thread, position)
            }
            // Nobody leads through graphs.
            ScheduleStep::Place { .. } => break,
        };
        frame.stepped(program, machine, thread, end)?;
        if frame.has_violation() {
            return ControlFlow::Break(());
        }
    }
    let mut possible = interleavings::possible(program, machine).into_iter();
    let is_over = possible.all(|next| match next {
        Next::Run(thread) => goes_round(program, machine, thread),
        Next::Flush(..) => false,
    });
    if is_over {
        frame.ended(program, machine)?;
    }
    ControlFlow::Continue(())
}

/// Does the thread, which is ready, go round a loop as long as nobody else does anything?
pub fn goes_round(program: &mut Program, machine: &mut Machine, thread: ThreadId) -> bool {
    ending::goes_round(program, machine, thread)
}
