//! Ranking: signals and their weights per axis, user bands, scales over the surviving options, the total.
//!
//! Every table here is checked while the contract is built: a set of weights that does not sum to 1 does
//! not compile.
//!
//! ```compile_fail
//! # use contract_sdk::Signals;
//! const TIME: Signals<2> = Signals::new([("distance", 0.5), ("duration", 0.4)]);
//! # fn main() { println!("{}", TIME.blend([1.0, 1.0])); }
//! ```
//!
//! An axis is `(1 - d) x rules + d x declared`, where `declared` is what the partner's manifest says of
//! itself and `d` the declared share. The total is `(1 - c) x sum(weight x axis) + c x completeness`, where
//! `c` is the completeness share.

use crate::bindings::{Axes, Axis};
use std::cell::OnceCell;
use std::cmp::Ordering;

/// How far a sum of weights may be from 1; decimal fractions have no exact binary form.
const SUM_TOLERANCE: f64 = 1e-9;

/// Share of the partner's declared signals in an axis, the same in every shipped contract.
pub const DECLARED_SHARE: f64 = 0.2;

/// Share of information completeness in the total (spec 2 and 3, `information_completeness_score`).
pub const COMPLETENESS_SHARE: f64 = 0.1;

/// Value of a signal of which nothing is known.
pub const NEUTRAL: f64 = 0.5;

/// A ranking signal and its share in its axis.
#[derive(Debug, Clone, Copy)]
pub struct Signal {
    pub name: &'static str,
    pub weight: f64,
}

/// The signals of one axis; their weights sum to 1.
#[derive(Debug, Clone, Copy)]
pub struct Signals<const N: usize> {
    list: [Signal; N],
}

impl<const N: usize> Signals<N> {
    /// Names and weights. Used in a constant, weights that do not sum to 1 fail the build.
    pub const fn new(pairs: [(&'static str, f64); N]) -> Self {
        let (list, sum) = Self::gather(pairs);
        assert!(
            is_one(sum),
            "the weights of the signals of one axis must sum to 1; change a weight of this list, or use `normalise`"
        );
        Self { list }
    }

    /// Names and relative weights, which are divided by their sum.
    pub const fn normalise(pairs: [(&'static str, f64); N]) -> Self {
        let (mut list, sum) = Self::gather(pairs);
        let mut index = 0;
        while index < N {
            list[index].weight /= sum;
            index += 1;
        }
        Self { list }
    }

    /// The same signals with one of them multiplied by a factor, normalised again. For bands that make
    /// one signal count more. An unknown name fails the build.
    pub const fn emphasise(&self, name: &str, factor: f64) -> Self {
        let mut pairs = [("", 0.0); N];
        let mut known = false;
        let mut index = 0;
        while index < N {
            let Signal { name: own, weight } = self.list[index];
            let named = same(own, name);
            known |= named;
            pairs[index] = (own, if named { weight * factor } else { weight });
            index += 1;
        }
        assert!(known, "the axis has no signal of this name; `emphasise` takes the name of one that the list has");
        Self::normalise(pairs)
    }

    const fn gather(pairs: [(&'static str, f64); N]) -> ([Signal; N], f64) {
        let mut list = [Signal { name: "", weight: 0.0 }; N];
        let mut sum = 0.0;
        let mut index = 0;
        while index < N {
            let (name, weight) = pairs[index];
            assert!(weight > 0.0, "each signal must have a weight above 0; leave out the one that counts for nothing");
            list[index] = Signal { name, weight };
            sum += weight;
            index += 1;
        }
        (list, sum)
    }

    /// The weighted mean of the signals' values, given in the order of declaration.
    #[inline]
    pub fn blend(&self, values: [f64; N]) -> f64 {
        let mut sum = 0.0;
        for (signal, value) in self.list.iter().zip(values) {
            sum += signal.weight * unit(value);
        }
        unit(sum)
    }

    /// The signals, for the descriptor.
    pub const fn list(&self) -> &[Signal] {
        &self.list
    }
}

/// A value cut to 0..=1; what is not a number counts as 0.
#[inline]
pub fn unit(value: f64) -> f64 {
    // By comparisons alone: `f64::min` is a call in a guest.
    if value >= 1.0 {
        1.0
    } else if value > 0.0 {
        value
    } else {
        0.0
    }
}

const fn is_one(sum: f64) -> bool {
    sum > 1.0 - SUM_TOLERANCE && sum < 1.0 + SUM_TOLERANCE
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Weights of the four axes; they sum to 1.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    axes: Axes,
}

impl Weights {
    /// Used in a constant, weights that do not sum to 1 fail the build.
    pub const fn new(time: f64, taste: f64, budget: f64, safety: f64) -> Self {
        assert!(
            time >= 0.0 && taste >= 0.0 && budget >= 0.0 && safety >= 0.0,
            "no weight of an axis may be negative; 0 leaves the axis out"
        );
        assert!(
            is_one(time + taste + budget + safety),
            "the weights of the four axes must sum to 1; change one of time, taste, budget, safety"
        );
        Self { axes: Axes { time, taste, budget, safety } }
    }

    pub const fn axes(&self) -> Axes {
        self.axes
    }
}

/// The signals of each axis, as the descriptor lists them.
#[derive(Debug, Clone, Copy)]
pub struct AxisSignals {
    pub time: &'static [Signal],
    pub taste: &'static [Signal],
    pub budget: &'static [Signal],
    pub safety: &'static [Signal],
}

/// What one value of a user's band does to the weight of its axis.
#[derive(Debug, Clone, Copy)]
pub struct BandFactor {
    pub axis: Axis,
    pub value: &'static str,
    pub factor: f64,
}

/// What the usual bands do to the weight of their axis: who is in a hurry cares more for time, who can wait cares less;
/// who wants it cheap cares more for the budget, who wants the best cares less; and so on.
pub const USUAL_BANDS: [BandFactor; 11] = [
    BandFactor { axis: Axis::Time, value: "fast", factor: 1.5 },
    BandFactor { axis: Axis::Time, value: "balanced", factor: 1.0 },
    BandFactor { axis: Axis::Time, value: "flexible", factor: 0.7 },
    BandFactor { axis: Axis::Taste, value: "balanced", factor: 1.0 },
    BandFactor { axis: Axis::Budget, value: "ok", factor: 1.5 },
    BandFactor { axis: Axis::Budget, value: "good", factor: 1.0 },
    BandFactor { axis: Axis::Budget, value: "great", factor: 0.8 },
    BandFactor { axis: Axis::Safety, value: "fast", factor: 0.7 },
    BandFactor { axis: Axis::Safety, value: "balanced", factor: 1.0 },
    BandFactor { axis: Axis::Safety, value: "flexible", factor: 1.0 },
    BandFactor { axis: Axis::Safety, value: "good", factor: 1.3 },
];

/// The bands and one more. Lengths that do not fit fail the build.
pub const fn with_band<const FEW: usize, const MORE: usize>(
    bands: [BandFactor; FEW],
    more: BandFactor,
) -> [BandFactor; MORE] {
    assert!(
        MORE == FEW + 1,
        "the list that `with_band` gives must be one longer than the list that it takes; correct its length"
    );
    let mut all = [more; MORE];
    let mut index = 0;
    while index < FEW {
        all[index] = bands[index];
        index += 1;
    }
    all
}

/// How the options of an intent are ranked.
#[derive(Debug, Clone, Copy)]
pub struct Ranking {
    pub(crate) weights: Weights,
    pub(crate) signals: AxisSignals,
    pub(crate) bands: &'static [BandFactor],
    pub(crate) declared_share: f64,
    pub(crate) completeness_share: f64,
}

impl Ranking {
    /// The usual shares of declared signals and completeness.
    pub const fn new(weights: Weights, signals: AxisSignals, bands: &'static [BandFactor]) -> Self {
        let mut index = 0;
        while index < bands.len() {
            assert!(
                bands[index].factor > 0.0,
                "the factor of a band must be above 0: a band may not switch its axis off"
            );
            index += 1;
        }
        Self { weights, signals, bands, declared_share: DECLARED_SHARE, completeness_share: COMPLETENESS_SHARE }
    }

    /// The same ranking with other weights of the axes: what a variant of a contract changes.
    pub const fn with_weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// The axis weights of one user: multiplied by the factors of the bands, then normalised.
    pub(crate) fn weights_for(&self, bands: &UserBands<'_>) -> Axes {
        let weights = self.weights.axes();
        let time = weights.time * self.factor(Axis::Time, bands.time);
        let taste = weights.taste * self.factor(Axis::Taste, bands.taste);
        let budget = weights.budget * self.factor(Axis::Budget, bands.budget);
        let safety = weights.safety * self.factor(Axis::Safety, bands.safety);
        let sum = time + taste + budget + safety;
        Axes { time: time / sum, taste: taste / sum, budget: budget / sum, safety: safety / sum }
    }

    /// The factor that a band gives to its axis; 1 for a value that the table does not know.
    pub fn factor(&self, axis: Axis, value: Option<&str>) -> f64 {
        value.and_then(|value| self.band(axis, value)).map_or(1.0, |band| band.factor)
    }

    /// The row of a band value; `None` for a value that the table does not know.
    pub fn band(&self, axis: Axis, value: &str) -> Option<&'static BandFactor> {
        self.bands.iter().find(|band| band.axis == axis && band.value == value)
    }

    /// Blends what the rules say of an option with what its source declares of itself.
    pub(crate) fn blend(&self, rules: &Axes, declared: &Axes) -> Axes {
        let share = self.declared_share;
        let mix = |rules: f64, declared: f64| unit((1.0 - share) * unit(rules) + share * unit(declared));
        Axes {
            time: mix(rules.time, declared.time),
            taste: mix(rules.taste, declared.taste),
            budget: mix(rules.budget, declared.budget),
            safety: mix(rules.safety, declared.safety),
        }
    }

    pub(crate) fn total(&self, weights: &Axes, axes: &Axes, completeness: f64) -> f64 {
        let sum = weights.time * axes.time
            + weights.taste * axes.taste
            + weights.budget * axes.budget
            + weights.safety * axes.safety;
        unit((1.0 - self.completeness_share) * sum + self.completeness_share * unit(completeness))
    }
}

/// The bands that a user chose, where they chose any (`ttbs_user_band`).
#[derive(Debug, Clone, Copy, Default)]
pub struct UserBands<'r> {
    pub time: Option<&'r str>,
    pub taste: Option<&'r str>,
    pub budget: Option<&'r str>,
    pub safety: Option<&'r str>,
}

impl<'r> UserBands<'r> {
    /// Each axis with its name and its value.
    pub(crate) fn each(&self) -> [(Axis, &'static str, Option<&'r str>); 4] {
        [
            (Axis::Time, "time", self.time),
            (Axis::Taste, "taste", self.taste),
            (Axis::Budget, "budget", self.budget),
            (Axis::Safety, "safety", self.safety),
        ]
    }
}

/// Least and greatest value of a signal among the surviving options.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    least: f64,
    most: f64,
}

impl Span {
    /// The span of these values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut span = Self { least: f64::INFINITY, most: f64::NEG_INFINITY };
        for value in values {
            if value < span.least {
                span.least = value;
            }
            if value > span.most {
                span.most = value;
            }
        }
        span
    }

    /// 1 for the least value, 0 for the greatest; 1 where all are equal.
    pub fn lower_is_better(&self, value: f64) -> f64 {
        if self.most > self.least { unit((self.most - value) / (self.most - self.least)) } else { 1.0 }
    }

    /// 1 for the greatest value, 0 for the least; 1 where all are equal.
    pub fn higher_is_better(&self, value: f64) -> f64 {
        if self.most > self.least { unit((value - self.least) / (self.most - self.least)) } else { 1.0 }
    }
}

/// An option in a ranking. The greater total comes first; between equal totals a hash of the request and the option's text decides,
/// and at last the text. Who sent an option, and in which place, never counts.
pub(crate) struct Place<'a> {
    pub(crate) total: f64,
    text: &'a str,
    /// Hashed once, and only where totals are equal: that is rare, and the texts are long.
    tie: OnceCell<u64>,
}

impl<'a> Place<'a> {
    pub(crate) fn new(total: f64, text: &'a str) -> Self {
        Self { total, text, tie: OnceCell::new() }
    }

    pub(crate) fn cmp(&self, other: &Self, request_id: &str) -> Ordering {
        let tie = |place: &Self| *place.tie.get_or_init(|| tie_hash(request_id, place.text));
        other
            .total
            .total_cmp(&self.total)
            .then_with(|| tie(self).cmp(&tie(other)))
            .then_with(|| self.text.cmp(other.text))
    }
}

/// A fixed hash, word by word. It only has to scatter: nobody gains by a collision, the text decides then.
fn tie_hash(request_id: &str, option: &str) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in [request_id, option] {
        let mut mix = |word: u64| hash = (hash ^ word).wrapping_mul(MULTIPLIER).rotate_left(29);
        let mut words = text.as_bytes().chunks_exact(8);
        for word in &mut words {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            mix(u64::from_le_bytes(bytes));
        }
        let mut bytes = [0; 8];
        bytes[..words.remainder().len()].copy_from_slice(words.remainder());
        mix(u64::from_le_bytes(bytes));
        mix(text.len() as u64);
    }
    (hash ^ (hash >> 32)).wrapping_mul(MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_cut_at_both_ends() {
        for (value, expected) in [
            (f64::NAN, 0.0),
            (f64::NEG_INFINITY, 0.0),
            (-0.0, 0.0),
            (5e-324, 5e-324),
            (1.0 - f64::EPSILON, 1.0 - f64::EPSILON),
            (1.0, 1.0),
            (1.0 + f64::EPSILON, 1.0),
            (f64::INFINITY, 1.0),
        ] {
            assert_eq!(unit(value).to_bits(), expected.to_bits(), "{value}");
        }
    }

    const AXIS: Signals<2> = Signals::new([("near", 0.25), ("cheap", 0.75)]);

    #[test]
    fn blending_clamps_each_signal() {
        assert_eq!(AXIS.blend([2.0, f64::NAN]), 0.25);
        assert_eq!(AXIS.blend([-1.0, 1.0]), 0.75);
    }

    #[test]
    fn emphasis_keeps_the_sum() {
        const DOUBLED: Signals<2> = AXIS.emphasise("near", 3.0);
        assert_eq!(DOUBLED.list()[0].weight, 0.5);
        assert_eq!(DOUBLED.blend([1.0, 1.0]), 1.0);
    }

    #[test]
    fn spans_are_relative_to_the_pool() {
        let span = Span::of([10.0, 20.0, 40.0]);
        assert_eq!(span.lower_is_better(10.0), 1.0);
        assert_eq!(span.lower_is_better(40.0), 0.0);
        assert_eq!(span.higher_is_better(40.0), 1.0);
        assert_eq!(Span::of([5.0, 5.0]).lower_is_better(5.0), 1.0);
        assert_eq!(Span::of([]).higher_is_better(5.0), 1.0);
        let with_none = Span::of([f64::NAN, 10.0, f64::NAN, 20.0, f64::NAN]);
        assert_eq!((with_none.least, with_none.most), (10.0, 20.0));
    }

    #[test]
    fn one_band_more_stands_at_the_end() {
        const BANDS: [BandFactor; 12] =
            with_band(USUAL_BANDS, BandFactor { axis: Axis::Safety, value: "great", factor: 1.5 });
        let row = |band: &BandFactor| (band.axis, band.value, band.factor);
        assert!(BANDS.iter().map(row).take(11).eq(USUAL_BANDS.iter().map(row)));
        assert_eq!(row(&BANDS[11]), (Axis::Safety, "great", 1.5));
    }

    #[test]
    fn bands_shift_weights_and_keep_their_sum() {
        const RANKING: Ranking = Ranking::new(
            Weights::new(0.25, 0.15, 0.25, 0.35),
            AxisSignals { time: AXIS.list(), taste: AXIS.list(), budget: AXIS.list(), safety: AXIS.list() },
            &[BandFactor { axis: Axis::Time, value: "fast", factor: 2.0 }],
        );
        let weights = RANKING.weights_for(&UserBands { time: Some("fast"), budget: Some("?"), ..UserBands::default() });
        assert_eq!((weights.time, weights.budget), (0.5 / 1.25, 0.25 / 1.25));
    }

    #[test]
    fn ties_depend_on_the_request_and_on_nothing_else() {
        let [a, b] = ["{\"id\":\"a\"}", "{\"id\":\"b\"}"].map(|text| move |total| Place::new(total, text));
        let orders: Vec<_> = (0..64).map(|seed| a(0.5).cmp(&b(0.5), &format!("request-{seed}"))).collect();
        assert!(orders.contains(&Ordering::Less) && orders.contains(&Ordering::Greater));
        assert_eq!(a(0.5).cmp(&b(0.5), "r"), b(0.5).cmp(&a(0.5), "r").reverse());
        assert_eq!(a(0.5).cmp(&a(0.6), "r"), Ordering::Greater);
    }

    /// What an author reads where a table does not compile.
    fn told<T>(make: fn() -> T) -> String {
        let Err(panic) = std::panic::catch_unwind(make) else { panic!("it is taken") };
        panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).expect("a text")
    }

    #[test]
    fn a_table_that_is_wrong_says_what_must_hold() {
        assert!(told(|| Weights::new(0.5, 0.2, 0.3, 0.2)).contains("the four axes must sum to 1"));
        assert!(told(|| Weights::new(1.5, -0.5, 0.0, 0.0)).contains("may be negative"));
        assert!(told(|| Signals::new([("near", 0.5), ("cheap", 0.4)])).contains("of one axis must sum to 1"));
        assert!(told(|| Signals::new([("near", 1.0), ("cheap", 0.0)])).contains("must have a weight above 0"));
        assert!(told(|| AXIS.emphasise("far", 2.0)).contains("takes the name of one"));
    }
}
