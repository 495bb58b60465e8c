//! Which offers come first: time, taste, budget and safety.
//!
//! Every signal is monotone and lies in 0..=1. Weights are checked while building: those of the axes, and those of
//! the signals of each axis, sum to 1.

use crate::option::Offer;
use crate::request::Request;
use contract_sdk::bindings::{Axes, Axis};
use contract_sdk::{AxisSignals, BandFactor, PastOrder, Ranking, Signals, Span, Weights};

/// Weights of the axes: time, taste, budget, safety.
const WEIGHTS: Weights = Weights::new(0.25, 0.20, 0.30, 0.25);

const TIME: &Signals<2> = &Signals::new([("start", 0.6), ("distance", 0.4)]);
const TASTE: &Signals<1> = &Signals::new([("rating", 1.0)]);
const BUDGET: &Signals<1> = &Signals::new([("total", 1.0)]);
const SAFETY: &Signals<1> = &Signals::new([("warranty", 1.0)]);

/// What a user's band does to the weight of its axis.
const BANDS: &[BandFactor] = &[
    BandFactor { axis: Axis::Time, value: "fast", factor: 1.5 },
    BandFactor { axis: Axis::Time, value: "balanced", factor: 1.0 },
    BandFactor { axis: Axis::Taste, value: "balanced", factor: 1.0 },
    BandFactor { axis: Axis::Budget, value: "ok", factor: 1.5 },
    BandFactor { axis: Axis::Budget, value: "good", factor: 1.0 },
    BandFactor { axis: Axis::Safety, value: "balanced", factor: 1.0 },
    BandFactor { axis: Axis::Safety, value: "good", factor: 1.3 },
];

pub const RANKING: Ranking = Ranking::new(
    WEIGHTS,
    AxisSignals { time: TIME.list(), taste: TASTE.list(), budget: BUDGET.list(), safety: SAFETY.list() },
    BANDS,
);

/// Greatest distance that an offer may state, in km.
const MAX_DISTANCE_KM: f64 = 50.0;
const MAX_RATING: f64 = 5.0;
/// Longest warranty, in days.
const MAX_WARRANTY_DAYS: f64 = 365.0;

/// What a score needs to know of the surviving offers as a whole: there is no soonest or cheapest without them.
pub struct Pool {
    starts_ms: Span,
    totals_inr: Span,
}

impl Pool {
    /// The second are the user's past orders, with what `ORDER` names in its `history`. No signal goes by them yet.
    pub(crate) fn of(offers: &[Offer<'_>], _: &[PastOrder<'_>]) -> Self {
        Self {
            starts_ms: Span::of(offers.iter().map(|offer| offer.starts_at.ms as f64)),
            totals_inr: Span::of(offers.iter().map(|offer| offer.total_inr.0 as f64)),
        }
    }
}

/// What the rules say of an offer, per axis.
pub(crate) fn score(_: &Request<'_>, offer: &Offer<'_>, pool: &Pool) -> Axes {
    Axes {
        time: TIME.blend([
            pool.starts_ms.lower_is_better(offer.starts_at.ms as f64),
            1.0 - offer.provider.distance_km / MAX_DISTANCE_KM,
        ]),
        taste: TASTE.blend([offer.provider.rating / MAX_RATING]),
        budget: BUDGET.blend([pool.totals_inr.lower_is_better(offer.total_inr.0 as f64)]),
        safety: SAFETY.blend([offer.warranty_days as f64 / MAX_WARRANTY_DAYS]),
    }
}
