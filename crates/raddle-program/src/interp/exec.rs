//! The instructions that touch registers only, and the loop that runs a frame.

use super::arith;
use super::code::Code;
use super::constants::{is_bit_copy, split, wide};
use super::float;
use super::layout::{float_bits, low_bits, unsupported};
use super::long_double;
use super::machine::{Machine, Step, Values};
use super::undefined::{self, Mask};
use crate::fault::Stop;
use crate::op::Op;
use raddle_ir::inst::{ArithFlags, BinaryOp, CastOp};
use raddle_ir::{FloatKind, Inst, InstKind, Operand, Type, TypeId, TypeTable, ValueId};
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
            let point = (frame.block, frame.index);
            let done = match block.insts.get(frame.index as usize) {
                Some(inst) => self.execute(&code, inst),
                None => self.terminate(&code, &block.terminator),
            };
            if let Ok(Done::Next) = done {
                let frame = self.frame();
                frame.index += 1;
                frame.log.clear();
                continue;
            }
            // Wherever a block is left, even for a while.
            if self.trial.is_none() {
                code.note_run(point.0, point.1);
            }
            match done? {
                Done::Next | Done::Jumped => {}
                Done::Visible(op) => return Ok(Step::Visible(op)),
                Done::Switched => return Ok(Step::Continue),
            }
        }
    }

    // ---- registers

    /// The slots of an operand that something depends on: they must be defined.
    pub(crate) fn operand(&mut self, code: &Code, operand: Operand) -> Result<Values, Stop> {
        let (values, undefined) = self.copied(code, operand)?;
        if undefined.any() {
            return Err(undefined::fault());
        }
        Ok(values)
    }

    /// The first slot of an operand: all there is of numbers up to 64 bits, pointers and floats.
    #[inline]
    pub(crate) fn scalar(&mut self, code: &Code, operand: Operand) -> Result<u64, Stop> {
        if self.is_undefined(code, operand) {
            return Err(undefined::fault());
        }
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
        self.frame().undefined.set(slots.range(), Mask::NONE);
    }

    /// Sets a register to what was copied.
    pub(crate) fn set_copy(
        &mut self,
        code: &Code,
        result: Option<ValueId>,
        (values, undefined): (&[u64], Mask),
    ) {
        if let Some(id) = result {
            self.set(code, id, values);
            let slots = code.slots[id.index()];
            self.frame().undefined.set(slots.range(), undefined);
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
        if self.world.options.check_uninit
            && let Some(undefined) = self.propagate(code, &inst.kind)
        {
            let values = self.move_bits(code, &inst.kind)?;
            self.set_copy(code, inst.result, (&values, undefined));
            return Ok(Done::Next);
        }
        if let Some(result) = inst.result
            && let Some(value) = self.narrow(code, &inst.kind)?
        {
            let slots = code.slots[result.index()];
            let frame = self.frame();
            if let Some(register) = frame.regs.get_mut(slots.start as usize) {
                *register = value;
            }
            if !frame.undefined.is_empty() {
                frame.undefined.set(slots.range(), Mask::NONE);
            }
            return Ok(Done::Next);
        }
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
                let negated: Result<Values, Stop> = if long_double::is_long(kind) {
                    let lanes = values.chunks_exact(2).map(wide);
                    per_lane(lanes, kind, |bits| long_double::negate(kind, bits))
                } else {
                    values
                        .iter()
                        .map(|&bits| float::negate(kind, bits))
                        .collect()
                };
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
            InstKind::ICmp { .. } | InstKind::FCmp { .. } => self.compare(code, &inst.kind)?,
            InstKind::Freeze { value, .. } => self.copied(code, *value)?.0,
            InstKind::Select { .. }
            | InstKind::ExtractValue { .. }
            | InstKind::InsertValue { .. }
            | InstKind::ExtractElement { .. }
            | InstKind::InsertElement { .. }
            | InstKind::ShuffleVector { .. } => {
                let (values, undefined) = self.rearrange(code, &inst.kind)?;
                self.set_copy(code, inst.result, (&values, undefined));
                return Ok(Done::Next);
            }
            InstKind::Gep { .. } => return Err(unsupported("an address without a result")),
            InstKind::Call(call) => return self.call(code, call, inst.result),
            InstKind::Alloca { .. }
            | InstKind::Load { .. }
            | InstKind::Store { .. }
            | InstKind::Fence { .. }
            | InstKind::CmpXchg { .. }
            | InstKind::AtomicRmw { .. } => return self.access(code, inst),
            InstKind::VaArg { .. } => return Err(unsupported("va_arg")),
            InstKind::LandingPad { .. } => {
                return Err(unsupported("a landing pad without an exception"));
            }
            InstKind::Other { name } => return Err(unsupported(name)),
        };
        self.set_result(code, inst.result, &values);
        Ok(Done::Next)
    }

    /// The result of an instruction that moves bits about, some of which may be undefined.
    fn move_bits(&mut self, code: &Code, kind: &InstKind) -> Result<Values, Stop> {
        match kind {
            InstKind::Binary {
                op,
                flags,
                ty,
                lhs,
                rhs,
            } => {
                let (a, b) = (self.copied(code, *lhs)?.0, self.copied(code, *rhs)?.0);
                self.binary(*op, *flags, *ty, &a, &b)
            }
            InstKind::Cast {
                op,
                from,
                to,
                value,
            } => {
                let value = self.copied(code, *value)?.0;
                self.cast(*op, *from, *to, &value)
            }
            _ => Err(unsupported("an instruction that is not known")),
        }
    }

    fn compare(&mut self, code: &Code, kind: &InstKind) -> Result<Values, Stop> {
        Ok(match kind {
            InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let (a, b) = (self.operand(code, *lhs)?, self.operand(code, *rhs)?);
                if let Some(width) = self.wide_width(*ty) {
                    let holds = super::wide::compare(*predicate, width, &a, &b);
                    return Ok(smallvec::smallvec![u64::from(holds)]);
                }
                let (scalar, count) = self.lanes(*ty)?;
                let (width, step) = (scalar.width(), scalar.slots());
                (0..count)
                    .map(|lane| {
                        let (mut a, mut b) = (lane_of(&a, lane, step), lane_of(&b, lane, step));
                        if scalar == Scalar::Ptr {
                            let (first, second) =
                                self.comparable(*predicate, a as u64, b as u64)?;
                            (a, b) = (first.into(), second.into());
                        }
                        Ok(u64::from(arith::compare(*predicate, width, a, b)))
                    })
                    .collect::<Result<Values, Stop>>()?
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
                if long_double::is_long(kind) {
                    for (a, b) in a.chunks_exact(2).zip(b.chunks_exact(2)) {
                        let holds = long_double::compare(*predicate, kind, wide(a), wide(b))?;
                        values.push(u64::from(holds));
                    }
                    return Ok(values);
                }
                for (&a, &b) in a.iter().zip(&b) {
                    let (a, b) = (float::decode(kind, a)?, float::decode(kind, b)?);
                    values.push(u64::from(float::compare(*predicate, a, b)));
                }
                values
            }
            _ => return Err(unsupported("an instruction that is not known")),
        })
    }

    /// The common case in a hurry: one integer of at most 64 bits out of operands of the same kind. Says nothing where
    /// anything is special; [`Self::execute`] then takes the long way.
    #[inline]
    fn narrow(&mut self, code: &Code, kind: &InstKind) -> Result<Option<u64>, Stop> {
        let types = &self.world.module.types;
        let width_of = |ty: TypeId| match types.get(ty) {
            Type::Int(width @ 1..=64) => Some(*width),
            Type::Ptr => Some(64),
            _ => None,
        };
        Ok(match kind {
            InstKind::Binary {
                op,
                flags,
                ty,
                lhs,
                rhs,
            } => {
                let Some(width) = width_of(*ty) else {
                    return Ok(None);
                };
                if flags.nsw && self.world.options.check_overflow {
                    return Ok(None);
                }
                let (a, b) = (self.scalar(code, *lhs)?, self.scalar(code, *rhs)?);
                narrow_binary(*op, a, b).map(|value| value & low_bits(width))
            }
            InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let Some(width) = width_of(*ty) else {
                    return Ok(None);
                };
                let is_pointer = *types.get(*ty) == Type::Ptr;
                let (mut a, mut b) = (self.scalar(code, *lhs)?, self.scalar(code, *rhs)?);
                if is_pointer {
                    (a, b) = self.comparable(*predicate, a, b)?;
                }
                let (a, b) = (u128::from(a), u128::from(b));
                Some(u64::from(arith::compare(*predicate, width, a, b)))
            }
            InstKind::Cast {
                op: op @ (CastOp::ZExt | CastOp::Trunc | CastOp::PtrToInt | CastOp::IntToPtr),
                from,
                to,
                value,
            } if !(self.is_ilp32() && matches!(op, CastOp::PtrToInt | CastOp::IntToPtr)) => {
                match (width_of(*from), width_of(*to)) {
                    (Some(_), Some(width)) => Some(self.scalar(code, *value)? & low_bits(width)),
                    _ => None,
                }
            }
            InstKind::Gep {
                source,
                base,
                indices,
                ..
            } => {
                let base = self.scalar(code, *base)?;
                let offset = self.gep(code, *source, indices)?;
                Some(self.stepped(base, offset))
            }
            _ => None,
        })
    }

    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        flags: ArithFlags,
        ty: TypeId,
        a: &[u64],
        b: &[u64],
    ) -> Result<Values, Stop> {
        if let Some(width) = self.wide_width(ty) {
            return super::wide::binary(op, width, a, b);
        }
        let (scalar, count) = self.lanes(ty)?;
        if let Scalar::Float(kind) = scalar {
            if long_double::is_long(kind) {
                let lanes = a.chunks_exact(2).zip(b.chunks_exact(2));
                return per_lane(lanes, kind, |(a, b)| {
                    long_double::binary(op, kind, wide(a), wide(b))
                });
            }
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

    /// The width of an integer type that is too wide to be a scalar.
    fn wide_width(&self, ty: TypeId) -> Option<u32> {
        match self.world.module.types.get(ty) {
            Type::Int(width @ 129..=super::wide::WIDEST) => Some(*width),
            _ => None,
        }
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
        if self.wide_width(from).is_some() || self.wide_width(to).is_some() {
            let width = |ty| match self.world.module.types.get(ty) {
                Type::Int(width) => Ok(*width),
                _ => Err(unsupported("a cast of numbers of more than 128 bits")),
            };
            return super::wide::cast(op, width(from)?, width(to)?, values);
        }
        let ((source, count), (target, _)) = (self.lanes(from)?, self.lanes(to)?);
        let mut result = Values::new();
        for lane in 0..count {
            let mut value = lane_of(values, lane, source.slots());
            match op {
                CastOp::PtrToInt => value = self.number_of(value as u64)?.into(),
                CastOp::IntToPtr => value = self.pointer_of(value as u64).into(),
                _ => {}
            }
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
}

/// Operators for which wrapping in 64 bits is wrapping in fewer.
fn narrow_binary(op: BinaryOp, a: u64, b: u64) -> Option<u64> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        _ => return None,
    })
}

/// A floating-point operation of a long format, on each lane of a vector.
fn per_lane<T>(
    lanes: impl Iterator<Item = T>,
    kind: FloatKind,
    mut operation: impl FnMut(T) -> Result<u128, Stop>,
) -> Result<Values, Stop> {
    let width = Scalar::Float(kind).width();
    let mut values = Values::new();
    for lane in lanes {
        values.extend(split(operation(lane)?, width));
    }
    Ok(values)
}

fn lane_of(values: &[u64], lane: usize, step: usize) -> u128 {
    wide(
        values
            .get(lane * step..(lane + 1) * step)
            .unwrap_or_default(),
    )
}

fn cast_scalar(op: CastOp, from: Scalar, to: Scalar, value: u128) -> Result<Values, Stop> {
    let (from_width, to_width) = (from.width(), to.width());
    let kind_of = |scalar| match scalar {
        Scalar::Float(kind) => Ok(kind),
        _ => Err(unsupported("a float cast of integers")),
    };
    let is_long = |scalar| matches!(scalar, Scalar::Float(kind) if long_double::is_long(kind));
    let result = match op {
        CastOp::Trunc | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr => {
            value & arith::mask(to_width)
        }
        CastOp::SExt => arith::signed(value, from_width).cast_unsigned() & arith::mask(to_width),
        CastOp::FpTrunc | CastOp::FpExt if is_long(from) || is_long(to) => {
            long_double::convert(kind_of(from)?, kind_of(to)?, value)?
        }
        CastOp::FpTrunc | CastOp::FpExt => {
            let number = float::decode(kind_of(from)?, value as u64)?;
            u128::from(float::encode(kind_of(to)?, number)?)
        }
        CastOp::FpToUi | CastOp::FpToSi if is_long(from) => {
            let is_signed = op == CastOp::FpToSi;
            long_double::to_int(kind_of(from)?, value, to_width, is_signed, false)?
        }
        CastOp::FpToUi | CastOp::FpToSi => {
            let number = float::decode(kind_of(from)?, value as u64)?;
            float::to_int(number, to_width, op == CastOp::FpToSi, false)
        }
        CastOp::UiToFp | CastOp::SiToFp => {
            let is_signed = op == CastOp::SiToFp;
            if is_long(to) {
                let bits = long_double::from_int(kind_of(to)?, value, from_width, is_signed)?;
                return Ok(split(bits, to_width));
            }
            u128::from(float::from_int(kind_of(to)?, value, from_width, is_signed)?)
        }
        CastOp::Bitcast | CastOp::AddrSpaceCast => value,
    };
    debug_assert!(to_width > 64 || result <= u128::from(low_bits(to_width)));
    Ok(split(result, to_width))
}
