//! A product and a sum, rounded once.

use super::round::Reach;
use super::{Floats, Word};

impl Floats<'_> {
    /// `a` · `b` + `c`.
    pub fn fma(&mut self, a: &Word, b: &Word, c: &Word) -> Word {
        let sign = self.bits.bit_xor(a.sign(), b.sign());
        let (exponent, product) = self.normalised_product(a, b);
        let of_c = self.class(c);
        let addend = self.normalised(c);
        let least = self.least_exponent();
        let addend_exponent = self.bits.ite(of_c.zero, &least, &addend.exponent);
        let precision = self.format.precision();
        let addend = Word::constant(precision, 0).concat(&addend.significand);
        // Both have leading ones, or are zero and of the least exponent: so they compare as numbers.
        let (above, beyond) = (
            self.bits.slt(&exponent, &addend_exponent),
            self.bits.eq(&exponent, &addend_exponent),
        );
        let less = self.bits.ult(&product, &addend);
        let level = self.bits.bit_and(beyond, less);
        let swap = self.bits.bit_or(above, level);
        let large = self.bits.ite(swap, &addend, &product);
        let small = self.bits.ite(swap, &product, &addend);
        let large_exponent = self.bits.ite(swap, &addend_exponent, &exponent);
        let small_exponent = self.bits.ite(swap, &exponent, &addend_exponent);
        let distance = self.bits.sub(&large_exponent, &small_exponent);
        let subtract = self.bits.bit_xor(sign, c.sign());
        let sum = self.aligned_sum(&large, &small, &distance, subtract);
        let of_larger = self.bits.bit_ite(swap, c.sign(), sign);
        let sign_of_sum = self.sign_of_sum(of_larger, sign, c.sign(), &sum);
        let one = self.exponent_constant(1);
        let exponent = self.bits.add(&large_exponent, &one);
        let finite = self.round(sign_of_sum, &exponent, &sum, Reach::ANYWHERE);

        let (infinite, no_product) = self.class_of_product(a, b);
        let number = self.or_infinity(of_c.infinite, c.sign(), &finite);
        let number = self.or_infinity(infinite, sign, &number);
        let opposite = self.bits.all([infinite, of_c.infinite, subtract]);
        let nan = self.bits.any([no_product, of_c.nan, opposite]);
        self.or_nan(nan, &number)
    }

    /// The exponent of the first bit and all bits, of which the first is a one unless all are zero.
    fn normalised_product(&mut self, a: &Word, b: &Word) -> (Word, Word) {
        let (left, right) = (self.normalised(a), self.normalised(b));
        let product = self.product(&left.significand, &right.significand);
        let exponent = self.exponent_of_product(&left.exponent, &right.exponent);
        let leads = product.sign();
        let shifted = Word::constant(1, 0).concat(&product.extract(0, product.width() - 1));
        let product = self.bits.ite(leads, &product, &shifted);
        let one = self.exponent_constant(1);
        let less = self.bits.sub(&exponent, &one);
        let exponent = self.bits.ite(leads, &exponent, &less);
        let zero = self.bits.is_zero(&product);
        let least = self.least_exponent();
        (self.bits.ite(zero, &least, &exponent), product)
    }

    /// Below that of any product, and not so low that differences would not fit.
    fn least_exponent(&self) -> Word {
        self.exponent_constant(-(1 << (self.format.wide() - 2)))
    }
}
