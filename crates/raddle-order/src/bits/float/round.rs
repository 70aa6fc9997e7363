//! From an exact result to the nearest number of the format.
//!
//! A result on its way is a sign, an exponent (biased, signed, of any width) and a significand of any width, whose first
//! bit has the weight that the exponent says. The last bit may stand for all that come after it ("sticky") where there are
//! at least two more bits than the format has.

use super::{Bit, Floats, Word};

/// Where an exact result may be, if it is not zero. What is certain not to happen costs nothing.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// Below the normal numbers.
    pub(super) small: bool,
    /// At twice the weight of the largest number's first bit, or beyond.
    pub(super) large: bool,
}

impl Reach {
    pub(super) const ANYWHERE: Self = Self {
        small: true,
        large: true,
    };
    pub(super) const WITHIN: Self = Self {
        small: false,
        large: false,
    };
}

impl Floats<'_> {
    /// Shifts the first one to the top, and says how far that was.
    pub(super) fn shifted_to_top(&mut self, significand: &Word) -> (Word, Word) {
        let width = significand.width();
        let mut word = significand.clone();
        let mut distance = Vec::new();
        for stage in stages(width) {
            let empty = !self.bits.any(word.0[width - (1 << stage)..].to_vec());
            word = self.shift_left_if(empty, &word, 1 << stage);
            distance.push(empty);
        }
        distance.reverse();
        if distance.is_empty() {
            distance.push(Bit::FALSE);
        }
        (word, Word::from_bits(distance))
    }

    /// As [`Self::shifted_to_top`], but no farther than an exponent of 1. The exponent must be 1 at least. Returns the new one.
    fn towards_top(&mut self, exponent: &Word, significand: &Word) -> (Word, Word) {
        let width = significand.width();
        let (mut exponent, mut word) = (exponent.clone(), significand.clone());
        for stage in stages(width) {
            let by = Word::constant(exponent.width(), 1 << stage);
            let empty = !self.bits.any(word.0[width - (1 << stage)..].to_vec());
            let room = self.bits.ult(&by, &exponent);
            let shift = self.bits.bit_and(empty, room);
            word = self.shift_left_if(shift, &word, 1 << stage);
            let less = self.bits.sub(&exponent, &by);
            exponent = self.bits.ite(shift, &less, &exponent);
        }
        (exponent, word)
    }

    fn shift_left_if(&mut self, condition: Bit, word: &Word, by: usize) -> Word {
        let shifted = Word::constant(by, 0).concat(&word.extract(0, word.width() - by));
        self.bits.ite(condition, &shifted, word)
    }

    /// Shifts right by an unsigned number; the last bit of the result is also set if ones were lost.
    pub(super) fn shift_right_sticky(&mut self, word: &Word, amount: &Word) -> Word {
        let width = word.width();
        let mut word = word.clone();
        let mut too_far = Bit::FALSE;
        for (stage, &condition) in amount.0.iter().enumerate() {
            if stage >= usize::BITS as usize || 1 << stage >= width {
                too_far = self.bits.bit_or(too_far, condition);
                continue;
            }
            let by = 1 << stage;
            let lost = self.bits.any(word.0[..=by].to_vec());
            let mut shifted = word.extract(by, width).zext(width);
            shifted.0[0] = lost;
            word = self.bits.ite(condition, &shifted, &word);
        }
        let any = self.bits.any(word.0.clone());
        let rest = Word::from_bits(vec![any]).zext(width);
        self.bits.ite(too_far, &rest, &word)
    }

    /// The nearest number, for results within `reach` of the format.
    pub(super) fn round(
        &mut self,
        sign: Bit,
        exponent: &Word,
        significand: &Word,
        reach: Reach,
    ) -> Word {
        let (top, distance) = self.shifted_to_top(significand);
        let distance = distance.zext(exponent.width());
        let exponent = self.bits.sub(exponent, &distance);
        let mut kept = self.kept(&top);
        if reach.small {
            let one = Word::constant(exponent.width(), 1);
            let missing = self.bits.sub(&one, &exponent);
            let is_missing = !missing.sign();
            let missing = missing.extract(0, missing.width() - 1);
            let missing = Word(
                (missing.0.iter())
                    .map(|&bit| self.bits.bit_and(bit, is_missing))
                    .collect(),
            );
            kept = self.shift_right_sticky(&kept, &missing);
        }
        self.pack(sign, &exponent, &kept, reach.large)
    }

    /// The nearest number, where the exponent is 1 at least and where no ones are lost below the least normal numbers: so
    /// it is with sums.
    pub(super) fn round_sum(&mut self, sign: Bit, exponent: &Word, significand: &Word) -> Word {
        let (exponent, top) = self.towards_top(exponent, significand);
        let kept = self.kept(&top);
        self.pack(sign, &exponent, &kept, true)
    }

    /// As many bits as the format has, the next one, and whether there is any after that.
    fn kept(&mut self, significand: &Word) -> Word {
        let (width, wanted) = (significand.width(), self.format.precision() + 2);
        if width <= wanted {
            if width == wanted {
                return significand.clone();
            }
            return Word::constant(wanted - width, 0).concat(significand);
        }
        let from = width - wanted;
        let mut kept = significand.extract(from, width);
        kept.0[0] = self.bits.any(significand.0[..=from].to_vec());
        kept
    }

    /// The last step. A significand without leading one belongs to a number below the normal ones.
    fn pack(&mut self, sign: Bit, exponent: &Word, kept: &Word, may_be_large: bool) -> Word {
        let format = self.format;
        let leading = kept.sign();
        let fraction = kept.extract(2, 2 + format.fraction);
        let stored = Word(
            (exponent.0[..format.exponent].iter())
                .map(|&bit| self.bits.bit_and(bit, leading))
                .collect(),
        );
        let behind = self.bits.bit_or(kept.0[0], fraction.0[0]);
        let up = self.bits.bit_and(kept.0[1], behind);
        // A carry out of the fraction moves on to the exponent, and from the largest number to infinity, as it should.
        let magnitude = fraction.concat(&stored);
        let nothing = Word::constant(magnitude.width(), 0);
        let magnitude = self.bits.add_with_carry(&magnitude, &nothing, up).0;
        let number = self.signed(sign, &magnitude);
        if !may_be_large {
            return number;
        }
        let top = Word::constant(exponent.width(), format.top());
        let below = self.bits.slt(exponent, &top);
        let too_large = self.bits.bit_and(leading, !below);
        self.or_infinity(too_large, sign, &number)
    }
}

/// The powers of two, from the largest, by which a word of this width can be shifted.
fn stages(width: usize) -> impl Iterator<Item = usize> {
    let count = (usize::BITS - (width - 1).leading_zeros()) as usize;
    (0..count).rev()
}
