//! Floating-point arithmetic on the bits that registers hold. `half` and `bfloat` are computed in `double` and rounded;
//! the 80- and 128-bit formats have a file of their own ([`super::long_double`]).
//!
//! What the standards leave open is settled, since processors differ and engines must agree: a NaN that arithmetic makes is
//! quiet, positive and without payload, and of two zeros the negative one is the lesser.

use super::layout::unsupported;
use crate::fault::Stop;
use raddle_ir::FloatKind;
use raddle_ir::inst::{BinaryOp, FloatPredicate};

/// The number that bits stand for.
pub(crate) fn decode(kind: FloatKind, bits: u64) -> Result<f64, Stop> {
    Ok(match kind {
        FloatKind::Double => f64::from_bits(bits),
        FloatKind::Float => f64::from(f32::from_bits(bits as u32)),
        FloatKind::BFloat => f64::from(f32::from_bits((bits as u32) << 16)),
        FloatKind::Half => half_to_f64(bits as u16),
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => return Err(wide()),
    })
}

/// The bits of a number, rounded to the format.
pub(crate) fn encode(kind: FloatKind, value: f64) -> Result<u64, Stop> {
    Ok(match kind {
        FloatKind::Double => double_bits(value),
        FloatKind::Float => single_bits(value),
        FloatKind::BFloat => small_bits(value, 8, 7),
        FloatKind::Half => small_bits(value, 5, 10),
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => return Err(wide()),
    })
}

pub(crate) fn double_bits(value: f64) -> u64 {
    if value.is_nan() {
        0x7FF8 << 48
    } else {
        value.to_bits()
    }
}

pub(crate) fn single_bits(value: f64) -> u64 {
    if value.is_nan() {
        0x7FC0 << 16
    } else {
        u64::from((value as f32).to_bits())
    }
}

/// The lesser number. A NaN gives way to a number.
pub(crate) fn lesser(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a.total_cmp(&b).is_lt() => a,
        _ => b,
    }
}

/// The greater number, in the same way.
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    -lesser(-a, -b)
}

/// `a` · `b` + `c`, rounded once.
pub(crate) fn fused(kind: FloatKind, a: f64, b: f64, c: f64) -> f64 {
    match kind {
        FloatKind::Double => a.mul_add(b, c),
        FloatKind::Float => f64::from((a as f32).mul_add(b as f32, c as f32)),
        // The product is exact. What `double` cannot hold of the sum is told by its last bit, which is beyond those that
        // decide how it is rounded.
        _ => {
            let product = a * b;
            let sum = product + c;
            let back = sum - product;
            let lost = (product - (sum - back)) + (c - back);
            if !sum.is_finite() || lost == 0.0 || sum.to_bits() & 1 == 1 {
                return sum;
            }
            let away = (lost > 0.0) == (sum > 0.0);
            f64::from_bits(if away {
                sum.to_bits() + 1
            } else {
                sum.to_bits() - 1
            })
        }
    }
}

fn wide() -> Stop {
    unsupported("arithmetic on 80- or 128-bit floating-point numbers")
}

fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1F);
    let fraction = f64::from(bits & 0x3FF);
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// The nearest number with so many bits of exponent and fraction, which are fewer than those of `double`.
fn small_bits(value: f64, exponent_bits: u32, fraction_bits: u32) -> u64 {
    let infinity = ((1 << exponent_bits) - 1) << fraction_bits;
    if value.is_nan() {
        return infinity | 1 << (fraction_bits - 1);
    }
    let sign = u64::from(value.is_sign_negative()) << (exponent_bits + fraction_bits);
    let magnitude = value.abs();
    // The unit in the last place at this magnitude: scaling by it leaves the fraction as an integer to be rounded.
    let least = 2 - (1 << (exponent_bits - 1));
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least);
    if exponent > 1 - least {
        return sign | infinity;
    }
    let scale = 2f64.powi(fraction_bits as i32 - exponent);
    let units = (magnitude * scale).round_ties_even() as u64;
    // A carry out of the fraction moves on to the exponent, and from the largest number to infinity, as it should.
    let biased = (exponent - least) as u64;
    sign | ((biased << fraction_bits) + units)
}

/// An operator. The 32-bit one rounds twice (by way of `f64`), which gives the same as rounding once.
pub(crate) fn binary(op: BinaryOp, kind: FloatKind, a: u64, b: u64) -> Result<u64, Stop> {
    let (a, b) = (decode(kind, a)?, decode(kind, b)?);
    let result = match op {
        BinaryOp::FAdd => a + b,
        BinaryOp::FSub => a - b,
        BinaryOp::FMul => a * b,
        BinaryOp::FDiv => a / b,
        BinaryOp::FRem => a % b,
        _ => return Err(unsupported("an integer operator on floating-point numbers")),
    };
    encode(kind, result)
}

/// Flips the sign bit.
pub(crate) fn negate(kind: FloatKind, bits: u64) -> Result<u64, Stop> {
    let sign = match kind {
        FloatKind::Double => 1 << 63,
        FloatKind::Float => 1 << 31,
        FloatKind::Half | FloatKind::BFloat => 1 << 15,
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => return Err(wide()),
    };
    Ok(bits ^ sign)
}

pub(crate) fn compare(predicate: FloatPredicate, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match predicate {
        FloatPredicate::False => false,
        FloatPredicate::True => true,
        FloatPredicate::Ord => !unordered,
        FloatPredicate::Uno => unordered,
        FloatPredicate::Oeq => a == b,
        FloatPredicate::Ogt => a > b,
        FloatPredicate::Oge => a >= b,
        FloatPredicate::Olt => a < b,
        FloatPredicate::Ole => a <= b,
        FloatPredicate::One => !unordered && a != b,
        FloatPredicate::Ueq => unordered || a == b,
        FloatPredicate::Ugt => unordered || a > b,
        FloatPredicate::Uge => unordered || a >= b,
        FloatPredicate::Ult => unordered || a < b,
        FloatPredicate::Ule => unordered || a <= b,
        FloatPredicate::Une => a != b,
    }
}

/// To an integer of `width` bits, towards zero; 0 where LLVM gives poison, the nearest end of the range if `saturate`.
pub(crate) fn to_int(value: f64, width: u32, is_signed: bool, saturate: bool) -> u128 {
    let (low, high) = if is_signed {
        let half = 2f64.powi(width as i32 - 1);
        (-half, half)
    } else {
        (0.0, 2f64.powi(width as i32))
    };
    let truncated = value.trunc();
    if value.is_nan() || !saturate && (truncated < low || truncated >= high) {
        return 0;
    }
    let mask = super::arith::mask(width);
    if truncated >= high {
        return if is_signed { mask >> 1 } else { mask };
    }
    if truncated < low {
        return if is_signed { 1 << (width - 1) } else { 0 };
    }
    if is_signed {
        (truncated as i128).cast_unsigned() & mask
    } else {
        truncated as u128
    }
}

/// From an integer, rounded once.
pub(crate) fn from_int(
    kind: FloatKind,
    value: u128,
    width: u32,
    is_signed: bool,
) -> Result<u64, Stop> {
    let signed = super::arith::signed(value, width);
    match kind {
        FloatKind::Float if is_signed => Ok(u64::from((signed as f32).to_bits())),
        FloatKind::Float => Ok(u64::from((value as f32).to_bits())),
        FloatKind::Double if is_signed => Ok((signed as f64).to_bits()),
        FloatKind::Double => Ok((value as f64).to_bits()),
        _ => {
            let (magnitude, sign) = if is_signed {
                (signed.unsigned_abs(), signed.signum() as f64)
            } else {
                (value, 1.0)
            };
            // What is behind the first 53 bits is told by the last of them.
            let behind = 75_u32.saturating_sub(magnitude.leading_zeros());
            let lost = magnitude & ((1 << behind) - 1) != 0;
            let kept = magnitude >> behind | u128::from(lost);
            encode(kind, sign * kept as f64 * 2f64.powi(behind as i32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_a_round_trip() {
        for bits in 0..=u16::MAX {
            let value = half_to_f64(bits);
            if !value.is_nan() {
                assert_eq!(encode(FloatKind::Half, value), Ok(bits.into()), "{value}");
            }
        }
        let half = |value| encode(FloatKind::Half, value);
        assert_eq!(half(65519.9), Ok(0x7BFF));
        assert_eq!(half(65520.0), Ok(0x7C00));
        assert_eq!(half(1e300), Ok(0x7C00));
        assert_eq!(half(-1e300), Ok(0xFC00));
        assert_eq!(half(2f64.powi(-25)), Ok(0));
        assert_eq!(half(1.5 * 2f64.powi(-24)), Ok(2));
    }

    #[test]
    fn conversions_to_integers() {
        assert_eq!(to_int(-1.9, 32, true, false), 0xFFFF_FFFF);
        assert_eq!(to_int(3e9, 32, true, false), 0);
        assert_eq!(to_int(3e9, 32, true, true), 0x7FFF_FFFF);
        assert_eq!(to_int(-5.0, 8, false, true), 0);
        assert_eq!(to_int(255.9, 8, false, false), 255);
        assert_eq!(to_int(f64::NAN, 8, false, true), 0);
        assert_eq!(to_int(2f64.powi(100), 128, false, false), 1 << 100);
    }

    #[test]
    fn bfloat_rounds_to_even() {
        assert_eq!(encode(FloatKind::BFloat, 1.0), Ok(0x3F80));
        assert_eq!(decode(FloatKind::BFloat, 0x3F80), Ok(1.0));
        assert_eq!(encode(FloatKind::BFloat, 1.0 + 2f64.powi(-8)), Ok(0x3F80));
        // Once: by way of `float` it would be a tie.
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(encode(FloatKind::BFloat, above), Ok(0x3F81));
        let above = (1 << 60) + (1 << 52) + 1;
        assert_eq!(from_int(FloatKind::BFloat, above, 64, true), Ok(0x5D81));
        assert_eq!(
            from_int(FloatKind::BFloat, above - 1, 64, false),
            Ok(0x5D80)
        );
    }

    #[test]
    fn what_standards_leave_open_is_settled() {
        for kind in [FloatKind::Half, FloatKind::Float, FloatKind::Double] {
            let zero = encode(kind, 0.0).expect("a number");
            let nan = encode(kind, f64::NAN);
            assert_eq!(binary(BinaryOp::FDiv, kind, zero, zero), nan);
            assert_eq!(encode(kind, -f64::NAN), nan);
        }
        assert!(lesser(0.0, -0.0).is_sign_negative());
        assert!(greater(-0.0, 0.0).is_sign_positive());
        assert_eq!(lesser(f64::NAN, 1.0), 1.0);
        assert_eq!(greater(1.0, f64::NAN), 1.0);
    }

    #[test]
    fn products_and_sums_are_rounded_once() {
        // 2^-24 is half a unit of 1: what is added to it decides.
        let tiny = 2f64.powi(-60);
        let up = fused(FloatKind::Float, 2f64.powi(-24), 1.0 + tiny, 1.0);
        assert_eq!(up, 1.0, "the factor is rounded to a float before");
        let (a, b) = (1.0 + 2f64.powi(-23), 2f64.powi(-24));
        assert_eq!(single_bits(fused(FloatKind::Float, a, b, 1.0)), 0x3F80_0001);
        // A tie in 8 bits, but for something far behind.
        let sum = fused(FloatKind::BFloat, 1.5, 1.0 + 2f64.powi(-7), -tiny);
        assert_eq!(encode(FloatKind::BFloat, sum), Ok(0x3FC1));
    }
}
