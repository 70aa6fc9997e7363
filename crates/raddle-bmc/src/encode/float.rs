//! Floating point. Where operands are one of a few numbers, the results are a table that the interpreter fills in: then it is
//! still known which numbers they can be. Other results are computed by gates.

use super::compute::{Scalar, split, wide};
use super::{Encoder, unsupported};
use crate::value::Sym;
use raddle_ir::inst::{BinaryOp, CastOp, FloatPredicate, RmwOp};
use raddle_ir::{FloatKind, TypeId};
use raddle_order::bits::{Bit, Floats, Format, Rounding, Word};
use raddle_program::Stop;
use raddle_program::interp::view::{float_binary, float_compare};

/// The formats that the interpreter computes with.
pub(super) fn format_of(kind: FloatKind) -> Result<Format, Stop> {
    match kind {
        FloatKind::Half => Ok(Format::HALF),
        FloatKind::BFloat => Ok(Format::BFLOAT),
        FloatKind::Float => Ok(Format::SINGLE),
        FloatKind::Double => Ok(Format::DOUBLE),
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => Err(unsupported(
            "arithmetic on 80- or 128-bit floating-point numbers",
        )),
    }
}

impl Encoder<'_> {
    pub(super) fn float_binary(
        &mut self,
        op: BinaryOp,
        kind: FloatKind,
        a: &Sym,
        b: &Sym,
    ) -> Result<Vec<Sym>, Stop> {
        let slots = [a.clone(), b.clone()];
        let table = self.tabulate(&slots, &[a.width()], |_, numbers| {
            Ok(vec![float_binary(op, kind, numbers[0], numbers[1])?])
        })?;
        if let Some(values) = table {
            return Ok(values);
        }
        let format = format_of(kind)?;
        let mut floats = self.out.bits.floats(format);
        let (a, b) = (&a.word, &b.word);
        let word = match op {
            BinaryOp::FAdd => floats.add(a, b),
            BinaryOp::FSub => floats.sub(a, b),
            BinaryOp::FMul => floats.mul(a, b),
            BinaryOp::FDiv => floats.div(a, b),
            BinaryOp::FRem if format.has_remainder() => floats.rem(a, b),
            BinaryOp::FRem => {
                return Err(unsupported("the remainder of doubles that are not known"));
            }
            _ => return Err(unsupported("an integer operator on floating-point numbers")),
        };
        Ok(vec![Sym::of(word)])
    }

    pub(super) fn float_compare(
        &mut self,
        predicate: FloatPredicate,
        kind: FloatKind,
        a: &Sym,
        b: &Sym,
    ) -> Result<Vec<Sym>, Stop> {
        let slots = [a.clone(), b.clone()];
        let table = self.tabulate(&slots, &[1], |_, numbers| {
            let holds = float_compare(predicate, kind, numbers[0], numbers[1])?;
            Ok(vec![u64::from(holds)])
        })?;
        if let Some(values) = table {
            return Ok(values);
        }
        let mut floats = self.out.bits.floats(format_of(kind)?);
        let holds = compared(&mut floats, predicate, &a.word, &b.word);
        Ok(vec![Sym::bit(holds)])
    }

    pub(super) fn float_cast(
        &mut self,
        op: CastOp,
        from: TypeId,
        to: TypeId,
        values: &[Sym],
    ) -> Result<Vec<Sym>, Stop> {
        let widths = self.view.layout(to)?.widths;
        let table = self.tabulate(values, &widths, |encoder, numbers| {
            encoder.view.cast(op, from, to, numbers)
        })?;
        if let Some(values) = table {
            return Ok(values);
        }
        let ((source, count), (target, _)) = (self.lanes(from)?, self.lanes(to)?);
        let mut results = Vec::new();
        for lane in values.chunks(source.slots()).take(count) {
            results.extend(split(&self.cast_word(op, source, target, &wide(lane))?));
        }
        Ok(results)
    }

    fn cast_word(
        &mut self,
        op: CastOp,
        from: Scalar,
        to: Scalar,
        word: &Word,
    ) -> Result<Word, Stop> {
        let bits = &mut self.out.bits;
        Ok(match (op, from, to) {
            (CastOp::FpTrunc | CastOp::FpExt, Scalar::Float(from), Scalar::Float(to)) => {
                bits.floats(format_of(from)?).convert(word, format_of(to)?)
            }
            (CastOp::FpToSi | CastOp::FpToUi, Scalar::Float(from), Scalar::Int(width))
                if width <= 128 =>
            {
                let is_signed = op == CastOp::FpToSi;
                let mut floats = bits.floats(format_of(from)?);
                floats.to_int(word, width as usize, is_signed, false)
            }
            (CastOp::SiToFp | CastOp::UiToFp, Scalar::Int(width), Scalar::Float(to))
                if width <= 128 =>
            {
                let is_signed = op == CastOp::SiToFp;
                bits.floats(format_of(to)?).from_int(word, is_signed)
            }
            _ => return Err(unsupported("a floating-point cast of these types")),
        })
    }

    /// What `atomicrmw` makes of floating-point numbers.
    pub(super) fn float_update(
        &mut self,
        op: RmwOp,
        old: &Sym,
        operand: &Sym,
    ) -> Result<Sym, Stop> {
        let kind = match old.width() {
            32 => FloatKind::Float,
            64 => FloatKind::Double,
            _ => return Err(unsupported("an atomic update of this floating-point type")),
        };
        let values = match op {
            RmwOp::FAdd => self.float_binary(BinaryOp::FAdd, kind, old, operand)?,
            RmwOp::FSub => self.float_binary(BinaryOp::FSub, kind, old, operand)?,
            _ => {
                let mut floats = self.out.bits.floats(format_of(kind)?);
                let (a, b) = (&old.word, &operand.word);
                vec![Sym::of(match op {
                    RmwOp::FMax => floats.max(a, b),
                    _ => floats.min(a, b),
                })]
            }
        };
        Ok(values.into_iter().next().unwrap_or_else(|| old.clone()))
    }

    /// `llvm.*` functions of floating-point numbers that may be anything. None for all others.
    pub(super) fn float_intrinsic(
        &mut self,
        family: &[&str],
        args: &[Vec<Sym>],
        types: &[TypeId],
        result: Option<TypeId>,
    ) -> Result<Option<Vec<Sym>>, Stop> {
        let (Some(&ty), Some(result)) = (types.first(), result) else {
            return Ok(None);
        };
        let Ok((Scalar::Float(kind), lanes)) = self.lanes(ty) else {
            return Ok(None);
        };
        let format = format_of(kind)?;
        let target = self.lanes(result)?.0.width() as usize;
        let mut values = Vec::new();
        for lane in 0..lanes {
            let mut floats = self.out.bits.floats(format);
            let word = |at: usize| args.get(at).and_then(|arg| arg.get(lane));
            let Some(a) = word(0).map(|arg| &arg.word) else {
                return Ok(None);
            };
            let computed = match (family, word(1)) {
                (["fptosi" | "fptoui", "sat", ..], _) if target <= 128 => {
                    Some(floats.to_int(a, target, family[0] == "fptosi", true))
                }
                (["is", "fpclass", ..], Some(mask)) => mask.as_constant().map(|mask| {
                    let is_it = floats.is_of_class(a, mask);
                    Word::from_bits(vec![is_it])
                }),
                (["fma", ..], Some(b)) => word(2).map(|c| floats.fma(a, &b.word, &c.word)),
                // Rounded twice, as the interpreter does.
                (["fmuladd", ..], Some(b)) => word(2).map(|c| {
                    let product = floats.mul(a, &b.word);
                    floats.add(&product, &c.word)
                }),
                ([name, ..], b) => function(&mut floats, name, a, b.map(|b| &b.word)),
                ([], _) => None,
            };
            match computed {
                Some(word) => values.extend(split(&word)),
                None => return Ok(None),
            }
        }
        Ok(Some(values))
    }

    /// Functions of `<math.h>` that are computed exactly, and rounded once.
    pub(super) fn mathematics(&mut self, name: &str, args: &[Sym]) -> Result<Option<Sym>, Stop> {
        let Some((kind, intrinsic)) = mathematical(name) else {
            return Ok(None);
        };
        let (Some(a), b) = (args.first(), args.get(1)) else {
            return Ok(None);
        };
        if let ("fmod", Some(b)) = (intrinsic, b) {
            let values = self.float_binary(BinaryOp::FRem, kind, a, b)?;
            return Ok(values.into_iter().next());
        }
        // Few numbers are left to the model.
        if args.iter().all(|arg| arg.set.values().is_some()) {
            return Ok(None);
        }
        let mut floats = self.out.bits.floats(format_of(kind)?);
        let word = function(&mut floats, intrinsic, &a.word, b.map(|b| &b.word));
        Ok(word.map(Sym::of))
    }
}

/// The format of a function of `<math.h>`, and what LLVM calls it (`fmod` is an instruction).
fn mathematical(name: &str) -> Option<(FloatKind, &'static str)> {
    let functions = [
        ("sqrt", "sqrt"),
        ("fabs", "fabs"),
        ("floor", "floor"),
        ("ceil", "ceil"),
        ("trunc", "trunc"),
        ("round", "round"),
        ("rint", "rint"),
        ("nearbyint", "nearbyint"),
        ("fmin", "minnum"),
        ("fmax", "maxnum"),
        ("fmod", "fmod"),
    ];
    functions.iter().find_map(
        |&(function, intrinsic)| match name.strip_prefix(function)? {
            "" => Some((FloatKind::Double, intrinsic)),
            "f" => Some((FloatKind::Float, intrinsic)),
            _ => None,
        },
    )
}

/// A function by the name that LLVM gives it.
fn function(floats: &mut Floats<'_>, name: &str, a: &Word, b: Option<&Word>) -> Option<Word> {
    Some(match (name, b) {
        ("fabs", _) => floats.abs(a),
        ("sqrt", _) => floats.sqrt(a),
        ("floor", _) => floats.to_integral(a, Rounding::Down),
        ("ceil", _) => floats.to_integral(a, Rounding::Up),
        ("trunc", _) => floats.to_integral(a, Rounding::TowardsZero),
        ("rint" | "nearbyint" | "roundeven", _) => floats.to_integral(a, Rounding::Nearest),
        ("round", _) => floats.to_integral(a, Rounding::NearestAway),
        ("copysign", Some(b)) => floats.copysign(a, b),
        ("minnum" | "minimumnum", Some(b)) => floats.min(a, b),
        ("maxnum" | "maximumnum", Some(b)) => floats.max(a, b),
        ("minimum", Some(b)) => {
            let least = floats.min(a, b);
            floats.nan_if_unordered(a, b, &least)
        }
        ("maximum", Some(b)) => {
            let most = floats.max(a, b);
            floats.nan_if_unordered(a, b, &most)
        }
        _ => return None,
    })
}

fn compared(floats: &mut Floats<'_>, predicate: FloatPredicate, a: &Word, b: &Word) -> Bit {
    match predicate {
        FloatPredicate::False => Bit::FALSE,
        FloatPredicate::True => Bit::TRUE,
        FloatPredicate::Ord => !floats.unordered(a, b),
        FloatPredicate::Uno => floats.unordered(a, b),
        FloatPredicate::Oeq => floats.equal(a, b),
        FloatPredicate::Une => !floats.equal(a, b),
        FloatPredicate::Olt => floats.lt(a, b),
        FloatPredicate::Uge => !floats.lt(a, b),
        FloatPredicate::Ogt => floats.lt(b, a),
        FloatPredicate::Ule => !floats.lt(b, a),
        FloatPredicate::Ole => floats.le(a, b),
        FloatPredicate::Ugt => !floats.le(a, b),
        FloatPredicate::Oge => floats.le(b, a),
        FloatPredicate::Ult => !floats.le(b, a),
        FloatPredicate::One => floats.differ(a, b),
        FloatPredicate::Ueq => !floats.differ(a, b),
    }
}
