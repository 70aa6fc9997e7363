//! Products.

use super::round::Reach;
use super::{Bit, Floats, Word, in_order};

impl Floats<'_> {
    pub fn mul(&mut self, a: &Word, b: &Word) -> Word {
        let (a, b) = in_order(a, b);
        let (left, right) = (self.parts(a), self.parts(b));
        let product = self.product(&left.significand, &right.significand);
        let exponent = self.exponent_of_product(&left.exponent, &right.exponent);
        let sign = self.bits.bit_xor(a.sign(), b.sign());
        let finite = self.round(sign, &exponent, &product, Reach::ANYWHERE);
        let (infinite, nan) = self.class_of_product(a, b);
        let number = self.or_infinity(infinite, sign, &finite);
        self.or_nan(nan, &number)
    }

    /// All bits of the product of two significands.
    pub(super) fn product(&mut self, a: &Word, b: &Word) -> Word {
        let width = 2 * a.width();
        self.bits.mul(&a.zext(width), &b.zext(width))
    }

    /// That of the first bit of the product, whose weight is twice that of the factors' first bits.
    pub(super) fn exponent_of_product(&mut self, a: &Word, b: &Word) -> Word {
        let sum = self.bits.add(a, b);
        let too_much = self.exponent_constant(self.format.bias().cast_signed() - 1);
        self.bits.sub(&sum, &too_much)
    }

    /// Is the product infinite because a factor is, and is it no number (then it may also be called infinite)?
    pub(super) fn class_of_product(&mut self, a: &Word, b: &Word) -> (Bit, Bit) {
        let (a, b) = (self.class(a), self.class(b));
        let infinite = self.bits.bit_or(a.infinite, b.infinite);
        let first = self.bits.bit_and(a.infinite, b.zero);
        let second = self.bits.bit_and(a.zero, b.infinite);
        (infinite, self.bits.any([a.nan, b.nan, first, second]))
    }
}
