//! The instructions that touch registers only, and the flow from block to block.

use super::arith;
use super::code::Code;
use super::constants::{is_bit_copy, split, wide};
use super::float;
use super::layout::{float_bits, low_bits, slot_count, unsupported};
use super::machine::{Machine, Step, Values};
use crate::fault::{Fault, Limit, Stop, Unsupported};
use crate::op::Op;
use crate::tables::Tables;
use raddle_ir::inst::{ArithFlags, BinaryOp, CastOp};
use raddle_ir::{
    BlockId, FloatKind, Inst, InstKind, Operand, Terminator, Type, TypeId, TypeTable, ValueId,
};
use smallvec::SmallVec;
use std::rc::Rc;

/// A type that arithmetic works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Int(u32),
    Float(FloatKind),
    Ptr,
}

impl Scalar {
    /// Width in bits.
    pub(crate) fn width(self) -> u32 {
        match self {
            Self::Int(width) => width,
            Self::Float(kind) => float_bits(kind),
            Self::Ptr => 64,
        }
    }

    /// Registers that one takes.
    pub(crate) fn slots(self) -> usize {
        self.width().div_ceil(64) as usize
    }
}

/// The type as a scalar of at most 128 bits, if it is one.
pub(crate) fn scalar_of(types: &TypeTable, ty: TypeId) -> Option<Scalar> {
    match types.get(ty) {
        Type::Int(width @ 1..=128) => Some(Scalar::Int(*width)),
        Type::Float(kind) => Some(Scalar::Float(*kind)),
        Type::Ptr => Some(Scalar::Ptr),
        _ => None,
    }
}

/// A scalar or vector type: its element and how many there are.
pub(crate) fn lanes_of(types: &TypeTable, ty: TypeId) -> Result<(Scalar, usize), Stop> {
    let (element, count) = match types.get(ty) {
        Type::Vector {
            element,
            len,
            scalable: false,
        } => (*element, *len as usize),
        _ => (ty, 1),
    };
    let scalar = scalar_of(types, element)
        .ok_or_else(|| unsupported("arithmetic on a type other than numbers up to 128 bits"))?;
    Ok((scalar, count))
}

/// How an instruction ended.
pub(crate) enum Done {
    /// Go on with the next one.
    Next,
    /// The frame's point has been set.
    Jumped,
    Visible(Op),
    /// Another frame is on top.
    Switched,
}

impl Machine<'_> {
    /// Runs the frame on top until something happens that others notice.
    pub(crate) fn run_code(&mut self) -> Result<Step, Stop> {
        let code = Rc::clone(&self.frame().code);
        loop {
            self.tick(1)?;
            let frame = self.frame();
            let Some(block) = code.body.blocks.get(frame.block as usize) else {
                return Err(unsupported("a jump to a block that does not exist"));
            };
            let done = match block.insts.get(frame.index as usize) {
                Some(inst) => self.execute(&code, inst)?,
                None => self.terminate(&code, &block.terminator)?,
            };
            match done {
                Done::Next => {
                    let frame = self.frame();
                    frame.index += 1;
                    frame.log.clear();
                }
                Done::Jumped => {}
                Done::Visible(op) => return Ok(Step::Visible(op)),
                Done::Switched => return Ok(Step::Continue),
            }
        }
    }

    // ---- registers

    /// The slots of an operand.
    pub(crate) fn operand(&mut self, code: &Code, operand: Operand) -> Result<Values, Stop> {
        match operand {
            Operand::Value(id) => {
                let slots = code.slots[id.index()];
                Ok(Values::from_slice(&self.frame().regs[slots.range()]))
            }
            Operand::Const(id) => Ok(Values::from_slice(&self.constant(id)?)),
        }
    }

    /// The first slot of an operand: all there is of numbers up to 64 bits, pointers and floats.
    pub(crate) fn scalar(&mut self, code: &Code, operand: Operand) -> Result<u64, Stop> {
        match operand {
            Operand::Value(id) => {
                let slots = code.slots[id.index()];
                let regs = &self.frame().regs;
                Ok(regs.get(slots.start as usize).copied().unwrap_or(0))
            }
            Operand::Const(id) => Ok(self.constant(id)?.first().copied().unwrap_or(0)),
        }
    }

    pub(crate) fn set(&mut self, code: &Code, id: ValueId, values: &[u64]) {
        let slots = code.slots[id.index()];
        let registers = &mut self.frame().regs[slots.range()];
        for (register, &value) in registers.iter_mut().zip(values) {
            *register = value;
        }
    }

    pub(crate) fn set_result(&mut self, code: &Code, result: Option<ValueId>, values: &[u64]) {
        if let Some(id) = result {
            self.set(code, id, values);
        }
    }

    pub(crate) fn lanes(&self, ty: TypeId) -> Result<(Scalar, usize), Stop> {
        lanes_of(&self.world.module.types, ty)
    }

    // ---- instructions

    fn execute(&mut self, code: &Code, inst: &Inst) -> Result<Done, Stop> {
        let values = match &inst.kind {
            InstKind::Binary {
                op,
                flags,
                ty,
                lhs,
                rhs,
            } => {
                let (a, b) = (self.operand(code, *lhs)?, self.operand(code, *rhs)?);
                self.binary(*op, *flags, *ty, &a, &b)?
            }
            InstKind::FNeg { ty, value } => {
                let (Scalar::Float(kind), _) = self.lanes(*ty)? else {
                    return Err(unsupported("fneg of integers"));
                };
                let values = self.operand(code, *value)?;
                let negated: Result<Values, Stop> = values
                    .iter()
                    .map(|&bits| float::negate(kind, bits))
                    .collect();
                negated?
            }
            InstKind::Cast {
                op,
                from,
                to,
                value,
            } => {
                let value = self.operand(code, *value)?;
                self.cast(*op, *from, *to, &value)?
            }
            InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let (scalar, count) = self.lanes(*ty)?;
                let (a, b) = (self.operand(code, *lhs)?, self.operand(code, *rhs)?);
                let (width, step) = (scalar.width(), scalar.slots());
                (0..count)
                    .map(|lane| {
                        let (a, b) = (lane_of(&a, lane, step), lane_of(&b, lane, step));
                        u64::from(arith::compare(*predicate, width, a, b))
                    })
                    .collect()
            }
            InstKind::FCmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let (Scalar::Float(kind), _) = self.lanes(*ty)? else {
                    return Err(unsupported("fcmp of integers"));
                };
                let (a, b) = (self.operand(code, *lhs)?, self.operand(code, *rhs)?);
                let mut values = Values::new();
                for (&a, &b) in a.iter().zip(&b) {
                    let (a, b) = (float::decode(kind, a)?, float::decode(kind, b)?);
                    values.push(u64::from(float::compare(*predicate, a, b)));
                }
                values
            }
            InstKind::Freeze { value, .. } => self.operand(code, *value)?,
            InstKind::Select { .. }
            | InstKind::ExtractValue { .. }
            | InstKind::InsertValue { .. }
            | InstKind::ExtractElement { .. }
            | InstKind::InsertElement { .. }
            | InstKind::ShuffleVector { .. } => self.rearrange(code, &inst.kind)?,
            InstKind::Gep {
                source,
                base,
                indices,
                ..
            } => {
                let base = self.scalar(code, *base)?;
                let offset = self.gep(code, *source, indices)?;
                smallvec::smallvec![base.wrapping_add(offset)]
            }
            InstKind::Call(call) => return self.call(code, call, inst.result),
            InstKind::Alloca { .. }
            | InstKind::Load { .. }
            | InstKind::Store { .. }
            | InstKind::Fence { .. }
            | InstKind::CmpXchg { .. }
            | InstKind::AtomicRmw { .. } => return self.access(code, inst),
            InstKind::VaArg { .. } => return Err(unsupported("va_arg")),
            InstKind::LandingPad { .. } => return Err(Stop::Unsupported(Unsupported::Unwind)),
            InstKind::Other { name } => return Err(unsupported(name)),
        };
        self.set_result(code, inst.result, &values);
        Ok(Done::Next)
    }

    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        flags: ArithFlags,
        ty: TypeId,
        a: &[u64],
        b: &[u64],
    ) -> Result<Values, Stop> {
        let (scalar, count) = self.lanes(ty)?;
        if let Scalar::Float(kind) = scalar {
            let lanes = a.iter().zip(b);
            return lanes
                .take(count)
                .map(|(&a, &b)| float::binary(op, kind, a, b))
                .collect();
        }
        let (width, step) = (scalar.width(), scalar.slots());
        let check = self.world.options.check_overflow;
        let mut values = Values::new();
        for lane in 0..count {
            let (a, b) = (lane_of(a, lane, step), lane_of(b, lane, step));
            let result = arith::binary(op, flags, width, a, b, check)?;
            values.extend(split(result, width));
        }
        Ok(values)
    }

    /// Instructions that only move values about.
    fn rearrange(&mut self, code: &Code, kind: &InstKind) -> Result<Values, Stop> {
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

    // ---- addresses

    fn gep(
        &mut self,
        code: &Code,
        source: TypeId,
        indices: &[(TypeId, Operand)],
    ) -> Result<u64, Stop> {
        let mut numbers: SmallVec<[i64; 4]> = SmallVec::new();
        for &(ty, index) in indices {
            let Some(Scalar::Int(width)) = scalar_of(&self.world.module.types, ty) else {
                return Err(unsupported("addresses of a vector of indices"));
            };
            let value = self.scalar(code, index)?;
            numbers.push(arith::signed(u128::from(value), width.min(64)) as i64);
        }
        self.gep_offset(source, &numbers)
    }

    /// How far indices step from the base.
    pub(crate) fn gep_offset(&self, source: TypeId, indices: &[i64]) -> Result<u64, Stop> {
        let types = &self.world.module.types;
        let no_size = |_| unsupported("an index into a type without size");
        let mut offset = 0u64;
        let mut ty = source;
        for (position, &index) in indices.iter().enumerate() {
            let element = match types.get(ty) {
                _ if position == 0 => ty,
                Type::Struct { fields, .. } => {
                    let layout = types.struct_layout(ty).map_err(no_size)?;
                    let field = usize::try_from(index)
                        .ok()
                        .filter(|&field| field < fields.len());
                    let field = field.ok_or_else(|| unsupported("a field that does not exist"))?;
                    offset = offset.wrapping_add(layout.offsets[field]);
                    ty = fields[field];
                    continue;
                }
                Type::Array { element, .. } | Type::Vector { element, .. } => *element,
                _ => return Err(unsupported("an index into a scalar")),
            };
            let step = types.alloc_size(element).map_err(no_size)?;
            offset = offset.wrapping_add((step as i64).wrapping_mul(index) as u64);
            ty = element;
        }
        Ok(offset)
    }

    // ---- casts

    pub(crate) fn cast(
        &self,
        op: CastOp,
        from: TypeId,
        to: TypeId,
        values: &[u64],
    ) -> Result<Values, Stop> {
        if is_bit_copy(op) {
            return self.bitcast(from, to, values);
        }
        let ((source, count), (target, _)) = (self.lanes(from)?, self.lanes(to)?);
        let mut result = Values::new();
        for lane in 0..count {
            let value = lane_of(values, lane, source.slots());
            result.extend(cast_scalar(op, source, target, value)?);
        }
        Ok(result)
    }

    /// Takes the bits of one type as another. Vectors are packed, first lane lowest.
    fn bitcast(&self, from: TypeId, to: TypeId, values: &[u64]) -> Result<Values, Stop> {
        let (Ok((source, from_count)), Ok((target, to_count))) = (self.lanes(from), self.lanes(to))
        else {
            return Ok(Values::from_slice(values));
        };
        if source.width() == target.width() && from_count == to_count {
            return Ok(Values::from_slice(values));
        }
        let mut bits = Vec::new();
        for lane in 0..from_count {
            let value = lane_of(values, lane, source.slots());
            bits.extend((0..source.width()).map(|bit| value >> bit & 1 == 1));
        }
        let mut result = Values::new();
        for lane in bits.chunks(target.width() as usize).take(to_count) {
            let value = lane
                .iter()
                .enumerate()
                .fold(0u128, |value, (bit, &set)| value | u128::from(set) << bit);
            result.extend(split(value, target.width()));
        }
        Ok(result)
    }

    // ---- from block to block

    fn terminate(&mut self, code: &Code, terminator: &Terminator) -> Result<Done, Stop> {
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
            Terminator::Invoke { result, call, .. } => self.call(code, call, *result),
            Terminator::Resume { .. } => Err(Stop::Unsupported(Unsupported::Unwind)),
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
        let mut moves: SmallVec<[(ValueId, Values); 4]> = SmallVec::new();
        for phi in &block.phis {
            let incoming = phi.incoming.iter().find(|(pred, _)| *pred == from);
            let Some(&(_, operand)) = incoming else {
                return Err(unsupported(
                    "a φ without a value for the block it is entered from",
                ));
            };
            moves.push((phi.result, self.operand(code, operand)?));
        }
        for (result, values) in moves {
            self.set(code, result, &values);
        }
        self.count_round(code, from, target)?;
        let frame = self.frame();
        frame.block = target.0;
        frame.index = 0;
        frame.log.clear();
        Ok(Done::Jumped)
    }

    /// Counts the rounds of loops that may be endless, where they are bounded.
    fn count_round(&mut self, code: &Code, from: BlockId, target: BlockId) -> Result<(), Stop> {
        let Some(bound) = self.world.options.unroll else {
            return Ok(());
        };
        if !code.unbounded.headers.contains(&target) {
            return Ok(());
        }
        let is_back = code.unbounded.back_edges.contains(&(from, target));
        let loops = &mut self.frame().extra.loops;
        let known = loops.iter().position(|&(header, _)| header == target.0);
        match (known, is_back) {
            (Some(index), true) => {
                loops[index].1 += 1;
                if loops[index].1 > bound {
                    return Err(Stop::Limit(Limit::Unroll { bound }));
                }
            }
            // Entered anew.
            (Some(index), false) => {
                loops.remove(index);
            }
            (None, true) => {
                let index = loops.partition_point(|&(header, _)| header < target.0);
                loops.insert(index, (target.0, 1));
                if bound < 1 {
                    return Err(Stop::Limit(Limit::Unroll { bound }));
                }
            }
            (None, false) => {}
        }
        Ok(())
    }
}

fn lane_of(values: &[u64], lane: usize, step: usize) -> u128 {
    wide(
        values
            .get(lane * step..(lane + 1) * step)
            .unwrap_or_default(),
    )
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

fn cast_scalar(op: CastOp, from: Scalar, to: Scalar, value: u128) -> Result<Values, Stop> {
    let (from_width, to_width) = (from.width(), to.width());
    let kind_of = |scalar| match scalar {
        Scalar::Float(kind) => Ok(kind),
        _ => Err(unsupported("a float cast of integers")),
    };
    let result = match op {
        CastOp::Trunc | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr => {
            value & arith::mask(to_width)
        }
        CastOp::SExt => arith::signed(value, from_width).cast_unsigned() & arith::mask(to_width),
        CastOp::FpTrunc | CastOp::FpExt => {
            let number = float::decode(kind_of(from)?, value as u64)?;
            u128::from(float::encode(kind_of(to)?, number)?)
        }
        CastOp::FpToUi | CastOp::FpToSi => {
            let number = float::decode(kind_of(from)?, value as u64)?;
            float::to_int(number, to_width, op == CastOp::FpToSi, false)
        }
        CastOp::UiToFp | CastOp::SiToFp => {
            let is_signed = op == CastOp::SiToFp;
            u128::from(float::from_int(kind_of(to)?, value, from_width, is_signed)?)
        }
        CastOp::Bitcast | CastOp::AddrSpaceCast => value,
    };
    debug_assert!(to_width > 64 || result <= u128::from(low_bits(to_width)));
    Ok(split(result, to_width))
}
