//! What the weights of a ranking were. A receipt has scores and totals; the weights are its contract's, changed by the bands that the
//! user chose. So those are taken that make the totals of the receipt out of its scores, and where none do, that is said.

use intent_gateway_domain::contract::{Axes, Axis, Ranking};
use intent_gateway_domain::receipt::ReceiptScore;
use serde_json::Value;

pub(super) const AXES: [(Axis, &str); 4] =
    [(Axis::Time, "time"), (Axis::Taste, "taste"), (Axis::Budget, "budget"), (Axis::Safety, "safety")];

/// Factors that are tried for one axis: more than any contract has bands of it.
const FACTORS_MAX: usize = 8;
/// Two totals that are closer are the same: what the order of additions leaves open.
const CLOSE: f64 = 1e-9;

/// What each score counts in a total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    /// Of the axes, what completeness leaves.
    pub(super) axes: Axes,
    pub(super) completeness: f64,
    /// Whether they make the totals of the receipt.
    pub(super) fit: bool,
}

impl Weights {
    /// Those of one ranking: with the bands that its arguments name, or else with those that make its totals. A contract may take a
    /// band from elsewhere in the arguments.
    pub(super) fn of(ranking: &Ranking, arguments: &Value, scores: &[ReceiptScore]) -> Self {
        let named = AXES.map(|(axis, name)| {
            let value = arguments.pointer(&format!("/ttbs_user_band/{name}")).and_then(Value::as_str);
            let band = ranking.bands.iter().find(|band| band.axis == axis && Some(band.value.as_str()) == value);
            band.map_or(1.0, |band| band.factor)
        });
        let by_name = Self::with_factors(ranking, named);
        let tried = std::iter::once(named).chain(combine(ranking));
        let fitting = tried.map(|factors| Self::with_factors(ranking, factors)).find(|weights| weights.make(scores));
        fitting.map_or(by_name, |weights| Self { fit: true, ..weights })
    }

    fn with_factors(ranking: &Ranking, factors: [f64; 4]) -> Self {
        let declared = ranking.weights.values();
        let weighed: [f64; 4] = std::array::from_fn(|axis| declared[axis] * factors[axis]);
        let sum: f64 = weighed.iter().sum();
        let share = 1.0 - ranking.completeness_share;
        let [time, taste, budget, safety] = weighed.map(|weight| if sum > 0.0 { share * weight / sum } else { 0.0 });
        Self { axes: Axes { time, taste, budget, safety }, completeness: ranking.completeness_share, fit: false }
    }

    /// Whether all totals come of them.
    fn make(&self, scores: &[ReceiptScore]) -> bool {
        scores.iter().all(|score| (self.total(score) - score.total).abs() < CLOSE)
    }

    fn total(&self, score: &ReceiptScore) -> f64 {
        let of_axes: f64 =
            self.axes.values().iter().zip(score.axes.values()).map(|(weight, score)| weight * score).sum();
        (of_axes + self.completeness * score.completeness).clamp(0.0, 1.0)
    }
}

/// The factors of all bands that a user can choose together.
fn combine(ranking: &Ranking) -> impl Iterator<Item = [f64; 4]> {
    let [time, taste, budget, safety] = AXES.map(|(axis, _)| {
        let own = ranking.bands.iter().filter(move |band| band.axis == axis).map(|band| band.factor);
        std::iter::once(1.0).chain(own).take(FACTORS_MAX).collect::<Vec<f64>>()
    });
    let count = time.len() * taste.len() * budget.len() * safety.len();
    (0..count).map(move |number| {
        let mut rest = number;
        [&time, &taste, &budget, &safety].map(|factors| {
            let place = rest % factors.len();
            rest /= factors.len();
            factors[place]
        })
    })
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::contract::Band;
    use serde_json::json;

    use super::*;

    fn ranking() -> Ranking {
        let band = |axis, value: &str, factor| Band { axis, value: value.to_owned(), factor };
        Ranking {
            weights: Axes { time: 0.4, taste: 0.2, budget: 0.2, safety: 0.2 },
            declared_share: 0.2,
            completeness_share: 0.1,
            signals: Vec::new(),
            bands: vec![band(Axis::Budget, "value", 2.0), band(Axis::Time, "urgent", 1.5)],
        }
    }

    fn score(number: u32, axes: Axes, completeness: f64, total: f64) -> ReceiptScore {
        ReceiptScore { number, id: format!("option-{number}"), total, axes, completeness }
    }

    fn axes(time: f64, taste: f64, budget: f64, safety: f64) -> Axes {
        Axes { time, taste, budget, safety }
    }

    #[test]
    fn the_weights_are_those_that_make_the_totals() {
        let (fast, cheap) = (axes(1.0, 0.5, 0.0, 0.5), axes(0.0, 0.5, 1.0, 0.25));
        let plain = [score(0, fast, 1.0, 0.9 * 0.6 + 0.1), score(1, cheap, 0.5, 0.9 * 0.35 + 0.05)];
        let weights = Weights::of(&ranking(), &json!({}), &plain);
        assert!(weights.fit && (weights.axes.time - 0.36).abs() < CLOSE);
        // Budget counts twice, and all is shared anew: 0.4, 0.2, 0.4, 0.2 of 1.2.
        let banded = [score(0, fast, 1.0, 0.9 * 0.6 / 1.2 + 0.1), score(1, cheap, 0.5, 0.9 * 0.55 / 1.2 + 0.05)];
        for arguments in [json!({"ttbs_user_band": {"budget": "value"}}), json!({"preferences": {"budget": "value"}})] {
            let weights = Weights::of(&ranking(), &arguments, &banded);
            assert!(weights.fit && (weights.axes.budget - 0.3).abs() < CLOSE, "{arguments}");
        }
        let other = [score(0, fast, 1.0, 0.123)];
        assert!(!Weights::of(&ranking(), &json!({}), &other).fit);
    }
}
