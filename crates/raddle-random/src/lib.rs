//! Random numbers for tests: the same on every machine, without a dependency. No shipped crate depends on this one.
//!
//! There is one generator, SplitMix64 (Steele, Lea, Flood 2014). Tests differ in the numbers that they work with, so a stream has a type of
//! numbers: [`Random`], [`Random32`], [`RandomIndex`].
//!
//! ```
//! use raddle_random::Random;
//!
//! let mut random = Random::new(7);
//! let dice = 1 + random.below(6);
//! assert!((1..=6).contains(&dice));
//! assert_eq!(dice, 1 + Random::new(7).below(6));
//! ```

use std::marker::PhantomData;

/// A stream of numbers of 64 bits.
pub type Random = Stream<u64>;
/// A stream of numbers of 32 bits.
pub type Random32 = Stream<u32>;
/// A stream of indices.
pub type RandomIndex = Stream<usize>;

/// What a stream consists of. Seeds of failures are kept, so what is done with them must stay as it is.
pub trait Number: Copy {
    /// Seeds are changed by this: tests with the same seeds and other numbers do not get the same stream.
    const SALT: u64;

    /// The number below `bound` that these bits stand for. No bound is 0, but for indices, whose only one then is 0.
    fn below(bits: u64, bound: Self) -> Self;
}

impl Number for u64 {
    const SALT: u64 = 0x5851_F42D_4C95_7F2D;

    fn below(bits: u64, bound: Self) -> Self {
        bits % bound
    }
}

impl Number for u32 {
    const SALT: u64 = 0;

    fn below(bits: u64, bound: Self) -> Self {
        let high = ((bits >> 32) * u64::from(bound)) >> 32;
        Self::try_from(high).expect("below a bound of 32 bits")
    }
}

impl Number for usize {
    const SALT: u64 = 0;

    fn below(bits: u64, bound: Self) -> Self {
        (bits % bound.max(1) as u64) as Self
    }
}

/// Deterministic pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Stream<N> {
    state: u64,
    numbers: PhantomData<N>,
}

impl<N: Number> Stream<N> {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed ^ N::SALT,
            numbers: PhantomData,
        }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: N) -> N {
        N::below(self.next_u64(), bound)
    }

    pub fn flip(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// True with probability `percent`/100.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.next_u64() % 100 < percent
    }

    /// One of the items, which must not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[(self.next_u64() % items.len() as u64) as usize]
    }

    /// One of the items, if there are any.
    pub fn one_of<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        (!items.is_empty()).then(|| items[(self.next_u64() % items.len() as u64) as usize].clone())
    }

    /// An index, each with the probability of its weight. Weights must not all be 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u32 = weights.iter().sum();
        let mut at = (self.next_u64() % u64::from(total)) as u32;
        for (index, &weight) in weights.iter().enumerate() {
            if at < weight {
                return index;
            }
            at -= weight;
        }
        weights.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the generator's reference implementation with seed 0.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut random = Random32::new(0);
        assert_eq!(random.next_u64(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.next_u64(), 0x6E78_9E6A_A1B9_65F4);
        assert_eq!(random.next_u64(), 0x06C4_5D18_8009_454F);
    }

    /// Seeds that tests name keep their meaning.
    #[test]
    fn streams_stay_what_they_are() {
        let numbers: Vec<u64> = std::iter::repeat_with({
            let mut random = Random::new(1);
            move || random.below(1000)
        })
        .take(4)
        .collect();
        let small: Vec<u32> = std::iter::repeat_with({
            let mut random = Random32::new(1);
            move || random.below(1000)
        })
        .take(4)
        .collect();
        let indices: Vec<usize> = std::iter::repeat_with({
            let mut random = RandomIndex::new(1);
            move || random.below(1000)
        })
        .take(4)
        .collect();
        assert_eq!(numbers, [451, 652, 5, 604]);
        assert_eq!(small, [566, 745, 971, 444]);
        assert_eq!(indices, [465, 519, 590, 235]);
    }
}
