//! Floating-point arithmetic as gates: the binary formats of IEEE 754, rounded to nearest, ties to even.
//!
//! A number is a word as it lies in memory: fraction, exponent, sign. An operation takes its operands apart, computes
//! the result exactly (or as many bits as rounding asks for, and whether there are others behind them), rounds it once, and
//! lastly chooses between that and what zeros, infinities and NaNs give.
//!
//! The standard leaves sign and payload of a NaN open that arithmetic makes. Here it is always [`Format::nan`], whatever
//! the operands were.

mod add;
mod convert;
mod divide;
mod fma;
mod integral;
mod multiply;
mod round;
#[cfg(test)]
mod tests;

use super::{Bit, Bits, Word};
pub use integral::Rounding;

/// How many bits a number has for what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    exponent: usize,
    fraction: usize,
}

impl Format {
    pub const HALF: Self = Self::new(5, 10);
    pub const BFLOAT: Self = Self::new(8, 7);
    pub const SINGLE: Self = Self::new(8, 23);
    pub const DOUBLE: Self = Self::new(11, 52);

    const fn new(exponent: usize, fraction: usize) -> Self {
        Self { exponent, fraction }
    }

    #[must_use]
    pub fn width(self) -> usize {
        1 + self.exponent + self.fraction
    }

    /// The bits of a significand, the leading one among them.
    fn precision(self) -> usize {
        self.fraction + 1
    }

    /// What is added to an exponent before it is stored: an odd number.
    fn bias(self) -> u128 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The stored exponent of infinities and NaNs.
    fn top(self) -> u128 {
        (1 << self.exponent) - 1
    }

    /// Room for the sums and differences of exponents that occur on the way to a result, as signed numbers.
    fn wide(self) -> usize {
        self.exponent + 3
    }

    fn infinity(self) -> Word {
        Word::constant(self.width(), self.top() << self.fraction)
    }

    /// The NaN that arithmetic makes: quiet, positive, without payload.
    #[must_use]
    pub fn nan(self) -> Word {
        let quiet = 1 << (self.fraction - 1);
        Word::constant(self.width(), self.top() << self.fraction | quiet)
    }
}

/// What kind of number a word is: at most one of these holds.
struct Class {
    nan: Bit,
    infinite: Bit,
    zero: Bit,
}

/// A finite number taken apart: (-1)^sign · significand · 2^(exponent - bias), where the first bit of the significand has
/// weight 1. Of infinities and NaNs the parts mean nothing.
struct Parts {
    sign: Bit,
    /// [`Format::wide`], signed; that of numbers below the normal ones is 1, as that of the least normal ones.
    exponent: Word,
    significand: Word,
}

/// Operations on numbers of one format.
pub struct Floats<'a> {
    bits: &'a mut Bits,
    format: Format,
}

impl Bits {
    pub fn floats(&mut self, format: Format) -> Floats<'_> {
        Floats { bits: self, format }
    }
}

/// Two operands that may be exchanged, always in the same order: so `a + b` and `b + a` are the same gates.
fn in_order<'a>(a: &'a Word, b: &'a Word) -> (&'a Word, &'a Word) {
    if a.0 <= b.0 { (a, b) } else { (b, a) }
}

impl Floats<'_> {
    fn magnitude(&self, a: &Word) -> Word {
        a.extract(0, self.format.width() - 1)
    }

    fn signed(&self, sign: Bit, magnitude: &Word) -> Word {
        magnitude.concat(&Word::from_bits(vec![sign]))
    }

    fn fraction(&self, a: &Word) -> Word {
        a.extract(0, self.format.fraction)
    }

    /// The exponent as stored.
    fn exponent(&self, a: &Word) -> Word {
        a.extract(self.format.fraction, self.format.width() - 1)
    }

    fn class(&mut self, a: &Word) -> Class {
        assert_eq!(a.width(), self.format.width(), "a number of the format");
        let (fraction, exponent) = (self.fraction(a), self.exponent(a));
        let no_fraction = self.bits.is_zero(&fraction);
        let least = self.bits.is_zero(&exponent);
        let most = self.bits.is_zero(&exponent.not());
        Class {
            nan: self.bits.bit_and(most, !no_fraction),
            infinite: self.bits.bit_and(most, no_fraction),
            zero: self.bits.bit_and(least, no_fraction),
        }
    }

    fn parts(&mut self, a: &Word) -> Parts {
        let mut exponent = self.exponent(a);
        let subnormal = self.bits.is_zero(&exponent);
        exponent.0[0] = self.bits.bit_or(exponent.0[0], subnormal);
        let leading = Word::from_bits(vec![!subnormal]);
        Parts {
            sign: a.sign(),
            exponent: exponent.zext(self.format.wide()),
            significand: self.fraction(a).concat(&leading),
        }
    }

    /// The parts with a leading one in the significand, unless it is zero.
    fn normalised(&mut self, a: &Word) -> Parts {
        let parts = self.parts(a);
        let (significand, distance) = self.shifted_to_top(&parts.significand);
        let distance = distance.zext(self.format.wide());
        Parts {
            exponent: self.bits.sub(&parts.exponent, &distance),
            significand,
            ..parts
        }
    }

    /// A signed number of the width that exponents have.
    fn exponent_constant(&self, value: i128) -> Word {
        Word::constant(self.format.wide(), value.cast_unsigned())
    }

    // ---- signs

    pub fn neg(&mut self, a: &Word) -> Word {
        self.signed(!a.sign(), &self.magnitude(a))
    }

    pub fn abs(&mut self, a: &Word) -> Word {
        self.signed(Bit::FALSE, &self.magnitude(a))
    }

    /// `a` with the sign of `b`.
    pub fn copysign(&mut self, a: &Word, b: &Word) -> Word {
        self.signed(b.sign(), &self.magnitude(a))
    }

    // ---- comparisons

    pub fn is_nan(&mut self, a: &Word) -> Bit {
        self.class(a).nan
    }

    /// Is one of them no number?
    pub fn unordered(&mut self, a: &Word, b: &Word) -> Bit {
        let (a, b) = (self.is_nan(a), self.is_nan(b));
        self.bits.bit_or(a, b)
    }

    /// `a < b`; not if one of them is no number.
    pub fn lt(&mut self, a: &Word, b: &Word) -> Bit {
        let unordered = self.unordered(a, b);
        let before = self.before(a, b);
        let zeros = self.both_zero(a, b);
        self.bits.all([before, !zeros, !unordered])
    }

    /// `a <= b`; not if one of them is no number.
    pub fn le(&mut self, a: &Word, b: &Word) -> Bit {
        let unordered = self.unordered(a, b);
        let after = self.before(b, a);
        let zeros = self.both_zero(a, b);
        let holds = self.bits.bit_or(!after, zeros);
        self.bits.bit_and(holds, !unordered)
    }

    /// `a == b`; not if one of them is no number.
    pub fn equal(&mut self, a: &Word, b: &Word) -> Bit {
        let unordered = self.unordered(a, b);
        let same = self.bits.eq(a, b);
        let zeros = self.both_zero(a, b);
        let equal = self.bits.bit_or(same, zeros);
        self.bits.bit_and(equal, !unordered)
    }

    /// `a < b` or `a > b`: not equal, and both are numbers.
    pub fn differ(&mut self, a: &Word, b: &Word) -> Bit {
        let unordered = self.unordered(a, b);
        let equal = self.equal(a, b);
        self.bits.bit_and(!equal, !unordered)
    }

    fn both_zero(&mut self, a: &Word, b: &Word) -> Bit {
        let (a, b) = (self.class(a).zero, self.class(b).zero);
        self.bits.bit_and(a, b)
    }

    /// Is `a` before `b`, with -0 before +0? NaNs are beyond the infinities of their signs.
    fn before(&mut self, a: &Word, b: &Word) -> Bit {
        let (left, right) = (self.magnitude(a), self.magnitude(b));
        let less = self.bits.ult(&left, &right);
        let more = self.bits.ult(&right, &left);
        let same_sign = self.bits.bit_ite(a.sign(), more, less);
        let differ = self.bits.bit_xor(a.sign(), b.sign());
        self.bits.bit_ite(differ, a.sign(), same_sign)
    }

    /// The lesser number, -0 being less than +0. A NaN gives way to a number.
    pub fn min(&mut self, a: &Word, b: &Word) -> Word {
        let first = self.before(a, b);
        self.chosen(first, a, b)
    }

    /// The greater number, in the same way.
    pub fn max(&mut self, a: &Word, b: &Word) -> Word {
        let first = self.before(b, a);
        self.chosen(first, a, b)
    }

    /// `otherwise`, unless one of `a` and `b` is no number.
    pub fn nan_if_unordered(&mut self, a: &Word, b: &Word, otherwise: &Word) -> Word {
        let unordered = self.unordered(a, b);
        self.or_nan(unordered, otherwise)
    }

    fn chosen(&mut self, first: Bit, a: &Word, b: &Word) -> Word {
        let (nan_a, nan_b) = (self.is_nan(a), self.is_nan(b));
        let first = self.bits.bit_or(first, nan_b);
        let first = self.bits.bit_and(first, !nan_a);
        let chosen = self.bits.ite(first, a, b);
        let neither = self.bits.bit_and(nan_a, nan_b);
        self.or_nan(neither, &chosen)
    }

    /// Is it of one of the classes of a mask, whose bits are numbered as LLVM does: NaN (signalling, quiet), then from
    /// -infinity by way of the zeros to +infinity?
    pub fn is_of_class(&mut self, a: &Word, mask: u64) -> Bit {
        let Class {
            nan,
            infinite,
            zero,
        } = self.class(a);
        let quiet = a.0[self.format.fraction - 1];
        let exponent = self.exponent(a);
        let least = self.bits.is_zero(&exponent);
        let subnormal = self.bits.bit_and(least, !zero);
        let normal = !self.bits.any([nan, infinite, least]);
        let classes = [
            (nan, !quiet),
            (nan, quiet),
            (infinite, a.sign()),
            (normal, a.sign()),
            (subnormal, a.sign()),
            (zero, a.sign()),
            (zero, !a.sign()),
            (subnormal, !a.sign()),
            (normal, !a.sign()),
            (infinite, !a.sign()),
        ];
        let wanted = classes.into_iter().enumerate();
        wanted
            .filter(|&(at, _)| mask >> at & 1 == 1)
            .fold(Bit::FALSE, |any, (_, (class, side))| {
                let here = self.bits.bit_and(class, side);
                self.bits.bit_or(any, here)
            })
    }

    // ---- choosing the result

    fn or_nan(&mut self, nan: Bit, otherwise: &Word) -> Word {
        self.bits.ite(nan, &self.format.nan(), otherwise)
    }

    fn or_infinity(&mut self, infinite: Bit, sign: Bit, otherwise: &Word) -> Word {
        let infinity = self.signed(sign, &self.magnitude(&self.format.infinity()));
        self.bits.ite(infinite, &infinity, otherwise)
    }

    fn or_zero(&mut self, zero: Bit, sign: Bit, otherwise: &Word) -> Word {
        let nothing = Word::constant(self.format.width() - 1, 0);
        self.bits.ite(zero, &self.signed(sign, &nothing), otherwise)
    }
}
