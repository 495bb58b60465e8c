//! Rates that are watched all the time: how often something happens out of how many times it might have, and what can be said of
//! the rate behind it whenever somebody looks.
//!
//! A test that is looked at after every call raises a false alarm sooner or later. A *confidence sequence* does not: the chance
//! that its bounds ever exclude the true rate, at any of the looks, is at most the error that it is asked for. This one is Robbins'
//! mixture for a rate with a beta prior: the evidence against a rate `p` is the likelihood of what was seen, mixed over all rates,
//! divided by its likelihood under `p`. Under `p` that is a martingale with mean 1, so by Ville's inequality it ever exceeds
//! `1 / error` with at most that chance. Howard, Ramdas, McAuliffe, Sekhon: Time-uniform, nonparametric, nonasymptotic confidence
//! sequences, Annals of Statistics 49(2), 2021.

use serde::{Deserialize, Serialize};

/// Both parameters of the prior: half a success and half a failure, which favours no rate.
const PRIOR: f64 = 0.5;
/// Halvings of the interval in which a bound is looked for: it is exact to 10^-15.
const HALVINGS: u32 = 50;

/// How often something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Counted {
    /// How often it might have happened.
    pub of: u64,
    /// How often it did; never more.
    pub hits: u64,
}

impl Counted {
    /// Notes one occasion.
    pub fn add(&mut self, is_hit: bool) {
        self.of += 1;
        self.hits += u64::from(is_hit);
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Self) {
        self.of += other.of;
        self.hits += other.hits;
    }

    /// Share of the occasions, 0 to 1; none without any.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// The rate is at least this, but for a chance of `error` over all looks together.
    #[must_use]
    pub fn at_least(self, error: f64) -> f64 {
        let Some(share) = self.share() else { return 0.0 };
        self.search(0.0, share, error, true)
    }

    /// The rate is at most this, but for a chance of `error` over all looks together.
    #[must_use]
    pub fn at_most(self, error: f64) -> f64 {
        let Some(share) = self.share() else { return 1.0 };
        self.search(share, 1.0, error, false)
    }

    /// Whether the rate is known to be above one, but for a chance of `error` over all looks together.
    #[must_use]
    pub fn is_above(self, rate: f64, error: f64) -> bool {
        self.share().is_some_and(|share| share > rate) && self.ln_evidence_against(rate) > -error.ln()
    }

    /// Whether it is known to be at most that.
    #[must_use]
    pub fn is_at_most(self, rate: f64, error: f64) -> bool {
        self.share().is_some_and(|share| share <= rate) && (rate >= 1.0 || self.ln_evidence_against(rate) > -error.ln())
    }

    /// Where the evidence reaches its limit between two rates, at one of which it is below. It grows with the distance from the
    /// share that was seen.
    fn search(self, low: f64, high: f64, error: f64, is_lower: bool) -> f64 {
        let limit = -error.ln();
        let (mut low, mut high) = (low, high);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if (self.ln_evidence_against(middle) < limit) == is_lower {
                high = middle;
            } else {
                low = middle;
            }
        }
        // The side that excludes less.
        if is_lower { low } else { high }
    }

    /// Logarithm of the evidence against a rate.
    fn ln_evidence_against(self, rate: f64) -> f64 {
        let (hits, misses) = (self.hits as f64, (self.of - self.hits) as f64);
        let mixed = ln_beta(PRIOR + hits, PRIOR + misses) - ln_beta(PRIOR, PRIOR);
        mixed - times_ln(hits, rate) - times_ln(misses, 1.0 - rate)
    }
}

/// What happened never is likely at a rate of nothing.
fn times_ln(count: f64, rate: f64) -> f64 {
    if count == 0.0 { 0.0 } else { count * rate.ln() }
}

/// Logarithm of the beta function.
fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

#[cfg(test)]
mod tests {
    use intent_gateway_testing::draws::Draws;
    use proptest::prelude::*;

    use super::*;

    fn counted(hits: u64, of: u64) -> Counted {
        Counted { of, hits }
    }

    #[test]
    fn nothing_seen_says_nothing() {
        assert_eq!(
            (counted(0, 0).at_least(0.01), counted(0, 0).at_most(0.01), counted(0, 0).share()),
            (0.0, 1.0, None)
        );
    }

    /// The evidence by its definition, for few occasions: the mixture is an integral, summed up here.
    #[test]
    fn the_evidence_is_the_mixture_of_likelihoods() {
        let (hits, of, rate) = (3_u64, 11_u64, 0.1_f64);
        let steps = 2_000_000;
        // The prior's density is 1 / (pi sqrt(p (1 - p))); with p = sin^2 t it is even in t.
        let mixed: f64 = (0..steps)
            .map(|step| {
                let angle = (f64::from(step) + 0.5) / f64::from(steps) * std::f64::consts::FRAC_PI_2;
                let p = angle.sin().powi(2);
                p.powi(3) * (1.0 - p).powi(8) / f64::from(steps)
            })
            .sum();
        let expected = (mixed / (rate.powi(3) * (1.0 - rate).powi(8))).ln();
        assert!((counted(hits, of).ln_evidence_against(rate) - expected).abs() < 1e-9);
    }

    #[test]
    fn bounds_close_in_on_the_rate() {
        let of_many = |of| counted(of / 10, of);
        let widths = [100, 10_000, 1_000_000].map(|of| of_many(of).at_most(0.01) - of_many(of).at_least(0.01));
        assert!(widths[0] > 0.15 && widths[1] < 0.03 && widths[2] < 0.003, "{widths:?}");
        // One call in ten that fails is known to be above 1 in 200 within a hundred.
        assert!(counted(10, 100).at_least(0.001) > 0.005);
        assert!(counted(1, 100).at_least(0.001) < 0.005);
    }

    #[test]
    fn what_always_and_what_never_happens_has_a_bound_on_one_side() {
        let (never, always) = (counted(0, 1_000), counted(1_000, 1_000));
        assert!(never.at_least(0.01) == 0.0 && never.at_most(0.01) < 0.01, "{}", never.at_most(0.01));
        assert!(always.at_most(0.01) == 1.0 && always.at_least(0.01) > 0.99);
    }

    proptest! {
        #[test]
        fn the_share_lies_between_the_bounds(of in 1_u64..1_000_000_000, part in 0.0_f64..=1.0, error in 1e-9_f64..0.5) {
            let counted = counted((of as f64 * part) as u64, of);
            let (low, share, high) = (counted.at_least(error), counted.share().expect("some"), counted.at_most(error));
            prop_assert!((0.0..=1.0).contains(&low) && low <= share && share <= high && high <= 1.0, "{low} {share} {high}");
            let (below, beyond) = (low * 0.999, high + (1.0 - high) * 0.001);
            prop_assert!(low == 0.0 || (counted.is_above(below, error) && !counted.is_above(low * 1.001, error)));
            prop_assert!(counted.is_at_most(beyond, error) && !counted.is_at_most(high * 0.999, error));
        }
    }

    const SEQUENCES: u32 = 1_000;
    const CALLS: u64 = 1_000;
    const ERROR: f64 = 0.05;

    /// How many sequences are alarming at one of the looks, one after each call.
    fn count_alarms(rate: f64, is_alarming: impl Fn(Counted) -> bool) -> u32 {
        let mut draws = Draws::seeded(7);
        let raises_alarm = |_: &u32| {
            let mut counted = Counted::default();
            let mut has_alarmed = false;
            for _ in 0..CALLS {
                counted.add(draws.draw() < rate);
                has_alarmed |= is_alarming(counted);
            }
            has_alarmed
        };
        u32::try_from((0..SEQUENCES).filter(raises_alarm).count()).expect("it is at most all")
    }

    #[test]
    fn looking_all_the_time_raises_no_more_false_alarms_than_stated() {
        let allowed = (f64::from(SEQUENCES) * ERROR) as u32;
        for rate in [0.001, 0.02, 0.3] {
            let alarms = count_alarms(rate, |counted| counted.ln_evidence_against(rate) >= -ERROR.ln());
            assert!(alarms <= allowed, "{alarms} at {rate}");
        }
        // A test that is meant for one look raises many times as many, so that the count above can fail.
        let is_unlikely = |counted: Counted| {
            let (of, rate) = (counted.of as f64, 0.3_f64);
            (counted.hits as f64 - of * rate).abs() > 1.96 * (of * rate * (1.0 - rate)).sqrt()
        };
        let alarms = count_alarms(0.3, |counted| counted.of >= 30 && is_unlikely(counted));
        assert!(alarms > 5 * allowed, "{alarms}");
    }
}
