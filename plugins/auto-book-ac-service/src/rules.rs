//! Rules between the members of a request, and on an option against the request (spec 2).

use crate::overhaul::check_overhaul;
use crate::request::{AcServiceRequest, Vehicle};
use crate::slot::{AcServiceSlot, EstimatedPrice, FIRST_R1234YF_YEAR, ProviderType, RefrigerantType, ServiceScopeCode};
use contract_sdk::shape::Inr;
use contract_sdk::{ItemRules, RequestRules, Vocabulary};

/// By how much the parts of a price may miss its total, in INR: providers round each part.
pub(crate) const PRICE_TOLERANCE_INR: u64 = 1;

/// The code of a refrigerant that the car does not take: in a search, in a booking's arguments, in its answer.
pub(crate) const REFRIGERANT_MISMATCH: &str = "REFRIGERANT_MISMATCH";

pub(crate) fn request_rules(request: &AcServiceRequest<'_>, rules: &mut RequestRules) {
    if let Some(window) = request.service_preferences.preferred_window {
        rules.refuse_if(
            window.end.ms <= window.start.ms,
            "WINDOW_ORDER",
            "/service_preferences/preferred_window/end",
            "The window must end after it starts.",
        );
    }
}

pub(crate) fn item_rules(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, rules: &mut ItemRules) {
    check_certification(slot, rules);
    check_doorstep(slot, rules);
    check_refrigerant(request, slot, rules);
    check_radius(request, slot, rules);
    check_window(request, slot, rules);
    check_authorisation(request, slot, rules);
    check_price(&slot.estimated_price, rules);
    check_overhaul(request.ac_issue.category, slot.service_scope.code, rules);
}

/// Certification is a floor, not a preference (spec 2, safety ranking rules).
fn check_certification(slot: &AcServiceSlot<'_>, rules: &mut ItemRules) {
    rules.drop_if(
        !slot.provider.refrigerant_handling_certified,
        "UNCERTIFIED",
        "/provider/refrigerant_handling_certified",
        "The provider must be certified to handle refrigerant.",
    );
}

/// Doorstep only for basic checks, top-ups and cabin filters; the rest is done at a workshop.
fn check_doorstep(slot: &AcServiceSlot<'_>, rules: &mut ItemRules) {
    let scope = slot.service_scope.code;
    rules.drop_if(
        slot.logistics.doorstep_supported && !scope.goes_to_the_door(),
        "DOORSTEP_SCOPE",
        "/logistics/doorstep_supported",
        format_args!("{} is done at a workshop, so doorstep_supported must be false.", scope.value()),
    );
}

/// The refrigerant must match the vehicle; the wrong one is grounds for suspension (spec 2, rule 11).
fn check_refrigerant(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, rules: &mut ItemRules) {
    let scope = &slot.service_scope;
    if let Some(mismatch) = tell_mismatch(scope.code, scope.refrigerant_type, &request.vehicle) {
        rules.strike_if(true, REFRIGERANT_MISMATCH, "/service_scope/refrigerant_type", mismatch);
    }
}

/// Says so where such work is done with a refrigerant that the car does not take. Of a car of unknown year nothing is said.
pub(crate) fn tell_mismatch(
    scope: ServiceScopeCode,
    refrigerant: RefrigerantType,
    vehicle: &Vehicle<'_>,
) -> Option<String> {
    let year = vehicle.year_of_manufacture?;
    if !scope.touches_refrigerant() || refrigerant.suits(year) {
        return None;
    }
    let right = if year < FIRST_R1234YF_YEAR { RefrigerantType::R134a } else { RefrigerantType::R1234yf };
    Some(format!("A car of {year} takes {}, not {}.", right.value(), refrigerant.value()))
}

/// A slot farther away than the user asked for is not an answer to the request.
fn check_radius(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, rules: &mut ItemRules) {
    let Some(radius) = request.max_radius_km() else {
        return;
    };
    let distance = slot.provider.distance_from_user_km;
    rules.drop_if(
        distance > radius,
        "OUTSIDE_RADIUS",
        "/provider/distance_from_user_km",
        format_args!("{distance} km is beyond the {radius} km asked for."),
    );
}

/// A slot ends after it starts, and it starts inside the window asked for, both ends included.
fn check_window(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, rules: &mut ItemRules) {
    let (start, end) = (slot.slot_window.start, slot.slot_window.end);
    rules.drop_if(end.ms <= start.ms, "WINDOW_ORDER", "/slot_window/end", "The slot must end after it starts.");
    if let Some(asked) = request.service_preferences.preferred_window {
        rules.drop_if(
            start.ms < asked.start.ms || start.ms > asked.end.ms,
            "OUTSIDE_WINDOW",
            "/slot_window/start",
            format_args!("{start} lies outside the window asked for, {} to {}.", asked.start, asked.end),
        );
    }
}

/// Who asks for authorised workshops only is shown no other.
fn check_authorisation(request: &AcServiceRequest<'_>, slot: &AcServiceSlot<'_>, rules: &mut ItemRules) {
    let provider_type = slot.provider.provider_type;
    rules.drop_if(
        request.service_preferences.authorised_only == Some(true) && provider_type != ProviderType::OemAuthorised,
        "NOT_AUTHORISED",
        "/provider/provider_type",
        format_args!("Only oem_authorised was asked for; this is {}.", provider_type.value()),
    );
}

/// The parts of the price add up to the total; a diagnostic fee that is waived may be left out.
fn check_price(price: &EstimatedPrice, rules: &mut ItemRules) {
    let Inr(total) = price.total_estimate_inr;
    let work = [price.labour_inr, price.parts_estimate_inr, price.refrigerant_inr, price.gst_inr];
    // Amounts have no upper bound in the spec, so sums must not overflow.
    let without_fee = work.iter().fold(0_i64, |sum, part| sum.saturating_add(part.0));
    let with_fee = without_fee.saturating_add(price.diagnostic_fee_inr.0);
    let adds_up = |sum: i64| sum.abs_diff(total) <= PRICE_TOLERANCE_INR;
    let waived = price.diagnostic_fee_waived_if_repair && adds_up(without_fee);
    rules.finding_if(
        !adds_up(with_fee) && !waived,
        "PRICE_SUM",
        "/estimated_price/total_estimate_inr",
        format_args!("The parts add up to {with_fee} INR, the total says {total} INR."),
    );
}
