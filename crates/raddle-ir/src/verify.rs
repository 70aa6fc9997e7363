//! A light check of a body: everything it refers to exists. Run behind the parser and behind every pass in tests.
//!
//! Not checked: that definitions dominate uses, and that operands have the types their instruction wants.

use crate::ids::{BlockId, ConstId, TypeId, ValueId};
use crate::inst::{Body, Call, Inst, InstKind, Operand, Terminator};
use crate::module::Module;
use std::fmt;

/// What is wrong with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// A body needs an entry block.
    NoBlocks,
    /// A branch to, or a φ from, a block that is not there.
    MissingBlock {
        block: BlockId,
        target: BlockId,
    },
    /// The entry block is entered by a branch.
    EntryHasPredecessor {
        from: BlockId,
    },
    /// A value without a type or name entry, or one that nothing defines.
    UndefinedValue {
        block: BlockId,
        value: ValueId,
    },
    DefinedTwice {
        block: BlockId,
        value: ValueId,
    },
    MissingConstant {
        block: BlockId,
        constant: ConstId,
    },
    MissingType {
        block: BlockId,
        ty: TypeId,
    },
    /// A φ has no value for one of the blocks it can be entered from.
    PhiLacksPredecessor {
        block: BlockId,
        phi: ValueId,
        predecessor: BlockId,
    },
    /// A φ has a value for a block it cannot be entered from.
    PhiHasNoSuchPredecessor {
        block: BlockId,
        phi: ValueId,
        from: BlockId,
    },
    /// A φ's type is not the type of its value.
    PhiType {
        block: BlockId,
        phi: ValueId,
    },
    /// A call's arguments and their types are not as many.
    ArgumentTypes {
        block: BlockId,
    },
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBlocks => f.write_str("the body has no blocks"),
            Self::MissingBlock { block, target } => write!(f, "{block}: no block {target}"),
            Self::EntryHasPredecessor { from } => write!(f, "{from} branches to the entry block"),
            Self::UndefinedValue { block, value } => {
                write!(f, "{block}: {value:?} is used but not defined")
            }
            Self::DefinedTwice { block, value } => write!(f, "{block}: {value:?} is defined twice"),
            Self::MissingConstant { block, constant } => write!(f, "{block}: no {constant:?}"),
            Self::MissingType { block, ty } => write!(f, "{block}: no {ty:?}"),
            Self::PhiLacksPredecessor {
                block,
                phi,
                predecessor,
            } => write!(f, "{block}: phi {phi:?} has no value from {predecessor}"),
            Self::PhiHasNoSuchPredecessor { block, phi, from } => {
                write!(
                    f,
                    "{block}: phi {phi:?} has a value from {from}, which does not lead here"
                )
            }
            Self::PhiType { block, phi } => write!(f, "{block}: phi {phi:?} has another type"),
            Self::ArgumentTypes { block } => {
                write!(
                    f,
                    "{block}: a call's arguments and their types differ in number"
                )
            }
        }
    }
}

impl std::error::Error for VerifyError {}

/// Checks a body of `module`.
pub fn verify(module: &Module, body: &Body) -> Result<(), VerifyError> {
    let mut verifier = Verifier {
        module,
        body,
        defined: vec![false; body.value_types.len()],
        block: BlockId(0),
    };
    verifier.definitions()?;
    verifier.uses()?;
    verifier.edges()
}

struct Verifier<'a> {
    module: &'a Module,
    body: &'a Body,
    defined: Vec<bool>,
    /// The block under consideration, for messages.
    block: BlockId,
}

impl Verifier<'_> {
    fn definitions(&mut self) -> Result<(), VerifyError> {
        if self.body.blocks.is_empty() {
            return Err(VerifyError::NoBlocks);
        }
        for &ty in &self.body.value_types {
            self.ty(ty)?;
        }
        for param in 0..self.body.param_count {
            self.define(ValueId(param))?;
        }
        for (index, block) in self.body.blocks.iter().enumerate() {
            self.block = BlockId::from_index(index);
            for phi in &block.phis {
                self.define(phi.result)?;
                if self.body.value_types[phi.result.index()] != phi.ty {
                    let (block, phi) = (self.block, phi.result);
                    return Err(VerifyError::PhiType { block, phi });
                }
            }
            for value in block.insts.iter().filter_map(|inst| inst.result) {
                self.define(value)?;
            }
            if let Terminator::Invoke {
                result: Some(value),
                ..
            } = block.terminator
            {
                self.define(value)?;
            }
        }
        Ok(())
    }

    fn define(&mut self, value: ValueId) -> Result<(), VerifyError> {
        let block = self.block;
        match self.defined.get_mut(value.index()) {
            None => Err(VerifyError::UndefinedValue { block, value }),
            Some(true) => Err(VerifyError::DefinedTwice { block, value }),
            Some(defined) => {
                *defined = true;
                Ok(())
            }
        }
    }

    fn uses(&mut self) -> Result<(), VerifyError> {
        for (index, block) in self.body.blocks.iter().enumerate() {
            self.block = BlockId::from_index(index);
            for phi in &block.phis {
                for &(_, value) in &phi.incoming {
                    self.operand(value)?;
                }
            }
            for inst in &block.insts {
                self.inst(inst)?;
            }
            self.terminator(&block.terminator)?;
        }
        Ok(())
    }

    fn operand(&self, operand: Operand) -> Result<(), VerifyError> {
        let block = self.block;
        match operand {
            Operand::Value(value) => match self.defined.get(value.index()) {
                Some(true) => Ok(()),
                _ => Err(VerifyError::UndefinedValue { block, value }),
            },
            Operand::Const(constant) if constant.index() < self.module.constants.len() => Ok(()),
            Operand::Const(constant) => Err(VerifyError::MissingConstant { block, constant }),
        }
    }

    fn ty(&self, ty: TypeId) -> Result<(), VerifyError> {
        if ty.index() < self.module.types.len() {
            return Ok(());
        }
        let block = self.block;
        Err(VerifyError::MissingType { block, ty })
    }

    /// Types and operands of one instruction.
    fn all(&self, types: &[TypeId], operands: &[Operand]) -> Result<(), VerifyError> {
        types.iter().try_for_each(|&ty| self.ty(ty))?;
        operands
            .iter()
            .try_for_each(|&operand| self.operand(operand))
    }

    fn call(&self, call: &Call) -> Result<(), VerifyError> {
        if call.args.len() != call.arg_types.len() {
            return Err(VerifyError::ArgumentTypes { block: self.block });
        }
        self.all(&[call.fn_type], &[call.callee])?;
        self.all(&call.arg_types, &call.args)?;
        call.byval.iter().try_for_each(|&(_, ty)| self.ty(ty))
    }

    fn inst(&self, inst: &Inst) -> Result<(), VerifyError> {
        use InstKind as K;
        match &inst.kind {
            K::Binary { ty, lhs, rhs, .. }
            | K::ICmp { ty, lhs, rhs, .. }
            | K::FCmp { ty, lhs, rhs, .. } => self.all(&[*ty], &[*lhs, *rhs]),
            K::FNeg { ty, value } | K::Freeze { ty, value } => self.all(&[*ty], &[*value]),
            K::Cast {
                from, to, value, ..
            } => self.all(&[*from, *to], &[*value]),
            K::Select {
                condition_ty,
                condition,
                ty,
                then,
                otherwise,
            } => self.all(&[*condition_ty, *ty], &[*condition, *then, *otherwise]),
            K::ExtractValue {
                aggregate_ty,
                aggregate,
                ..
            } => self.all(&[*aggregate_ty], &[*aggregate]),
            K::InsertValue {
                aggregate_ty,
                aggregate,
                value_ty,
                value,
                ..
            } => self.all(&[*aggregate_ty, *value_ty], &[*aggregate, *value]),
            K::ExtractElement {
                vector_ty,
                vector,
                index_ty,
                index,
            } => self.all(&[*vector_ty, *index_ty], &[*vector, *index]),
            K::InsertElement {
                vector_ty,
                vector,
                value,
                index_ty,
                index,
            } => self.all(&[*vector_ty, *index_ty], &[*vector, *value, *index]),
            K::ShuffleVector {
                vector_ty,
                lhs,
                rhs,
                ..
            } => self.all(&[*vector_ty], &[*lhs, *rhs]),
            K::Alloca {
                ty,
                count_ty,
                count,
                ..
            } => self.all(&[*ty, *count_ty], &[*count]),
            K::Load { ty, ptr, .. } | K::VaArg { ty, list: ptr } => self.all(&[*ty], &[*ptr]),
            K::Store { ty, value, ptr, .. } | K::AtomicRmw { ty, value, ptr, .. } => {
                self.all(&[*ty], &[*value, *ptr])
            }
            K::CmpXchg {
                ty,
                ptr,
                expected,
                new,
                ..
            } => self.all(&[*ty], &[*ptr, *expected, *new]),
            K::Gep {
                source,
                base,
                indices,
                ..
            } => {
                self.all(&[*source], &[*base])?;
                indices
                    .iter()
                    .try_for_each(|&(ty, index)| self.all(&[ty], &[index]))
            }
            K::Call(call) => self.call(call),
            K::LandingPad { ty, .. } => self.ty(*ty),
            K::Fence { .. } | K::Other { .. } => Ok(()),
        }
    }

    fn terminator(&self, terminator: &Terminator) -> Result<(), VerifyError> {
        match terminator {
            Terminator::Ret { ty, value } => {
                self.ty(*ty)?;
                value.map_or(Ok(()), |value| self.operand(value))
            }
            Terminator::CondBr {
                condition: value, ..
            }
            | Terminator::IndirectBr { address: value, .. }
            | Terminator::Resume { value } => self.operand(*value),
            Terminator::Switch { ty, value, .. } => self.all(&[*ty], &[*value]),
            Terminator::Invoke { call, .. } => self.call(call),
            Terminator::Br { .. } | Terminator::Unreachable | Terminator::Other { .. } => Ok(()),
        }
    }

    /// Edges lead to blocks, and φs have exactly the predecessors of their block.
    fn edges(&mut self) -> Result<(), VerifyError> {
        let count = self.body.blocks.len();
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (index, block) in self.body.blocks.iter().enumerate() {
            let from = BlockId::from_index(index);
            for target in block.terminator.successors() {
                let Some(list) = predecessors.get_mut(target.index()) else {
                    let block = from;
                    return Err(VerifyError::MissingBlock { block, target });
                };
                if target.index() == 0 {
                    return Err(VerifyError::EntryHasPredecessor { from });
                }
                // Several edges of one block arrive one after the other.
                if list.last() != Some(&from) {
                    list.push(from);
                }
            }
        }
        for (index, predecessors) in predecessors.iter().enumerate() {
            self.block = BlockId::from_index(index);
            self.phis(predecessors)?;
        }
        Ok(())
    }

    fn phis(&self, predecessors: &[BlockId]) -> Result<(), VerifyError> {
        let block = self.block;
        for phi in &self.body.blocks[block.index()].phis {
            let mut incoming: Vec<BlockId> = phi.incoming.iter().map(|&(from, _)| from).collect();
            incoming.sort_unstable();
            incoming.dedup();
            let phi = phi.result;
            if let Some(&predecessor) = predecessors
                .iter()
                .find(|p| incoming.binary_search(p).is_err())
            {
                return Err(VerifyError::PhiLacksPredecessor {
                    block,
                    phi,
                    predecessor,
                });
            }
            // Predecessors are in ascending order, as the blocks were walked.
            if let Some(&from) = incoming
                .iter()
                .find(|from| predecessors.binary_search(from).is_err())
            {
                return Err(VerifyError::PhiHasNoSuchPredecessor { block, phi, from });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_module;

    const DIAMOND: &str = "define i32 @f(i1 %c, i32 %x) {
  br i1 %c, label %a, label %b
a:
  %y = add i32 %x, 1
  br label %b
b:
  %r = phi i32 [ %x, %0 ], [ %y, %a ]
  ret i32 %r
}";

    fn diamond() -> (Module, Body) {
        let mut module = parse_module(DIAMOND, "t.ll").expect("valid");
        let id = module.function_named("f").expect("defined");
        let body = module.parse_body(id).expect("valid");
        (module, body)
    }

    #[test]
    fn accepts_what_the_parser_makes() {
        let (module, body) = diamond();
        assert_eq!(verify(&module, &body), Ok(()));
    }

    #[test]
    fn finds_a_phi_without_a_predecessor() {
        let (module, mut body) = diamond();
        let removed = body.blocks[2].phis[0].incoming.pop();
        let phi = body.blocks[2].phis[0].result;
        assert_eq!(
            verify(&module, &body),
            Err(VerifyError::PhiLacksPredecessor {
                block: BlockId(2),
                phi,
                predecessor: BlockId(1)
            })
        );
        body.blocks[2].phis[0].incoming.extend(removed);
        body.blocks[1].terminator = Terminator::Unreachable;
        assert!(matches!(
            verify(&module, &body),
            Err(VerifyError::PhiHasNoSuchPredecessor { .. })
        ));
    }

    #[test]
    fn finds_values_without_a_definition() {
        let (module, mut body) = diamond();
        body.blocks[1].insts.clear();
        assert!(matches!(
            verify(&module, &body),
            Err(VerifyError::UndefinedValue { .. })
        ));
    }

    #[test]
    fn finds_dangling_ids() {
        let (module, mut body) = diamond();
        body.blocks[0].terminator = Terminator::Br { target: BlockId(7) };
        assert!(matches!(
            verify(&module, &body),
            Err(VerifyError::MissingBlock { .. })
        ));
        let (module, mut body) = diamond();
        body.value_types[0] = TypeId(1 << 30);
        assert!(matches!(
            verify(&module, &body),
            Err(VerifyError::MissingType { .. })
        ));
        let (module, mut body) = diamond();
        body.blocks[2].terminator = Terminator::Resume {
            value: Operand::Const(ConstId(1 << 30)),
        };
        assert!(matches!(
            verify(&module, &body),
            Err(VerifyError::MissingConstant { .. })
        ));
        assert_eq!(
            verify(&module, &Body::default()),
            Err(VerifyError::NoBlocks)
        );
    }
}
