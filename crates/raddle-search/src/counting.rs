//! Counts executions, for tests.

use crate::ending;
use crate::listener::Listener;
use raddle_memory::{Machine, StepEnd};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

/// Executions by how they ended. Engines that are optimal give none up.
#[derive(Default)]
pub(crate) struct Count {
    complete: u64,
    blocked: u64,
    given_up: u64,
}

impl Count {
    /// Complete and blocked executions.
    #[track_caller]
    pub(crate) fn ends(&self) -> (u64, u64) {
        assert_eq!(self.given_up, 0, "no execution is given up");
        (self.complete, self.blocked)
    }
}

impl Listener for Count {
    fn stepped(
        &mut self,
        _: &mut Program,
        _: &mut Machine,
        _: ThreadId,
        _: StepEnd,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn undone(&mut self, _: usize) {}

    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
        if ending::is_complete(program, machine) {
            self.complete += 1;
        } else {
            self.blocked += 1;
        }
        ControlFlow::Continue(())
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        self.given_up += 1;
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        *self = Self::default();
    }
}
