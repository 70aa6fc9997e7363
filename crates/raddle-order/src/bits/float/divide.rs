//! Quotients, remainders and square roots, digit by digit.

use super::round::Reach;
use super::{Bit, Floats, Format, Word};

impl Format {
    /// Can the remainder of a division be computed in gates? There is one round for each exponent between the operands: for
    /// `double` that is too many.
    #[must_use]
    pub fn has_remainder(self) -> bool {
        self.exponent <= 8
    }
}

impl Floats<'_> {
    pub fn div(&mut self, a: &Word, b: &Word) -> Word {
        if let Some(reciprocal) = self.exact_reciprocal(b) {
            return self.mul(a, &reciprocal);
        }
        let (left, right) = (self.normalised(a), self.normalised(b));
        let quotient = self.quotient(&left.significand, &right.significand);
        let difference = self.bits.sub(&left.exponent, &right.exponent);
        let bias = self.exponent_constant(self.format.bias().cast_signed());
        let exponent = self.bits.add(&difference, &bias);
        let sign = self.bits.bit_xor(a.sign(), b.sign());
        let finite = self.round(sign, &exponent, &quotient, Reach::ANYWHERE);
        let (of_a, of_b) = (self.class(a), self.class(b));
        let zero = self.bits.bit_or(of_a.zero, of_b.infinite);
        let number = self.or_zero(zero, sign, &finite);
        let infinite = self.bits.bit_or(of_a.infinite, of_b.zero);
        let number = self.or_infinity(infinite, sign, &number);
        let zeros = self.bits.bit_and(of_a.zero, of_b.zero);
        let infinities = self.bits.bit_and(of_a.infinite, of_b.infinite);
        let nan = self.bits.any([of_a.nan, of_b.nan, zeros, infinities]);
        self.or_nan(nan, &number)
    }

    /// 1/`b` for a known power of two. Dividing by one is multiplying by the other, and that costs next to nothing.
    fn exact_reciprocal(&self, b: &Word) -> Option<Word> {
        let (fraction, exponent) = (self.fraction(b), self.exponent(b).as_constant()?);
        if fraction.as_constant()? != 0 {
            return None;
        }
        let reciprocal = (2 * self.format.bias()).checked_sub(exponent)?;
        if exponent == 0 || reciprocal == 0 {
            return None;
        }
        let reciprocal = Word::constant(self.format.exponent, reciprocal);
        Some(self.signed(b.sign(), &fraction.concat(&reciprocal)))
    }

    /// The quotient of two significands with leading ones: one bit before the point, one more than the format has after it,
    /// and one that says whether there is a rest.
    fn quotient(&mut self, a: &Word, b: &Word) -> Word {
        let precision = self.format.precision();
        let divisor = b.zext(precision + 1);
        let mut rest = a.zext(precision + 1);
        let mut digits = Vec::new();
        for at in 0..precision + 2 {
            if at > 0 {
                rest = Word::constant(1, 0).concat(&rest.extract(0, precision));
            }
            let (difference, fits) = self.bits.add_with_carry(&rest, &divisor.not(), Bit::TRUE);
            digits.push(fits);
            rest = self.bits.ite(fits, &difference, &rest);
        }
        digits.push(self.bits.any(rest.0));
        digits.reverse();
        Word::from_bits(digits)
    }

    /// What `fmod` returns: `a` less a multiple of `b`, with the sign of `a` and less than `b`. It is exact.
    ///
    /// # Panics
    /// If the format has too many exponents ([`Format::has_remainder`]).
    pub fn rem(&mut self, a: &Word, b: &Word) -> Word {
        assert!(self.format.has_remainder(), "few exponents");
        let (left, right) = (self.normalised(a), self.normalised(b));
        let distance = self.bits.sub(&left.exponent, &right.exponent);
        let precision = self.format.precision();
        let divisor = right.significand.zext(precision + 1);
        let mut rest = left.significand.zext(precision + 1);
        // From the largest exponent to that of the least number of all.
        let farthest = self.format.top() as usize - 2 + self.format.fraction;
        for at in (0..=farthest).rev() {
            let limit = self.exponent_constant(at as i128);
            let active = self.bits.sle(&limit, &distance);
            let (difference, fits) = self.bits.add_with_carry(&rest, &divisor.not(), Bit::TRUE);
            let mut next = self.bits.ite(fits, &difference, &rest);
            if at > 0 {
                next = Word::constant(1, 0).concat(&next.extract(0, precision));
            }
            rest = self.bits.ite(active, &next, &rest);
        }
        let rest = rest.extract(0, precision);
        let reach = Reach {
            small: true,
            large: false,
        };
        let finite = self.round(a.sign(), &right.exponent, &rest, reach);
        let (of_a, of_b) = (self.class(a), self.class(b));
        // Also if the divisor is infinite.
        let (of_a_alone, of_b_alone) = (self.magnitude(a), self.magnitude(b));
        let less = self.bits.ult(&of_a_alone, &of_b_alone);
        let number = self.bits.ite(less, a, &finite);
        let nan = self
            .bits
            .any([of_a.nan, of_b.nan, of_a.infinite, of_b.zero]);
        self.or_nan(nan, &number)
    }

    pub fn sqrt(&mut self, a: &Word) -> Word {
        let parts = self.normalised(a);
        let bias = self.exponent_constant(self.format.bias().cast_signed());
        // The root has half the exponent. If that is odd (the bias is odd too), the significand is doubled instead.
        let odd = !parts.exponent.0[0];
        let sum = self.bits.add(&parts.exponent, &bias);
        let exponent = sum.extract(1, sum.width()).sext(sum.width());
        let below = Word::constant(1, 0);
        let single = parts.significand.zext(self.format.precision() + 1);
        let double = below.concat(&parts.significand);
        let radicand = self.bits.ite(odd, &double, &single);
        let root = self.root(&radicand);
        let finite = self.round(a.sign(), &exponent, &root, Reach::WITHIN);
        let of_a = self.class(a);
        let number = self.or_infinity(of_a.infinite, a.sign(), &finite);
        let negative = self.bits.bit_and(a.sign(), !of_a.zero);
        let nan = self.bits.bit_or(of_a.nan, negative);
        let number = self.bits.ite(of_a.zero, a, &number);
        self.or_nan(nan, &number)
    }

    /// The root of a number with two bits before the point: one bit before the point, as many after it as the format has
    /// significant ones, and one that says whether there is a rest.
    fn root(&mut self, radicand: &Word) -> Word {
        let count = self.format.precision() + 1;
        let digits = radicand.0.iter().rev().copied();
        let mut digits = digits.chain(std::iter::repeat(Bit::FALSE));
        let mut root: Vec<Bit> = Vec::new();
        let mut rest: Vec<Bit> = Vec::new();
        for _ in 0..count {
            let (high, low) = (digits.next(), digits.next());
            let pair = [low, high].into_iter().flatten();
            // The rest is at most twice the root: it fits one bit more than that has.
            let width = root.len() + 3;
            let shifted: Vec<Bit> = pair.chain(rest.iter().copied()).take(width).collect();
            let shifted = Word::from_bits(shifted).zext(width);
            let trial = [Bit::TRUE, Bit::FALSE]
                .into_iter()
                .chain(root.iter().copied());
            let trial = Word::from_bits(trial.collect()).zext(width);
            let (difference, fits) = self.bits.add_with_carry(&shifted, &trial.not(), Bit::TRUE);
            rest = self.bits.ite(fits, &difference, &shifted).0;
            root.insert(0, fits);
            rest.truncate(root.len() + 1);
        }
        let mut bits = vec![self.bits.any(rest)];
        bits.extend(root);
        Word::from_bits(bits)
    }
}
