//! Atomic blocks.
//!
//! A block happens at once: nobody sees its middle. It ends with [`Op::AtomicEnd`], with its thread or with the process. If its next
//! operation has to wait, it is suspended: others go on, and its rest happens at once later.
//!
//! A block whose thread stops in its middle (an assumption that fails, a fault, a bound on loops, something that is not
//! supported) has no end that others could see. It is *abandoned*: all that it did is taken back, and the thread stops there. What
//! others do then they can do while the thread is before its block, so it is real. The block has happened as far as its
//! own thread is concerned: its steps ([`Effect::Abandoned`]) are part of the execution, what it read decided that it does not
//! end, and a fault in it is a fault. What had happened before the block was suspended stays: others have seen it.

#[cfg(test)]
mod tests;

use super::{
    Effect, Ending, FAULTED, IN_BLOCK, Machine, Mark, Program, Readiness, StepEnd, ThreadId,
};

/// An atomic block may take this many steps: the others wait for it, so an endless one would hang the search.
pub const BLOCK_BUDGET: u32 = 1 << 20;

impl Machine {
    /// Runs on to the end of the atomic block that the event which began at `start` is in, or to where the thread ends or has
    /// to wait.
    pub(super) fn finish_block(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        choices: &[u32],
        start: Mark,
        mut end: StepEnd,
    ) -> StepEnd {
        let mut budget = BLOCK_BUDGET;
        while matches!(end, StepEnd::Done) && self.threads[thread.index()].flags & IN_BLOCK != 0 {
            match self.readiness(program, thread) {
                Readiness::Ready => {}
                Readiness::Waiting => {
                    self.suspended = Some(self.threads[thread.index()].state);
                    break;
                }
                Readiness::Ended(Ending::AssumeFailed | Ending::Stopped(_) | Ending::Faulted) => {
                    self.abandon_block(start);
                    break;
                }
                Readiness::Ended(Ending::Finished | Ending::ExitedProcess)
                | Readiness::NotStarted => break,
            }
            budget -= 1;
            if budget == 0 {
                return StepEnd::EndlessBlock;
            }
            let state = self.threads[thread.index()].state;
            end = self.micro_step(program, thread, state, *program.op(state), choices);
        }
        if matches!(end, StepEnd::Fault(_)) {
            self.abandon_block(start);
            self.set_flags(thread, FAULTED);
        }
        end
    }

    /// Takes back what the event that began at `start` did, but for the local state of its thread.
    fn abandon_block(&mut self, start: Mark) {
        self.undo_effects(start);
        for step in &mut self.steps[start.steps()..] {
            step.effect = Effect::Abandoned;
        }
    }

    /// Did the last event, which began at `start`, abandon an atomic block?
    #[must_use]
    pub fn has_abandoned(&self, start: Mark) -> bool {
        self.steps
            .get(start.steps())
            .is_some_and(|step| step.effect == Effect::Abandoned)
    }
}
