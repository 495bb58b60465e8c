//! Every field and bound of every shape, broken one at a time; and the contract as a whole.
//!
//! The cases are made from the shapes' own field lists, so a new field is tested as soon as it is declared.

use auto_book_ac_service::AcService;
use auto_book_ac_service::booking::{AcServiceBooking, CancelArguments, CancellationResult, CreateArguments};
use auto_book_ac_service::completion::AcServiceReport;
use auto_book_ac_service::request::AcServiceRequest;
use auto_book_ac_service::slot::AcServiceSlot;
use contract_sdk::bindings::RequirementCheck;
use contract_sdk::shape::{Described, read_document};
use contract_sdk::testing::{assert_bounds, expected, pairs, problems};
use contract_sdk::{Report, assert_shape, docs, engine, sample, schema};
use serde_json::{Value, json};

#[test]
fn the_contract_is_consistent() {
    assert_eq!(problems::<AcService>(), Vec::<String>::new());
}

#[test]
fn every_field_of_the_request() {
    let tried = assert_shape!(AcServiceRequest, &sample!("request"));
    assert!(tried > 200, "{tried}");
}

#[test]
fn every_field_of_a_slot() {
    for slot in sample!("payload")["slots"].as_array().unwrap().iter().take(2) {
        let tried = assert_shape!(AcServiceSlot, slot);
        assert!(tried > 400, "{tried}");
    }
}

#[test]
fn every_field_of_the_other_tools() {
    let request = sample!("request");
    let create = json!({
        "request_id": "r", "slot_id": "s", "vehicle": request["vehicle"], "ac_issue": request["ac_issue"],
        "contact_phone": "+919800000000", "doorstep_address": "1 Example Road",
    });
    assert_shape!(CreateArguments, &create);
    let booking = json!({
        "booking_id": "b", "slot_id": "s", "scheduled_start": "2026-05-04T10:00:00+05:30",
        "estimated_completion": "2026-05-04T12:00:00+05:30", "service_scope_confirmed": "basic_check",
        "total_estimate_inr": 0, "service_advisor_name": "Asha", "service_advisor_phone": "+919800000000",
        "payment_due_at": "intake", "doorstep_arranged": false, "partner_booking_reference": "x",
    });
    assert_shape!(AcServiceBooking, &booking);
    let cancel = json!({"request_id": "r", "booking_id": "b", "reason_code": "changed_plans"});
    assert_shape!(CancelArguments, &cancel);
    let cancelled = json!({
        "booking_id": "b", "cancelled_at": "2026-05-04T10:00:00+05:30", "cancellation_fee_inr": 0,
        "refund_amount_inr": 0, "refund_eta_days": 3,
    });
    assert_shape!(CancellationResult, &cancelled);
}

#[test]
fn every_field_of_a_report() {
    type AcReport<'a> = Report<'a, AcServiceReport>;
    let report = json!({
        "intent": "auto.book_ac_service", "external_id": "b", "request_id": "r", "amount_inr": 1, "gst_inr": 0.18,
        "tips_inr": 0, "pass_through_inr": 0, "closed_at": "2026-05-04T10:00:00+05:30", "status": "completed",
        "service_scope_performed": "basic_check", "warranty_card_issued": true,
    });
    assert_shape!(AcReport, &report);
}

#[test]
fn all_violations_are_told_at_once() {
    let mut slot = sample!("payload")["slots"][0].clone();
    slot["provider"]["distance_from_user_km"] = json!(31);
    slot["slot_window"]["start"] = json!("soon");
    slot["service_scope"]["includes"] = json!(["one", 2]);
    slot["ratings"] = json!(null);
    slot["warranty"].as_object_mut().unwrap().remove("warranty_terms_url");
    let violations = read_document::<AcServiceSlot>(&slot.to_string()).unwrap_err();
    let mut found = pairs(&violations);
    found.sort_unstable();
    assert_eq!(
        found,
        expected(&[
            ("/provider/distance_from_user_km", "OUT_OF_RANGE"),
            ("/ratings", "WRONG_TYPE"),
            ("/service_scope/includes/1", "WRONG_TYPE"),
            ("/slot_window/start", "BAD_FORMAT"),
            ("/warranty/warranty_terms_url", "REQUIRED"),
        ])
    );
}

#[test]
fn the_schema_says_what_the_reader_checks() {
    let slot = schema::of(&AcServiceSlot::DESC);
    assert_eq!(slot["required"].as_array().unwrap().len(), 9);
    let distance = &slot["properties"]["provider"]["properties"]["distance_from_user_km"];
    assert_eq!(
        *distance,
        json!({"type": "number", "minimum": 0, "maximum": 30, "description": "Distance from the user in km."})
    );
    let scope = &slot["properties"]["service_scope"]["properties"];
    assert_eq!(scope["includes"]["minItems"], json!(2));
    assert_eq!(scope["refrigerant_type"]["enum"], json!(["r134a", "r1234yf", "mixed"]));
    let request = schema::of(&AcServiceRequest::DESC);
    assert_eq!(request["properties"]["intent"]["const"], json!("auto.book_ac_service"));
    assert_eq!(request["required"], json!(["intent", "vehicle", "ac_issue", "service_preferences"]));
    let issue = &request["properties"]["ac_issue"];
    assert_eq!(issue["properties"]["user_description"]["maxLength"], json!(500));
    assert_eq!(issue["properties"]["last_serviced_months_ago"]["type"], json!(["integer", "null"]));
    assert_eq!(issue["required"], json!(["category", "user_description", "last_serviced_months_ago"]));
}

#[test]
fn the_descriptor_holds_the_tables_of_the_spec() {
    let descriptor = engine::describe::<AcService>();
    assert_eq!((descriptor.domain.as_str(), descriptor.version.as_str()), ("auto", "1.0.0"));
    let names: Vec<_> = descriptor.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["search_ac_service_slots", "create_ac_service_booking", "cancel_ac_service_booking"]);
    assert_eq!(descriptor.errors.len(), 13);
    let vocabularies: Vec<_> =
        descriptor.vocabularies.iter().map(|found| (found.name.as_str(), found.values.len())).collect();
    assert_eq!(
        vocabularies,
        [
            ("vehicle_type", 1),
            ("fuel_type", 5),
            ("ac_system_type", 4),
            ("ac_issue_category", 8),
            ("provider_type", 4),
            ("service_scope_code", 6),
            ("refrigerant_type", 3),
            ("payment_due_at", 3),
        ]
    );
    let report: Value = serde_json::from_str(&descriptor.completion.schema).unwrap();
    assert_eq!(report["properties"]["status"]["enum"], json!(["completed"]));
    assert_eq!(report["properties"]["intent"]["const"], json!("auto.book_ac_service"));
    assert_eq!(report["required"].as_array().unwrap().len(), 11);
    assert_eq!(
        descriptor.elsewhere,
        ["auto.book_breakdown_assist", "auto.book_major_service", "auto.book_general_service"]
    );
    assert_eq!(descriptor.pairs, ["auto.book_general_service", "auto.book_tyre_alignment"]);
}

#[test]
fn partners_read_a_row_for_every_field() {
    let rows = docs::rows(&AcServiceSlot::DESC);
    assert_eq!(rows.len(), 47);
    let months = rows.iter().find(|row| row.pointer == "/warranty/parts_warranty_months").unwrap();
    assert_eq!(
        (months.kind.as_str(), months.required, months.bounds.as_str()),
        ("integer", true, "at least 0, at most 24")
    );
    assert!(docs::markdown(&AcServiceSlot::DESC).contains("| `/slot_id` | non-empty string | yes |"));
}

#[test]
fn the_bounds_are_those_of_the_spec() {
    assert_bounds(
        &AcServiceSlot::DESC,
        &[
            ("/provider/distance_from_user_km", "at least 0, at most 30"),
            ("/slot_window/typical_duration_hours", "at least 0.5, at most 6"),
            ("/service_scope/includes", "at least 2 entries"),
            ("/estimated_price/diagnostic_fee_inr", "at least 0"),
            ("/estimated_price/labour_inr", "at least 0"),
            ("/estimated_price/parts_estimate_inr", "at least 0"),
            ("/estimated_price/refrigerant_inr", "at least 0"),
            ("/estimated_price/gst_inr", "at least 0"),
            ("/estimated_price/total_estimate_inr", "at least 0"),
            ("/estimated_price/price_lock_variance_cap_pct", "at least 0, at most 50"),
            ("/warranty/parts_warranty_months", "at least 0, at most 24"),
            ("/warranty/labour_warranty_months", "at least 0, at most 6"),
            ("/warranty/cooling_performance_warranty_days", "at least 0, at most 90"),
            ("/ratings/avg_rating", "at least 0, at most 5"),
            ("/ratings/review_count", "at least 0"),
            ("/ratings/cooling_complaint_resolution_pct", "at least 0, at most 100"),
        ],
    );
    assert_bounds(
        &AcServiceRequest::DESC,
        &[
            ("/intent", "always \"auto.book_ac_service\""),
            ("/user_currency", "always \"INR\""),
            ("/user_location/max_radius_km", "at least 0"),
            ("/vehicle/registration_number_last4", "exactly 4 characters"),
            ("/ac_issue/user_description", "at most 500 characters"),
            ("/ac_issue/last_serviced_months_ago", "at least 0, at most 120"),
        ],
    );
    assert_bounds(&AcServiceBooking::DESC, &[("/total_estimate_inr", "at least 0")]);
    assert_bounds(
        &CancellationResult::DESC,
        &[
            ("/cancellation_fee_inr", "at least 0"),
            ("/refund_amount_inr", "at least 0"),
            ("/refund_eta_days", "at least 0, at most 14"),
        ],
    );
}

/// Spec 2, "Go-live requirements": all of the list but the tools, which the host looks for.
#[test]
fn the_go_live_requirements_are_those_of_the_spec() {
    let descriptor = engine::describe::<AcService>();
    let codes: Vec<_> = descriptor.go_live.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "CATALOGUE_DEPTH",
            "CERTIFICATION_VERIFIED",
            "AC_SYSTEMS_COVERED",
            "SEARCH_LATENCY",
            "CREATE_LATENCY",
            "IDEMPOTENCY_TESTED",
            "COOLING_WARRANTY_HONOURED",
            "COMPLIANCE_DOCUMENTS",
        ]
    );
    let dated = descriptor.go_live.iter().filter_map(|one| Some((one.code.as_str(), one.valid_days?)));
    let yearly = [("CERTIFICATION_VERIFIED", 365), ("COMPLIANCE_DOCUMENTS", 365)];
    assert_eq!(dated.collect::<Vec<_>>(), yearly, "certificates are those of the current year");
    let RequirementCheck::AtLeast(depth) = &descriptor.go_live[0].check else { panic!("it is counted") };
    let counts: Vec<_> = depth.minimums.iter().map(|one| (one.counted.as_str(), one.count)).collect();
    assert_eq!(counts, [("providers", 3), ("slots", 8)]);
    assert_eq!(depth.within.as_ref().map(|window| window.hours), Some(24));
    let target = |name: &str| descriptor.tools.iter().find(|tool| tool.name == name).map(|tool| tool.latency.p95_ms);
    let targets = descriptor.go_live.iter().filter_map(|one| match &one.check {
        RequirementCheck::WithinLatency(tool) => target(tool),
        _ => None,
    });
    assert_eq!(targets.collect::<Vec<_>>(), [1800, 4000]);
}
