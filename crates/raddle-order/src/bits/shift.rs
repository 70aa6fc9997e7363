//! Shifts, by barrels of conditional shifts.

use super::{Bit, Bits, Word};

impl Bits {
    pub fn shl(&mut self, a: &Word, amount: &Word) -> Word {
        let reversed = Word::from_bits(a.bits().iter().rev().copied().collect());
        let shifted = self.shift_right(&reversed, amount, Bit::FALSE);
        Word::from_bits(shifted.bits().iter().rev().copied().collect())
    }

    pub fn lshr(&mut self, a: &Word, amount: &Word) -> Word {
        self.shift_right(a, amount, Bit::FALSE)
    }

    pub fn ashr(&mut self, a: &Word, amount: &Word) -> Word {
        self.shift_right(a, amount, a.sign())
    }

    /// The amount is the width or more: the result is poison in LLVM.
    pub fn shift_overflows(&mut self, amount: &Word) -> Bit {
        let width = amount.width();
        // The width itself may not fit a narrow word: compare with width - 1, which always does.
        let limit = Word::constant(width, width as u128 - 1);
        self.ult(&limit, amount)
    }

    fn shift_right(&mut self, a: &Word, amount: &Word, fill: Bit) -> Word {
        let width = a.width();
        assert_eq!(width, amount.width(), "operands of one width");
        let mut word = a.clone();
        let mut too_far = Bit::FALSE;
        for (stage, &condition) in amount.bits().iter().enumerate() {
            let distance = 1_usize
                .checked_shl(u32::try_from(stage).expect("few stages"))
                .unwrap_or(usize::MAX);
            if distance >= width {
                too_far = self.aig.or(too_far, condition);
                continue;
            }
            let bits = word.bits();
            let shifted = bits[distance..]
                .iter()
                .copied()
                .chain(std::iter::repeat_n(fill, distance))
                .collect();
            word = self.ite(condition, &Word::from_bits(shifted), &word);
        }
        let filled = Word::from_bits(vec![fill; width]);
        self.ite(too_far, &filled, &word)
    }
}
