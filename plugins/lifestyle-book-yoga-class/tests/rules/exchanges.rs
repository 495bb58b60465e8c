//! Requests, answers of the other tools, and completion reports.

use contract_sdk::bindings::{CheckedResponse, PreparedRequest, Refusal, Subject};
use contract_sdk::example::{self, with};
use contract_sdk::sample;
use contract_sdk::testing::{self, Pairs, assert_refused, check_completion, check_completion_about, expected, pairs};
use lifestyle_book_yoga_class::YogaClass;
use serde_json::{Value, json};

use crate::{classes, evaluate, option, request};

fn check_request(tool: &str, arguments: &Value) -> Result<PreparedRequest, Refusal> {
    testing::check_request::<YogaClass>(tool, arguments)
}

#[test]
fn requests_say_where_and_when() {
    let passed = check_request("search_providers", &request()).unwrap();
    assert_eq!(passed.arguments, request().to_string());
    assert_eq!(passed.notes, vec![]);
    assert_eq!(passed.need.city.as_deref(), Some("Bengaluru"));
    assert_eq!(passed.need.postal_code.as_deref(), Some("560038"));
    // 2026-05-04T01:30:00Z, and an hour more.
    assert_eq!((passed.need.from_ms, passed.need.until_ms), (Some(1_777_858_200_000), Some(1_777_861_800_000)));
    let other = with(
        request(),
        &[("/search_area", json!({"postal_code": "560001", "city": 7})), ("/duration_minutes", json!(-5))],
    );
    let need = check_request("search_providers", &other).unwrap().need;
    assert_eq!((need.city, need.postal_code.as_deref(), need.until_ms), (None, Some("560001"), None));
    for odd in [json!({}), json!({"city": " ", "pincode": {"x": 1}})] {
        let need = check_request("search_providers", &with(request(), &[("/search_area", odd)])).unwrap().need;
        assert_eq!((need.city, need.postal_code), (None, None));
    }
}

#[test]
fn requests_break_one_rule_each() {
    for (pointer, value, code) in [
        ("/intent", json!("lifestyle.book_gym_session"), "UNEXPECTED_VALUE"),
        ("/intent_version", json!("1.0"), "BAD_FORMAT"),
        ("/intent_version", json!("latest"), "BAD_FORMAT"),
    ] {
        assert_refused(
            check_request("search_providers", &with(request(), &[(pointer, value)])),
            "INVALID_REQUEST",
            &[(pointer, code)],
        );
    }
    assert!(check_request("search_providers", &with(request(), &[("/intent_version", json!("v1.0.0"))])).is_ok());
    assert_refused(check_request("search_classes", &request()), "INVALID_REQUEST", &[("", "UNKNOWN_TOOL")]);
}

/// As with every other breach of a shape.
#[test]
fn a_bad_version_is_told_beside_other_breaches() {
    let broken = with(request(), &[("/intent_version", json!("1.0")), ("/session_kind", json!("gym"))]);
    let expected = [("/intent_version", "BAD_FORMAT"), ("/session_kind", "NOT_IN_VOCABULARY")];
    assert_refused(check_request("search_providers", &broken), "INVALID_REQUEST", &expected);
}

#[test]
fn bands_are_noted_where_they_are_unknown() {
    let odd = with(request(), &[("/ttbs_user_band/time", json!("asap"))]);
    let notes = check_request("search_providers", &odd).unwrap().notes;
    assert_eq!((notes[0].pointer.as_str(), notes[0].code.as_str()), ("/ttbs_user_band/time", "UNKNOWN_BAND"));
    // The budget band of the preferences stands in for an absent one, and counts as neutral where it is none.
    let total = |band: &str, budget_band: Value| {
        let mut request = with(request(), &[("/preferences/budget_band", budget_band.clone())]);
        request["ttbs_user_band"] = if band.is_empty() { json!({}) } else { json!({"budget": band}) };
        let noted = check_request("search_providers", &request).unwrap().notes;
        let is_unknown = band.is_empty() && budget_band == "premium";
        let unknown: &[_] = if is_unknown { &[("/preferences/budget_band", "UNKNOWN_BAND")] } else { &[] };
        assert_eq!(pairs(&noted), expected(unknown));
        evaluate(&request, &[option(), classes()]).ranked[0].total
    };
    assert_eq!(total("", json!("ok")), total("ok", json!("good")));
    assert_ne!(total("", json!("ok")), total("", json!("good")));
    assert_eq!(total("", json!("premium")), total("good", json!("ok")));
    assert_eq!(total("ok", json!("premium")), total("ok", json!("good")));
}

fn exchange(
    tool: &str,
    arguments: &Value,
    payload: &Value,
    quoted: Option<&Value>,
) -> Result<CheckedResponse, Refusal> {
    testing::check_response::<YogaClass>(tool, arguments, payload, quoted)
}

fn findings(passed: &CheckedResponse) -> Pairs {
    pairs(&passed.findings)
}

#[test]
fn a_detail_is_of_the_studio_that_was_asked_for() {
    let arguments = sample!("detail-arguments");
    let passed = exchange("get_provider_detail", &arguments, &option(), None).unwrap();
    assert_eq!((passed.reference.as_deref(), findings(&passed)), (None, vec![]));
    let other = with(option(), &[("/yoga_studio/identity/id", json!("studio_other"))]);
    let refused = exchange("get_provider_detail", &arguments, &other, None);
    assert_refused(refused, "INTERNAL_ERROR", &[("/yoga_studio/identity/id", "UNEXPECTED_VALUE")]);
    let crowded = with(option(), &[("/yoga_class_catalog/0/class_size_typical", json!(99))]);
    let passed = exchange("get_provider_detail", &arguments, &crowded, None).unwrap();
    assert_eq!(findings(&passed), expected(&[("/yoga_class_catalog/0/class_size_typical", "CLASS_SIZE")]));
}

#[test]
fn slots_are_those_that_were_asked_for() {
    let arguments = sample!("slots-arguments");
    let slots = sample!("slots");
    let check = |slots: &Value, quoted: Option<&Value>| exchange("get_available_slots", &arguments, slots, quoted);
    assert_eq!(findings(&check(&slots, Some(&option())).unwrap()), vec![]);
    assert_eq!(findings(&check(&json!({"slots": []}), None).unwrap()), vec![]);
    for (pointer, value) in [("/slots/0/class_id", "class_x"), ("/slots/0/instructor_id_assigned", "inst_x")] {
        assert_refused(
            check(&with(slots.clone(), &[(pointer, json!(value))]), None),
            "INTERNAL_ERROR",
            &[(pointer, "UNEXPECTED_VALUE")],
        );
    }
    // Who asks for all slots gets all; those of nobody that was quoted are told.
    let all = sample!("detail-arguments");
    let other = json!({"slots": [{"class_id": "class_x", "instructor_id_assigned": "inst_x"}]});
    let passed = exchange("get_available_slots", &all, &other, Some(&option())).unwrap();
    assert_eq!(
        findings(&passed),
        expected(&[("/slots/0/class_id", "UNKNOWN_CLASS"), ("/slots/0/instructor_id_assigned", "UNKNOWN_INSTRUCTOR"),])
    );
    assert_eq!(findings(&exchange("get_available_slots", &all, &other, None).unwrap()), vec![]);
}

/// They are judged as in their object, and told of by their places in the array.
#[test]
fn slots_may_come_as_a_bare_array() {
    let (asked, all) = (sample!("slots-arguments"), sample!("detail-arguments"));
    let slots = sample!("slots")["slots"].clone();
    let check = |arguments: &Value, slots: &Value| exchange("get_available_slots", arguments, slots, Some(&option()));
    assert_eq!(findings(&check(&asked, &slots).unwrap()), vec![]);
    assert_eq!(findings(&check(&asked, &json!([])).unwrap()), vec![]);
    let other = with(slots, &[("/0/class_id", json!("class_x"))]);
    assert_refused(check(&asked, &other), "INTERNAL_ERROR", &[("/0/class_id", "UNEXPECTED_VALUE")]);
    assert_eq!(findings(&check(&all, &other).unwrap()), expected(&[("/0/class_id", "UNKNOWN_CLASS")]));
    let broken = json!([{"class_id": "class_hatha", "instructor_id_assigned": " "}, []]);
    let violations = [("/0/instructor_id_assigned", "EMPTY"), ("/1", "WRONG_TYPE")];
    assert_refused(check(&asked, &broken), "INTERNAL_ERROR", &violations);
    for none in [json!("[]"), json!(7), json!(null)] {
        assert_refused(check(&asked, &none), "INTERNAL_ERROR", &[("", "WRONG_TYPE")]);
    }
}

#[test]
fn bookings_carry_their_reference() {
    let book = sample!("book-arguments");
    let booking = sample!("booking");
    assert_eq!(exchange("book_slot", &book, &booking, None).unwrap().reference.as_deref(), Some("book_77120"));
    let change = sample!("modify-arguments");
    let revised = json!({"booking_ref": "book_77121"});
    assert_eq!(exchange("modify_booking", &change, &revised, None).unwrap().reference.as_deref(), Some("book_77121"));
    let cancel = sample!("cancel-arguments");
    let refund = sample!("refund");
    assert_eq!(exchange("cancel_booking", &cancel, &refund, None).unwrap().reference.as_deref(), Some("book_77120"));
    assert_eq!(exchange("cancel_booking", &cancel, &json!({}), None).unwrap().reference, None);
    let other = with(refund, &[("/booking_ref", json!("book_1"))]);
    assert_refused(
        exchange("cancel_booking", &cancel, &other, None),
        "INTERNAL_ERROR",
        &[("/booking_ref", "UNEXPECTED_VALUE")],
    );
}

#[test]
fn completion_reports() {
    let report = sample!("report");
    let check = check_completion::<YogaClass>;
    let passed = check(&report, Some(&option())).unwrap();
    assert_eq!((passed.amount_paise, passed.charged, passed.findings.len()), (50_847, true, 0));
    for status in [
        "cancelled_by_user",
        "cancelled_by_studio",
        "no_show",
        "failed",
        "partial_completion_user_left_early",
        "medical_event_class_halted",
    ] {
        assert!(!check(&with(report.clone(), &[("/status", json!(status))]), None).unwrap().charged, "{status}");
    }
    for (pointer, code) in [
        ("/yoga_studio_id", "STUDIO_MISMATCH"),
        ("/class_id", "CLASS_MISMATCH"),
        ("/instructor_id", "INSTRUCTOR_MISMATCH"),
    ] {
        let other = with(report.clone(), &[(pointer, json!("somebody_else"))]);
        let passed = check(&other, Some(&option())).unwrap();
        assert_eq!(pairs(&passed.findings), expected(&[(pointer, code)]));
        assert!(check(&other, None).unwrap().findings.is_empty());
    }
    let cheaper = with(report.clone(), &[("/amount_inr", json!(508.46))]);
    let passed = check(&cheaper, Some(&option())).unwrap();
    assert_eq!(pairs(&passed.findings), expected(&[("/amount_inr", "AMOUNT_MISMATCH")]));
    assert!(check(&cheaper, None).unwrap().findings.is_empty());
    for (pointer, value, code) in [
        ("/status", json!("cancelled"), "NOT_IN_VOCABULARY"),
        ("/intent", json!("lifestyle.book_gym_session"), "UNEXPECTED_VALUE"),
        ("/ended_at", json!("2026-05-04T07:29:59+05:30"), "WINDOW_ORDER"),
        ("/ended_at", json!("2026-05-04T07:30:00+05:30"), "WINDOW_ORDER"),
    ] {
        assert_refused(check(&with(report.clone(), &[(pointer, value)]), None), "INVALID_REQUEST", &[(pointer, code)]);
    }
}

/// Which slot counts, and when nothing is said, is told by `cases/completion-late.json`.
#[test]
fn lateness_is_told_against_the_quote() {
    let report = sample!("report");
    let late = |started: &str, quoted: Option<&Value>| {
        let report = with(report.clone(), &[("/started_at", json!(started))]);
        check_completion::<YogaClass>(&report, quoted).unwrap().late_minutes
    };
    let started = ["2026-05-04T07:30:00+05:30", "2026-05-04T02:12:00Z", "2026-05-04T07:25:00+05:30"];
    assert_eq!(started.map(|at| late(at, Some(&option()))), [Some(0), Some(12), Some(-5)]);
    assert_eq!(started.map(|at| late(at, None)), [None; 3]);
}

/// What was booked counts, not any class of the option.
#[test]
fn a_report_is_held_against_its_order() {
    let booked = json!({
        "yoga_studio_id": "studio_one_000001", "class_id": "class_hatha", "instructor_id": "inst_asha",
        "scheduled_for_iso": "2026-05-04T07:20:00+05:30",
    });
    let found = |changes: &[(&str, Value)]| {
        let order = example::order("booked", with(booked.clone(), changes).to_string(), &[]);
        let about = Subject { quoted: Some(option().to_string()), order: Some(order) };
        let passed = check_completion_about::<YogaClass>(&sample!("report"), &about).unwrap();
        (pairs(&passed.findings), passed.late_minutes)
    };
    assert_eq!(found(&[]), (expected(&[]), Some(10)));
    for (kept, pointer, code) in [
        ("/yoga_studio_id", "/yoga_studio_id", "STUDIO_MISMATCH"),
        ("/class_id", "/class_id", "CLASS_MISMATCH"),
        ("/instructor_id", "/instructor_id", "INSTRUCTOR_MISMATCH"),
    ] {
        assert_eq!(found(&[(kept, json!("other"))]).0, expected(&[(pointer, code)]));
    }
    let day_before = [("/scheduled_for_iso", json!("2026-05-03T07:30:00+05:30"))];
    assert_eq!(found(&day_before), (expected(&[("/started_at", "SLOT_MISMATCH")]), Some(1440)));
}

/// A class that did not take place has no duration; one that did, has one.
#[test]
fn times_of_a_report_are_in_order() {
    let report = sample!("report");
    let check = |status: &str, end: &str| {
        let report = with(report.clone(), &[("/status", json!(status)), ("/ended_at", json!(end))]);
        check_completion::<YogaClass>(&report, None).is_ok()
    };
    let (before, at, after) = ("2026-05-04T07:00:00+05:30", "2026-05-04T02:00:00Z", "2026-05-04T07:31:00+05:30");
    for status in ["completed", "partial_completion_user_left_early", "medical_event_class_halted"] {
        assert_eq!([before, at, after].map(|end| check(status, end)), [false, false, true], "{status}");
    }
    for status in ["cancelled_by_user", "cancelled_by_studio", "no_show", "failed"] {
        assert_eq!([before, at, after].map(|end| check(status, end)), [false, true, true], "{status}");
    }
}
