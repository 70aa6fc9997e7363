//! Integer arithmetic on widths 1 to 128, exactly.
//!
//! Values are zero-extended in a `u128`. Poison and undefined values are 0 throughout, and a shift by the width or more
//! gives 0 (-1 for an arithmetic shift of a negative number): results that LLVM calls poison need *some* value here.

use crate::fault::{Fault, Stop};
use raddle_ir::inst::{ArithFlags, BinaryOp, IntPredicate};

/// All bits of a width.
#[inline]
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

/// The value as a signed number.
#[inline]
pub(crate) fn signed(value: u128, width: u32) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    (value << shift).cast_signed() >> shift
}

/// Does a signed number fit the width?
fn fits(value: i128, width: u32) -> bool {
    signed(value.cast_unsigned() & mask(width), width) == value
}

fn overflow(op: BinaryOp) -> Stop {
    let operation = match op {
        BinaryOp::Add => "addition",
        BinaryOp::Sub => "subtraction",
        BinaryOp::Mul => "multiplication",
        BinaryOp::SDiv => "division",
        BinaryOp::SRem => "remainder",
        _ => "shift",
    };
    Stop::Fault(Fault::Overflow {
        operation: operation.into(),
    })
}

/// A binary operator on integers. Divisions by zero and of the smallest number by -1 are faults always, signed overflow of
/// operators marked `nsw` if `check` is set. Float operators are none of this function's business and give 0.
pub(crate) fn binary(
    op: BinaryOp,
    flags: ArithFlags,
    width: u32,
    a: u128,
    b: u128,
    check: bool,
) -> Result<u128, Stop> {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let result = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SDiv | BinaryOp::SRem if b == 0 => {
            return Err(Stop::Fault(Fault::DivisionByZero));
        }
        BinaryOp::UDiv => a / b,
        BinaryOp::URem => a % b,
        BinaryOp::SDiv | BinaryOp::SRem if sb == -1 && sa == signed(1 << (width - 1), width) => {
            return Err(overflow(op));
        }
        BinaryOp::SDiv => (sa / sb).cast_unsigned(),
        BinaryOp::SRem => (sa % sb).cast_unsigned(),
        BinaryOp::Shl if b < u128::from(width) => a << b,
        BinaryOp::LShr if b < u128::from(width) => a >> b,
        BinaryOp::AShr => (sa >> b.min(u128::from(width - 1))).cast_unsigned(),
        BinaryOp::Shl | BinaryOp::LShr => 0,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => 0,
    } & mask(width);
    if check && flags.nsw && overflows(op, width, a, b) {
        return Err(overflow(op));
    }
    Ok(result)
}

/// Does the signed operation leave the range of its width?
pub(crate) fn overflows(op: BinaryOp, width: u32, a: u128, b: u128) -> bool {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let exact = match op {
        BinaryOp::Add => sa.checked_add(sb),
        BinaryOp::Sub => sa.checked_sub(sb),
        BinaryOp::Mul => sa.checked_mul(sb),
        BinaryOp::Shl => {
            let Ok(amount) = u32::try_from(b) else {
                return true;
            };
            return amount >= width || signed(a << amount & mask(width), width) >> amount != sa;
        }
        _ => return false,
    };
    exact.is_none_or(|exact| !fits(exact, width))
}

/// Does the unsigned operation leave the range of its width?
pub(crate) fn overflows_unsigned(op: BinaryOp, width: u32, a: u128, b: u128) -> bool {
    let exact = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        _ => return false,
    };
    exact.is_none_or(|exact| exact > mask(width))
}

/// Addition and subtraction that stop at the ends of the range.
pub(crate) fn saturating(op: BinaryOp, is_signed: bool, width: u32, a: u128, b: u128) -> u128 {
    let wrapped = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        _ if b >= u128::from(width) => 0,
        _ => a << b,
    } & mask(width);
    if is_signed {
        if !overflows(op, width, a, b) {
            return wrapped;
        }
        // Whichever the operator, an overflow leaves the range at the end that the left operand is nearer to.
        if signed(a, width) < 0 {
            1 << (width - 1)
        } else {
            mask(width) >> 1
        }
    } else {
        let lost = match op {
            BinaryOp::Shl => b >= u128::from(width) || (wrapped >> b) != a,
            _ => overflows_unsigned(op, width, a, b),
        };
        match (lost, op) {
            (false, _) => wrapped,
            (true, BinaryOp::Sub) => 0,
            (true, _) => mask(width),
        }
    }
}

pub(crate) fn compare(predicate: IntPredicate, width: u32, a: u128, b: u128) -> bool {
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

/// `fshl`: the high half of the concatenation `a:b` shifted left by `amount` modulo the width.
pub(crate) fn funnel_left(width: u32, a: u128, b: u128, amount: u128) -> u128 {
    let amount = (amount % u128::from(width)) as u32;
    if amount == 0 {
        a
    } else {
        (a << amount | b >> (width - amount)) & mask(width)
    }
}

/// `fshr`: the low half of the concatenation `a:b` shifted right.
pub(crate) fn funnel_right(width: u32, a: u128, b: u128, amount: u128) -> u128 {
    let amount = (amount % u128::from(width)) as u32;
    if amount == 0 {
        b
    } else {
        (a << (width - amount) | b >> amount) & mask(width)
    }
}

pub(crate) fn leading_zeros(width: u32, value: u128) -> u128 {
    u128::from(value.leading_zeros() - (128 - width))
}

pub(crate) fn trailing_zeros(width: u32, value: u128) -> u128 {
    u128::from(value.trailing_zeros().min(width))
}

pub(crate) fn swap_bytes(width: u32, value: u128) -> u128 {
    value.swap_bytes() >> (128 - width)
}

pub(crate) fn reverse_bits(width: u32, value: u128) -> u128 {
    value.reverse_bits() >> (128 - width)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NSW: ArithFlags = ArithFlags {
        nuw: false,
        nsw: true,
        exact: false,
    };

    fn run(op: BinaryOp, width: u32, a: u128, b: u128) -> Result<u128, Stop> {
        binary(op, NSW, width, a, b, false)
    }

    /// Every operator on every pair of 8-bit numbers, against Rust's own arithmetic.
    #[test]
    fn eight_bits_agree_with_the_machine() {
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let (wide_a, wide_b) = (u128::from(a), u128::from(b));
                let (sa, sb) = (a.cast_signed(), b.cast_signed());
                let same = |op, expected: u8| {
                    assert_eq!(
                        run(op, 8, wide_a, wide_b),
                        Ok(u128::from(expected)),
                        "{op:?} {a} {b}"
                    );
                };
                same(BinaryOp::Add, a.wrapping_add(b));
                same(BinaryOp::Sub, a.wrapping_sub(b));
                same(BinaryOp::Mul, a.wrapping_mul(b));
                same(BinaryOp::And, a & b);
                same(BinaryOp::Or, a | b);
                same(BinaryOp::Xor, a ^ b);
                same(BinaryOp::Shl, a.checked_shl(u32::from(b)).unwrap_or(0));
                same(BinaryOp::LShr, a.checked_shr(u32::from(b)).unwrap_or(0));
                same(BinaryOp::AShr, (sa >> b.min(7)).cast_unsigned());
                if let (Some(quotient), Some(rest)) = (a.checked_div(b), a.checked_rem(b)) {
                    same(BinaryOp::UDiv, quotient);
                    same(BinaryOp::URem, rest);
                }
                if let (Some(quotient), Some(rest)) = (sa.checked_div(sb), sa.checked_rem(sb)) {
                    same(BinaryOp::SDiv, quotient.cast_unsigned());
                    same(BinaryOp::SRem, rest.cast_unsigned());
                } else {
                    assert!(run(BinaryOp::SDiv, 8, wide_a, wide_b).is_err());
                    assert!(run(BinaryOp::SRem, 8, wide_a, wide_b).is_err());
                }
                assert_eq!(
                    overflows(BinaryOp::Add, 8, wide_a, wide_b),
                    sa.checked_add(sb).is_none()
                );
                assert_eq!(
                    overflows(BinaryOp::Sub, 8, wide_a, wide_b),
                    sa.checked_sub(sb).is_none()
                );
                assert_eq!(
                    overflows(BinaryOp::Mul, 8, wide_a, wide_b),
                    sa.checked_mul(sb).is_none()
                );
                let saturated = |op, is_signed| saturating(op, is_signed, 8, wide_a, wide_b) as u8;
                assert_eq!(saturated(BinaryOp::Add, false), a.saturating_add(b));
                assert_eq!(saturated(BinaryOp::Sub, false), a.saturating_sub(b));
                assert_eq!(
                    saturated(BinaryOp::Add, true).cast_signed(),
                    sa.saturating_add(sb)
                );
                assert_eq!(
                    saturated(BinaryOp::Sub, true).cast_signed(),
                    sa.saturating_sub(sb)
                );
                assert_eq!(compare(IntPredicate::Slt, 8, wide_a, wide_b), sa < sb);
                assert_eq!(compare(IntPredicate::Uge, 8, wide_a, wide_b), a >= b);
                let amount = u32::from(b % 8);
                assert_eq!(
                    funnel_left(8, wide_a, wide_a, wide_b) as u8,
                    a.rotate_left(amount)
                );
                assert_eq!(
                    funnel_right(8, wide_a, wide_a, wide_b) as u8,
                    a.rotate_right(amount)
                );
            }
            assert_eq!(leading_zeros(8, u128::from(a)) as u32, a.leading_zeros());
            assert_eq!(trailing_zeros(8, u128::from(a)) as u32, a.trailing_zeros());
            assert_eq!(reverse_bits(8, u128::from(a)) as u8, a.reverse_bits());
        }
    }

    #[test]
    fn the_widest_numbers_work() {
        let max = u128::MAX >> 1;
        assert_eq!(run(BinaryOp::Add, 128, u128::MAX, 1), Ok(0));
        assert!(binary(BinaryOp::Add, NSW, 128, max, 1, true).is_err());
        assert!(binary(BinaryOp::Mul, NSW, 128, max, 2, true).is_err());
        assert_eq!(run(BinaryOp::SDiv, 128, u128::MAX, 1), Ok(u128::MAX));
        assert_eq!(swap_bytes(32, 0x0102_0304), 0x0403_0201);
        assert_eq!(run(BinaryOp::Add, 1, 1, 1), Ok(0));
        assert_eq!(run(BinaryOp::AShr, 1, 1, 0), Ok(1));
    }
}
