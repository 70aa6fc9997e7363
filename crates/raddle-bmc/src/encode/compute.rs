//! Instructions that do not touch memory.

use super::{Encoder, unsupported};
use crate::state::State;
use crate::value::{Sym, mask, signed};
use raddle_ir::inst::{ArithFlags, BinaryOp, CastOp, IntPredicate};
use raddle_ir::{FloatKind, InstKind, Operand, Type, TypeId};
use raddle_order::bits::{Bit, Bits, Word};
use raddle_program::{Fault, Stop};

/// An element of a value: what it is, its bits, and how many registers it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Int(u32),
    Float(FloatKind),
}

impl Scalar {
    pub(super) fn width(self) -> u32 {
        match self {
            Self::Int(width) => width,
            Self::Float(kind) => match kind {
                FloatKind::Half | FloatKind::BFloat => 16,
                FloatKind::Float => 32,
                FloatKind::Double => 64,
                FloatKind::X86Fp80 => 80,
                FloatKind::Fp128 | FloatKind::PpcFp128 => 128,
            },
        }
    }

    pub(super) fn slots(self) -> usize {
        self.width().div_ceil(64) as usize
    }
}

/// The slots of one element as a word.
pub(super) fn wide(slots: &[Sym]) -> Word {
    let mut words = slots.iter().map(|slot| slot.word.clone());
    let first = words.next().unwrap_or_else(|| Word::constant(1, 0));
    words.fold(first, |low, high| low.concat(&high))
}

/// A word as slots.
pub(super) fn split(word: &Word) -> Vec<Sym> {
    let width = word.width();
    (0..width)
        .step_by(64)
        .map(|from| Sym::of(word.extract(from, width.min(from + 64))))
        .collect()
}

impl Encoder<'_> {
    /// Elements of a scalar or vector type.
    pub(super) fn lanes(&self, ty: TypeId) -> Result<(Scalar, usize), Stop> {
        let types = &self.view.module().types;
        let scalar = |ty| match types.get(ty) {
            Type::Int(width) => Some(Scalar::Int(*width)),
            Type::Ptr => Some(Scalar::Int(64)),
            Type::Float(kind) => Some(Scalar::Float(*kind)),
            _ => None,
        };
        let found = match types.get(ty) {
            Type::Vector { element, len, .. } => scalar(*element).map(|s| (s, *len as usize)),
            _ => scalar(ty).map(|s| (s, 1)),
        };
        found.ok_or_else(|| unsupported("an operation on an aggregate"))
    }

    pub(super) fn compute(&mut self, state: &mut State, kind: &InstKind) -> Result<Vec<Sym>, Stop> {
        match kind {
            InstKind::Binary {
                op,
                flags,
                ty,
                lhs,
                rhs,
            } => {
                let (a, b) = (
                    self.operand(state, *lhs, *ty)?,
                    self.operand(state, *rhs, *ty)?,
                );
                let (scalar, count) = self.lanes(*ty)?;
                let mut values = Vec::new();
                for lane in 0..count {
                    let range = lane * scalar.slots()..(lane + 1) * scalar.slots();
                    let (a, b) = (&a[range.clone()], &b[range]);
                    match scalar {
                        Scalar::Float(kind) => {
                            values.extend(self.float_binary(*op, kind, &a[0], &b[0])?);
                        }
                        Scalar::Int(_) => {
                            self.check_operands(state, *op, a, b)?;
                            values.extend(self.integer(state, *op, *flags, a, b)?);
                        }
                    }
                }
                self.propagate(kind, &[&a, &b], &mut values);
                Ok(values)
            }
            InstKind::FNeg { ty, value } => {
                let values = self.operand(state, *value, *ty)?;
                let (Scalar::Float(kind), _) = self.lanes(*ty)? else {
                    return Err(unsupported("fneg of integers"));
                };
                super::float::format_of(kind)?;
                Ok(values.iter().map(negate_float).collect())
            }
            InstKind::Cast {
                op,
                from,
                to,
                value,
            } => {
                let operand = self.operand(state, *value, *from)?;
                let mut values = match op {
                    CastOp::PtrToInt if self.is_ilp32() => {
                        let numbers: Result<Vec<Sym>, Stop> = operand
                            .iter()
                            .map(|pointer| self.number_of(state, pointer))
                            .collect();
                        let int = self.lanes(*to)?.0.width();
                        let numbers = numbers?.into_iter();
                        numbers
                            .map(|number| super::library::resize(&number, int))
                            .collect()
                    }
                    CastOp::IntToPtr if self.is_ilp32() => {
                        let pointers: Result<Vec<Sym>, Stop> = operand
                            .iter()
                            .map(|number| self.pointer_of(state, number))
                            .collect();
                        pointers?
                    }
                    _ => {
                        self.check_cast(*op, &operand)?;
                        self.cast(*op, *from, *to, &operand)?
                    }
                };
                self.propagate(kind, &[&operand], &mut values);
                Ok(values)
            }
            InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let (a, b) = (
                    self.operand(state, *lhs, *ty)?,
                    self.operand(state, *rhs, *ty)?,
                );
                let (scalar, count) = self.lanes(*ty)?;
                let step = scalar.slots();
                let is_pointer = *self.view.module().types.get(*ty) == Type::Ptr;
                Ok((0..count)
                    .map(|lane| {
                        let range = lane * step..(lane + 1) * step;
                        let (a, b) = (&a[range.clone()], &b[range]);
                        self.check_order(state, *predicate, a, b);
                        let (mut a, mut b) = (a.to_vec(), b.to_vec());
                        if is_pointer && let ([first], [second]) = (&mut a[..], &mut b[..]) {
                            (*first, *second) =
                                self.comparable(state, *predicate, first, second)?;
                        }
                        let holds = self.compare(*predicate, &a, &b);
                        Ok(Sym::bit(holds))
                    })
                    .collect::<Result<Vec<Sym>, Stop>>()?)
            }
            InstKind::FCmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => {
                let (a, b) = (
                    self.operand(state, *lhs, *ty)?,
                    self.operand(state, *rhs, *ty)?,
                );
                let (Scalar::Float(kind), _) = self.lanes(*ty)? else {
                    return Err(unsupported("fcmp of integers"));
                };
                let mut values = Vec::new();
                for (a, b) in a.iter().zip(&b) {
                    values.extend(self.float_compare(*predicate, kind, a, b)?);
                }
                Ok(values)
            }
            InstKind::Select {
                condition_ty,
                condition,
                ty,
                then,
                otherwise,
            } => {
                let condition = self.operand(state, *condition, *condition_ty)?;
                let then = self.operand(state, *then, *ty)?;
                let otherwise = self.operand(state, *otherwise, *ty)?;
                let bits = &mut self.out.bits;
                let lane = |at: usize| if condition.len() == 1 { 0 } else { at };
                let step = (then.len() / condition.len()).max(1);
                let pairs = then.iter().zip(&otherwise).enumerate();
                Ok(pairs
                    .map(|(at, (a, b))| {
                        let condition = condition[lane(at / step)].word.bits()[0];
                        Sym::ite(bits, condition, a, b)
                    })
                    .collect())
            }
            InstKind::Freeze { ty, value } => {
                let values = self.operand(state, *value, *ty)?;
                Ok(values.into_iter().map(Sym::defined).collect())
            }
            InstKind::Gep {
                source,
                base,
                indices,
                ..
            } => self
                .address(state, *source, *base, indices)
                .map(|at| vec![at]),
            InstKind::ExtractValue {
                aggregate_ty,
                aggregate,
                indices,
            } => {
                let values = self.operand(state, *aggregate, *aggregate_ty)?;
                let range = self.part(*aggregate_ty, indices)?;
                Ok(values[range].to_vec())
            }
            InstKind::InsertValue {
                aggregate_ty,
                aggregate,
                value_ty,
                value,
                indices,
            } => {
                let mut values = self.operand(state, *aggregate, *aggregate_ty)?;
                let range = self.part(*aggregate_ty, indices)?;
                let value = self.operand(state, *value, *value_ty)?;
                values[range].clone_from_slice(&value);
                Ok(values)
            }
            InstKind::VaArg { .. } => Err(unsupported("variadic arguments")),
            InstKind::LandingPad { .. } => {
                Err(Stop::Unsupported(raddle_program::Unsupported::Unwind))
            }
            InstKind::Other { name } => Err(unsupported(name)),
            _ => Err(unsupported("a vector operation")),
        }
    }

    /// The slots of a part of an aggregate.
    fn part(&mut self, ty: TypeId, indices: &[u32]) -> Result<std::ops::Range<usize>, Stop> {
        let (mut ty, mut start) = (ty, 0);
        for &index in indices {
            let (before, element): (Vec<TypeId>, TypeId) =
                match self.view.module().types.get(ty).clone() {
                    Type::Struct { fields, .. } => {
                        let index = index as usize;
                        (fields[..index].to_vec(), fields[index])
                    }
                    Type::Array { element, .. } => (vec![element; index as usize], element),
                    _ => return Err(unsupported("a part of a scalar")),
                };
            for before in before {
                start += self.view.layout(before)?.widths.len();
            }
            ty = element;
        }
        let len = self.view.layout(ty)?.widths.len();
        Ok(start..start + len)
    }

    // ---- integers

    pub(super) fn integer(
        &mut self,
        state: &mut State,
        op: BinaryOp,
        flags: ArithFlags,
        a: &[Sym],
        b: &[Sym],
    ) -> Result<Vec<Sym>, Stop> {
        let (left, right) = (wide(a), wide(b));
        let divides = matches!(
            op,
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem
        );
        if divides {
            let by_zero = self.out.bits.is_zero(&right);
            self.fault_if(state, by_zero, Fault::DivisionByZero);
        }
        if matches!(op, BinaryOp::SDiv | BinaryOp::SRem) {
            let overflows = self.out.bits.sdiv_overflows(&left, &right);
            self.fault_if(state, overflows, overflow(op));
        }
        if flags.nsw && self.options.checks.overflows {
            let overflows = match op {
                BinaryOp::Add => self.out.bits.sadd_overflows(&left, &right),
                BinaryOp::Sub => self.out.bits.ssub_overflows(&left, &right),
                BinaryOp::Mul => self.out.bits.smul_overflows(&left, &right),
                BinaryOp::Shl => {
                    let bits = &mut self.out.bits;
                    let shifted = bits.shl(&left, &right);
                    let back = bits.ashr(&shifted, &right);
                    let lost = bits.ne(&back, &left);
                    let far = bits.shift_overflows(&right);
                    bits.bit_or(lost, far)
                }
                _ => Bit::FALSE,
            };
            self.fault_if(state, overflows, overflow(op));
        }
        let word = word_of(&mut self.out.bits, op, &left, &right);
        let ([a], [b]) = (a, b) else {
            return Ok(split(&word));
        };
        Ok(vec![with_numbers(op, a, b, word)])
    }

    /// A sum, with what is known about it: for addresses.
    pub(super) fn plus(&mut self, a: &Sym, b: &Sym) -> Sym {
        let word = self.out.bits.add(&a.word, &b.word);
        with_numbers(BinaryOp::Add, a, b, word)
    }

    pub(super) fn compare(&mut self, predicate: IntPredicate, a: &[Sym], b: &[Sym]) -> Bit {
        if let ([a], [b]) = (a, b) {
            let width = a.width();
            let known = a.compare(b, |a, b| holds(predicate, width, a, b));
            if let Some(known) = known {
                return Bit::constant(known);
            }
        }
        let (a, b) = (wide(a), wide(b));
        let bits = &mut self.out.bits;
        match predicate {
            IntPredicate::Eq => bits.eq(&a, &b),
            IntPredicate::Ne => bits.ne(&a, &b),
            IntPredicate::Ugt => bits.ult(&b, &a),
            IntPredicate::Uge => bits.ule(&b, &a),
            IntPredicate::Ult => bits.ult(&a, &b),
            IntPredicate::Ule => bits.ule(&a, &b),
            IntPredicate::Sgt => bits.slt(&b, &a),
            IntPredicate::Sge => bits.sle(&b, &a),
            IntPredicate::Slt => bits.slt(&a, &b),
            IntPredicate::Sle => bits.sle(&a, &b),
        }
    }

    // ---- addresses

    fn address(
        &mut self,
        state: &mut State,
        source: TypeId,
        base: Operand,
        indices: &[(TypeId, Operand)],
    ) -> Result<Sym, Stop> {
        let mut address = self.pointer(state, base)?;
        let mut ty = source;
        let mut fixed = 0u64;
        for (position, &(index_ty, index)) in indices.iter().enumerate() {
            let index = self.scalar(state, index, index_ty)?;
            let element = match self.view.module().types.get(ty).clone() {
                _ if position == 0 => ty,
                Type::Struct { fields, .. } => {
                    let field = index
                        .as_constant()
                        .ok_or_else(|| unsupported("a field that is not known"))?;
                    let offset = self.view.offset(ty, &[0, field as i64])?;
                    fixed = fixed.wrapping_add(offset);
                    ty = *fields
                        .get(field as usize)
                        .ok_or_else(|| unsupported("a field that does not exist"))?;
                    continue;
                }
                Type::Array { element, .. } | Type::Vector { element, .. } => element,
                _ => return Err(unsupported("an index into a scalar")),
            };
            let size = self.view.module().types.alloc_size(element);
            let size = size.map_err(|_| unsupported("an index into a type without size"))?;
            let width = index.width();
            match index.as_constant() {
                Some(value) => {
                    let steps = signed(value, width).wrapping_mul(size as i64);
                    fixed = fixed.wrapping_add(steps as u64);
                }
                None => {
                    let word = index.word.sext(64);
                    let index = index.map(word, |value| signed(value, width) as u64);
                    let size = Sym::constant(64, size);
                    let word = self.out.bits.mul(&index.word, &size.word);
                    let steps = with_numbers(BinaryOp::Mul, &index, &size, word);
                    address = self.plus(&address, &steps);
                }
            }
            ty = element;
        }
        Ok(self.plus(&address, &Sym::constant(64, fixed)))
    }

    // ---- casts

    pub(super) fn cast(
        &mut self,
        op: CastOp,
        from: TypeId,
        to: TypeId,
        values: &[Sym],
    ) -> Result<Vec<Sym>, Stop> {
        if matches!(op, CastOp::Bitcast | CastOp::AddrSpaceCast) && from == to {
            return Ok(values.to_vec());
        }
        let ((source, count), (target, others)) = (self.lanes(from)?, self.lanes(to)?);
        if matches!(op, CastOp::Bitcast | CastOp::AddrSpaceCast) {
            if (source.width(), count) == (target.width(), others) {
                return Ok(values.to_vec());
            }
            // Vectors are packed, first lane lowest.
            let packed = values.chunks(source.slots()).map(wide);
            let packed: Vec<Bit> = packed.flat_map(|word| word.bits().to_vec()).collect();
            let lanes = packed.chunks(target.width() as usize).take(others);
            return Ok(lanes
                .flat_map(|bits| split(&Word::from_bits(bits.to_vec())))
                .collect());
        }
        if is_float_cast(op) {
            return self.float_cast(op, from, to, values);
        }
        let mut result = Vec::new();
        for lane in 0..count {
            let slots = &values[lane * source.slots()..(lane + 1) * source.slots()];
            result.extend(cast_scalar(op, source, target, slots));
        }
        Ok(result)
    }
}

fn overflow(op: BinaryOp) -> Fault {
    let operation = match op {
        BinaryOp::Add => "addition",
        BinaryOp::Sub => "subtraction",
        BinaryOp::Mul => "multiplication",
        BinaryOp::SDiv => "division",
        BinaryOp::SRem => "remainder",
        _ => "shift",
    };
    Fault::Overflow {
        operation: operation.into(),
    }
}

fn negate_float(value: &Sym) -> Sym {
    let mut bits = value.word.bits().to_vec();
    if let Some(sign) = bits.last_mut() {
        *sign = !*sign;
    }
    let sign = 1 << (value.width() - 1);
    value.map(Word::from_bits(bits), |number| number ^ sign)
}

fn word_of(bits: &mut Bits, op: BinaryOp, a: &Word, b: &Word) -> Word {
    match op {
        BinaryOp::Add => bits.add(a, b),
        BinaryOp::Sub => bits.sub(a, b),
        BinaryOp::Mul => bits.mul(a, b),
        BinaryOp::UDiv => bits.udiv(a, b),
        BinaryOp::SDiv => bits.sdiv(a, b),
        BinaryOp::URem => bits.urem(a, b),
        BinaryOp::SRem => bits.srem(a, b),
        BinaryOp::Shl => bits.shl(a, b),
        BinaryOp::LShr => bits.lshr(a, b),
        BinaryOp::AShr => bits.ashr(a, b),
        BinaryOp::And => bits.and(a, b),
        BinaryOp::Or => bits.or(a, b),
        BinaryOp::Xor => bits.xor(a, b),
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => {
            Word::constant(a.width(), 0)
        }
    }
}

/// What is known about the result of an operator.
fn with_numbers(op: BinaryOp, a: &Sym, b: &Sym, word: Word) -> Sym {
    let mut result = with_set(op, a, b, word);
    let width = a.width();
    result.sum = match (op, a.sum, b.as_constant(), b.sum, a.as_constant()) {
        (BinaryOp::Add, Some((read, plus)), Some(more), _, _)
        | (BinaryOp::Add, _, _, Some((read, plus)), Some(more)) => {
            Some((read, plus.wrapping_add(more) & mask(width)))
        }
        (BinaryOp::Sub, Some((read, plus)), Some(less), _, _) => {
            Some((read, plus.wrapping_sub(less) & mask(width)))
        }
        _ => None,
    };
    result
}

fn with_set(op: BinaryOp, a: &Sym, b: &Sym, word: Word) -> Sym {
    let width = a.width();
    let wrap = move |value: u64| value & mask(width);
    match op {
        BinaryOp::Add if b.set.objects().is_some() && a.set.objects().is_none() => {
            b.map2(a, word, true, |b, a| wrap(a.wrapping_add(b)))
        }
        BinaryOp::Add => a.map2(b, word, true, |a, b| wrap(a.wrapping_add(b))),
        BinaryOp::Sub => a.map2(b, word, true, |a, b| wrap(a.wrapping_sub(b))),
        BinaryOp::Mul => a.map2(b, word, false, |a, b| wrap(a.wrapping_mul(b))),
        // Tags in the low bits leave an address in its object.
        BinaryOp::And => {
            let keeps = b.as_constant().is_some_and(|b| b >> 32 == 0xFFFF_FFFF);
            a.map2(b, word, keeps, |a, b| a & b)
        }
        BinaryOp::Or => a.map2(b, word, is_low(b), |a, b| a | b),
        BinaryOp::Xor => a.map2(b, word, is_low(b), |a, b| a ^ b),
        BinaryOp::Shl => a.map2(b, word, false, |a, b| {
            if b < u64::from(width) {
                wrap(a << b)
            } else {
                0
            }
        }),
        BinaryOp::LShr => a.map2(b, word, false, |a, b| {
            if b < u64::from(width) { a >> b } else { 0 }
        }),
        _ => Sym::of(word),
    }
}

/// Is the high half known to be 0?
fn is_low(value: &Sym) -> bool {
    let high = value.word.bits().get(32..).unwrap_or_default();
    high.iter().all(|&bit| bit == Bit::FALSE)
}

fn holds(predicate: IntPredicate, width: u32, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(a, width), signed(b, width));
    match predicate {
        IntPredicate::Eq => a == b,
        IntPredicate::Ne => a != b,
        IntPredicate::Ugt => a > b,
        IntPredicate::Uge => a >= b,
        IntPredicate::Ult => a < b,
        IntPredicate::Ule => a <= b,
        IntPredicate::Sgt => sa > sb,
        IntPredicate::Sge => sa >= sb,
        IntPredicate::Slt => sa < sb,
        IntPredicate::Sle => sa <= sb,
    }
}

fn is_float_cast(op: CastOp) -> bool {
    matches!(
        op,
        CastOp::FpTrunc
            | CastOp::FpExt
            | CastOp::FpToUi
            | CastOp::FpToSi
            | CastOp::UiToFp
            | CastOp::SiToFp
    )
}

fn cast_scalar(op: CastOp, from: Scalar, to: Scalar, slots: &[Sym]) -> Vec<Sym> {
    let (source, target) = (from.width(), to.width());
    let word = wide(slots);
    let narrow = match slots {
        [slot] if target <= 64 => Some(slot),
        _ => None,
    };
    let keep = |word: Word, number: &dyn Fn(u64) -> u64| match narrow {
        Some(slot) => vec![resized(slot, word, number)],
        None => split(&word),
    };
    match op {
        CastOp::Trunc | CastOp::PtrToInt | CastOp::IntToPtr if target <= source => {
            keep(word.extract(0, target as usize), &|value| {
                value & mask(target)
            })
        }
        CastOp::SExt => keep(word.sext(target as usize), &|value| {
            signed(value, source) as u64 & mask(target)
        }),
        _ => keep(word.zext(target as usize), &|value| value),
    }
}

/// A value in another width: addresses stay addresses where their bits do.
fn resized(slot: &Sym, word: Word, number: &dyn Fn(u64) -> u64) -> Sym {
    if word == slot.word {
        return slot.clone();
    }
    slot.map(word, number)
}
