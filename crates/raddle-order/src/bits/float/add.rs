//! Sums and differences.

use super::{Bit, Floats, Word, in_order};

impl Floats<'_> {
    pub fn sub(&mut self, a: &Word, b: &Word) -> Word {
        let b = self.neg(b);
        self.add(a, &b)
    }

    pub fn add(&mut self, a: &Word, b: &Word) -> Word {
        let (a, b) = in_order(a, b);
        let (of_a, of_b) = (self.class(a), self.class(b));
        let (left, right) = (self.magnitude(a), self.magnitude(b));
        let swap = self.bits.ult(&left, &right);
        let larger = self.bits.ite(swap, b, a);
        let smaller = self.bits.ite(swap, a, b);
        let (large, small) = (self.parts(&larger), self.parts(&smaller));
        let distance = self.bits.sub(&large.exponent, &small.exponent);
        let distance = distance.extract(0, self.format.exponent);
        let subtract = self.bits.bit_xor(a.sign(), b.sign());
        let sum = self.aligned_sum(&large.significand, &small.significand, &distance, subtract);
        let sign = self.sign_of_sum(large.sign, a.sign(), b.sign(), &sum);
        let one = self.exponent_constant(1);
        let exponent = self.bits.add(&large.exponent, &one);
        let finite = self.round_sum(sign, &exponent, &sum);
        // An infinite operand is the larger one, or no smaller.
        let infinite = self.bits.bit_or(of_a.infinite, of_b.infinite);
        let number = self.or_infinity(infinite, larger.sign(), &finite);
        let opposite = self.bits.all([of_a.infinite, of_b.infinite, subtract]);
        let nan = self.bits.any([of_a.nan, of_b.nan, opposite]);
        self.or_nan(nan, &number)
    }

    /// The sum or difference of two significands, the second of which is shifted right first: one bit for the carry before
    /// it, and after it three that are enough for rounding. For that, nothing may be lost where the second is shifted by
    /// less than two, and the first must have a leading one otherwise.
    pub(super) fn aligned_sum(
        &mut self,
        large: &Word,
        small: &Word,
        distance: &Word,
        subtract: Bit,
    ) -> Word {
        let width = large.width() + 4;
        let behind = Word::constant(3, 0);
        let large = behind.concat(large).zext(width);
        let small = self.shift_right_sticky(&behind.concat(small), distance);
        let small = Word(
            (small.zext(width).0.iter())
                .map(|&bit| self.bits.bit_xor(bit, subtract))
                .collect(),
        );
        self.bits.add_with_carry(&large, &small, subtract).0
    }

    /// That of the larger operand; zero is positive, unless it is the sum of two negative ones.
    pub(super) fn sign_of_sum(&mut self, of_larger: Bit, a: Bit, b: Bit, sum: &Word) -> Bit {
        let both = self.bits.bit_and(a, b);
        let zero = self.bits.is_zero(sum);
        self.bits.bit_ite(zero, both, of_larger)
    }
}
