//! Numbers of 128 bits that stand for sequences of words.

/// Takes words one after another. Each step is a bijection of the 128 bits, so two sequences that differ in one word never have the same number, and others only by chance.
#[derive(Clone, Copy, Debug)]
pub struct Mixer {
    low: u64,
    high: u64,
}

impl Default for Mixer {
    fn default() -> Self {
        Self {
            low: 0x243F_6A88_85A3_08D3,
            high: 0x1319_8A2E_0370_7344,
        }
    }
}

impl Mixer {
    const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
    const SECOND: u64 = 0xD6E8_FEB8_6659_FD93;

    #[inline]
    pub fn add(&mut self, word: u64) {
        self.low = (self.low ^ word).wrapping_mul(Self::FIRST);
        self.low ^= self.low >> 29;
        let high = self.high.rotate_left(23).wrapping_add(self.low);
        self.high = high.wrapping_mul(Self::SECOND);
        self.high ^= self.high >> 32;
        self.low = self.low.wrapping_add(self.high).rotate_left(31);
    }

    #[inline]
    #[must_use]
    pub fn finish(mut self) -> u128 {
        self.add(0);
        self.add(0);
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashSet;

    /// Sequences that are much alike, as states are.
    #[test]
    fn sequences_that_are_alike_are_told_apart() {
        let mut seen = FxHashSet::default();
        let mut halves = [FxHashSet::default(), FxHashSet::default()];
        for (a, b, c) in (0..64u64 * 64 * 64).map(|at| (at % 64, at / 64 % 64, at / 4096)) {
            let mut mixer = Mixer::default();
            for word in [0, a, 1, b, 2, c << 56] {
                mixer.add(word);
            }
            let number = mixer.finish();
            assert!(seen.insert(number), "{a} {b} {c}");
            halves[0].insert(number as u64);
            halves[1].insert((number >> 64) as u64);
        }
        // Each half tells them apart by itself: of 2^64 numbers, 2^18 are.
        assert!(halves.iter().all(|half| half.len() == seen.len()));
    }

    #[test]
    fn length_and_order_count() {
        let of = |words: &[u64]| {
            let mut mixer = Mixer::default();
            words.iter().for_each(|&word| mixer.add(word));
            mixer.finish()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        assert_ne!(of(&[]), of(&[0]));
    }
}
