//! A small random generator (splitmix64) for generated instances: the same seed gives the same instance everywhere.

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform enough below `bound`, which is not 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        let high = ((self.next_u64() >> 32) * u64::from(bound)) >> 32;
        u32::try_from(high).expect("below a 32-bit bound")
    }

    pub fn flip(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }
}
