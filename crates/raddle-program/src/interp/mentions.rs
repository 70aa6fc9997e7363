//! Where the values of a function are made and used. Found in one walk: functions may be long.

use raddle_ir::{Body, Inst, InstKind, Operand, Terminator, ValueId};
use smallvec::SmallVec;

/// A use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// By the instruction at an index of a block.
    Inst(u32, u32),
    /// By a φ with this result.
    Phi(ValueId),
    Returned,
    /// By another end of a block.
    Terminator,
}

/// All of them, by value.
#[derive(Debug)]
pub(super) struct Mentions {
    made: Vec<Option<(u32, u32)>>,
    used: Vec<SmallVec<[Mention; 2]>>,
}

impl Mentions {
    pub(super) fn of_body(body: &Body) -> Self {
        let count = body.value_types.len();
        let mut all = Self {
            made: vec![None; count],
            used: vec![SmallVec::new(); count],
        };
        for (number, block) in body.blocks.iter().enumerate() {
            for phi in &block.phis {
                for (_, operand) in &phi.incoming {
                    all.note(operand, Mention::Phi(phi.result));
                }
            }
            for (index, inst) in block.insts.iter().enumerate() {
                let place = (number as u32, index as u32);
                if let Some(made) = inst.result.and_then(|it| all.made.get_mut(it.index())) {
                    *made = Some(place);
                }
                let mention = Mention::Inst(place.0, place.1);
                (inst.kind).visit_operands(|_, operand| all.note(operand, mention));
            }
            let mention = match block.terminator {
                Terminator::Ret { .. } => Mention::Returned,
                _ => Mention::Terminator,
            };
            (block.terminator).visit_operands(|_, operand| all.note(operand, mention));
        }
        all
    }

    fn note(&mut self, operand: &Operand, mention: Mention) {
        if let Operand::Value(value) = operand
            && let Some(used) = self.used.get_mut(value.index())
            && used.last() != Some(&mention)
        {
            used.push(mention);
        }
    }

    pub(super) fn of(&self, value: ValueId) -> &[Mention] {
        self.used.get(value.index()).map_or(&[], |used| &used[..])
    }

    /// The instruction that makes a value.
    pub(super) fn definition<'b>(&self, body: &'b Body, value: ValueId) -> Option<&'b InstKind> {
        let (block, index) = (*self.made.get(value.index())?)?;
        Some(&body.blocks[block as usize].insts[index as usize].kind)
    }

    /// The instructions that use a value.
    pub(super) fn users<'b>(
        &self,
        body: &'b Body,
        value: ValueId,
    ) -> impl Iterator<Item = &'b Inst> + use<'_, 'b> {
        self.of(value).iter().filter_map(|mention| match *mention {
            Mention::Inst(block, index) => Some(&body.blocks[block as usize].insts[index as usize]),
            _ => None,
        })
    }
}
