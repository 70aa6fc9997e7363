//! What engines tell of their exploration.

use crate::replay::Schedule;
use raddle_memory::{Machine, StepEnd};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

/// What the engine tells about the execution that it has in the machine.
pub trait Listener {
    /// An event was done; `end` says how.
    fn stepped(
        &mut self,
        program: &mut Program,
        machine: &mut Machine,
        thread: ThreadId,
        end: StepEnd,
    ) -> ControlFlow<()>;
    /// The machine went back to so many micro-steps.
    fn undone(&mut self, steps: usize);
    /// No thread can go on.
    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()>;
    /// Every thread that could go on is asleep: the execution is given up.
    fn given_up(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()>;
    /// A race was found without running it; this schedule should show it.
    fn predicted(&mut self, _: &mut Program, _: &Schedule) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// The engine could not go on because of a limit.
    fn paused(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// An execution was counted. `fraction` says how much of the tree of executions has been explored, by the branches that
    /// are known now; it is called only if somebody wants to know.
    fn explored(&mut self, _fraction: impl FnOnce() -> f64)
    where
        Self: Sized,
    {
    }
    /// The engine has met something that its classes of executions do not tell apart: one that orders all writes has to look.
    fn order_matters(&mut self) {}
    /// The engine works without running anything: is there a reason to stop?
    fn busy(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// What the listener knows of the present execution that the machine does not, as a number: what it will find depends on that.
    fn remembered(&self) -> u128 {
        0
    }
    /// The machine is at the beginning again, and the exploration starts anew: what was told so far does not count. Engine
    /// `rf` does that when it meets the first loop that waits for a variable, `rvf` when data races become possible, and when it has
    /// learned a better order.
    fn restarted(&mut self) {}
}
