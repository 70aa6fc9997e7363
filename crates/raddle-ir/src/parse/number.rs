//! Integer and floating-point literals to bits.

use crate::types::FloatKind;

/// A decimal integer, wrapped to `bits`. LLVM wraps as well, so `i8 255` and `i8 -1` are the same constant. Of wider types than 128
/// bits only numbers are known that fit.
pub(super) fn int_bits(digits: &str, bits: u32) -> Option<u128> {
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u128;
    for c in digits.bytes() {
        if !c.is_ascii_digit() {
            return None;
        }
        let digit = u128::from(c - b'0');
        value = match bits {
            ..=128 => value.wrapping_mul(10).wrapping_add(digit),
            _ => value.checked_mul(10)?.checked_add(digit)?,
        };
    }
    if bits > 128 && negative && value != 0 {
        return None;
    }
    Some(mask(
        if negative {
            value.wrapping_neg()
        } else {
            value
        },
        bits,
    ))
}

/// `u0x1F` and `s0x1F`.
pub(super) fn hex_int_bits(word: &str, bits: u32) -> Option<u128> {
    let (signed, digits) = match word.strip_prefix("u0x") {
        Some(digits) => (false, digits),
        None => (true, word.strip_prefix("s0x")?),
    };
    let value = hex(digits)?;
    let width = u32::try_from(digits.len() * 4).ok()?;
    if bits > 128 && signed && value.checked_shr(width - 1).unwrap_or(0) & 1 == 1 {
        return None;
    }
    let negative = signed && width < 128 && value >> (width - 1) & 1 == 1;
    let extended = if negative {
        value | u128::MAX << width
    } else {
        value
    };
    Some(mask(extended, bits))
}

fn mask(value: u128, bits: u32) -> u128 {
    if bits >= 128 {
        value
    } else {
        value & ((1 << bits) - 1)
    }
}

/// Up to 32 hexadecimal digits.
fn hex(digits: &str) -> Option<u128> {
    // `from_str_radix` would accept a sign.
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(digits, 16).ok()
}

/// A float literal in the format of `kind`. `0x` is always a double, whatever the type; the lettered forms are the
/// bits themselves, those of 128 bits with the lower half first.
pub(super) fn float_bits(text: &str, kind: FloatKind) -> Option<u128> {
    let Some(digits) = text.strip_prefix("0x") else {
        let double: f64 = text.parse().ok()?;
        return Some(from_double(double.to_bits(), kind));
    };
    let letter = digits.as_bytes().first().copied()?;
    match (letter, kind) {
        (b'K', FloatKind::X86Fp80) => hex(digits.get(1..)?).filter(|bits| bits >> 80 == 0),
        (b'L', FloatKind::Fp128) | (b'M', FloatKind::PpcFp128) => {
            let digits = digits.get(1..)?;
            let (low, high) = digits.split_at_checked(16)?;
            let high = if high.is_empty() { 0 } else { hex(high)? };
            Some(hex(low)? | (high << 64))
        }
        (b'H', FloatKind::Half) | (b'R', FloatKind::BFloat) => {
            hex(digits.get(1..)?).filter(|bits| bits >> 16 == 0)
        }
        (b'K' | b'L' | b'M' | b'H' | b'R', _) => None,
        _ => Some(from_double(u64::try_from(hex(digits)?).ok()?, kind)),
    }
}

/// `+inf`, `-qnan` and `f0x...` of newer LLVMs.
pub(super) fn float_word_bits(word: &str, kind: FloatKind) -> Option<u128> {
    if let Some(digits) = word.strip_prefix("f0x") {
        return hex(digits);
    }
    let bits = match word.trim_start_matches(['+', '-']) {
        "inf" => f64::INFINITY.to_bits(),
        "qnan" => 0x7ff8 << 48,
        _ => return None,
    };
    let sign = u64::from(word.starts_with('-')) << 63;
    Some(from_double(bits | sign, kind))
}

/// A double in another format, rounded to nearest even. NaNs keep as much of their payload as fits.
fn from_double(bits: u64, kind: FloatKind) -> u128 {
    match kind {
        FloatKind::Half => convert(bits, 5, 10),
        FloatKind::BFloat => convert(bits, 8, 7),
        FloatKind::Float => convert(bits, 8, 23),
        FloatKind::Double | FloatKind::PpcFp128 => u128::from(bits),
        FloatKind::Fp128 => convert(bits, 15, 112),
        FloatKind::X86Fp80 => {
            // As IEEE with 63 fraction bits, then the leading bit made explicit. No double is subnormal there.
            let ieee = convert(bits, 15, 63);
            let fraction = ieee & ((1 << 63) - 1);
            let exponent = ieee >> 63 & 0x7fff;
            let sign = ieee >> 78 & 1;
            let leading = u128::from(exponent != 0) << 63;
            sign << 79 | exponent << 64 | leading | fraction
        }
    }
}

/// To an IEEE format with the given widths of exponent and fraction.
fn convert(bits: u64, exponent_bits: u32, fraction_bits: u32) -> u128 {
    let sign = u128::from(bits >> 63) << (exponent_bits + fraction_bits);
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = u128::from(bits & ((1 << 52) - 1));
    let max_exponent = (1u128 << exponent_bits) - 1;
    let resize = |fraction: u128| {
        if fraction_bits >= 52 {
            fraction << (fraction_bits - 52)
        } else {
            fraction >> (52 - fraction_bits)
        }
    };
    if exponent == 0x7ff {
        let mut payload = resize(fraction);
        if fraction != 0 && payload == 0 {
            payload = 1; // A NaN must not become an infinity.
        }
        return sign | max_exponent << fraction_bits | payload;
    }
    if exponent == 0 && fraction == 0 {
        return sign;
    }
    // value = significand * 2^(scale - 52), with bit 52 of the significand set.
    let (significand, scale) = if exponent == 0 {
        let shift = fraction.leading_zeros() - (127 - 52);
        (fraction << shift, -1022 - shift as i32)
    } else {
        (fraction | 1 << 52, exponent - 1023)
    };
    let bias = (1i32 << (exponent_bits - 1)) - 1;
    let biased = scale + bias;
    // The shift that leaves `fraction_bits` below the leading bit, and more for subnormal results.
    let drop = 52 - fraction_bits as i32 + (1 - biased).max(0);
    let rounded = if drop <= 0 {
        significand << -drop
    } else if drop > 54 {
        0
    } else {
        let kept = significand >> drop;
        let rest = significand & ((1 << drop) - 1);
        let half = 1u128 << (drop - 1);
        kept + u128::from(rest > half || (rest == half && kept & 1 == 1))
    };
    // Adding lets a carry out of the fraction go into the exponent, as it must.
    let base = if biased >= 1 {
        ((biased - 1) as u128) << fraction_bits
    } else {
        0
    };
    let magnitude = (base + rounded).min(max_exponent << fraction_bits);
    sign | magnitude
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_too_wide_are_refused_and_not_cut() {
        assert_eq!(
            int_bits("340282366920938463463374607431768211455", 256),
            Some(u128::MAX)
        );
        assert_eq!(
            int_bits("340282366920938463463374607431768211456", 256),
            None
        );
        assert_eq!(int_bits("-1", 256), None);
        assert_eq!(int_bits("-1", 128), Some(u128::MAX));
        assert_eq!(hex_int_bits("s0xFF", 256), None);
        assert_eq!(hex_int_bits("u0xFF", 256), Some(255));
    }

    #[test]
    fn integers_wrap_to_their_width() {
        assert_eq!(int_bits("-1", 8), Some(0xff));
        assert_eq!(int_bits("255", 8), Some(0xff));
        assert_eq!(
            int_bits("-170141183460469231731687303715884105728", 128),
            Some(1 << 127)
        );
        assert_eq!(int_bits("1", 1), Some(1));
        assert_eq!(int_bits("1.0", 32), None);
        assert_eq!(int_bits("-", 32), None);
        assert_eq!(hex_int_bits("u0xFF", 32), Some(255));
        assert_eq!(hex_int_bits("s0xFF", 32), Some(0xffff_ffff));
    }

    #[test]
    fn floats_are_stored_in_their_own_format() {
        let double = |x: f64| format!("0x{:016X}", x.to_bits());
        for x in [
            0.0f32,
            -0.0,
            1.0,
            0.1,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            f32::INFINITY,
        ] {
            let text = double(f64::from(x));
            assert_eq!(
                float_bits(&text, FloatKind::Float),
                Some(u128::from(x.to_bits())),
                "{x}"
            );
        }
        assert_eq!(
            float_bits("1.000000e+00", FloatKind::Double),
            Some(0x3ff0 << 48)
        );
        assert_eq!(float_bits("1.0", FloatKind::Half), Some(0x3c00));
        assert_eq!(float_bits("0xH3C00", FloatKind::Half), Some(0x3c00));
        assert_eq!(float_bits("0xR3F80", FloatKind::BFloat), Some(0x3f80));
        assert_eq!(float_bits("1.0", FloatKind::BFloat), Some(0x3f80));
        let one = 0x3fff_8000_0000_0000_0000;
        assert_eq!(
            float_bits("0xK3FFF8000000000000000", FloatKind::X86Fp80),
            Some(one)
        );
        assert_eq!(float_bits("1.0", FloatKind::X86Fp80), Some(one));
        let one = 0x3fff << 112;
        assert_eq!(
            float_bits("0xL00000000000000003FFF000000000000", FloatKind::Fp128),
            Some(one)
        );
        assert_eq!(float_bits("1.0", FloatKind::Fp128), Some(one));
        assert_eq!(float_bits("0xH3C00", FloatKind::Double), None);
        assert_eq!(
            float_bits("0x7FF8000000000000", FloatKind::Float),
            Some(0x7fc0_0000)
        );
    }

    #[test]
    fn every_float_survives_the_way_through_double() {
        for i in 0..100_000u32 {
            let bits = i.wrapping_mul(0x9e37_79b9);
            let x = f32::from_bits(bits);
            if !x.is_nan() {
                let converted = from_double(f64::from(x).to_bits(), FloatKind::Float);
                assert_eq!(converted, u128::from(bits));
            }
        }
    }

    #[test]
    fn narrowing_rounds_like_the_hardware() {
        for i in 0..100_000u64 {
            let x = f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            if !x.is_nan() {
                let converted = from_double(x.to_bits(), FloatKind::Float);
                assert_eq!(converted, u128::from((x as f32).to_bits()), "{x:e}");
            }
        }
    }
}
