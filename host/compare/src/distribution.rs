//! How figures are spread, in bounded memory.

use serde::{Deserialize, Serialize};

/// Bars of a histogram.
const BARS: usize = 20;

/// How the figures of many receipts are spread between two bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Distribution {
    /// How many there are.
    pub count: u64,
    /// Their mean; 0 where there are none.
    pub mean: f64,
    /// The least; 0 where there are none.
    pub min: f64,
    /// The greatest; 0 where there are none.
    pub max: f64,
    /// Where the first bar begins.
    pub from: f64,
    /// Where the last bar ends.
    pub to: f64,
    /// Bars of equal width, and how many figures are in each. What lies outside is in the first or the last one.
    pub bars: Vec<u64>,
}

impl Distribution {
    /// Without figures.
    #[must_use]
    pub fn between(from: f64, to: f64) -> Self {
        Self { count: 0, mean: 0.0, min: 0.0, max: 0.0, from, to, bars: vec![0; BARS] }
    }

    /// Adds a figure. What is not a number is left out.
    pub fn add(&mut self, figure: f64) {
        if figure.is_nan() {
            return;
        }
        (self.min, self.max) =
            if self.count == 0 { (figure, figure) } else { (self.min.min(figure), self.max.max(figure)) };
        self.count += 1;
        self.mean += (figure - self.mean) / self.count as f64;
        let place = (figure - self.from) / (self.to - self.from) * BARS as f64;
        let bar = if place <= 0.0 { 0 } else { (place as usize).min(BARS - 1) };
        self.bars[bar] += 1;
    }

    /// Adds the figures of another one with the same bounds.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        let count = self.count + other.count;
        self.mean += (other.mean - self.mean) * (other.count as f64 / count as f64);
        self.count = count;
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        for (bar, more) in self.bars.iter_mut().zip(&other.bars) {
            *bar += more;
        }
    }
}

/// Bars of a histogram of times: each is a tenth of a doubling wide, from a microsecond to over a minute.
const TIME_BARS: usize = 270;
const BARS_OF_A_DOUBLING: f64 = 10.0;

/// How long calls took: percentiles are right to seven per cent.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    bars: Vec<u64>,
    pub(crate) count: u64,
    pub(crate) max_us: f64,
}

impl Default for Times {
    fn default() -> Self {
        Self { bars: vec![0; TIME_BARS], count: 0, max_us: 0.0 }
    }
}

impl Times {
    pub(crate) fn add(&mut self, micros: f64) {
        let bar = if micros <= 1.0 { 0 } else { ((micros.log2() * BARS_OF_A_DOUBLING) as usize).min(TIME_BARS - 1) };
        self.bars[bar] += 1;
        self.count += 1;
        self.max_us = self.max_us.max(micros);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (bar, more) in self.bars.iter_mut().zip(&other.bars) {
            *bar += more;
        }
        self.count += other.count;
        self.max_us = self.max_us.max(other.max_us);
    }

    /// What so many per cent of the calls do not exceed, microseconds: the upper end of its bar.
    pub(crate) fn percentile(&self, percent: u64) -> f64 {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bar, count) in self.bars.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return ((bar + 1) as f64 / BARS_OF_A_DOUBLING).exp2().min(self.max_us);
            }
        }
        self.max_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_fall_into_their_bars_and_two_halves_are_the_whole() {
        let (mut whole, mut left, mut right) =
            (Distribution::between(0.0, 1.0), Distribution::between(0.0, 1.0), Distribution::between(0.0, 1.0));
        for (at, figure) in [0.0, 0.04, 0.05, 0.5, 1.0, 1.5, -2.0, f64::NAN].into_iter().enumerate() {
            whole.add(figure);
            if at % 2 == 0 { left.add(figure) } else { right.add(figure) }
        }
        assert_eq!((whole.count, whole.min, whole.max), (7, -2.0, 1.5));
        assert_eq!((whole.bars[0], whole.bars[1], whole.bars[10], whole.bars[19]), (3, 1, 1, 2));
        left.merge(&right);
        assert_eq!((left.count, left.min, left.max, &left.bars), (whole.count, whole.min, whole.max, &whole.bars));
        assert!((left.mean - whole.mean).abs() < 1e-12);
        let mut empty = Distribution::between(0.0, 1.0);
        empty.merge(&whole);
        assert_eq!(empty, whole);
    }

    #[test]
    fn percentiles_of_times_are_near() {
        let mut times = Times::default();
        (1..=1_000).for_each(|micros| times.add(f64::from(micros)));
        for (percent, expected) in [(50, 500.0), (99, 990.0), (100, 1_000.0)] {
            let found = times.percentile(percent);
            assert!((found / expected - 1.0).abs() < 0.075, "{percent}: {found}");
        }
        assert_eq!(Times::default().percentile(50), 0.0);
        let mut slow = Times::default();
        slow.add(1e9);
        assert!(slow.percentile(50) > 1e8);
    }
}
