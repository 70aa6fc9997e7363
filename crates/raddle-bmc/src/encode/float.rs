//! Floating point, on constants only.

use super::compute::Scalar;
use super::unsupported;
use crate::value::{Sym, mask, signed};
use raddle_ir::FloatKind;
use raddle_ir::inst::{BinaryOp, CastOp, FloatPredicate};
use raddle_program::Stop;

fn beyond() -> Stop {
    unsupported("floating-point arithmetic on values that are not constant")
}

fn decode(kind: FloatKind, value: &Sym) -> Result<f64, Stop> {
    let bits = value.as_constant().ok_or_else(beyond)?;
    match kind {
        FloatKind::Float => Ok(f64::from(f32::from_bits(bits as u32))),
        FloatKind::Double => Ok(f64::from_bits(bits)),
        _ => Err(unsupported("this floating-point format")),
    }
}

fn encode(kind: FloatKind, value: f64) -> Result<Sym, Stop> {
    match kind {
        FloatKind::Float => Ok(Sym::constant(32, u64::from((value as f32).to_bits()))),
        FloatKind::Double => Ok(Sym::constant(64, value.to_bits())),
        _ => Err(unsupported("this floating-point format")),
    }
}

/// Rounding a result of `f64` to `f32` is exact for these operators: `f64` has more than twice the digits.
pub(super) fn binary(op: BinaryOp, kind: FloatKind, a: &Sym, b: &Sym) -> Result<Sym, Stop> {
    let (a, b) = (decode(kind, a)?, decode(kind, b)?);
    let value = match op {
        BinaryOp::FAdd => a + b,
        BinaryOp::FSub => a - b,
        BinaryOp::FMul => a * b,
        BinaryOp::FDiv => a / b,
        BinaryOp::FRem => a % b,
        _ => return Err(unsupported("an integer operator on floating-point numbers")),
    };
    encode(kind, value)
}

pub(super) fn compare(
    predicate: FloatPredicate,
    kind: FloatKind,
    a: &Sym,
    b: &Sym,
) -> Result<Sym, Stop> {
    let (a, b) = (decode(kind, a)?, decode(kind, b)?);
    let unordered = a.is_nan() || b.is_nan();
    let holds = match predicate {
        FloatPredicate::False => false,
        FloatPredicate::Oeq => a == b,
        FloatPredicate::Ogt => a > b,
        FloatPredicate::Oge => a >= b,
        FloatPredicate::Olt => a < b,
        FloatPredicate::Ole => a <= b,
        FloatPredicate::One => !unordered && a != b,
        FloatPredicate::Ord => !unordered,
        FloatPredicate::Ueq => unordered || a == b,
        FloatPredicate::Ugt => unordered || a > b,
        FloatPredicate::Uge => unordered || a >= b,
        FloatPredicate::Ult => unordered || a < b,
        FloatPredicate::Ule => unordered || a <= b,
        FloatPredicate::Une => a != b,
        FloatPredicate::Uno => unordered,
        FloatPredicate::True => true,
    };
    Ok(Sym::constant(1, u64::from(holds)))
}

pub(super) fn cast(op: CastOp, from: Scalar, to: Scalar, value: &Sym) -> Result<Sym, Stop> {
    match (op, from, to) {
        (CastOp::FpTrunc | CastOp::FpExt, Scalar::Float(from), Scalar::Float(to)) => {
            encode(to, decode(from, value)?)
        }
        (CastOp::UiToFp | CastOp::SiToFp, Scalar::Int(width @ ..=64), Scalar::Float(to)) => {
            let number = value.as_constant().ok_or_else(beyond)?;
            let is_signed = op == CastOp::SiToFp;
            match (to, is_signed) {
                // Straight to the format: rounding twice is not rounding once.
                (FloatKind::Float, true) => Ok(Sym::constant(
                    32,
                    u64::from((signed(number, width) as f32).to_bits()),
                )),
                (FloatKind::Float, false) => {
                    Ok(Sym::constant(32, u64::from((number as f32).to_bits())))
                }
                (_, true) => encode(to, signed(number, width) as f64),
                (_, false) => encode(to, number as f64),
            }
        }
        (CastOp::FpToSi | CastOp::FpToUi, Scalar::Float(from), Scalar::Int(width @ ..=64)) => {
            let number = decode(from, value)?;
            let is_signed = op == CastOp::FpToSi;
            let (low, high) = if is_signed {
                let high = 2f64.powi(width as i32 - 1);
                (-high, high)
            } else {
                (0.0, 2f64.powi(width as i32))
            };
            // Out of range is poison, which has no value to agree on.
            let truncated = number.trunc();
            if number.is_nan() || truncated < low || truncated >= high {
                return Err(unsupported("a conversion of a number out of range"));
            }
            let bits = if is_signed {
                (truncated as i64).cast_unsigned()
            } else {
                truncated as u64
            };
            Ok(Sym::constant(width, bits & mask(width)))
        }
        _ => Err(unsupported("this floating-point conversion")),
    }
}
