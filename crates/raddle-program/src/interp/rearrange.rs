//! Instructions that only move values about: aggregates, vectors, `select`.

use super::code::Code;
use super::layout::{slot_count, unsupported};
use super::machine::{Machine, Values};
use crate::fault::Stop;
use raddle_ir::{InstKind, Type, TypeId};

impl Machine<'_> {
    /// Instructions that only move values about.
    pub(crate) fn rearrange(&mut self, code: &Code, kind: &InstKind) -> Result<Values, Stop> {
        match kind {
            InstKind::Select {
                condition_ty,
                condition,
                ty,
                then,
                otherwise,
            } => {
                let condition = self.operand(code, *condition)?;
                let is_vector = matches!(
                    self.world.module.types.get(*condition_ty),
                    Type::Vector { .. }
                );
                if !is_vector {
                    let taken = condition.first().is_some_and(|bit| bit & 1 == 1);
                    return self.operand(code, if taken { *then } else { *otherwise });
                }
                let (then, otherwise) =
                    (self.operand(code, *then)?, self.operand(code, *otherwise)?);
                let step = self.lanes(*ty)?.0.slots();
                let mut values = Values::new();
                for (lane, bit) in condition.iter().enumerate() {
                    let from = if bit & 1 == 1 { &then } else { &otherwise };
                    values.extend_from_slice(slice(from, lane * step, step)?);
                }
                Ok(values)
            }
            InstKind::ExtractValue {
                aggregate_ty,
                aggregate,
                indices,
            } => {
                let values = self.operand(code, *aggregate)?;
                let (start, len) = self.member(*aggregate_ty, indices)?;
                Ok(Values::from_slice(slice(&values, start, len)?))
            }
            InstKind::InsertValue {
                aggregate_ty,
                aggregate,
                value,
                indices,
                ..
            } => {
                let mut values = self.operand(code, *aggregate)?;
                let (start, len) = self.member(*aggregate_ty, indices)?;
                let value = self.operand(code, *value)?;
                replace(&mut values, start, slice(&value, 0, len)?)?;
                Ok(values)
            }
            _ => self.rearrange_vector(code, kind),
        }
    }

    fn rearrange_vector(&mut self, code: &Code, kind: &InstKind) -> Result<Values, Stop> {
        match kind {
            InstKind::ExtractElement {
                vector_ty,
                vector,
                index,
                ..
            } => {
                let (scalar, count) = self.lanes(*vector_ty)?;
                let values = self.operand(code, *vector)?;
                let index = self.scalar(code, *index)?;
                let step = scalar.slots();
                if index >= count as u64 {
                    return Ok(smallvec::smallvec![0; step]);
                }
                Ok(Values::from_slice(slice(
                    &values,
                    index as usize * step,
                    step,
                )?))
            }
            InstKind::InsertElement {
                vector_ty,
                vector,
                value,
                index,
                ..
            } => {
                let (scalar, count) = self.lanes(*vector_ty)?;
                let mut values = self.operand(code, *vector)?;
                let value = self.operand(code, *value)?;
                let index = self.scalar(code, *index)?;
                if index < count as u64 {
                    replace(&mut values, index as usize * scalar.slots(), &value)?;
                }
                Ok(values)
            }
            InstKind::ShuffleVector {
                vector_ty,
                lhs,
                rhs,
                mask,
            } => {
                let step = self.lanes(*vector_ty)?.0.slots();
                let mut values = self.operand(code, *lhs)?;
                values.extend(self.operand(code, *rhs)?);
                let mut shuffled = Values::new();
                for lane in mask {
                    match lane {
                        Some(lane) => {
                            let start = *lane as usize * step;
                            shuffled.extend_from_slice(slice(&values, start, step)?);
                        }
                        None => shuffled.extend(std::iter::repeat_n(0, step)),
                    }
                }
                Ok(shuffled)
            }
            _ => Err(unsupported("an instruction that is not known")),
        }
    }

    /// The slots of a member of an aggregate: first one and how many.
    fn member(&self, ty: TypeId, indices: &[u32]) -> Result<(usize, usize), Stop> {
        let types = &self.world.module.types;
        let no_layout = || unsupported("a member of a type without a known layout");
        let mut ty = ty;
        let mut start = 0;
        for &index in indices {
            ty = match types.get(ty) {
                Type::Struct { fields, .. } => {
                    let before = fields.get(..index as usize).ok_or_else(no_layout)?;
                    for &field in before {
                        start += slot_count(types, field).ok_or_else(no_layout)?;
                    }
                    *fields.get(index as usize).ok_or_else(no_layout)?
                }
                Type::Array { element, .. } => {
                    start += slot_count(types, *element).ok_or_else(no_layout)? * index;
                    *element
                }
                _ => return Err(no_layout()),
            };
        }
        let len = slot_count(types, ty).ok_or_else(no_layout)?;
        Ok((start as usize, len as usize))
    }
}

fn slice(values: &[u64], start: usize, len: usize) -> Result<&[u64], Stop> {
    values
        .get(start..start + len)
        .ok_or_else(|| unsupported("a member outside its aggregate"))
}

fn replace(values: &mut Values, start: usize, with: &[u64]) -> Result<(), Stop> {
    values
        .get_mut(start..start + with.len())
        .ok_or_else(|| unsupported("a member outside its aggregate"))?
        .copy_from_slice(with);
    Ok(())
}
