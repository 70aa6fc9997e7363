//! Integers of more than 128 bits, exactly: what optimisers multiply numbers of 128 bits in, to divide them by constants.
//!
//! A number is a slice of slots of 64 bits, lowest first. No division: nobody divides in these widths.

use super::layout::unsupported;
use super::machine::Values;
use crate::fault::Stop;
use raddle_ir::inst::{BinaryOp, CastOp, IntPredicate};
use std::cmp::Ordering;

/// Wider ones are not known.
pub(crate) const WIDEST: u32 = 512;

fn slots(width: u32) -> usize {
    width.div_ceil(64) as usize
}

fn slot(values: &[u64], index: usize) -> u64 {
    values.get(index).copied().unwrap_or(0)
}

/// Clears what lies above the width.
fn cut(mut values: Values, width: u32) -> Values {
    values.resize(slots(width), 0);
    if !width.is_multiple_of(64)
        && let Some(last) = values.last_mut()
    {
        *last &= u64::MAX >> (64 - width % 64);
    }
    values
}

fn is_negative(values: &[u64], width: u32) -> bool {
    let top = width - 1;
    slot(values, (top / 64) as usize) >> (top % 64) & 1 == 1
}

pub(crate) fn binary(op: BinaryOp, width: u32, a: &[u64], b: &[u64]) -> Result<Values, Stop> {
    let each = |combine: fn(u64, u64) -> u64| -> Values {
        let indices = 0..slots(width);
        indices
            .map(|index| combine(slot(a, index), slot(b, index)))
            .collect()
    };
    let values = match op {
        BinaryOp::And => each(|a, b| a & b),
        BinaryOp::Or => each(|a, b| a | b),
        BinaryOp::Xor => each(|a, b| a ^ b),
        BinaryOp::Add => add(width, a, b, false),
        // a - b = a + !b + 1
        BinaryOp::Sub => {
            let inverted: Values = (0..slots(width)).map(|index| !slot(b, index)).collect();
            add(width, a, &inverted, true)
        }
        BinaryOp::Mul => multiply(width, a, b),
        BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => shift(op, width, a, b),
        _ => return Err(unsupported("a division of numbers of more than 128 bits")),
    };
    Ok(cut(values, width))
}

fn add(width: u32, a: &[u64], b: &[u64], carry: bool) -> Values {
    let mut carry = u128::from(carry);
    (0..slots(width))
        .map(|index| {
            let sum = u128::from(slot(a, index)) + u128::from(slot(b, index)) + carry;
            carry = sum >> 64;
            sum as u64
        })
        .collect()
}

fn multiply(width: u32, a: &[u64], b: &[u64]) -> Values {
    let count = slots(width);
    let mut product: Values = smallvec::smallvec![0; count];
    for i in 0..count {
        let mut carry = 0u128;
        for j in 0..count - i {
            let part = u128::from(slot(a, i)) * u128::from(slot(b, j));
            let sum = part + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
    }
    product
}

/// A shift by the width or more is poison, which is 0 here.
fn shift(op: BinaryOp, width: u32, a: &[u64], b: &[u64]) -> Values {
    let count = slots(width);
    let too_far = b.iter().skip(1).any(|&high| high != 0) || slot(b, 0) >= u64::from(width);
    if too_far {
        return smallvec::smallvec![0; count];
    }
    let distance = slot(b, 0) as u32;
    let fill = op == BinaryOp::AShr && is_negative(a, width);
    let bit = |index: u32| slot(a, (index / 64) as usize) >> (index % 64) & 1;
    let mut result: Values = smallvec::smallvec![0; count];
    for to in 0..width {
        let set = match op {
            BinaryOp::Shl => to.checked_sub(distance).is_some_and(|from| bit(from) == 1),
            _ if to + distance < width => bit(to + distance) == 1,
            _ => fill,
        };
        result[(to / 64) as usize] |= u64::from(set) << (to % 64);
    }
    result
}

pub(crate) fn cast(op: CastOp, from: u32, to: u32, values: &[u64]) -> Result<Values, Stop> {
    let mut result = Values::from_slice(values);
    match op {
        CastOp::Trunc | CastOp::ZExt => {}
        CastOp::SExt => {
            if is_negative(values, from) {
                result = cut(result, from);
                result.resize(slots(to), u64::MAX);
                if !from.is_multiple_of(64) {
                    result[slots(from) - 1] |= u64::MAX << (from % 64);
                }
            }
        }
        _ => return Err(unsupported("a cast of numbers of more than 128 bits")),
    }
    Ok(cut(result, to))
}

pub(crate) fn compare(predicate: IntPredicate, width: u32, a: &[u64], b: &[u64]) -> bool {
    let unsigned = (0..slots(width))
        .rev()
        .map(|index| slot(a, index).cmp(&slot(b, index)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal);
    let signed = match (is_negative(a, width), is_negative(b, width)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => unsigned,
    };
    match predicate {
        IntPredicate::Eq => unsigned.is_eq(),
        IntPredicate::Ne => unsigned.is_ne(),
        IntPredicate::Ugt => unsigned.is_gt(),
        IntPredicate::Uge => unsigned.is_ge(),
        IntPredicate::Ult => unsigned.is_lt(),
        IntPredicate::Ule => unsigned.is_le(),
        IntPredicate::Sgt => signed.is_gt(),
        IntPredicate::Sge => signed.is_ge(),
        IntPredicate::Slt => signed.is_lt(),
        IntPredicate::Sle => signed.is_le(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: u32 = 256;

    fn of(number: u128) -> [u64; 4] {
        [number as u64, (number >> 64) as u64, 0, 0]
    }

    fn run(op: BinaryOp, a: &[u64], b: &[u64]) -> Vec<u64> {
        binary(op, WIDTH, a, b).unwrap().to_vec()
    }

    #[test]
    fn a_division_by_a_constant_is_a_multiplication_and_a_shift() {
        // How 10^16 is divided by: the factor is 2^179 / 10^16, rounded up.
        let factor = of(76_624_777_043_294_442_917_917_351_357_515_459_181);
        for number in [
            0,
            1,
            10_u128.pow(16) - 1,
            10_u128.pow(16),
            u128::MAX / 3,
            u128::MAX,
        ] {
            let product = run(BinaryOp::Mul, &of(number), &factor);
            let quotient = run(BinaryOp::LShr, &product, &of(179));
            assert_eq!(quotient, of(number / 10_u128.pow(16)), "{number}");
        }
    }

    #[test]
    fn small_numbers_are_as_in_128_bits() {
        let numbers = [0, 1, 7, u128::from(u64::MAX), 1 << 100, (1 << 127) - 1];
        for a in numbers {
            for b in numbers {
                assert_eq!(run(BinaryOp::And, &of(a), &of(b)), of(a & b));
                assert_eq!(run(BinaryOp::Xor, &of(a), &of(b)), of(a ^ b));
                assert_eq!(run(BinaryOp::Add, &of(a), &of(b)), of(a + b));
                let sum = run(BinaryOp::Add, &of(a), &of(b));
                assert_eq!(run(BinaryOp::Sub, &sum, &of(b)), of(a));
                for (predicate, expected) in [
                    (IntPredicate::Ult, a < b),
                    (IntPredicate::Sge, a >= b),
                    (IntPredicate::Eq, a == b),
                ] {
                    assert_eq!(compare(predicate, WIDTH, &of(a), &of(b)), expected);
                }
            }
        }
        assert_eq!(run(BinaryOp::Shl, &of(5), &of(60)), of(5 << 60));
        assert_eq!(run(BinaryOp::Shl, &of(5), &of(256)), of(0));
    }

    #[test]
    fn signs_go_all_the_way_up() {
        let minus_one = run(BinaryOp::Sub, &of(0), &of(1));
        assert_eq!(minus_one, [u64::MAX; 4]);
        assert_eq!(run(BinaryOp::AShr, &minus_one, &of(200)), minus_one);
        assert!(compare(IntPredicate::Slt, WIDTH, &minus_one, &of(0)));
        assert!(compare(IntPredicate::Ugt, WIDTH, &minus_one, &of(0)));
        let extended = cast(CastOp::SExt, 100, WIDTH, &[u64::MAX, (1 << 36) - 1]).unwrap();
        assert_eq!(extended.to_vec(), minus_one);
        let cut = cast(CastOp::Trunc, WIDTH, 130, &minus_one).unwrap();
        assert_eq!(cut.to_vec(), [u64::MAX, u64::MAX, 3]);
        let zero = cast(CastOp::ZExt, 64, WIDTH, &[9]).unwrap();
        assert_eq!(zero.to_vec(), of(9));
    }
}
