//! Instructions that only move values about: aggregates, vectors, `select`.

use super::code::Code;
use super::layout::{slot_count, unsupported};
use super::machine::{Machine, Values};
use super::undefined::Mask;
use crate::fault::Stop;
use raddle_ir::{InstKind, Type, TypeId};

impl Machine<'_> {
    /// Instructions that only move values about.
    pub(crate) fn rearrange(
        &mut self,
        code: &Code,
        kind: &InstKind,
    ) -> Result<(Values, Mask), Stop> {
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
                    return self.copied(code, if taken { *then } else { *otherwise });
                }
                let then = self.copied(code, *then)?;
                let otherwise = self.copied(code, *otherwise)?;
                let step = self.lanes(*ty)?.0.slots();
                let mut values = Values::new();
                let mut undefined = Mask::NONE;
                for (lane, bit) in condition.iter().enumerate() {
                    let (from, mask) = if bit & 1 == 1 { &then } else { &otherwise };
                    let start = lane * step;
                    values.extend_from_slice(slice(from, start, step)?);
                    undefined.replace(start, step, mask.part(start, step));
                }
                Ok((values, undefined))
            }
            InstKind::ExtractValue {
                aggregate_ty,
                aggregate,
                indices,
            } => {
                let (values, undefined) = self.copied(code, *aggregate)?;
                let (start, len) = self.member(*aggregate_ty, indices)?;
                let part = Values::from_slice(slice(&values, start, len)?);
                Ok((part, undefined.part(start, len)))
            }
            InstKind::InsertValue {
                aggregate_ty,
                aggregate,
                value,
                indices,
                ..
            } => {
                let (mut values, mut undefined) = self.copied(code, *aggregate)?;
                let (start, len) = self.member(*aggregate_ty, indices)?;
                let (value, mask) = self.copied(code, *value)?;
                replace(&mut values, start, slice(&value, 0, len)?)?;
                undefined.replace(start, len, mask);
                Ok((values, undefined))
            }
            _ => self.rearrange_vector(code, kind),
        }
    }

    fn rearrange_vector(&mut self, code: &Code, kind: &InstKind) -> Result<(Values, Mask), Stop> {
        match kind {
            InstKind::ExtractElement {
                vector_ty,
                vector,
                index,
                ..
            } => {
                let (scalar, count) = self.lanes(*vector_ty)?;
                let (values, undefined) = self.copied(code, *vector)?;
                let index = self.scalar(code, *index)?;
                let step = scalar.slots();
                if index >= count as u64 {
                    return Ok((smallvec::smallvec![0; step], Mask::NONE));
                }
                let start = index as usize * step;
                let part = Values::from_slice(slice(&values, start, step)?);
                Ok((part, undefined.part(start, step)))
            }
            InstKind::InsertElement {
                vector_ty,
                vector,
                value,
                index,
                ..
            } => {
                let (scalar, count) = self.lanes(*vector_ty)?;
                let (mut values, mut undefined) = self.copied(code, *vector)?;
                let (value, mask) = self.copied(code, *value)?;
                let index = self.scalar(code, *index)?;
                if index < count as u64 {
                    let start = index as usize * scalar.slots();
                    replace(&mut values, start, &value)?;
                    undefined.replace(start, scalar.slots(), mask);
                }
                Ok((values, undefined))
            }
            InstKind::ShuffleVector {
                vector_ty,
                lhs,
                rhs,
                mask,
            } => {
                let step = self.lanes(*vector_ty)?.0.slots();
                let (mut values, mut undefined) = self.copied(code, *lhs)?;
                let (right, right_undefined) = self.copied(code, *rhs)?;
                undefined.replace(values.len(), right.len(), right_undefined);
                values.extend(right);
                let mut shuffled = Values::new();
                let mut mask_of_all = Mask::NONE;
                for lane in mask {
                    let at = shuffled.len();
                    match lane {
                        Some(lane) => {
                            let start = *lane as usize * step;
                            shuffled.extend_from_slice(slice(&values, start, step)?);
                            mask_of_all.replace(at, step, undefined.part(start, step));
                        }
                        None => shuffled.extend(std::iter::repeat_n(0, step)),
                    }
                }
                Ok((shuffled, mask_of_all))
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
