//! One test per rule of the spec, each on documents that break only that rule.

use auto_book_ac_service::AcService;
use auto_book_ac_service::request::IssueCategory;
use contract_sdk::bindings::{Candidate, CheckedResponse, Evaluation, Payload, PreparedRequest, Refusal, Subject};
use contract_sdk::example::{self, with};
use contract_sdk::testing::{
    self, assert_drops, assert_passes, assert_refused, assert_strikes, check_completion, check_completion_about,
    check_request_about, check_response, expected, pairs,
};
use contract_sdk::{Vocabulary as _, engine, sample};
use serde_json::{Value, json};

fn request() -> Value {
    sample!("request")
}

/// With the one trouble that may call for any work.
fn noisy(request: Value) -> Value {
    with(request, &[("/ac_issue/category", json!("noise"))])
}

/// The first slot of the sample: a top-up of r1234yf by a certified provider.
fn slot() -> Value {
    sample!("payload")["slots"][0].clone()
}

fn evaluate(request: &Value, slots: &[Value]) -> Evaluation {
    testing::evaluate::<AcService>(request, slots)
}

/// Expects the slot to be dropped for exactly this, and the same slot without the change to stay.
fn drops(request: &Value, changes: &[(&str, Value)], pointer: &str, code: &str) {
    assert_drops::<AcService>(request, &with(slot(), changes), &[(pointer, code)]);
    passes(&self::request(), &[]);
}

fn passes(request: &Value, changes: &[(&str, Value)]) {
    assert_passes::<AcService>(request, &with(slot(), changes));
}

#[test]
fn certification_is_a_floor() {
    let place = "/provider/refrigerant_handling_certified";
    drops(&request(), &[(place, json!(false))], place, "UNCERTIFIED");
}

#[test]
fn only_three_scopes_go_to_the_door() {
    let place = "/logistics/doorstep_supported";
    let request = noisy(request());
    for scope in ["leak_diagnosis", "compressor_service", "full_overhaul"] {
        let changes = [("/service_scope/code", json!(scope)), (place, json!(true))];
        drops(&request, &changes, place, "DOORSTEP_SCOPE");
        passes(&request, &[("/service_scope/code", json!(scope)), (place, json!(false))]);
    }
    for scope in ["basic_check", "refrigerant_topup", "cabin_filter_only"] {
        passes(&request, &[("/service_scope/code", json!(scope)), (place, json!(true))]);
    }
}

#[test]
fn refrigerant_must_match_the_year() {
    let place = "/service_scope/refrigerant_type";
    for (year, right, wrong) in [(2016, "r134a", "r1234yf"), (2017, "r1234yf", "r134a")] {
        let request = noisy(with(request(), &[("/vehicle/year_of_manufacture", json!(year))]));
        for scope in ["refrigerant_topup", "leak_diagnosis", "compressor_service", "full_overhaul"] {
            let scope = ("/service_scope/code", json!(scope));
            let workshop = ("/logistics/doorstep_supported", json!(false));
            let changes = [scope.clone(), workshop.clone(), (place, json!(wrong))];
            assert_strikes::<AcService>(&request, &with(slot(), &changes), &[(place, "REFRIGERANT_MISMATCH")]);
            passes(&request, &[scope.clone(), workshop.clone(), (place, json!(right))]);
            passes(&request, &[scope, workshop, (place, json!("mixed"))]);
        }
        for scope in ["basic_check", "cabin_filter_only"] {
            passes(&request, &[("/service_scope/code", json!(scope)), (place, json!(wrong))]);
        }
    }
    let mut unknown = request();
    unknown["vehicle"].as_object_mut().unwrap().remove("year_of_manufacture");
    passes(&unknown, &[(place, json!("r134a"))]);
}

#[test]
fn distance_stays_within_the_radius() {
    let place = "/provider/distance_from_user_km";
    drops(&request(), &[(place, json!(20.1))], place, "OUTSIDE_RADIUS");
    passes(&request(), &[(place, json!(20))]);
    let mut anywhere = request();
    anywhere["user_location"].as_object_mut().unwrap().remove("max_radius_km");
    passes(&anywhere, &[(place, json!(30))]);
}

#[test]
fn slots_start_inside_the_window() {
    let place = "/slot_window/start";
    let end = |text: &str| ("/slot_window/end", json!(text));
    let late = end("2026-05-06T10:00:00+05:30");
    let early = [(place, json!("2026-05-04T08:59:59+05:30")), late.clone()];
    drops(&request(), &early, place, "OUTSIDE_WINDOW");
    drops(&request(), &[(place, json!("2026-05-05T19:00:01+05:30")), late.clone()], place, "OUTSIDE_WINDOW");
    passes(&request(), &[(place, json!("2026-05-04T09:00:00+05:30")), late.clone()]);
    passes(&request(), &[(place, json!("2026-05-05T13:30:00Z")), late.clone()]);
    let mut whenever = request();
    whenever["service_preferences"].as_object_mut().unwrap().remove("preferred_window");
    passes(&whenever, &early);
}

#[test]
fn slots_end_after_they_start() {
    let start = slot()["slot_window"]["start"].clone();
    drops(&request(), &[("/slot_window/end", start)], "/slot_window/end", "WINDOW_ORDER");
}

#[test]
fn authorised_only_means_it() {
    let request = with(request(), &[("/service_preferences/authorised_only", json!(true))]);
    let place = "/provider/provider_type";
    for other in ["multi_brand_garage", "ac_specialist", "doorstep_mobile"] {
        drops(&request, &[(place, json!(other))], place, "NOT_AUTHORISED");
    }
    passes(&request, &[(place, json!("oem_authorised"))]);
}

#[test]
fn prices_add_up_or_are_a_finding() {
    let price = |fee: i64, waived: bool, total: i64| {
        let mut slot = slot();
        slot["estimated_price"] = json!({
            "diagnostic_fee_inr": fee, "labour_inr": 100, "parts_estimate_inr": 200, "refrigerant_inr": 300,
            "gst_inr": 50, "diagnostic_fee_waived_if_repair": waived, "total_estimate_inr": total,
            "price_lock_guaranteed": false, "price_lock_variance_cap_pct": 0,
        });
        let found = evaluate(&request(), &[slot]);
        assert_eq!((found.ranked.len(), found.dropped.len()), (1, 0));
        pairs(&found.findings.into_iter().map(|finding| finding.violation).collect::<Vec<_>>())
    };
    let finding = expected(&[("/estimated_price/total_estimate_inr", "PRICE_SUM")]);
    for (fee, waived, total, sound) in [
        (40, false, 690, true),
        (40, false, 691, true),
        (40, false, 689, true),
        (40, false, 692, false),
        (40, false, 688, false),
        (40, false, 650, false),
        (40, true, 650, true),
        (40, true, 649, true),
        (40, true, 690, true),
        (40, true, 670, false),
        (i64::MAX, false, i64::MAX, true),
    ] {
        assert_eq!(price(fee, waived, total), if sound { vec![] } else { finding.clone() }, "{fee} {waived} {total}");
    }
}

#[test]
fn an_overhaul_that_the_trouble_does_not_call_for_is_noted() {
    let overhaul = with(
        slot(),
        &[("/service_scope/code", json!("full_overhaul")), ("/logistics/doorstep_supported", json!(false))],
    );
    for trouble in IssueCategory::DESC.values {
        let request = with(request(), &[("/ac_issue/category", json!(trouble))]);
        let found = evaluate(&request, std::slice::from_ref(&overhaul));
        assert_eq!((found.ranked.len(), found.dropped.len()), (1, 0), "{trouble}");
        let noted: Vec<_> = found.findings.into_iter().map(|finding| finding.violation).collect();
        if *trouble == "noise" {
            assert_eq!(noted, []);
            continue;
        }
        assert_eq!(pairs(&noted), expected(&[("/service_scope/code", "OVERHAUL_NOT_CALLED_FOR")]), "{trouble}");
        assert!(noted[0].message.contains(&format!("where {trouble} calls for")), "{}", noted[0].message);
    }
}

#[test]
fn the_cooling_warranty_has_no_hard_floor() {
    passes(&request(), &[("/warranty/cooling_performance_warranty_days", json!(0))]);
}

#[test]
fn the_second_option_of_an_identifier_is_dropped() {
    let dearer = with(slot(), &[("/ratings/review_count", json!(1))]);
    let found = evaluate(&request(), &[slot(), dearer.clone()]);
    assert_eq!((found.ranked[0].number, found.dropped[0].number), (0, 1));
    assert_eq!(found.dropped[0].violations[0].code, "DUPLICATE_OPTION");
    // The first counts even if it is dropped itself, for a rule or for its shape.
    let uncertified = with(slot(), &[("/provider/refrigerant_handling_certified", json!(false))]);
    let broken = with(slot(), &[("/provider", json!(1))]);
    for first in [uncertified, broken] {
        let found = evaluate(&request(), &[first, dearer.clone()]);
        assert_eq!((found.ranked.len(), found.dropped.len()), (0, 2));
        assert_eq!(found.dropped[1].violations[0].code, "DUPLICATE_OPTION");
    }
}

#[test]
fn an_identifier_may_be_that_of_another_answer() {
    let broken = with(slot(), &[("/provider", json!(1))]);
    let payloads = [(0, slot()), (1, broken), (2, slot())].map(|(number, slot)| {
        let candidates = vec![Candidate { number, json: slot.to_string() }];
        Payload { declared: example::UNDECLARED, candidates }
    });
    let found = engine::evaluate::<AcService>(&testing::context(), &request().to_string(), &payloads, &[]).unwrap();
    let numbers = (found.ranked.iter().map(|one| one.number).collect(), found.dropped.len());
    assert_eq!(numbers, (vec![0, 2], 1));
}

#[test]
fn what_is_no_option_is_dropped() {
    let slots = ["[]", "null", "7", "\"slot\""].map(|text| serde_json::from_str(text).unwrap());
    let found = evaluate(&request(), &slots);
    assert!(found.dropped.iter().all(|dropped| {
        dropped.id.is_none() && dropped.violations[0].code == "WRONG_TYPE" && dropped.violations[0].pointer.is_empty()
    }));
    assert_eq!(found.dropped.len(), 4);
    let candidates = vec![Candidate { number: 9, json: "{\"slot_id\":\"s\"".to_owned() }];
    let payload = Payload { declared: example::UNDECLARED, candidates };
    let found = engine::evaluate::<AcService>(&testing::context(), &request().to_string(), &[payload], &[]).unwrap();
    assert_eq!((found.dropped[0].number, found.dropped[0].violations[0].code.as_str()), (9, "INVALID_JSON"));
}

fn search(arguments: &Value) -> Result<PreparedRequest, Refusal> {
    testing::check_request::<AcService>("search_ac_service_slots", arguments)
}

#[test]
fn requests_keep_every_byte() {
    let mut request = request();
    request["an_unknown_key"] = json!({"x": [1, 2.50]});
    let text = request.to_string();
    let passed = search(&request).unwrap();
    assert_eq!(passed.arguments, text);
    assert_eq!(passed.need.city.as_deref(), Some("Bengaluru"));
    assert_eq!((passed.need.from_ms, passed.need.until_ms), (Some(1_777_865_400_000), Some(1_777_987_800_000)));
    request.as_object_mut().unwrap().remove("request_id");
    let passed = search(&request).unwrap();
    assert_eq!(passed.arguments, format!("{{\"request_id\":\"r-1\",{}", &request.to_string()[1..]));
}

#[test]
fn requests_of_another_intent_or_tool_are_refused() {
    let other = with(request(), &[("/intent", json!("auto.book_general_service"))]);
    assert_refused(search(&other), "INVALID_REQUEST", &[("/intent", "UNEXPECTED_VALUE")]);
    let unknown = testing::check_request::<AcService>("search_slots", &json!({}));
    assert_refused(unknown, "INVALID_REQUEST", &[("", "UNKNOWN_TOOL")]);
}

#[test]
fn windows_end_after_they_start() {
    let start = request()["service_preferences"]["preferred_window"]["start"].clone();
    let empty = with(request(), &[("/service_preferences/preferred_window/end", start)]);
    let place = "/service_preferences/preferred_window/end";
    assert_refused(search(&empty), "INVALID_REQUEST", &[(place, "WINDOW_ORDER")]);
}

#[test]
fn unknown_bands_are_noted_and_count_as_neutral() {
    let odd = with(request(), &[("/ttbs_user_band/time", json!("asap")), ("/ttbs_user_band/safety", json!("Good"))]);
    assert_eq!(
        pairs(&search(&odd).unwrap().notes),
        expected(&[("/ttbs_user_band/time", "UNKNOWN_BAND"), ("/ttbs_user_band/safety", "UNKNOWN_BAND")])
    );
    let neutral =
        with(request(), &[("/ttbs_user_band/time", json!("balanced")), ("/ttbs_user_band/safety", json!("balanced"))]);
    assert_eq!(evaluate(&odd, &[slot()]).ranked[0].total, evaluate(&neutral, &[slot()]).ranked[0].total);
}

fn booking() -> Value {
    json!({
        "booking_id": "b-1", "slot_id": "s-1", "scheduled_start": "2026-05-04T10:00:00+05:30",
        "estimated_completion": "2026-05-04T12:00:00+05:30", "service_scope_confirmed": "refrigerant_topup",
        "total_estimate_inr": 1000, "service_advisor_name": "Asha", "service_advisor_phone": "+919800000000",
        "payment_due_at": "completion", "doorstep_arranged": false, "partner_booking_reference": "x",
    })
}

const CREATE: &str = "create_ac_service_booking";

fn create_arguments() -> Value {
    let request = request();
    json!({
        "request_id": "r", "slot_id": "s-1", "vehicle": request["vehicle"], "ac_issue": request["ac_issue"],
        "contact_phone": "+919800000000",
    })
}

fn create(payload: &Value, quoted: Option<&Value>) -> Result<CheckedResponse, Refusal> {
    check_response::<AcService>(CREATE, &create_arguments(), payload, quoted)
}

/// Asks for a booking of the slot with these changes.
fn ask(arguments: &Value, changes: &[(&str, Value)]) -> Result<PreparedRequest, Refusal> {
    let about = example::quote(Some(with(slot(), changes).to_string()));
    check_request_about::<AcService>(&testing::context(), CREATE, arguments, &about)
}

#[test]
fn compressor_work_is_not_booked_at_the_door() {
    let code = "COMPRESSOR_WORK_REQUIRES_WORKSHOP";
    let mut at_the_door = create_arguments();
    at_the_door["doorstep_address"] = json!("1 Example Road");
    for scope in ["compressor_service", "full_overhaul"] {
        let scope = [("/service_scope/code", json!(scope))];
        assert_refused(ask(&at_the_door, &scope), code, &[("/doorstep_address", code)]);
        assert!(ask(&create_arguments(), &scope).is_ok());
    }
    for scope in ["basic_check", "refrigerant_topup", "cabin_filter_only", "leak_diagnosis"] {
        assert!(ask(&at_the_door, &[("/service_scope/code", json!(scope))]).is_ok(), "{scope}");
    }
    // Without the slot nobody knows what work it is.
    assert!(check_request_about::<AcService>(&testing::context(), CREATE, &at_the_door, &example::quote(None)).is_ok());
}

#[test]
fn a_booking_is_for_a_car_that_takes_the_refrigerant() {
    let place = "/vehicle/year_of_manufacture";
    let car_of = |year: i64| with(create_arguments(), &[(place, json!(year))]);
    let gas = |name: &str| [("/service_scope/refrigerant_type", json!(name))];
    for (year, right, wrong) in [(2016, "r134a", "r1234yf"), (2017, "r1234yf", "r134a")] {
        assert_refused(ask(&car_of(year), &gas(wrong)), "INVALID_REQUEST", &[(place, "REFRIGERANT_MISMATCH")]);
        assert!(ask(&car_of(year), &gas(right)).is_ok() && ask(&car_of(year), &gas("mixed")).is_ok());
    }
    let check = [("/service_scope/code", json!("basic_check"))];
    assert!(ask(&car_of(2016), &check).is_ok(), "a check touches no refrigerant");
    let mut unknown = create_arguments();
    unknown["vehicle"].as_object_mut().unwrap().remove("year_of_manufacture");
    assert!(ask(&unknown, &gas("r134a")).is_ok());
}

#[test]
fn work_that_is_confirmed_is_done_with_the_right_refrigerant() {
    let quote_of = |gas: &str| {
        let scope = ("/service_scope/code", json!("basic_check"));
        with(quote(), &[scope, ("/service_scope/refrigerant_type", json!(gas))])
    };
    let at = "/service_scope_confirmed";
    for scope in ["refrigerant_topup", "leak_diagnosis", "compressor_service", "full_overhaul"] {
        let booking = with(booking(), &[(at, json!(scope))]);
        let passed = create(&booking, Some(&quote_of("r134a"))).unwrap();
        assert_eq!(pairs(&passed.findings), expected(&[(at, "SCOPE_CHANGED"), (at, "REFRIGERANT_MISMATCH")]));
        for right in ["r1234yf", "mixed"] {
            let passed = create(&booking, Some(&quote_of(right))).unwrap();
            assert_eq!(pairs(&passed.findings), expected(&[(at, "SCOPE_CHANGED")]));
        }
    }
    for scope in ["basic_check", "cabin_filter_only"] {
        let booking = with(booking(), &[(at, json!(scope))]);
        let passed = create(&booking, Some(&quote_of("r134a"))).unwrap();
        assert!(passed.findings.iter().all(|found| found.code == "SCOPE_CHANGED"), "{scope} touches no refrigerant");
    }
}

/// A quote of 1000 INR, locked to 10 %.
fn quote() -> Value {
    with(
        slot(),
        &[
            ("/estimated_price/total_estimate_inr", json!(1000)),
            ("/estimated_price/price_lock_guaranteed", json!(true)),
            ("/estimated_price/price_lock_variance_cap_pct", json!(10)),
        ],
    )
}

#[test]
fn a_sound_booking_passes() {
    let passed = create(&booking(), Some(&quote())).unwrap();
    assert_eq!((passed.reference.as_deref(), passed.advisory, passed.findings.len()), (Some("b-1"), None, 0));
    assert!(create(&booking(), None).is_ok());
}

#[test]
fn bookings_break_one_rule_each() {
    for (changes, pointer, code) in [
        (vec![("/slot_id", json!("s-2"))], "/slot_id", "UNEXPECTED_VALUE"),
        (vec![("/estimated_completion", json!("2026-05-04T10:00:00+05:30"))], "/estimated_completion", "WINDOW_ORDER"),
        (
            vec![("/doorstep_arranged", json!(true)), ("/service_scope_confirmed", json!("leak_diagnosis"))],
            "/doorstep_arranged",
            "DOORSTEP_SCOPE",
        ),
        (vec![("/total_estimate_inr", json!(1101))], "/total_estimate_inr", "PRICE_LOCK_EXCEEDED"),
    ] {
        let refused = create(&with(booking(), &changes), Some(&quote()));
        assert_refused(refused, "INTERNAL_ERROR", &[(pointer, code)]);
    }
    assert!(create(&with(booking(), &[("/total_estimate_inr", json!(1100))]), Some(&quote())).is_ok());
    let unlocked = with(quote(), &[("/estimated_price/price_lock_guaranteed", json!(false))]);
    assert!(create(&with(booking(), &[("/total_estimate_inr", json!(9999))]), Some(&unlocked)).is_ok());
}

#[test]
fn a_changed_scope_is_a_finding() {
    let other = with(booking(), &[("/service_scope_confirmed", json!("basic_check"))]);
    let passed = create(&other, Some(&quote())).unwrap();
    assert_eq!(pairs(&passed.findings), expected(&[("/service_scope_confirmed", "SCOPE_CHANGED")]));
    let passed = create(&booking(), Some(&json!({"slot_id": 1}))).unwrap();
    assert_eq!(passed.findings[0].code, "QUOTE_UNREADABLE");
}

#[test]
fn a_cancellation_names_its_booking_and_its_fee() {
    let cancel = |booking_id: &str, fee: i64| {
        let arguments = json!({"request_id": "r", "booking_id": "b-1", "reason_code": "x"});
        let cancelled = json!({
            "booking_id": booking_id, "cancelled_at": "2026-05-04T10:00:00+05:30", "cancellation_fee_inr": fee,
            "refund_amount_inr": 0, "refund_eta_days": 14,
        });
        check_response::<AcService>("cancel_ac_service_booking", &arguments, &cancelled, None)
    };
    assert_eq!(cancel("b-1", 0).unwrap().advisory, None);
    assert_eq!(cancel("b-1", 1).unwrap().advisory.as_deref(), Some("CANCELLATION_FEE_DUE"));
    assert_refused(cancel("b-2", 0), "INTERNAL_ERROR", &[("/booking_id", "UNEXPECTED_VALUE")]);
}

fn report() -> Value {
    json!({
        "intent": "auto.book_ac_service", "external_id": "b-1", "request_id": "r-1", "amount_inr": 2200.50,
        "gst_inr": 396.09, "tips_inr": 0, "pass_through_inr": 0, "closed_at": "2026-05-04T12:00:00+05:30",
        "status": "completed", "service_scope_performed": "refrigerant_topup", "warranty_card_issued": true,
    })
}

#[test]
fn a_report_is_compared_with_the_quote_and_relabelled_against_the_booking() {
    let at = "/service_scope_performed";
    let (topup, compressor, overhaul) = ("refrigerant_topup", "compressor_service", "full_overhaul");
    // The findings and the strikes, each with its code and its message.
    let judge = |quoted: Option<&str>, confirmed: &str, performed: &str| {
        let quoted = quoted.map(|scope| with(slot(), &[("/service_scope/code", json!(scope))]).to_string());
        let kept = json!({"service_scope_confirmed": confirmed}).to_string();
        let about = Subject { quoted, order: Some(example::order("booked", kept, &[])) };
        let report = with(report(), &[(at, json!(performed))]);
        let passed = check_completion_about::<AcService>(&report, &about).unwrap();
        [passed.findings, passed.strikes]
            .map(|found| found.into_iter().map(|one| (one.code, one.message)).collect::<Vec<_>>())
    };
    let told = |code: &str, message: &str| vec![(code.to_owned(), message.to_owned())];
    let mismatch = |quoted: &str, performed: &str| {
        told("SCOPE_MISMATCH", &format!("{quoted} was quoted, {performed} was performed."))
    };
    let relabelled = |booked: &str, performed: &str| {
        told("SCOPE_RELABELLED", &format!("{booked} was booked, {performed} was performed."))
    };
    assert_eq!(judge(Some(topup), topup, topup), [vec![], vec![]]);
    assert_eq!(judge(Some(topup), topup, overhaul), [mismatch(topup, overhaul), relabelled(topup, overhaul)]);
    assert_eq!(judge(Some(topup), overhaul, overhaul), [mismatch(topup, overhaul), vec![]]);
    assert_eq!(judge(Some(topup), overhaul, topup), [vec![], vec![]]);
    assert_eq!(judge(Some(topup), compressor, overhaul), [mismatch(topup, overhaul), relabelled(compressor, overhaul)]);
    assert_eq!(judge(Some(overhaul), topup, overhaul), [vec![], relabelled(topup, overhaul)]);
    assert_eq!(judge(Some(overhaul), topup, topup), [mismatch(overhaul, topup), vec![]]);
    // Of an order whose option nobody knows any more, what was confirmed is all that can be compared.
    let confirmed = told("SCOPE_MISMATCH", "refrigerant_topup was confirmed, full_overhaul was performed.");
    assert_eq!(judge(None, topup, overhaul), [confirmed, relabelled(topup, overhaul)]);
}

#[test]
fn completion_reports() {
    let report = report();
    let check = check_completion::<AcService>;
    let passed = check(&report, Some(&slot())).unwrap();
    assert_eq!((passed.amount_paise, passed.charged, passed.findings.len()), (220_050, true, 0));
    assert_eq!(
        (passed.external_id.as_str(), passed.request_id.as_str(), passed.status.as_str()),
        ("b-1", "r-1", "completed")
    );
    let other = with(report.clone(), &[("/service_scope_performed", json!("full_overhaul"))]);
    let passed = check(&other, Some(&slot())).unwrap();
    assert_eq!(pairs(&passed.findings), expected(&[("/service_scope_performed", "SCOPE_MISMATCH")]));
    assert!(passed.strikes.is_empty(), "the platform knows of no booking");
    assert!(check(&other, None).unwrap().findings.is_empty());
    // Above the locked total of the quote, 3422 INR and 10 %.
    let dear = with(report.clone(), &[("/pass_through_inr", json!(1167.62))]);
    let passed = check(&dear, Some(&sample!("slot"))).unwrap();
    assert_eq!(pairs(&passed.findings), expected(&[("/amount_inr", "PRICE_LOCK_EXCEEDED")]));
    let told = "come to 3764.21 INR, more than 10 % above the 3422 INR that were locked";
    assert!(passed.findings[0].message.contains(told), "{}", passed.findings[0].message);
    for (pointer, value, code) in [
        ("/status", json!("cancelled"), "NOT_IN_VOCABULARY"),
        ("/intent", json!("auto.book_general_service"), "UNEXPECTED_VALUE"),
        ("/amount_inr", json!(0.005), "BAD_FORMAT"),
    ] {
        let refused = check(&with(report.clone(), &[(pointer, value)]), None);
        assert_refused(refused, "INVALID_REQUEST", &[(pointer, code)]);
    }
    // Each kind of breach is told, not the first alone.
    let both = with(report, &[("/status", json!("cancelled")), ("/intent", json!("x"))]);
    assert_eq!(check(&both, None).unwrap_err().violations.len(), 2);
}
