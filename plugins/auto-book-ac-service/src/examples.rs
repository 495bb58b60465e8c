//! The cases that must hold before a version goes live: at least one accepted and one refused per function.
//!
//! They hold under any weights of the axes, so that a variant with another ranking keeps them: where an order
//! is expected, the first option is better on every axis.

use contract_sdk::bindings::Example;
use contract_sdk::example::{self, with};
use serde_json::{Value, json};

pub(crate) fn examples() -> Vec<Example> {
    [classification(), requests(), searches(), answers(), reports()].into_iter().flatten().collect()
}

fn classification() -> Vec<Example> {
    vec![
        example::classify("warm air from the AC of a car is this intent", "my car's AC blows warm air").accepts(),
        example::classify("a general service is not", "full periodic service for my car").refuses(&[]),
        example::classify("a dead battery is not", "battery dead, AC not turning on").refuses(&[]),
    ]
}

fn requests() -> Vec<Example> {
    let search = "search_ac_service_slots";
    let broken =
        with(request(), &[("/vehicle/type", json!("bike")), ("/ac_issue/last_serviced_months_ago", json!(121))]);
    let backwards =
        with(request(), &[("/service_preferences/preferred_window/end", json!("2026-01-01T08:00:00+05:30"))]);
    vec![
        example::request("a sound request passes", search, request().to_string()).accepts(),
        example::request("every violation is told", search, broken.to_string())
            .refuses(&["NOT_IN_VOCABULARY", "OUT_OF_RANGE"]),
        example::request("a window ends after it starts", search, backwards.to_string()).refuses(&["WINDOW_ORDER"]),
        example::request("a booking can be asked for", "create_ac_service_booking", create().to_string()).accepts(),
        example::request(
            "cancelling asks for a reason",
            "cancel_ac_service_booking",
            r#"{"request_id":"r","booking_id":"b"}"#,
        )
        .refuses(&["REQUIRED"]),
    ]
}

fn searches() -> Vec<Example> {
    let best = slot("best", &[]);
    let worse = slot(
        "worse",
        &[
            ("/provider/distance_from_user_km", json!(9.5)),
            ("/service_scope/code", json!("basic_check")),
            ("/estimated_price/total_estimate_inr", json!(2601)),
            ("/ratings/cooling_complaint_resolution_pct", json!(60)),
        ],
    );
    let wrong_gas = slot("wrong-gas", &[("/service_scope/refrigerant_type", json!("r134a"))]);
    let far = slot("far", &[("/provider/distance_from_user_km", json!(12.5))]);
    let odd_sum = slot("odd", &[("/estimated_price/total_estimate_inr", json!(2700))]);
    let garage = slot("garage", &[("/provider/provider_type", json!("multi_brand_garage"))]);
    let workshop = slot("workshop", &[("/provider/provider_type", json!("oem_authorised"))]);
    let renewal = slot("renewal", &[("/service_scope/code", json!("full_overhaul"))]);
    let at_the_door = slot(
        "door",
        &[("/service_scope/code", json!("compressor_service")), ("/logistics/doorstep_supported", json!(true))],
    );
    vec![
        example::search("the better slot comes first", request().to_string(), [worse, best.clone()])
            .ranks(&["best", "worse"], &[]),
        example::search(
            "the kind of provider that the user took before comes first",
            request().to_string(),
            [workshop, garage],
        )
        .after([example::past_order("completed", r#"{"provider_type":"multi_brand_garage"}"#)])
        .ranks(&["garage", "workshop"], &[]),
        example::search(
            "wrong refrigerant, too far, compressor at the door",
            request().to_string(),
            [best, wrong_gas, far, at_the_door],
        )
        .ranks(&["best"], &["REFRIGERANT_MISMATCH", "OUTSIDE_RADIUS", "DOORSTEP_SCOPE"]),
        example::search("a price that does not add up is a finding", request().to_string(), [odd_sum])
            .ranks(&["odd"], &["PRICE_SUM"]),
        example::search("an overhaul for warm air is a finding", request().to_string(), [renewal])
            .ranks(&["renewal"], &["OVERHAUL_NOT_CALLED_FOR"]),
        example::search(
            "a broken option says all that is broken",
            request().to_string(),
            [r#"{"slot_id":"half","provider":{}}"#.to_owned()],
        )
        .accepts_with(&["REQUIRED"]),
        example::search("a request that is none", "{}", []).refuses(&["REQUIRED"]),
    ]
}

fn answers() -> Vec<Example> {
    let tool = "create_ac_service_booking";
    let quoted = || Some(slot("s-1", &[]));
    let dearer = with(booking(), &[("/total_estimate_inr", json!(2861))]);
    let other = with(booking(), &[("/slot_id", json!("s-2")), ("/service_advisor_phone", json!("98123"))]);
    let cancel = json!({"request_id": "r-1", "booking_id": "b-1", "reason_code": "changed_plans"}).to_string();
    let cancelled = json!({
        "booking_id": "b-1", "cancelled_at": "2026-01-01T10:00:00+05:30", "cancellation_fee_inr": 200,
        "refund_amount_inr": 0, "refund_eta_days": 5,
    });
    vec![
        example::exchange("a booking at the quoted price", tool, create().to_string(), booking().to_string(), quoted())
            .accepts(),
        example::exchange("a price lock holds", tool, create().to_string(), dearer.to_string(), quoted())
            .refuses(&["PRICE_LOCK_EXCEEDED"]),
        example::exchange("a malformed booking", tool, create().to_string(), other.to_string(), None)
            .refuses(&["BAD_FORMAT"]),
        example::exchange(
            "a cancellation with a fee",
            "cancel_ac_service_booking",
            cancel,
            cancelled.to_string(),
            None,
        )
        .accepts(),
    ]
}

fn reports() -> Vec<Example> {
    let relabelled = with(report(), &[("/service_scope_performed", json!("full_overhaul"))]);
    let broken = with(report(), &[("/amount_inr", json!(10.005)), ("/status", Value::Null)]);
    let unlisted = with(report(), &[("/status", json!("done"))]);
    let free = with(report(), &[("/amount_inr", json!(0))]);
    vec![
        example::completion("a sound report", report().to_string(), Some(slot("s-1", &[]))).accepts(),
        example::completion("another scope than quoted is a finding", relabelled.to_string(), Some(slot("s-1", &[])))
            .accepts_with(&["SCOPE_MISMATCH"]),
        example::completion("a top-up is booked, an overhaul reported", relabelled.to_string(), Some(slot("s-1", &[])))
            .in_order(example::order(
                "booked",
                booking().to_string(),
                &[("create_ac_service_booking", example::NOW_MS)],
            ))
            .accepts_with(&["SCOPE_MISMATCH", "SCOPE_RELABELLED"]),
        example::completion("less than the labour is a finding", free.to_string(), Some(slot("s-1", &[])))
            .accepts_with(&["AMOUNT_BELOW_QUOTE"]),
        example::completion("finer than a paisa, no status", broken.to_string(), None)
            .refuses(&["BAD_FORMAT", "WRONG_TYPE"]),
        example::completion("an unlisted status", unlisted.to_string(), None).refuses(&["NOT_IN_VOCABULARY"]),
    ]
}

fn request() -> Value {
    json!({
        "intent": "auto.book_ac_service",
        "user_locale": "en-IN",
        "user_currency": "INR",
        "user_location": {"lat": 12.9716, "lng": 77.5946, "max_radius_km": 12, "city": "Bengaluru"},
        "vehicle": {"type": "car", "year_of_manufacture": 2019, "ac_system_type": "automatic"},
        "ac_issue": {
            "category": "not_cooling", "user_description": "AC blows warm air", "last_serviced_months_ago": null,
        },
        "service_preferences": {
            "doorstep_acceptable": true,
            "preferred_window": {"start": "2026-01-01T09:00:00+05:30", "end": "2026-01-01T19:00:00+05:30"},
        },
    })
}

fn slot(id: &str, changes: &[(&str, Value)]) -> String {
    let slot = json!({
        "slot_id": id,
        "provider": {
            "provider_id": "p-1", "name": "Example Cool Air", "address": "1 Example Road, Bengaluru",
            "provider_type": "ac_specialist", "location": {"lat": 12.97, "lng": 77.6},
            "distance_from_user_km": 2.5, "refrigerant_handling_certified": true,
        },
        "slot_window": {
            "start": "2026-01-01T14:00:00+05:30", "end": "2026-01-01T16:00:00+05:30",
            "typical_duration_hours": 1.5, "same_day_completion_likely": true,
        },
        "service_scope": {
            "code": "refrigerant_topup", "label": "Refrigerant top-up",
            "includes": ["Pressure test", "Top-up to the maker's weight"], "refrigerant_type": "r1234yf",
        },
        "estimated_price": {
            "diagnostic_fee_inr": 400, "labour_inr": 600, "parts_estimate_inr": 0, "refrigerant_inr": 1200,
            "gst_inr": 400, "diagnostic_fee_waived_if_repair": false, "total_estimate_inr": 2600,
            "price_lock_guaranteed": true, "price_lock_variance_cap_pct": 10,
        },
        "logistics": {
            "doorstep_supported": false, "while_you_wait_acceptable": true, "pickup_drop_supported": false,
        },
        "warranty": {
            "parts_warranty_months": 12, "labour_warranty_months": 3, "cooling_performance_warranty_days": 60,
            "warranty_terms_url": "https://partner.example/warranty",
        },
        "ratings": {"avg_rating": 4.5, "review_count": 210, "cooling_complaint_resolution_pct": 92},
        "partner_reference": {"source": "example", "deeplink": "https://partner.example/slots/1"},
    });
    with(slot, changes).to_string()
}

fn create() -> Value {
    json!({
        "request_id": "r-1",
        "slot_id": "s-1",
        "vehicle": {"type": "car", "year_of_manufacture": 2019, "ac_system_type": "automatic"},
        "ac_issue": {
            "category": "not_cooling", "user_description": "AC blows warm air", "last_serviced_months_ago": null,
        },
        "contact_phone": "+919800000000",
    })
}

fn booking() -> Value {
    json!({
        "booking_id": "b-1",
        "slot_id": "s-1",
        "scheduled_start": "2026-01-01T14:00:00+05:30",
        "estimated_completion": "2026-01-01T15:30:00+05:30",
        "service_scope_confirmed": "refrigerant_topup",
        "total_estimate_inr": 2860,
        "service_advisor_name": "Asha",
        "service_advisor_phone": "+919800000001",
        "payment_due_at": "completion",
        "doorstep_arranged": false,
        "partner_booking_reference": "EX-1",
    })
}

fn report() -> Value {
    json!({
        "intent": "auto.book_ac_service",
        "external_id": "b-1",
        "request_id": "r-1",
        "amount_inr": 2200.5,
        "gst_inr": 400,
        "tips_inr": 0,
        "pass_through_inr": 0,
        "closed_at": "2026-01-01T15:40:00+05:30",
        "status": "completed",
        "service_scope_performed": "refrigerant_topup",
        "warranty_card_issued": true,
    })
}
