//! From and to integers and other formats.

use super::round::Reach;
use super::{Bit, Floats, Format, Word};

impl Floats<'_> {
    /// The nearest number of another format.
    pub fn convert(&mut self, a: &Word, to: Format) -> Word {
        let parts = self.parts(a);
        let class = self.class(a);
        let from = self.format;
        let width = from.wide().max(to.wide());
        let exponent = parts.exponent.sext(width);
        let moved = to.bias().cast_signed() - from.bias().cast_signed();
        let moved = Word::constant(width, moved.cast_unsigned());
        let exponent = self.bits.add(&exponent, &moved);
        let mut target = self.bits.floats(to);
        // The least number has `fraction` zeros before its one.
        let reach = Reach {
            small: to.bias() < from.bias() + from.fraction as u128,
            large: to.bias() < from.bias(),
        };
        let finite = target.round(a.sign(), &exponent, &parts.significand, reach);
        let number = target.or_infinity(class.infinite, a.sign(), &finite);
        target.or_nan(class.nan, &number)
    }

    /// The nearest number to an integer.
    pub fn from_int(&mut self, value: &Word, is_signed: bool) -> Word {
        let sign = if is_signed { value.sign() } else { Bit::FALSE };
        let magnitude = self.bits.negate_if(sign, value);
        let exponent = self.format.bias() + value.width() as u128 - 1;
        let reach = Reach {
            small: false,
            large: exponent >= self.format.top(),
        };
        let exponent = Word::constant(self.roomy(), exponent);
        self.round(sign, &exponent, &magnitude, reach)
    }

    /// Room for exponents of the format and of integers up to 256 bits.
    fn roomy(&self) -> usize {
        self.format.wide().max(10)
    }

    /// To an integer, towards zero. What is out of range becomes the nearest end of it if `saturate`, else 0; NaN
    /// becomes 0.
    pub fn to_int(&mut self, a: &Word, width: usize, is_signed: bool, saturate: bool) -> Word {
        let class = self.class(a);
        let parts = self.parts(a);
        let bias = self.format.bias();
        let exponent = parts.exponent.sext(self.roomy());
        let one = Word::constant(exponent.width(), bias);
        let fractional = self.bits.slt(&exponent, &one);
        let limit = Word::constant(exponent.width(), bias + width as u128);
        let far = self.bits.sle(&limit, &exponent);
        let distance = self.bits.sub(&exponent, &one);
        let fraction = self.format.fraction;
        let mut integer = parts.significand.zext(width + fraction);
        for stage in 0..usize::BITS as usize {
            let by = 1 << stage;
            if by >= width || stage >= distance.width() {
                break;
            }
            let shifted = Word::constant(by, 0).concat(&integer.extract(0, integer.width() - by));
            integer = self.bits.ite(distance.0[stage], &shifted, &integer);
        }
        let integer = integer.extract(fraction, fraction + width);
        let nothing = Word::constant(width, 0);
        let integer = self.bits.ite(fractional, &nothing, &integer);

        let sign = a.sign();
        let outside = if is_signed {
            let least = Word::constant(width, 1 << (width - 1));
            let is_least = self.bits.eq(&integer, &least);
            let fits = self.bits.bit_and(is_least, sign);
            self.bits.bit_and(integer.sign(), !fits)
        } else {
            let zero = self.bits.is_zero(&integer);
            self.bits.bit_and(sign, !zero)
        };
        let outside = self.bits.any([outside, far, class.infinite]);
        let number = self.bits.negate_if(sign, &integer);
        let end = match (saturate, is_signed) {
            (false, _) => nothing.clone(),
            // All ones but the sign, or the sign alone.
            (true, true) => {
                Word::from_bits(vec![!sign; width - 1].into_iter().chain([sign]).collect())
            }
            (true, false) => Word::from_bits(vec![!sign; width]),
        };
        let number = self.bits.ite(outside, &end, &number);
        self.bits.ite(class.nan, &nothing, &number)
    }
}
