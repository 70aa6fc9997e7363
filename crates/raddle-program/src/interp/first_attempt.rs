//! First attempts at locks, by weak compare-exchanges whose failure calls a slow path that is a model.
//!
//! Such a failure is the end of no iteration, so [`super::failing`] would let it happen for no reason. But the model makes the same attempt, and nobody
//! knows of the first one: what it found is not used, and that it failed is forgotten. A thread that fails for no reason and then succeeds could
//! have succeeded at the later moment at once; one that then fails for a reason could have failed for it both times, at that moment. Where the model looks at the lock
//! before it tries, so did the thread before its first attempt, with nothing in between: it could have come there at the later moment.

use super::code::Code;
use super::machine::{Machine, Step, Top};
use crate::models::{is_first_attempt, is_next_attempt};
use crate::op::Op;
use raddle_ir::{FuncId, ValueId};

impl Machine<'_> {
    /// Is it the first attempt at a lock, and would its failure for no reason be followed by the same attempt, in the model of the slow path? That it was
    /// made is known to nobody then: neither what it found nor that it failed.
    pub(super) fn tries_again_at_once(
        &mut self,
        code: &Code,
        result: Option<ValueId>,
        expected: u64,
    ) -> bool {
        if !self.world.looks_at_rounds() || self.state.atomic_depth > 0 {
            return false;
        }
        let innermost = self.frame().code.function;
        let callers: Vec<FuncId> = self.calling_functions().collect();
        let module = &self.world.module;
        let functions = std::iter::once(innermost).chain(callers);
        if !is_first_attempt(functions.map(|function| &*module.function(function).name)) {
            return false;
        }
        let mut trial = self.failed_trial(code, result, (expected, None));
        loop {
            let step = match std::mem::replace(&mut trial.top, Top::Finished) {
                Top::Ir(frame) => {
                    trial.top = Top::Ir(frame);
                    trial.run_code()
                }
                Top::Native(frame) if is_next_attempt(frame.model) => {
                    let model = trial.run_model(frame);
                    return match model {
                        Ok(Step::Visible(Op::Cas {
                            expected: again, ..
                        })) => again == expected,
                        // It looks before it tries, as was done before the first attempt.
                        Ok(Step::Visible(Op::Load { .. })) => true,
                        _ => false,
                    };
                }
                Top::Native(frame) => trial.run_model(frame),
                Top::Finished => return false,
            };
            if !matches!(step, Ok(Step::Continue)) {
                return false;
            }
        }
    }
}
