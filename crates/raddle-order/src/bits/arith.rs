//! Addition, subtraction, multiplication, division, and when they overflow.

use super::{Bit, Bits, Word};

impl Bits {
    /// Sum and carry out.
    pub(super) fn add_with_carry(&mut self, a: &Word, b: &Word, mut carry: Bit) -> (Word, Bit) {
        assert_eq!(a.width(), b.width(), "operands of one width");
        let mut sum = Vec::with_capacity(a.width());
        for (&a, &b) in a.bits().iter().zip(b.bits()) {
            let half = self.aig.xor(a, b);
            sum.push(self.aig.xor(half, carry));
            carry = self.aig.majority(a, b, carry);
        }
        (Word::from_bits(sum), carry)
    }

    pub fn add(&mut self, a: &Word, b: &Word) -> Word {
        self.add_with_carry(a, b, Bit::FALSE).0
    }

    pub fn sub(&mut self, a: &Word, b: &Word) -> Word {
        self.add_with_carry(a, &b.not(), Bit::TRUE).0
    }

    pub fn neg(&mut self, a: &Word) -> Word {
        self.sub(&Word::constant(a.width(), 0), a)
    }

    /// The low half of the product.
    pub fn mul(&mut self, a: &Word, b: &Word) -> Word {
        let width = a.width();
        assert_eq!(width, b.width(), "operands of one width");
        // Rows of constant zeros vanish: count them in the operand that has more.
        let zeros = |word: &Word| word.bits().iter().filter(|&&bit| bit == Bit::FALSE).count();
        let (rows, row) = if zeros(a) > zeros(b) { (a, b) } else { (b, a) };
        let mut sum = Word::constant(width, 0);
        for (shift, &factor) in rows.bits().iter().enumerate() {
            if factor == Bit::FALSE {
                continue;
            }
            let low = sum.bits()[..shift].to_vec();
            let high = Word::from_bits(sum.bits()[shift..].to_vec());
            let partial = Word::from_bits(
                row.bits()[..width - shift]
                    .iter()
                    .map(|&bit| self.aig.and(bit, factor))
                    .collect(),
            );
            let high = self.add(&high, &partial);
            sum = Word::from_bits(low.into_iter().chain(high.bits().iter().copied()).collect());
        }
        sum
    }

    /// Quotient and remainder, unsigned, by long division.
    pub fn udiv_rem(&mut self, a: &Word, b: &Word) -> (Word, Word) {
        let width = a.width();
        assert_eq!(width, b.width(), "operands of one width");
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            let all_ones = u128::MAX;
            let (quotient, remainder) = (
                a.checked_div(b).unwrap_or(all_ones),
                a.checked_rem(b).unwrap_or(a),
            );
            return (
                Word::constant(width, quotient),
                Word::constant(width, remainder),
            );
        }
        // Remainders are below the divisor. Where that is known they are narrow, and who follows values bit by bit sees it.
        let needed = match b.as_constant() {
            Some(divisor) if divisor > 0 => (128 - divisor.leading_zeros()) as usize,
            _ => width,
        };
        // One bit more than the divisor, so that the comparison cannot wrap.
        let divisor = b.extract(0, needed).zext(needed + 1);
        let mut remainder = Word::constant(needed + 1, 0);
        let mut quotient = vec![Bit::FALSE; width];
        for at in (0..width).rev() {
            let mut shifted = vec![a.bits()[at]];
            shifted.extend_from_slice(&remainder.bits()[..needed]);
            let shifted = Word::from_bits(shifted);
            let (difference, fits) = self.add_with_carry(&shifted, &divisor.not(), Bit::TRUE);
            quotient[at] = fits;
            remainder = self.ite(fits, &difference, &shifted);
        }
        // By zero, every bit fits: the quotient is all ones and the remainder the dividend, as wanted.
        let remainder = remainder.extract(0, needed).zext(width);
        (Word::from_bits(quotient), remainder)
    }

    pub fn udiv(&mut self, a: &Word, b: &Word) -> Word {
        self.udiv_rem(a, b).0
    }

    pub fn urem(&mut self, a: &Word, b: &Word) -> Word {
        self.udiv_rem(a, b).1
    }

    /// Rounds towards zero. The most negative number by -1 wraps to itself.
    pub fn sdiv(&mut self, a: &Word, b: &Word) -> Word {
        let quotient = self.sdiv_rem_magnitudes(a, b).0;
        let negative = self.aig.xor(a.sign(), b.sign());
        self.negate_if(negative, &quotient)
    }

    /// Has the sign of the dividend.
    pub fn srem(&mut self, a: &Word, b: &Word) -> Word {
        let remainder = self.sdiv_rem_magnitudes(a, b).1;
        self.negate_if(a.sign(), &remainder)
    }

    fn sdiv_rem_magnitudes(&mut self, a: &Word, b: &Word) -> (Word, Word) {
        let (a, b) = (self.negate_if(a.sign(), a), self.negate_if(b.sign(), b));
        self.udiv_rem(&a, &b)
    }

    pub(super) fn negate_if(&mut self, condition: Bit, a: &Word) -> Word {
        let negative = self.neg(a);
        self.ite(condition, &negative, a)
    }

    pub fn uadd_overflows(&mut self, a: &Word, b: &Word) -> Bit {
        self.add_with_carry(a, b, Bit::FALSE).1
    }

    pub fn sadd_overflows(&mut self, a: &Word, b: &Word) -> Bit {
        let sum = self.add(a, b);
        self.signs_differ_from_both(a.sign(), b.sign(), sum.sign())
    }

    pub fn usub_overflows(&mut self, a: &Word, b: &Word) -> Bit {
        self.ult(a, b)
    }

    pub fn ssub_overflows(&mut self, a: &Word, b: &Word) -> Bit {
        let difference = self.sub(a, b);
        self.signs_differ_from_both(a.sign(), !b.sign(), difference.sign())
    }

    /// Operands of one sign, result of the other.
    fn signs_differ_from_both(&mut self, a: Bit, b: Bit, result: Bit) -> Bit {
        let (first, second) = (self.aig.xor(a, result), self.aig.xor(b, result));
        self.aig.and(first, second)
    }

    pub fn umul_overflows(&mut self, a: &Word, b: &Word) -> Bit {
        let width = a.width();
        let product = self.mul(&a.zext(2 * width), &b.zext(2 * width));
        self.any(product.bits()[width..].iter().copied())
    }

    pub fn smul_overflows(&mut self, a: &Word, b: &Word) -> Bit {
        let width = a.width();
        let product = self.mul(&a.sext(2 * width), &b.sext(2 * width));
        let sign = product.bits()[width - 1];
        let different: Vec<Bit> = product.bits()[width..]
            .iter()
            .map(|&bit| self.aig.xor(bit, sign))
            .collect();
        self.any(different)
    }

    /// The most negative number by -1.
    pub fn sdiv_overflows(&mut self, a: &Word, b: &Word) -> Bit {
        let least = Word::most_negative(a.width());
        let (is_least, is_minus_one) = (self.eq(a, &least), self.all(b.bits().iter().copied()));
        self.aig.and(is_least, is_minus_one)
    }
}

impl Word {
    fn most_negative(width: usize) -> Self {
        let mut bits = vec![Bit::FALSE; width];
        bits[width - 1] = Bit::TRUE;
        Self::from_bits(bits)
    }
}
