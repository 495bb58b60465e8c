//! TTBS ranking (spec 3, "TTBS rules").
//!
//! The spec names the weights of the axes and the signals of taste and safety. Time and budget are the gym session
//! intent's, which is not shown: their signals are decided here, and so is the shape of every signal. Each is
//! monotone and lies in 0..=1. Taste has a file of its own.

use crate::judge::Choice;
use crate::option::{Offer, SessionPass};
use crate::request::YogaClassRequest;
use crate::studio::{Trust, YogaStudio};
use crate::taste::TASTE;
use crate::vocabulary::PassInclusion;
use contract_sdk::bindings::{Axes, Axis};
use contract_sdk::shape::{DateTime, Inr, Vocabulary};
use contract_sdk::{AxisSignals, NEUTRAL, PastOrder, Ranking, SearchRequest, Signals, Span, USUAL_BANDS, Weights};

/// Weights of the axes (spec 3, "What the service does").
pub const WEIGHTS: Weights = Weights::new(0.30, 0.40, 0.20, 0.10);

/// Share of the slot's fit in the time axis.
const SLOT_FIT_WEIGHT: f64 = 0.40;

const TIME: &Signals<3> =
    &Signals::new([("distance", 0.40), ("slot_fit", SLOT_FIT_WEIGHT), ("on_time_30day_pct", 0.20)]);
const BUDGET: &Signals<2> = &Signals::new([("pass_price", 0.80), ("pass_includes", 0.20)]);
/// The spec's weights sum to 0.60; they are normalised.
const SAFETY: &Signals<4> = &Signals::normalise([
    ("aed_defibrillator_present", 0.20),
    ("safety_audit_score", 0.20),
    ("cctv_in_premises", 0.10),
    ("panic_button_at_floor", 0.10),
]);

pub const RANKING: Ranking = Ranking::new(
    WEIGHTS,
    AxisSignals { time: TIME.list(), taste: TASTE.list(), budget: BUDGET.list(), safety: SAFETY.list() },
    &USUAL_BANDS,
);

/// The budget band of this name, if there is one.
pub(crate) fn budget_band(value: &str) -> Option<&'static str> {
    RANKING.band(Axis::Budget, value).map(|band| band.value)
}

/// Distance that counts half, in km. Every further km takes less than the one before, so no distance is the end.
const HALF_DISTANCE_KM: f64 = 5.0;
/// A slot so many hours before or after the time asked for fits no better than any other day's.
const SLOT_SPAN_HOURS: f64 = 6.0;
/// What a price above the user's budget is worth of the same price within it.
const OVER_BUDGET: f64 = 0.5;
/// Best score of a safety audit.
const MAX_AUDIT_SCORE: f64 = 100.0;

/// What a score needs to know of the surviving options as a whole.
pub struct Pool {
    pass_inr: Span,
}

impl Pool {
    pub(crate) fn of(offers: &[Offer<'_>], _: &[PastOrder<'_>]) -> Self {
        Self { pass_inr: Span::of(offers.iter().map(|offer| offer.option.session_pass.pass_inr.0 as f64)) }
    }
}

/// How much the choice of a slot weighs in the total: through its fit, and through the taste of its class and
/// instructor. A variant with other weights of the axes chooses by these all the same.
pub(crate) struct ChoiceShares {
    slot_fit: f64,
    taste: f64,
}

impl ChoiceShares {
    pub(crate) fn of(request: &YogaClassRequest<'_>) -> Self {
        let (weights, bands) = (WEIGHTS.axes(), request.bands());
        Self {
            slot_fit: weights.time * RANKING.factor(Axis::Time, bands.time) * SLOT_FIT_WEIGHT,
            taste: weights.taste * RANKING.factor(Axis::Taste, bands.taste),
        }
    }

    /// What a choice adds to the total, up to a factor that all choices have.
    pub(crate) fn worth(&self, choice: &Choice) -> f64 {
        self.slot_fit * choice.slot_fit + self.taste * choice.taste
    }
}

/// 1 at the time asked for, less on either side of it, 0 from six hours on. Neutral where either time is unknown.
pub(crate) fn slot_fit(request: &YogaClassRequest<'_>, starts: Option<DateTime>) -> f64 {
    match (request.scheduled_for_iso, starts) {
        (Some(asked), Some(starts)) => (1.0 - starts.hours_since(asked).abs() / SLOT_SPAN_HOURS).max(0.0),
        _ => NEUTRAL,
    }
}

/// What the rules say of an option, per axis, with the class, slot and instructor that were chosen in it.
pub(crate) fn score(request: &YogaClassRequest<'_>, offer: &Offer<'_>, pool: &Pool) -> Axes {
    let (studio, choice) = (&offer.option.yoga_studio, offer.choice());
    Axes {
        time: time(studio, &choice),
        taste: choice.taste,
        budget: budget(request, &offer.option.session_pass, pool),
        safety: safety(studio),
    }
}

fn time(studio: &YogaStudio<'_>, choice: &Choice) -> f64 {
    // The spec sets no bound; what is nearer than here is here.
    let distance_km = studio.distance_from_user_km.max(0.0);
    let near = HALF_DISTANCE_KM / (HALF_DISTANCE_KM + distance_km);
    TIME.blend([near, choice.slot_fit, studio.ratings.on_time_30day_pct])
}

fn budget(request: &YogaClassRequest<'_>, pass: &SessionPass, pool: &Pool) -> f64 {
    let Inr(price) = pass.pass_inr;
    let is_over = request.preferences.budget_max_inr_total.is_some_and(|Inr(most)| price > most);
    let cheap = pool.pass_inr.lower_is_better(price as f64) * if is_over { OVER_BUDGET } else { 1.0 };
    BUDGET.blend([cheap, share_included(pass)])
}

/// Share of all that a pass can include. Props and shower count where either member says so.
fn share_included(pass: &SessionPass) -> f64 {
    let mut found = pass.pass_includes.iter().fold(0_u32, |bits, one| bits | 1 << *one as u32);
    found |= u32::from(pass.props_included) << PassInclusion::PropsUse as u32;
    found |= u32::from(pass.shower_included) << PassInclusion::ShowerAccess as u32;
    f64::from(found.count_ones()) / <PassInclusion as Vocabulary>::DESC.values.len() as f64
}

fn safety(studio: &YogaStudio<'_>) -> f64 {
    let Trust { aed_defibrillator_present, safety_audit_score, .. } = studio.trust;
    SAFETY.blend([
        f64::from(aed_defibrillator_present),
        safety_audit_score as f64 / MAX_AUDIT_SCORE,
        f64::from(studio.amenities.cctv_in_premises),
        f64::from(studio.amenities.panic_button_at_floor),
    ])
}
