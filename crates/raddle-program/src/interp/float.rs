//! Floating-point arithmetic on the bits that registers hold. `half` and `bfloat` are computed in `double` and rounded;
//! the 80- and 128-bit formats are not computed with.

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
        FloatKind::Double => value.to_bits(),
        FloatKind::Float => u64::from((value as f32).to_bits()),
        FloatKind::BFloat => {
            let bits = (value as f32).to_bits();
            if value.is_nan() {
                u64::from(bits >> 16 | 0x40)
            } else {
                let half = 0x7FFF + (bits >> 16 & 1);
                u64::from(bits.wrapping_add(half) >> 16)
            }
        }
        FloatKind::Half => u64::from(f64_to_half(value)),
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => return Err(wide()),
    })
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

fn f64_to_half(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if value.is_nan() {
        return sign | 0x7E00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7C00;
    }
    // The unit in the last place at this magnitude: scaling by it leaves the fraction as an integer to be rounded.
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    let exponent = exponent.max(-14);
    let units = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u32;
    // A carry out of the fraction moves on to the exponent, as it should.
    let biased = (exponent + 14) as u32;
    sign | ((biased << 10) + units) as u16
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
        _ if is_signed => encode(kind, signed as f64),
        _ => encode(kind, value as f64),
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
                assert_eq!(f64_to_half(value), bits, "{value}");
            }
        }
        assert_eq!(f64_to_half(65519.9), 0x7BFF);
        assert_eq!(f64_to_half(65520.0), 0x7C00);
        assert_eq!(f64_to_half(2f64.powi(-25)), 0);
        assert_eq!(f64_to_half(1.5 * 2f64.powi(-24)), 2);
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
    }
}
