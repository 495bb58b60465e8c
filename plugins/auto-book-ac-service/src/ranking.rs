//! TTBS ranking (spec 2, "TTBS ranking rules, auto.book_ac_service").
//!
//! The spec names the signals and their weights; the shape of each signal is decided here. Every signal is
//! monotone and lies in 0..=1.

use crate::order::PROVIDER_TYPE;
use crate::request::{AcServiceRequest, IssueCategory};
use crate::slot::{AcServiceSlot, EstimatedPrice, ProviderType, ServiceScopeCode, Warranty};
use contract_sdk::bindings::Axes;
use contract_sdk::{
    AxisSignals, NEUTRAL, PastOrder, Ranking, SearchRequest, Signals, Span, USUAL_BANDS, UserBands, Vocabulary, Weights,
};

/// Weights of the axes (spec 2, "What the service does").
pub const WEIGHTS: Weights = Weights::new(0.25, 0.15, 0.25, 0.35);

const TIME: &Signals<4> =
    &Signals::new([("distance", 0.25), ("window_fit", 0.35), ("duration", 0.25), ("same_day_completion", 0.15)]);
const TASTE: &Signals<2> = &Signals::new([("provider_type", 0.50), ("scope_match", 0.50)]);
const BUDGET: &Signals<3> = &Signals::new([("total", 0.55), ("fee_waived", 0.20), ("price_lock", 0.25)]);
const SAFETY: &Signals<4> = &Signals::new([
    ("certification", 0.25),
    ("cooling_warranty", 0.30),
    ("resolution_rate", 0.25),
    ("parts_warranty", 0.20),
]);

/// Time band `fast` prefers completion on the same day.
const TIME_FAST: &Signals<4> = &TIME.emphasise("same_day_completion", 2.0);
/// Budget band `ok` prefers the cheapest; uncertified providers are gone by then.
const BUDGET_OK: &Signals<3> = &BUDGET.emphasise("total", 2.0);
/// Safety band `flexible` prefers the highest rate of resolved complaints.
const SAFETY_FLEXIBLE: &Signals<4> = &SAFETY.emphasise("resolution_rate", 2.0);

pub const RANKING: Ranking = Ranking::new(
    WEIGHTS,
    AxisSignals { time: TIME.list(), taste: TASTE.list(), budget: BUDGET.list(), safety: SAFETY.list() },
    &USUAL_BANDS,
);

/// Greatest distance that a slot may state, in km; the scale where the user names no radius.
const MAX_DISTANCE_KM: f64 = 30.0;
/// Least duration that a slot may state, and the span of durations, in hours.
const MIN_DURATION_HOURS: f64 = 0.5;
const DURATION_SPAN_HOURS: f64 = 5.5;
/// Greatest cap of a price lock, in percent.
const MAX_LOCK_CAP_PCT: f64 = 50.0;
/// What the widest cap takes from the value of a price lock.
const WIDEST_CAP_COST: f64 = 0.5;
/// Greatest warranties: cooling in days, parts and labour in months.
const MAX_COOLING_DAYS: f64 = 90.0;
const MAX_PARTS_MONTHS: f64 = 24.0;
const MAX_LABOUR_MONTHS: f64 = 6.0;
/// A cooling warranty under this counts half, unless the safety band is `fast`. It drops nothing.
const COOLING_FLOOR_DAYS: i64 = 30;

/// The status of an order in which the user got the service. Any other says nothing of what the user likes.
const SERVED: &str = "completed";
/// What is known before the first order counts as much as so many orders. With two, one order moves the signal by a sixth.
const PRIOR_ORDERS: f64 = 2.0;

/// What a score needs to know of the surviving options as a whole, and of what the user took before.
pub struct Pool {
    total_inr: Span,
    /// The kind of provider of each order in which the user got the service.
    served_by: Vec<ProviderType>,
}

impl Pool {
    pub(crate) fn of(slots: &[AcServiceSlot<'_>], history: &[PastOrder<'_>]) -> Self {
        let served = history.iter().filter(|past| past.status() == SERVED);
        Self {
            total_inr: Span::of(slots.iter().map(|slot| slot.estimated_price.total_estimate_inr.0 as f64)),
            served_by: served.filter_map(|past| ProviderType::from_value(&past.text(PROVIDER_TYPE)?)).collect(),
        }
    }
}

/// What the rules say of a slot, per axis.
pub(crate) fn score(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, pool: &Pool) -> Axes {
    let bands = request.bands();
    Axes {
        time: time(request, slot, &bands),
        taste: taste(request, slot, pool),
        budget: budget(slot, pool, &bands),
        safety: safety(slot, &bands),
    }
}

fn time(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, bands: &UserBands<'_>) -> f64 {
    let distance = 1.0 - slot.provider.distance_from_user_km / scale_km(request);
    let duration = 1.0 - (slot.slot_window.typical_duration_hours - MIN_DURATION_HOURS) / DURATION_SPAN_HOURS;
    let same_day = f64::from(slot.slot_window.same_day_completion_likely);
    let signals = if bands.time == Some("fast") { TIME_FAST } else { TIME };
    signals.blend([distance, window_fit(request, slot, bands), duration, same_day])
}

/// The distance that counts as worst: the radius asked for, or the greatest distance that there is.
fn scale_km(request: &AcServiceRequest<'_>) -> f64 {
    request.max_radius_km().filter(|radius| *radius > 0.0).unwrap_or(MAX_DISTANCE_KM)
}

/// 1 at the centre of the window asked for, 0 at its ends. Band `flexible` takes any slot in the window.
fn window_fit(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, bands: &UserBands<'_>) -> f64 {
    let Some(asked) = request.service_preferences.preferred_window else {
        return NEUTRAL;
    };
    if bands.time == Some("flexible") {
        return 1.0;
    }
    let half_ms = (asked.end.ms - asked.start.ms) as f64 / 2.0;
    let from_centre_ms = (slot.slot_window.start.ms - asked.start.ms) as f64 - half_ms;
    1.0 - from_centre_ms.abs() / half_ms
}

fn taste(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, pool: &Pool) -> f64 {
    let mobile = slot.provider.provider_type == ProviderType::DoorstepMobile;
    // A mobile provider has no workshop, so it cannot serve a user who wants nobody at the door, whoever served them before.
    let provider = if mobile && !request.service_preferences.doorstep_acceptable {
        0.0
    } else {
        provider_fit(&pool.served_by, slot.provider.provider_type)
    };
    TASTE.blend([provider, scope_match(request.ac_issue.category, slot.service_scope.code)])
}

/// The share of the user's orders that were served by this kind of provider, as if there had been [`PRIOR_ORDERS`] before
/// them that tell nothing. So it is neutral without any; one more of a kind raises that kind and lowers the others; and
/// a single order does not decide.
///
/// | of the user's orders | score |
/// |---|---|
/// | there are none | 0.50 |
/// | 1 of 1 was this kind | 0.67 |
/// | 3 of 3 | 0.80 |
/// | 1 of 2 | 0.50 |
/// | 0 of 1 | 0.33 |
/// | 0 of 3 | 0.20 |
fn provider_fit(served_by: &[ProviderType], kind: ProviderType) -> f64 {
    let same = served_by.iter().filter(|served| **served == kind).count();
    (same as f64 + PRIOR_ORDERS * NEUTRAL) / (served_by.len() as f64 + PRIOR_ORDERS)
}

/// How well a scope answers a trouble.
///
/// The likeliest remedy counts 1. Less work than that may not be enough, more work is money for nothing: an
/// overhaul is the best answer to no trouble at all (spec 2, rule 6: propose the smaller remedy).
fn scope_match(category: IssueCategory, scope: ServiceScopeCode) -> f64 {
    let [check, topup, leak, compressor, overhaul, filter] = match category {
        IssueCategory::NotCooling => [0.6, 1.0, 0.9, 0.7, 0.3, 0.1],
        IssueCategory::Intermittent => [0.9, 0.6, 0.8, 0.8, 0.3, 0.1],
        IssueCategory::NoAir => [1.0, 0.1, 0.2, 0.3, 0.4, 0.8],
        IssueCategory::Smell => [0.7, 0.1, 0.2, 0.1, 0.3, 1.0],
        IssueCategory::Noise => [0.7, 0.1, 0.2, 1.0, 0.5, 0.2],
        IssueCategory::PreSummerCheck => [1.0, 0.7, 0.5, 0.1, 0.2, 0.6],
        IssueCategory::LeakSuspected => [0.4, 0.5, 1.0, 0.4, 0.4, 0.0],
        IssueCategory::ElectricalFault => [1.0, 0.1, 0.1, 0.5, 0.5, 0.0],
    };
    match scope {
        ServiceScopeCode::BasicCheck => check,
        ServiceScopeCode::RefrigerantTopup => topup,
        ServiceScopeCode::LeakDiagnosis => leak,
        ServiceScopeCode::CompressorService => compressor,
        ServiceScopeCode::FullOverhaul => overhaul,
        ServiceScopeCode::CabinFilterOnly => filter,
    }
}

fn budget(slot: &AcServiceSlot<'_>, pool: &Pool, bands: &UserBands<'_>) -> f64 {
    let price = &slot.estimated_price;
    let values = [
        pool.total_inr.lower_is_better(price.total_estimate_inr.0 as f64),
        f64::from(price.diagnostic_fee_waived_if_repair),
        price_lock(price),
    ];
    match bands.budget {
        Some("ok") => BUDGET_OK.blend(values),
        // Good balances the price with the warranty.
        Some("good") => 0.7 * BUDGET.blend(values) + 0.3 * warranty(&slot.warranty),
        // Great prefers authorised workshops that stand by their work.
        Some("great") => {
            let preferred = slot.provider.provider_type == ProviderType::OemAuthorised
                && slot.warranty.cooling_performance_warranty_days >= COOLING_FLOOR_DAYS;
            0.6 * BUDGET.blend(values) + 0.4 * f64::from(preferred)
        }
        _ => BUDGET.blend(values),
    }
}

/// 0 without a lock; under a lock, the tighter the cap the better.
fn price_lock(price: &EstimatedPrice) -> f64 {
    if !price.price_lock_guaranteed {
        return 0.0;
    }
    1.0 - price.price_lock_variance_cap_pct as f64 / MAX_LOCK_CAP_PCT * WIDEST_CAP_COST
}

/// The mean of the three warranties, each against the longest that there is.
fn warranty(warranty: &Warranty<'_>) -> f64 {
    let cooling = warranty.cooling_performance_warranty_days as f64 / MAX_COOLING_DAYS;
    let parts = warranty.parts_warranty_months as f64 / MAX_PARTS_MONTHS;
    let labour = warranty.labour_warranty_months as f64 / MAX_LABOUR_MONTHS;
    (cooling + parts + labour) / 3.0
}

fn safety(slot: &AcServiceSlot<'_>, bands: &UserBands<'_>) -> f64 {
    let days = slot.warranty.cooling_performance_warranty_days;
    let under_floor = days < COOLING_FLOOR_DAYS && bands.safety != Some("fast");
    let cooling = days as f64 / MAX_COOLING_DAYS * if under_floor { 0.5 } else { 1.0 };
    let signals = if bands.safety == Some("flexible") { SAFETY_FLEXIBLE } else { SAFETY };
    signals.blend([
        f64::from(slot.provider.refrigerant_handling_certified),
        cooling,
        slot.ratings.cooling_complaint_resolution_pct as f64 / 100.0,
        slot.warranty.parts_warranty_months as f64 / MAX_PARTS_MONTHS,
    ])
}
