//! Rounding to whole numbers.

use super::{Bit, Floats, Word};

/// Which whole number is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    Down,
    Up,
    TowardsZero,
    /// To the nearest, of two the even one.
    Nearest,
    /// To the nearest, of two the one farther from zero.
    NearestAway,
}

/// What is behind the point.
struct Behind {
    /// The first digit: at least one half.
    half: Bit,
    /// Any of the others.
    more: Bit,
    /// Is the number before the point odd?
    odd: Bit,
}

impl Floats<'_> {
    pub fn to_integral(&mut self, a: &Word, rounding: Rounding) -> Word {
        let nan = self.is_nan(a);
        let (bias, fraction) = (self.format.bias(), self.format.fraction);
        let below_one = !self.exponent_is_at_least(a, bias);
        let large = self.magnitude_rounded(a, rounding);
        let small = self.rounded_below_one(a, rounding);
        let rounded = self.bits.ite(below_one, &small, &large);
        let whole = self.exponent_is_at_least(a, bias + fraction as u128);
        let magnitude = self.magnitude(a);
        let magnitude = self.bits.ite(whole, &magnitude, &rounded);
        let number = self.signed(a.sign(), &magnitude);
        self.or_nan(nan, &number)
    }

    fn exponent_is_at_least(&mut self, a: &Word, least: u128) -> Bit {
        let exponent = self.exponent(a);
        let least = Word::constant(exponent.width(), least);
        self.bits.ule(&least, &exponent)
    }

    /// For numbers from 1 on that have digits behind the point.
    fn magnitude_rounded(&mut self, a: &Word, rounding: Rounding) -> Word {
        let (bias, fraction) = (self.format.bias(), self.format.fraction);
        let magnitude = self.magnitude(a);
        // Which bits of the fraction are before the point, and which is the last of all that are: that may also be the
        // leading one, in whose place the last bit of the exponent is, which is set as the bias is odd.
        let before: Vec<Bit> = (0..fraction)
            .map(|at| self.exponent_is_at_least(a, bias + (fraction - at) as u128))
            .collect();
        let mut unit = vec![before[0]];
        for at in 1..=fraction {
            let here = before.get(at).copied().unwrap_or(Bit::TRUE);
            unit.push(self.bits.bit_and(here, !before[at - 1]));
        }
        let mut behind = Behind {
            half: Bit::FALSE,
            more: Bit::FALSE,
            odd: Bit::FALSE,
        };
        let mut kept = magnitude.clone();
        for at in 0..=fraction {
            let bit = magnitude.0[at];
            let odd = self.bits.bit_and(bit, unit[at]);
            behind.odd = self.bits.bit_or(behind.odd, odd);
            if at == fraction {
                break;
            }
            let half = self.bits.bit_and(bit, unit[at + 1]);
            behind.half = self.bits.bit_or(behind.half, half);
            let more = self.bits.all([bit, !before[at], !unit[at + 1]]);
            behind.more = self.bits.bit_or(behind.more, more);
            kept.0[at] = self.bits.bit_and(bit, before[at]);
        }
        let up = self.is_rounded_up(a.sign(), &behind, rounding);
        let unit: Vec<Bit> = (unit.into_iter())
            .map(|bit| self.bits.bit_and(bit, up))
            .collect();
        let unit = Word::from_bits(unit).zext(kept.width());
        self.bits.add(&kept, &unit)
    }

    /// For numbers below 1: nothing or one.
    fn rounded_below_one(&mut self, a: &Word, rounding: Rounding) -> Word {
        let bias = self.format.bias();
        let half = self.exponent_is_at_least(a, bias - 1);
        let fraction = self.fraction(a);
        let exponent = self.exponent(a);
        let any = self.bits.any(fraction.0);
        let least = self.bits.is_zero(&exponent);
        let nonzero = self.bits.bit_or(any, !least);
        let not_half_alone = self.bits.bit_ite(half, any, nonzero);
        let behind = Behind {
            half,
            more: not_half_alone,
            odd: Bit::FALSE,
        };
        let up = self.is_rounded_up(a.sign(), &behind, rounding);
        let one = Word::constant(self.format.width() - 1, bias << self.format.fraction);
        let nothing = Word::constant(one.width(), 0);
        self.bits.ite(up, &one, &nothing)
    }

    /// Is it the number farther from zero?
    fn is_rounded_up(&mut self, sign: Bit, behind: &Behind, rounding: Rounding) -> Bit {
        let any = self.bits.bit_or(behind.half, behind.more);
        match rounding {
            Rounding::Down => self.bits.bit_and(sign, any),
            Rounding::Up => self.bits.bit_and(!sign, any),
            Rounding::TowardsZero => Bit::FALSE,
            Rounding::Nearest => {
                let not_even = self.bits.bit_or(behind.more, behind.odd);
                self.bits.bit_and(behind.half, not_even)
            }
            Rounding::NearestAway => behind.half,
        }
    }
}
