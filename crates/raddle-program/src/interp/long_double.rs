//! Arithmetic on the formats that are longer than `double`: x86's 80 bits and IEEE's 128. Processors of the machine that Raddle runs on may have neither, so
//! they are computed with integers, by LLVM's own rules (`rustc_apfloat`).
//!
//! As for the short formats, a NaN that arithmetic makes is quiet, positive and without payload.

use super::layout::unsupported;
use crate::fault::Stop;
use raddle_ir::FloatKind;
use raddle_ir::inst::{BinaryOp, FloatPredicate};
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};
use std::cmp::Ordering;

/// Does a number of this format need more than 64 bits?
pub(crate) fn is_long(kind: FloatKind) -> bool {
    matches!(
        kind,
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128
    )
}

/// An operator, on bits.
pub(crate) fn binary(op: BinaryOp, kind: FloatKind, a: u128, b: u128) -> Result<u128, Stop> {
    match kind {
        FloatKind::X86Fp80 => operate::<X87DoubleExtended>(op, a, b),
        FloatKind::Fp128 => operate::<Quad>(op, a, b),
        _ => Err(unknown_format()),
    }
}

/// Flips the sign bit.
pub(crate) fn negate(kind: FloatKind, bits: u128) -> Result<u128, Stop> {
    match kind {
        FloatKind::X86Fp80 => Ok(bits ^ 1 << 79),
        FloatKind::Fp128 => Ok(bits ^ 1 << 127),
        _ => Err(unknown_format()),
    }
}

pub(crate) fn compare(
    predicate: FloatPredicate,
    kind: FloatKind,
    a: u128,
    b: u128,
) -> Result<bool, Stop> {
    let order = match kind {
        FloatKind::X86Fp80 => order::<X87DoubleExtended>(a, b),
        FloatKind::Fp128 => order::<Quad>(a, b),
        _ => return Err(unknown_format()),
    };
    Ok(holds(predicate, order))
}

/// From one format to another, of which at least one is long, rounded once.
pub(crate) fn convert(from: FloatKind, to: FloatKind, bits: u128) -> Result<u128, Stop> {
    match from {
        FloatKind::Half => converted::<Half>(to, bits),
        FloatKind::BFloat => converted::<BFloat>(to, bits),
        FloatKind::Float => converted::<Single>(to, bits),
        FloatKind::Double => converted::<Double>(to, bits),
        FloatKind::X86Fp80 => converted::<X87DoubleExtended>(to, bits),
        FloatKind::Fp128 => converted::<Quad>(to, bits),
        FloatKind::PpcFp128 => Err(unknown_format()),
    }
}

/// To an integer of `width` bits, towards zero; 0 where LLVM gives poison, the nearest end of the range if `saturate`.
pub(crate) fn to_int(
    kind: FloatKind,
    bits: u128,
    width: u32,
    is_signed: bool,
    saturate: bool,
) -> Result<u128, Stop> {
    match kind {
        FloatKind::X86Fp80 => Ok(truncated::<X87DoubleExtended>(
            bits, width, is_signed, saturate,
        )),
        FloatKind::Fp128 => Ok(truncated::<Quad>(bits, width, is_signed, saturate)),
        _ => Err(unknown_format()),
    }
}

/// From an integer, rounded once.
pub(crate) fn from_int(
    kind: FloatKind,
    value: u128,
    width: u32,
    is_signed: bool,
) -> Result<u128, Stop> {
    match kind {
        FloatKind::X86Fp80 => Ok(rounded::<X87DoubleExtended>(value, width, is_signed)),
        FloatKind::Fp128 => Ok(rounded::<Quad>(value, width, is_signed)),
        _ => Err(unknown_format()),
    }
}

fn unknown_format() -> Stop {
    unsupported("arithmetic on `ppc_fp128` numbers")
}

fn bits_of<F: Float>(number: F) -> u128 {
    match number.is_nan() {
        true => F::qnan(None).to_bits(),
        false => number.to_bits(),
    }
}

fn operate<F: Float>(op: BinaryOp, a: u128, b: u128) -> Result<u128, Stop> {
    let (a, b) = (F::from_bits(a), F::from_bits(b));
    let round = Round::NearestTiesToEven;
    let result = match op {
        BinaryOp::FAdd => a.add_r(b, round),
        BinaryOp::FSub => a.sub_r(b, round),
        BinaryOp::FMul => a.mul_r(b, round),
        BinaryOp::FDiv => a.div_r(b, round),
        BinaryOp::FRem => a.c_fmod(b),
        _ => return Err(unsupported("an integer operator on floating-point numbers")),
    };
    Ok(bits_of(result.value))
}

fn order<F: Float>(a: u128, b: u128) -> Option<Ordering> {
    F::from_bits(a).partial_cmp(&F::from_bits(b))
}

fn holds(predicate: FloatPredicate, order: Option<Ordering>) -> bool {
    let unordered = order.is_none();
    match predicate {
        FloatPredicate::False => false,
        FloatPredicate::True => true,
        FloatPredicate::Ord => !unordered,
        FloatPredicate::Uno => unordered,
        FloatPredicate::Oeq => order.is_some_and(Ordering::is_eq),
        FloatPredicate::Ogt => order.is_some_and(Ordering::is_gt),
        FloatPredicate::Oge => order.is_some_and(Ordering::is_ge),
        FloatPredicate::Olt => order.is_some_and(Ordering::is_lt),
        FloatPredicate::Ole => order.is_some_and(Ordering::is_le),
        FloatPredicate::One => order.is_some_and(Ordering::is_ne),
        FloatPredicate::Ueq => order.is_none_or(Ordering::is_eq),
        FloatPredicate::Ugt => order.is_none_or(Ordering::is_gt),
        FloatPredicate::Uge => order.is_none_or(Ordering::is_ge),
        FloatPredicate::Ult => order.is_none_or(Ordering::is_lt),
        FloatPredicate::Ule => order.is_none_or(Ordering::is_le),
        FloatPredicate::Une => order.is_none_or(Ordering::is_ne),
    }
}

fn converted<F>(to: FloatKind, bits: u128) -> Result<u128, Stop>
where
    F: FloatConvert<Half>
        + FloatConvert<BFloat>
        + FloatConvert<Single>
        + FloatConvert<Double>
        + FloatConvert<X87DoubleExtended>
        + FloatConvert<Quad>,
{
    fn bits_in<F: FloatConvert<T>, T: Float>(number: F) -> u128 {
        bits_of::<T>(number.convert(&mut false).value)
    }
    let number = F::from_bits(bits);
    Ok(match to {
        FloatKind::Half => bits_in::<F, Half>(number),
        FloatKind::BFloat => bits_in::<F, BFloat>(number),
        FloatKind::Float => bits_in::<F, Single>(number),
        FloatKind::Double => bits_in::<F, Double>(number),
        FloatKind::X86Fp80 => bits_in::<F, X87DoubleExtended>(number),
        FloatKind::Fp128 => bits_in::<F, Quad>(number),
        FloatKind::PpcFp128 => return Err(unknown_format()),
    })
}

fn truncated<F: Float>(bits: u128, width: u32, is_signed: bool, saturate: bool) -> u128 {
    let number = F::from_bits(bits);
    let (round, width_of) = (Round::TowardZero, width as usize);
    let (status, value) = if is_signed {
        let result = number.to_i128_r(width_of, round, &mut false);
        (result.status, result.value.cast_unsigned())
    } else {
        let result = number.to_u128_r(width_of, round, &mut false);
        (result.status, result.value)
    };
    // What does not fit has become the end of the range, and a NaN zero.
    if status.contains(Status::INVALID_OP) && !saturate {
        return 0;
    }
    value & super::arith::mask(width)
}

fn rounded<F: Float>(value: u128, width: u32, is_signed: bool) -> u128 {
    let number = match is_signed {
        true => F::from_i128(super::arith::signed(value, width)),
        false => F::from_u128(value),
    };
    number.value.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: [FloatKind; 2] = [FloatKind::X86Fp80, FloatKind::Fp128];

    fn long(kind: FloatKind, value: f64) -> u128 {
        convert(FloatKind::Double, kind, value.to_bits().into()).expect("a number")
    }

    fn short(kind: FloatKind, bits: u128) -> f64 {
        let bits = convert(kind, FloatKind::Double, bits).expect("a number");
        f64::from_bits(bits as u64)
    }

    #[test]
    fn what_double_can_hold_is_the_same_in_the_long_formats() {
        let numbers = [0.0, -0.0, 1.5, -3.25, 1e300, 5e-324, f64::INFINITY];
        for kind in LONG {
            for a in numbers {
                assert_eq!(short(kind, long(kind, a)).to_bits(), a.to_bits());
                let negated = negate(kind, long(kind, a)).expect("a number");
                assert_eq!(short(kind, negated).to_bits(), (-a).to_bits());
                for b in numbers {
                    let (x, y) = (long(kind, a), long(kind, b));
                    let is_less = compare(FloatPredicate::Olt, kind, x, y);
                    assert_eq!(is_less, Ok(a < b), "{a} < {b}");
                }
            }
            let sum = binary(BinaryOp::FAdd, kind, long(kind, 1.5), long(kind, 2.25));
            assert_eq!(short(kind, sum.expect("a sum")), 3.75);
            let rest = binary(BinaryOp::FRem, kind, long(kind, -7.5), long(kind, 2.0));
            assert_eq!(short(kind, rest.expect("a rest")), -1.5);
        }
    }

    #[test]
    fn they_hold_more_than_double() {
        // 1 + 2^-60 is 1 in `double`.
        for kind in LONG {
            let (one, tiny) = (long(kind, 1.0), long(kind, 2f64.powi(-60)));
            let sum = binary(BinaryOp::FAdd, kind, one, tiny).expect("a sum");
            assert_eq!(compare(FloatPredicate::Ogt, kind, sum, one), Ok(true));
            assert_eq!(short(kind, sum), 1.0);
            let back = binary(BinaryOp::FSub, kind, sum, one).expect("a difference");
            assert_eq!(back, tiny);
        }
        assert_eq!(long(FloatKind::X86Fp80, 1.0), 0x3FFF << 64 | 1 << 63);
    }

    #[test]
    fn nan_is_quiet_and_unordered() {
        for kind in LONG {
            let zero = long(kind, 0.0);
            let nan = binary(BinaryOp::FDiv, kind, zero, zero).expect("a NaN");
            assert_eq!(negate(kind, nan).map(|bits| bits > nan), Ok(true));
            assert_eq!(compare(FloatPredicate::Uno, kind, nan, zero), Ok(true));
            assert_eq!(compare(FloatPredicate::Oeq, kind, nan, nan), Ok(false));
            assert_eq!(compare(FloatPredicate::Une, kind, nan, nan), Ok(true));
            assert!(short(kind, nan).is_nan());
            assert_eq!(to_int(kind, nan, 32, true, true), Ok(0));
        }
    }

    #[test]
    fn integers_there_and_back() {
        for kind in LONG {
            for value in [0, 1, u128::from(u64::MAX), 1 << 63] {
                let number = from_int(kind, value, 64, false).expect("a number");
                assert_eq!(to_int(kind, number, 64, false, false), Ok(value));
            }
            let minus = from_int(kind, u128::from(u32::MAX), 32, true).expect("a number");
            assert_eq!(short(kind, minus), -1.0);
            assert_eq!(to_int(kind, minus, 8, true, false), Ok(0xFF));
            assert_eq!(to_int(kind, minus, 8, false, false), Ok(0));
            let large = long(kind, 1e10);
            assert_eq!(to_int(kind, large, 32, true, false), Ok(0));
            assert_eq!(to_int(kind, large, 32, true, true), Ok(0x7FFF_FFFF));
        }
    }
}
