//! From block to block.

use super::code::Code;
use super::constants::wide;
use super::exec::Done;
use super::layout::unsupported;
use super::machine::Machine;
use super::undefined::Mask;
use crate::fault::{Fault, Stop};
use crate::tables::Tables;
use raddle_ir::{BlockId, Terminator};
use smallvec::SmallVec;

impl Machine<'_> {
    pub(crate) fn terminate(&mut self, code: &Code, terminator: &Terminator) -> Result<Done, Stop> {
        match terminator {
            Terminator::Ret { value, .. } => self.ret(code, *value),
            Terminator::Br { target } => self.jump(code, *target),
            Terminator::CondBr {
                condition,
                then,
                otherwise,
            } => {
                let taken = self.scalar(code, *condition)? & 1 == 1;
                self.jump(code, if taken { *then } else { *otherwise })
            }
            Terminator::Switch {
                value,
                default,
                cases,
                ..
            } => {
                let value = wide(&self.operand(code, *value)?);
                let case = cases.iter().find(|(label, _)| *label == value);
                self.jump(code, case.map_or(*default, |&(_, block)| block))
            }
            Terminator::IndirectBr { address, targets } => {
                let address = self.scalar(code, *address)?;
                let base = Tables::function_address(code.function.0) + 1;
                let target = targets
                    .iter()
                    .find(|block| address.wrapping_sub(base) == u64::from(block.0));
                match target {
                    Some(&target) => self.jump(code, target),
                    None => Err(unsupported("an indirect jump to an unknown block")),
                }
            }
            Terminator::Invoke {
                result,
                call,
                normal,
                ..
            } => match self.call(code, call, *result)? {
                // What is done in place.
                Done::Next => self.jump(code, *normal),
                done => Ok(done),
            },
            Terminator::Resume { value } => {
                self.resume_unwinding(code, *value)?;
                Ok(Done::Switched)
            }
            Terminator::Unreachable => Err(Stop::Fault(Fault::Unreachable)),
            Terminator::Other { name, .. } => Err(unsupported(name)),
        }
    }

    /// Goes to another block: its φs take their values all at once.
    pub(crate) fn jump(&mut self, code: &Code, target: BlockId) -> Result<Done, Stop> {
        let from = BlockId(self.frame().block);
        let Some(block) = code.body.blocks.get(target.index()) else {
            return Err(unsupported("a jump to a block that does not exist"));
        };
        let mut moved: SmallVec<[u64; 8]> = SmallVec::new();
        // Undefined ones are rare: registers and masks.
        let mut undefined: SmallVec<[(std::ops::Range<usize>, Mask); 0]> = SmallVec::new();
        for phi in &block.phis {
            let incoming = phi.incoming.iter().find(|(pred, _)| *pred == from);
            let Some(&(_, operand)) = incoming else {
                return Err(unsupported(
                    "a φ without a value for the block it is entered from",
                ));
            };
            let slots = code.slots[phi.result.index()];
            let (values, mask) = self.copied(code, operand)?;
            moved.extend((0..slots.len as usize).map(|at| values.get(at).copied().unwrap_or(0)));
            if mask.any() || !self.frame().undefined.is_empty() {
                undefined.push((slots.range(), mask));
            }
        }
        let mut rest = moved.as_slice();
        for phi in &block.phis {
            let range = code.slots[phi.result.index()].range();
            let (values, others) = rest.split_at(range.len());
            self.frame().regs[range].copy_from_slice(values);
            rest = others;
        }
        for (range, mask) in undefined {
            self.frame().undefined.set(range, mask);
        }
        self.count_round(code, from, target)?;
        self.begin_round(code, target)?;
        self.look_for_cycle(target)?;
        let frame = self.frame();
        frame.block = target.0;
        frame.came_from = Some(from.0);
        frame.index = 0;
        frame.log.clear();
        Ok(Done::Jumped)
    }
}
