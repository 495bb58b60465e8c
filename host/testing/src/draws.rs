//! Numbers that look drawn by chance and are the same in every run.

/// A generator after Steele, Lea and Flood (SplitMix64).
pub struct Draws(u64);

impl Draws {
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, from 0 up to 1 and never 1.
    #[must_use]
    pub fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// How many times something does not happen before it does, at a rate; beyond all counting where that is nothing.
    #[must_use]
    pub fn until(&mut self, rate: f64) -> u64 {
        if rate <= 0.0 {
            return u64::MAX;
        }
        // From 0, and beyond all that is counted at the smallest rates.
        ((1.0 - self.draw()).ln() / (1.0 - rate).ln()) as u64
    }
}
