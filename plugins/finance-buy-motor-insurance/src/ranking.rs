//! TTBS ranking (spec 2, "TTBS ranking rules, finance.buy_motor_insurance").
//!
//! The spec names the signals and their weights; the shape of each signal is decided here. Every signal is
//! monotone and lies in 0..=1.

use crate::order::{INSURER_ID, INSURER_REGISTRATION};
use crate::quote::{Insurer, MotorQuote};
use crate::request::MotorInsuranceRequest;
use contract_sdk::bindings::{Axes, Axis};
use contract_sdk::{
    AxisSignals, BandFactor, NEUTRAL, PastOrder, Ranking, SearchRequest, Signals, Span, USUAL_BANDS, UserBands,
    Weights, with_band,
};
use std::borrow::Cow;

/// Weights of the axes (spec 2, "What the service does").
pub const WEIGHTS: Weights = Weights::new(0.20, 0.20, 0.30, 0.30);

const TIME: &Signals<3> =
    &Signals::new([("instant_issuance", 0.50), ("issuance_minutes", 0.30), ("inspection_avoided", 0.20)]);
const TASTE: &Signals<4> = &Signals::new([
    ("preferred_insurer", 0.40),
    ("history_familiarity", 0.25),
    ("cashless_garages_in_city", 0.20),
    ("manufacturer_brand", 0.15),
]);
const BUDGET: &Signals<2> = &Signals::new([("total_payable", 0.75), ("addon_fit", 0.25)]);
const SAFETY: &Signals<5> = &Signals::new([
    ("settlement_ratio", 0.30),
    ("settlement_speed", 0.25),
    ("solvency", 0.20),
    ("cashless_garages_in_state", 0.15),
    ("wording_url", 0.10),
]);

/// The usual bands, and one for who puts safety above all.
const BANDS: &[BandFactor; 12] =
    &with_band(USUAL_BANDS, BandFactor { axis: Axis::Safety, value: "great", factor: 1.5 });

pub const RANKING: Ranking = Ranking::new(
    WEIGHTS,
    AxisSignals { time: TIME.list(), taste: TASTE.list(), budget: BUDGET.list(), safety: SAFETY.list() },
    BANDS,
);

/// Least and greatest minutes until issuance that a quote may state.
const MIN_MINUTES: f64 = 1.0;
const MAX_MINUTES: f64 = 2880.0;
/// Settlement ratio that counts 0, in percent: the floors lie at 90 and 92, so all below is equally poor.
const POOR_RATIO_PCT: f64 = 80.0;
/// Days of settlement that count one half; the band `great` prefers at most these (spec 2).
const GOOD_SETTLEMENT_DAYS: f64 = 21.0;
/// Settlement ratio that the band `great` prefers, in percent (spec 2).
const GREAT_RATIO_PCT: f64 = 95.0;
/// Share of the band's preference in the safety of the band `great`.
const GREAT_SHARE: f64 = 0.4;
/// Bounds of the solvency ratio.
const MIN_SOLVENCY: f64 = 1.0;
const MAX_SOLVENCY: f64 = 5.0;

/// The status of an order in which the user got a policy. Any other makes no insurer familiar.
const INSURED: &str = "completed";

/// What a score needs to know of the surviving quotes as a whole, and of what the user took before.
pub struct Pool {
    total_inr: Span,
    garages_in_city: Span,
    garages_in_state: Span,
    /// The insurer of each policy that the user bought.
    insured_by: Vec<PastInsurer>,
}

/// An insurer of the past, as its quote named it.
struct PastInsurer {
    id: Option<String>,
    registration: Option<String>,
}

impl PastInsurer {
    fn of(past: &PastOrder<'_>) -> Self {
        let text = |name| past.text(name).map(Cow::into_owned);
        Self { id: text(INSURER_ID), registration: text(INSURER_REGISTRATION) }
    }

    /// Whether it is this one. Partners may give an insurer identifiers of their own; its number at the regulator is the same
    /// with all of them.
    fn is(&self, insurer: &Insurer<'_>) -> bool {
        self.id.as_deref() == Some(&*insurer.insurer_id)
            || self.registration.as_deref() == Some(&*insurer.irdai_registration_number)
    }
}

impl Pool {
    pub(crate) fn of(quotes: &[MotorQuote<'_>], history: &[PastOrder<'_>]) -> Self {
        let span = |value: fn(&MotorQuote<'_>) -> i64| Span::of(quotes.iter().map(|quote| value(quote) as f64));
        Self {
            total_inr: span(|quote| quote.premium_breakdown.total_payable_inr.0),
            garages_in_city: span(|quote| quote.cashless_garage_count_in_city),
            garages_in_state: span(|quote| quote.cashless_garage_count_in_state),
            insured_by: history.iter().filter(|past| past.status() == INSURED).map(PastInsurer::of).collect(),
        }
    }
}

/// What the rules say of a quote, per axis.
pub(crate) fn score(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, pool: &Pool) -> Axes {
    Axes {
        time: time(quote),
        taste: taste(request, quote, pool),
        budget: budget(request, quote, pool),
        safety: safety(quote, pool, &request.bands()),
    }
}

fn time(quote: &MotorQuote<'_>) -> f64 {
    let minutes = (MAX_MINUTES - quote.estimated_issuance_minutes as f64) / (MAX_MINUTES - MIN_MINUTES);
    TIME.blend([f64::from(quote.instant_issuance_possible), minutes, f64::from(!quote.inspection_required)])
}

fn taste(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, pool: &Pool) -> f64 {
    let insurer = &quote.insurer;
    let preferred = request.buyer_preferences.preferred_insurers.as_deref().unwrap_or_default();
    let is_preferred = match preferred {
        [] => NEUTRAL,
        names => f64::from(names.iter().any(|name| **name == *insurer.insurer_id || mentions(&insurer.name, name))),
    };
    TASTE.blend([
        is_preferred,
        familiarity(&pool.insured_by, insurer),
        pool.garages_in_city.higher_is_better(quote.cashless_garage_count_in_city as f64),
        request.vehicle.make.as_deref().map_or(NEUTRAL, |make| f64::from(is_of_maker(insurer, make))),
    ])
}

/// How well the user knows an insurer: neutral before the first policy, and nearer to 1 with each one more. An insurer that is
/// new to the user is not held against those who are known, so it stays neutral.
///
/// | policies with the insurer | score |
/// |---|---|
/// | 0 | 0.50 |
/// | 1 | 0.75 |
/// | 2 | 0.83 |
/// | 4 | 0.90 |
fn familiarity(insured_by: &[PastInsurer], insurer: &Insurer<'_>) -> f64 {
    let policies = insured_by.iter().filter(|past| past.is(insurer)).count();
    1.0 - (1.0 - NEUTRAL) / (1.0 + policies as f64)
}

/// Whether the vehicle's maker sells the product under its own name.
fn is_of_maker(insurer: &Insurer<'_>, make: &str) -> bool {
    mentions(&insurer.product_name, make) || mentions(&insurer.name, make)
}

/// Whether a name holds the words of another in a row, whatever their case: "Go Digit General" holds "digit".
fn mentions(name: &str, phrase: &str) -> bool {
    let mut rest = words(name);
    loop {
        let mut here = rest.clone();
        if words(phrase).all(|word| here.next().is_some_and(|own| own.eq_ignore_ascii_case(word))) {
            return words(phrase).next().is_some();
        }
        if rest.next().is_none() {
            return false;
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn budget(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, pool: &Pool) -> f64 {
    let total = pool.total_inr.lower_is_better(quote.premium_breakdown.total_payable_inr.0 as f64);
    BUDGET.blend([total, addon_fit(request, quote)])
}

/// The share of the addons asked for that the quote has; 1 where none was asked for.
fn addon_fit(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>) -> f64 {
    let wanted = &request.buyer_preferences.addons_required;
    if wanted.is_empty() {
        return 1.0;
    }
    let had = wanted.iter().filter(|addon| quote.includes(**addon)).count();
    had as f64 / wanted.len() as f64
}

fn safety(quote: &MotorQuote<'_>, pool: &Pool, bands: &UserBands<'_>) -> f64 {
    let insurer = &quote.insurer;
    let (ratio, days) = (insurer.claim_settlement_ratio_pct, insurer.motor_claim_settlement_days_avg);
    let blended = SAFETY.blend([
        (ratio - POOR_RATIO_PCT) / (100.0 - POOR_RATIO_PCT),
        GOOD_SETTLEMENT_DAYS / (GOOD_SETTLEMENT_DAYS + days),
        (insurer.solvency_ratio - MIN_SOLVENCY) / (MAX_SOLVENCY - MIN_SOLVENCY),
        pool.garages_in_state.higher_is_better(quote.cashless_garage_count_in_state as f64),
        // A quote without its wording is none: the shape has seen to it.
        1.0,
    ]);
    if bands.safety == Some("great") {
        let preferred = ratio >= GREAT_RATIO_PCT && days <= GOOD_SETTLEMENT_DAYS;
        return (1.0 - GREAT_SHARE) * blended + GREAT_SHARE * f64::from(preferred);
    }
    blended
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn names_are_compared_by_whole_words() {
        for (name, phrase) in [
            ("Go Digit General Insurance", "digit"),
            ("Example General", "Example General"),
            ("Tata-AIG", "tata aig"),
            ("Honda Assure Plus", "HONDA"),
        ] {
            assert!(mentions(name, phrase), "{name} {phrase}");
        }
        for (name, phrase) in [("Digital General", "digit"), ("General", "Example General"), ("Any", ""), ("", "x")] {
            assert!(!mentions(name, phrase), "{name} {phrase}");
        }
    }
}
