//! Values of constants, and the initial contents of globals.

use super::arith;
use super::exec::{Scalar, scalar_of};
use super::float;
use super::layout::{slot_count, unsupported};
use super::long_double;
use super::machine::{Machine, Values};
use super::memory::PANIC_COUNT;
use super::world::is_panic_count;
use crate::fault::{Stop, Unsupported};
use crate::models;
use crate::tables::Tables;
use raddle_ir::inst::{ArithFlags, CastOp};
use raddle_ir::{ConstId, Constant, ConstantExpr, FuncId, GlobalId, Type, TypeId};
use std::rc::Rc;

/// Constants nested deeper than this are malformed.
const MAX_NESTING: u32 = 200;

/// A value, and whether it is the same in every thread.
type Evaluated = (Values, bool);

impl Machine<'_> {
    /// The slots of a constant.
    pub(crate) fn constant(&mut self, id: ConstId) -> Result<Rc<[u64]>, Stop> {
        if let Some(Some(value)) = self.world.constants.get(id.index()) {
            return Ok(Rc::clone(value));
        }
        let (values, same) = self.evaluate(id, 0)?;
        let values: Rc<[u64]> = values.as_slice().into();
        if same {
            if self.world.constants.len() <= id.index() {
                self.world.constants.resize(id.index() + 1, None);
            }
            self.world.constants[id.index()] = Some(Rc::clone(&values));
        }
        Ok(values)
    }

    fn zeros(&self, ty: TypeId) -> Result<Values, Stop> {
        let count = slot_count(&self.world.module.types, ty)
            .ok_or_else(|| unsupported("a constant of a type without a known layout"))?;
        Ok(smallvec::smallvec![0; count as usize])
    }

    fn evaluate(&mut self, id: ConstId, depth: u32) -> Result<Evaluated, Stop> {
        if depth > MAX_NESTING {
            return Err(unsupported("a constant nested without end"));
        }
        let constant = self.world.module.constant(id).clone();
        let one = |value: u64| (smallvec::smallvec![value], true);
        Ok(match constant {
            Constant::Int(ty, bits) | Constant::Float(ty, bits) => {
                let mut values = self.zeros(ty)?;
                for (slot, value) in values.iter_mut().take(2).enumerate() {
                    *value = (bits >> (64 * slot)) as u64;
                }
                (values, true)
            }
            Constant::Null => one(0),
            Constant::Undef(ty) | Constant::Poison(ty) | Constant::Zero(ty) => {
                (self.zeros(ty)?, true)
            }
            Constant::Aggregate(_, elements) => {
                let mut values = Values::new();
                let mut same = true;
                for &element in &elements {
                    let (part, part_same) = self.evaluate(element, depth + 1)?;
                    values.extend(part);
                    same &= part_same;
                }
                (values, same)
            }
            Constant::Bytes(_, bytes) => {
                (bytes.iter().map(|&byte| u64::from(byte)).collect(), true)
            }
            Constant::Global(global) => {
                let same = !self.world.module.global(global).thread_local;
                (smallvec::smallvec![self.global_address(global)?], same)
            }
            Constant::Function(function) => one(Tables::function_address(function.0)),
            Constant::BlockAddress(function, label) => one(self.block_address(function, &label)?),
            Constant::Expr(ty, expr) => self.expression(ty, &expr, depth)?,
            Constant::Metadata | Constant::NoneToken => (Values::new(), true),
            Constant::InlineAsm { .. } => return Err(unsupported("inline assembly as a value")),
        })
    }

    /// The address of a block: the function's, and a number past the one that stands for the function itself.
    fn block_address(&mut self, function: FuncId, label: &str) -> Result<u64, Stop> {
        let code = self.world.code(function)?;
        let block = code
            .body
            .blocks
            .iter()
            .position(|block| &*block.label == label);
        let block = block.ok_or_else(|| unsupported("the address of an unknown block"))?;
        Ok(Tables::function_address(function.0) + 1 + block as u64)
    }

    fn expression(
        &mut self,
        ty: TypeId,
        expr: &ConstantExpr,
        depth: u32,
    ) -> Result<Evaluated, Stop> {
        let depth = depth + 1;
        match expr {
            ConstantExpr::Gep {
                source,
                base,
                indices,
            } => {
                let (base, mut same) = self.evaluate(*base, depth)?;
                let mut numbers = Vec::with_capacity(indices.len());
                for &index in indices {
                    let (value, index_same) = self.evaluate(index, depth)?;
                    same &= index_same;
                    numbers.push(self.signed_constant(index, &value)?);
                }
                let offset = self.gep_offset(*source, &numbers)?;
                let base = base.first().copied().unwrap_or(0);
                Ok((smallvec::smallvec![self.stepped(base, offset)], same))
            }
            ConstantExpr::Cast { op, value } => {
                let from = self.constant_type(*value);
                let (value, same) = self.evaluate(*value, depth)?;
                Ok((self.cast(*op, from, ty, &value)?, same))
            }
            ConstantExpr::Binary { op, lhs, rhs } => {
                let (a, same_a) = self.evaluate(*lhs, depth)?;
                let (b, same_b) = self.evaluate(*rhs, depth)?;
                let Some(Scalar::Int(width)) = scalar_of(&self.world.module.types, ty) else {
                    return Err(unsupported("constant arithmetic on anything but integers"));
                };
                let flags = ArithFlags::default();
                let value = arith::binary(*op, flags, width, wide(&a), wide(&b), false)?;
                Ok((split(value, width), same_a && same_b))
            }
            ConstantExpr::ICmp { .. } | ConstantExpr::FCmp { .. } => {
                self.constant_comparison(expr, depth)
            }
            ConstantExpr::Select {
                condition,
                then,
                otherwise,
            } => {
                let (condition, same) = self.evaluate(*condition, depth)?;
                let taken = condition.first().is_some_and(|&bit| bit & 1 == 1);
                let chosen = if taken { *then } else { *otherwise };
                let (value, value_same) = self.evaluate(chosen, depth)?;
                Ok((value, same && value_same))
            }
        }
    }

    fn constant_comparison(&mut self, expr: &ConstantExpr, depth: u32) -> Result<Evaluated, Stop> {
        match expr {
            ConstantExpr::ICmp {
                predicate,
                lhs,
                rhs,
            } => {
                let operand_ty = self.constant_type(*lhs);
                let width =
                    scalar_of(&self.world.module.types, operand_ty).map_or(64, Scalar::width);
                let (a, same_a) = self.evaluate(*lhs, depth)?;
                let (b, same_b) = self.evaluate(*rhs, depth)?;
                let (mut a, mut b) = (wide(&a), wide(&b));
                if *self.world.module.types.get(operand_ty) == Type::Ptr {
                    let (first, second) = self.comparable(*predicate, a as u64, b as u64)?;
                    (a, b) = (first.into(), second.into());
                }
                let holds = arith::compare(*predicate, width, a, b);
                Ok((smallvec::smallvec![u64::from(holds)], same_a && same_b))
            }
            ConstantExpr::FCmp {
                predicate,
                lhs,
                rhs,
            } => {
                let operand_ty = self.constant_type(*lhs);
                let Some(Scalar::Float(kind)) = scalar_of(&self.world.module.types, operand_ty)
                else {
                    return Err(unsupported("a constant comparison of vectors"));
                };
                let (a, _) = self.evaluate(*lhs, depth)?;
                let (b, _) = self.evaluate(*rhs, depth)?;
                let (a, b) = (wide(&a), wide(&b));
                let holds = if long_double::is_long(kind) {
                    long_double::compare(*predicate, kind, a, b)?
                } else {
                    let (a, b) = (
                        float::decode(kind, a as u64)?,
                        float::decode(kind, b as u64)?,
                    );
                    float::compare(*predicate, a, b)
                };
                Ok((smallvec::smallvec![u64::from(holds)], true))
            }
            _ => Err(unsupported("a constant that is not known")),
        }
    }

    /// The type of a constant.
    pub(crate) fn constant_type(&mut self, id: ConstId) -> TypeId {
        match self.world.module.constant(id) {
            Constant::Int(ty, _)
            | Constant::Float(ty, _)
            | Constant::Undef(ty)
            | Constant::Poison(ty)
            | Constant::Zero(ty)
            | Constant::Aggregate(ty, _)
            | Constant::Bytes(ty, _)
            | Constant::Expr(ty, _) => *ty,
            _ => self.world.module.types.intern(Type::Ptr),
        }
    }

    fn signed_constant(&mut self, id: ConstId, value: &Values) -> Result<i64, Stop> {
        let ty = self.constant_type(id);
        match scalar_of(&self.world.module.types, ty) {
            Some(Scalar::Int(width)) => Ok(arith::signed(wide(value), width) as i64),
            _ => Err(unsupported("an index that is no integer")),
        }
    }

    // ---- bytes

    /// The initial contents of a global, all of its size.
    pub(crate) fn initial_bytes(&mut self, id: GlobalId) -> Result<Rc<[u8]>, Stop> {
        if let Some(bytes) = &self.world.global_bytes[id.index()] {
            return Ok(Rc::clone(bytes));
        }
        let size = self.world.global_size(id);
        let initializer = self.world.module.global(id).initializer;
        if size > super::memory::MAX_BLOCK {
            return Err(unsupported("a variable of more than a gibibyte"));
        }
        let mut bytes = vec![0; size as usize];
        match initializer {
            Some(initializer) => self.write_constant(initializer, &mut bytes, 0)?,
            None => self.write_extern(id, &mut bytes)?,
        }
        if is_panic_count(&self.world.module.global(id).name) {
            copy_into(&mut bytes, 0, &PANIC_COUNT.to_le_bytes())?;
        }
        let bytes: Rc<[u8]> = bytes.into();
        self.world.global_bytes[id.index()] = Some(Rc::clone(&bytes));
        Ok(bytes)
    }

    /// Writes the contents of a variable that some library defines.
    fn write_extern(&mut self, id: GlobalId, bytes: &mut [u8]) -> Result<(), Stop> {
        let name = self.world.module.global(id).name.clone();
        let contents = models::contents(self, &name)?;
        let contents = contents.ok_or(Stop::Unsupported(Unsupported::UnknownVariable { name }))?;
        let len = contents.len().min(bytes.len());
        bytes[..len].copy_from_slice(&contents[..len]);
        Ok(())
    }

    /// Writes a constant over zeroed bytes.
    fn write_constant(&mut self, id: ConstId, bytes: &mut [u8], depth: u32) -> Result<(), Stop> {
        if depth > MAX_NESTING {
            return Err(unsupported("a constant nested without end"));
        }
        match self.world.module.constant(id) {
            Constant::Null | Constant::Undef(_) | Constant::Poison(_) | Constant::Zero(_) => Ok(()),
            Constant::Bytes(_, text) => copy_into(bytes, 0, text),
            Constant::Aggregate(ty, elements) => {
                let (ty, elements) = (*ty, elements.clone());
                let offsets = self.element_offsets(ty, elements.len())?;
                for (&element, offset) in elements.iter().zip(offsets) {
                    let rest = bytes.get_mut(offset as usize..).unwrap_or_default();
                    self.write_constant(element, rest, depth + 1)?;
                }
                Ok(())
            }
            _ => {
                let ty = self.constant_type(id);
                let layout = self.world.layout(ty)?;
                let values = self.constant(id)?;
                for piece in &layout.pieces {
                    let shifted = self.part_of(&values, piece)?.to_le_bytes();
                    let size = usize::from(piece.size);
                    copy_into(bytes, piece.offset as usize, &shifted[..size])?;
                }
                Ok(())
            }
        }
    }

    /// Offsets of the elements of an array, vector or struct.
    fn element_offsets(&self, ty: TypeId, count: usize) -> Result<Vec<u64>, Stop> {
        let types = &self.world.module.types;
        let no_size = |_| unsupported("a constant of a type without size");
        let evenly = |step: u64| (0..count as u64).map(|index| index * step).collect();
        Ok(match types.get(ty) {
            Type::Array { element, .. } => evenly(types.alloc_size(*element).map_err(no_size)?),
            Type::Vector { element, .. } => evenly(types.store_size(*element).map_err(no_size)?),
            Type::Struct { .. } => types.struct_layout(ty).map_err(no_size)?.offsets,
            _ => return Err(unsupported("an aggregate constant of a scalar type")),
        })
    }
}

fn copy_into(bytes: &mut [u8], offset: usize, from: &[u8]) -> Result<(), Stop> {
    let place = bytes
        .get_mut(offset..offset + from.len())
        .ok_or_else(|| unsupported("an initialiser larger than its variable"))?;
    place.copy_from_slice(from);
    Ok(())
}

/// Slots of an integer as one number.
pub(crate) fn wide(values: &[u64]) -> u128 {
    let low = values.first().copied().unwrap_or(0);
    let high = values.get(1).copied().unwrap_or(0);
    u128::from(low) | u128::from(high) << 64
}

/// A number of `width` bits as slots.
pub(crate) fn split(value: u128, width: u32) -> Values {
    if width <= 64 {
        smallvec::smallvec![value as u64]
    } else {
        smallvec::smallvec![value as u64, (value >> 64) as u64]
    }
}

/// Does a cast leave the bits as they are?
pub(crate) fn is_bit_copy(op: CastOp) -> bool {
    matches!(op, CastOp::Bitcast | CastOp::AddrSpaceCast)
}
