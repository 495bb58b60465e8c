//! Rules between the members of a request (spec 2). The error table has codes for some of them; a refusal for
//! nothing else carries that code. Only what the spec states as a condition refuses; what merely cannot lead to a
//! quote is a note.

use crate::cover::PolicyType;
use crate::request::{BuyerPreferences, MotorInsuranceRequest, PreviousPolicy, PurchaseContext, UserLocation};
use crate::vehicle::{FuelType, Vehicle, VehicleType};
use contract_sdk::{RequestRules, Vocabulary, code};

/// Rules on a request, in the order of its members.
pub(crate) fn request_rules(request: &MotorInsuranceRequest<'_>, rules: &mut RequestRules) {
    if let Some(place) = &request.user_location {
        check_pincode(place, rules);
    }
    check_history(request, rules);
    check_vehicle(&request.vehicle, rules);
    check_invoice(request, rules);
    check_previous_policy(&request.previous_policy, rules);
    check_addons(request, rules);
    check_bundle(request, &request.buyer_preferences, rules);
}

/// Postal codes have six digits, of which the first is not 0; the shape has counted them.
fn check_pincode(place: &UserLocation<'_>, rules: &mut RequestRules) {
    let sound = |code: &str| code.bytes().all(|byte| byte.is_ascii_digit()) && !code.starts_with('0');
    rules.refuse_if(
        place.pincode.as_deref().is_some_and(|code| !sound(code)),
        code::BAD_FORMAT,
        "/user_location/pincode",
        "A postal code is six digits, the first not 0.",
    );
}

/// A lapsed or a live policy is a prior policy. It is only a note: a bonus may come from another vehicle.
fn check_history(request: &MotorInsuranceRequest<'_>, rules: &mut RequestRules) {
    let context = request.purchase_context;
    let expected = match context {
        PurchaseContext::NewlyPurchased => false,
        PurchaseContext::Switching | PurchaseContext::LapsedFresh => true,
        PurchaseContext::UsedVehicleFirstPolicy => return,
    };
    rules.note_if(
        request.previous_policy.has_prior_policy != expected,
        "PURCHASE_CONTEXT_MISMATCH",
        "/previous_policy/has_prior_policy",
        format_args!("With {}, has_prior_policy is usually {expected}.", context.value()),
    );
}

fn check_vehicle(vehicle: &Vehicle<'_>, rules: &mut RequestRules) {
    let kind = vehicle.vehicle_type;
    if let Some(subtype) = vehicle.subtype {
        rules.note_if(
            !subtype.belongs_to(kind),
            "SUBTYPE_MISMATCH",
            "/vehicle/subtype",
            format_args!("{} is usually no kind of {}.", subtype.value(), kind.value()),
        );
    }
    let electric = vehicle.fuel_type == FuelType::Electric;
    let missing = "An electric vehicle needs kw_rating and battery_kwh: they decide its tariff.";
    let (kw, kwh) = (vehicle.kw_rating, vehicle.battery_kwh);
    for (at, is_null, is_absent) in [
        ("/vehicle/kw_rating", kw.value().is_none(), kw.is_absent()),
        ("/vehicle/battery_kwh", kwh.value().is_none(), kwh.is_absent()),
    ] {
        rules.refuse_as(electric && is_null, "EV_KW_MISSING", at, missing);
        rules.refuse_if(!electric && is_absent, code::REQUIRED, at, "It must be there; null where there is none.");
    }
    let tonnes = vehicle.carrying_capacity_tonnes.and_then(|tonnes| tonnes.0);
    rules.note_if(
        kind != VehicleType::Commercial && tonnes.is_some(),
        "COMMERCIAL_ONLY",
        "/vehicle/carrying_capacity_tonnes",
        format_args!("Only a commercial vehicle carries tonnes; this is {}.", kind.value()),
    );
}

/// A vehicle that was just bought has an invoice, and its insured value follows from it.
fn check_invoice(request: &MotorInsuranceRequest<'_>, rules: &mut RequestRules) {
    let (invoice, at) = (request.vehicle.invoice_value_inr, "/vehicle/invoice_value_inr");
    rules.refuse_as(
        request.is_new() && invoice.value().is_none_or(|value| value.0 == 0),
        "INVOICE_VALUE_INVALID",
        at,
        "A newly purchased vehicle needs its invoice value.",
    );
    rules.refuse_if(
        !request.is_new() && invoice.is_absent(),
        code::REQUIRED,
        at,
        "It must be there; null where there is none.",
    );
}

fn check_previous_policy(previous: &PreviousPolicy<'_>, rules: &mut RequestRules) {
    let absent = [("insurer_name", previous.insurer().is_none()), ("expiry_date", previous.expiry().is_none())];
    for (member, absent) in absent {
        rules.refuse_if(
            previous.has_prior_policy && absent,
            "PRIOR_POLICY_INCOMPLETE",
            format_args!("/previous_policy/{member}"),
            format_args!("Where there was a policy, {member} is needed."),
        );
    }
}

/// An addon that no partner can sell with this policy or for this vehicle is told. Quotes without it may still serve.
fn check_addons(request: &MotorInsuranceRequest<'_>, rules: &mut RequestRules) {
    let wanted = &request.buyer_preferences;
    for (index, addon) in wanted.addons_required.iter().enumerate() {
        if let Some(clash) = addon.clash(wanted.target_policy_type, request.vehicle.is_electric()) {
            rules.note_if(
                true,
                "ADDON_INCOMPATIBLE",
                format_args!("/buyer_preferences/addons_required/{index}"),
                format_args!("{} {clash}; no quote has it.", addon.value()),
            );
        }
    }
}

/// 3 years for new cars, 5 for new two-wheelers, 0 for all else.
fn check_bundle(request: &MotorInsuranceRequest<'_>, wanted: &BuyerPreferences<'_>, rules: &mut RequestRules) {
    let years = wanted.long_term_tp_years;
    let needed = request.needed_bundle_years();
    let at = "/buyer_preferences/long_term_tp_years";
    match needed {
        Some(0) => {
            rules.note_if(
                wanted.target_policy_type == PolicyType::LongTermTpBundle,
                "LONG_TERM_TP_NOT_ALLOWED",
                "/buyer_preferences/target_policy_type",
                "A long-term bundle is for new cars and new two-wheelers; no quote is one.",
            );
            rules.refuse_if(
                years != 0,
                "LONG_TERM_TP_NOT_ALLOWED",
                at,
                format_args!(
                    "Found {years}; only new cars and new two-wheelers have long-term cover, so 0 is expected."
                ),
            );
        }
        Some(needed) => rules.refuse_as(
            years != needed,
            "LONG_TERM_TP_REQUIRED",
            at,
            format_args!("Found {years}; this new vehicle needs {needed} years of third-party cover."),
        ),
        None => rules.refuse_as(
            years == 0,
            "LONG_TERM_TP_REQUIRED",
            at,
            "A new car needs 3 years of third-party cover, a new two-wheeler 5.",
        ),
    }
}
