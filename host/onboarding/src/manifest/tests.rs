//! One valid submission, and each rule broken once in it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use intent_gateway_domain::contract::Refusal;
use intent_gateway_domain::id::PartnerId;

const BASE: &str = "https://gateway.example";

fn partner() -> PartnerId {
    PartnerId::parse("ptr_0123456789abcdef").expect("well formed")
}

fn live(intent: &str, widgets: &[&str]) -> LiveIntent {
    LiveIntent {
        intent: IntentId::parse(intent).expect("well formed"),
        version: "1.1.0".parse().expect("semver"),
        widget_types: widgets.iter().map(ToString::to_string).collect(),
    }
}

fn catalogue() -> Catalogue {
    [
        live("auto.book_ac_service", &["generic_listings", "AcServiceWidget"]),
        live("lifestyle.book_yoga_class", &["yoga_class_options"]),
    ]
    .into_iter()
    .collect()
}

fn entry(intent: &str, domain: &str, widget: &str) -> Value {
    json!({
        "intent": intent,
        "domain": domain,
        "pricing": {"min": 500, "max": 9000.5, "currency": "INR"},
        "service_area": ["Bengaluru", "560001", "560 002", "St. Thomas Mount (Chennai)"],
        "description": "Car AC service at your door.",
        "ttbs_signals": {"time": 0.8, "taste": 0.5, "budget": 1, "safety": 0.0},
        "availability": "Mon-Sat 08:00-22:00 IST",
        "completion_callback": "https://gateway.example/api/v1/cpc/mcp_provider/ptr_0123456789abcdef",
        "widget_type": widget,
        "intent_version": "v1.1.0",
    })
}

fn valid() -> Value {
    json!({
        "businessName": "  Cool Car Co.  ",
        "intents": [
            entry("auto.book_ac_service", "auto", "generic_listings"),
            entry("lifestyle.book_yoga_class", "lifestyle", "yoga_class_options"),
        ],
        "submitForReview": true,
    })
}

fn judge(body: &Value) -> Result<Accepted, Refusal> {
    // The slash at the end makes no other address.
    let base_url = format!("{BASE}/");
    submit(body, &Terms { catalogue: &catalogue(), partner: &partner(), base_url: &base_url })
}

/// The valid submission with one member replaced, added, or (with no value) removed.
fn with(pointer: &str, value: Option<Value>) -> Value {
    let mut body = valid();
    let (owner, member) = pointer.rsplit_once('/').expect("a pointer");
    match (body.pointer_mut(owner).expect("the owner is there"), value) {
        (Value::Object(members), Some(value)) => drop(members.insert(member.to_owned(), value)),
        (Value::Object(members), None) => drop(members.remove(member).expect("the member is there")),
        (Value::Array(items), Some(value)) => items[member.parse::<usize>().expect("an index")] = value,
        (other, value) => panic!("{other} cannot take {value:?}"),
    }
    body
}

#[test]
fn a_valid_submission_is_kept_whole() {
    let accepted = judge(&valid()).expect("valid");
    assert_eq!((accepted.warnings, accepted.flags), (vec![], vec![]));
    assert!(accepted.submit_for_review);
    let mut kept = serde_json::to_value(&accepted.manifest).expect("serialises");
    assert_eq!(serde_json::from_value::<Manifest>(kept.clone()).expect("reads what it writes"), accepted.manifest);
    // Trimmed, without the leading `v`, signals as floats: otherwise what was submitted.
    let mut submitted = valid();
    submitted.as_object_mut().expect("an object").remove("submitForReview");
    submitted["businessName"] = "Cool Car Co.".into();
    for index in 0..2 {
        submitted["intents"][index]["intent_version"] = "1.1.0".into();
        kept["intents"][index]["ttbs_signals"]["budget"] = 1.into();
    }
    assert_eq!(kept, submitted);
    assert_eq!(accepted.manifest.entry("auto.book_ac_service").map(|entry| entry.domain.as_str()), Some("auto"));
}

#[test]
fn what_is_checked_at_submit_refuses() {
    let ac = "auto.book_ac_service";
    let long = |length: usize| Some("x".repeat(length).into());
    let cases: Vec<(&str, Option<Value>, &str, &str, String)> = vec![
        ("/businessName", None, "/businessName", "REQUIRED", "businessName is missing".into()),
        ("/businessName", Some(json!(" \t")), "/businessName", "EMPTY", "businessName is empty".into()),
        (
            "/businessName",
            Some(json!(7)),
            "/businessName",
            "WRONG_TYPE",
            "businessName must be a string, found a number".into(),
        ),
        (
            "/businessName",
            Some(json!(null)),
            "/businessName",
            "WRONG_TYPE",
            "businessName must be a string, found null".into(),
        ),
        ("/businessName", long(201), "/businessName", "TOO_LONG", "businessName is longer than 200 characters".into()),
        (
            "/submitForReview",
            Some(json!("true")),
            "/submitForReview",
            "WRONG_TYPE",
            "submitForReview must be a boolean, found a string".into(),
        ),
        (
            "/submitForReview",
            Some(json!(null)),
            "/submitForReview",
            "WRONG_TYPE",
            "submitForReview must be a boolean, found null".into(),
        ),
        ("/intents", None, "/intents", "REQUIRED", "intents is missing".into()),
        ("/intents", Some(json!([])), "/intents", "TOO_FEW_ITEMS", "intents must list at least one intent".into()),
        ("/intents", Some(json!({})), "/intents", "WRONG_TYPE", "intents must be an array, found an object".into()),
        (
            "/intents/1",
            Some(json!("x")),
            "/intents/1",
            "WRONG_TYPE",
            "intents[1]: the entry must be an object, found a string".into(),
        ),
        ("/intents/0/intent", None, "/intents/0/intent", "REQUIRED", "intents[0]: intent is missing".into()),
        (
            "/intents/0/intent",
            Some(json!(1)),
            "/intents/0/intent",
            "WRONG_TYPE",
            "intents[0]: intent must be a string, found a number".into(),
        ),
        ("/intents/0/domain", None, "/intents/0/domain", "REQUIRED", format!("{ac}: domain is missing")),
        (
            "/intents/0/domain",
            Some(json!(["auto"])),
            "/intents/0/domain",
            "WRONG_TYPE",
            format!("{ac}: domain must be a string, found an array"),
        ),
        (
            "/intents/0/domain",
            Some(json!("Auto")),
            "/intents/0/domain",
            "DOMAIN_MISMATCH",
            format!("{ac}: domain must be auto, the namespace of the intent, found \"Auto\""),
        ),
        ("/intents/0/pricing", None, "/intents/0/pricing", "REQUIRED", format!("{ac}: pricing is missing")),
        (
            "/intents/0/pricing",
            Some(json!([1, 2])),
            "/intents/0/pricing",
            "WRONG_TYPE",
            format!("{ac}: pricing must be an object with min, max and currency, found an array"),
        ),
        ("/intents/0/pricing/min", None, "/intents/0/pricing/min", "REQUIRED", format!("{ac}: pricing.min is missing")),
        ("/intents/0/pricing/max", None, "/intents/0/pricing/max", "REQUIRED", format!("{ac}: pricing.max is missing")),
        (
            "/intents/0/pricing/min",
            Some(json!("3")),
            "/intents/0/pricing/min",
            "WRONG_TYPE",
            format!("{ac}: pricing.min must be a number, found a string"),
        ),
        (
            "/intents/0/pricing/max",
            Some(json!(null)),
            "/intents/0/pricing/max",
            "WRONG_TYPE",
            format!("{ac}: pricing.max must be a number, found null"),
        ),
        (
            "/intents/0/pricing/min",
            Some(json!(true)),
            "/intents/0/pricing/min",
            "WRONG_TYPE",
            format!("{ac}: pricing.min must be a number, found a boolean"),
        ),
        (
            "/intents/0/pricing/min",
            Some(json!(-0.01)),
            "/intents/0/pricing/min",
            "OUT_OF_RANGE",
            format!("{ac}: pricing.min (-0.01) is below 0"),
        ),
        (
            "/intents/0/pricing/max",
            Some(json!(-1)),
            "/intents/0/pricing/max",
            "OUT_OF_RANGE",
            format!("{ac}: pricing.max (-1) is below 0"),
        ),
        (
            "/intents/0/pricing/max",
            Some(json!(499.99)),
            "/intents/0/pricing/min",
            "MIN_ABOVE_MAX",
            format!("{ac}: pricing.min (500) exceeds pricing.max (499.99)"),
        ),
        (
            "/intents/0/pricing/currency",
            Some(json!("USD")),
            "/intents/0/pricing/currency",
            "UNEXPECTED_VALUE",
            format!("{ac}: pricing.currency must be INR, found \"USD\""),
        ),
        (
            "/intents/0/pricing/currency",
            Some(json!("inr")),
            "/intents/0/pricing/currency",
            "UNEXPECTED_VALUE",
            format!("{ac}: pricing.currency must be INR, found \"inr\""),
        ),
        (
            "/intents/0/pricing/currency",
            Some(json!(null)),
            "/intents/0/pricing/currency",
            "WRONG_TYPE",
            format!("{ac}: pricing.currency must be the string INR, found null"),
        ),
        (
            "/intents/0/service_area",
            None,
            "/intents/0/service_area",
            "REQUIRED",
            format!("{ac}: service_area is missing"),
        ),
        (
            "/intents/0/service_area",
            Some(json!("IN_ALL")),
            "/intents/0/service_area",
            "WRONG_TYPE",
            format!("{ac}: service_area must be an array of strings, found a string"),
        ),
        (
            "/intents/0/service_area",
            Some(json!([])),
            "/intents/0/service_area",
            "TOO_FEW_ITEMS",
            format!("{ac}: service_area must name at least one place"),
        ),
        (
            "/intents/0/service_area",
            Some(json!(vec!["Pune"; 1001])),
            "/intents/0/service_area",
            "TOO_MANY_ITEMS",
            format!("{ac}: service_area has 1001 entries, more than 1000"),
        ),
        (
            "/intents/0/service_area/1",
            Some(json!(560_001)),
            "/intents/0/service_area/1",
            "WRONG_TYPE",
            format!("{ac}: service_area[1] must be a string, found a number"),
        ),
        (
            "/intents/0/service_area/0",
            Some(json!("  ")),
            "/intents/0/service_area/0",
            "EMPTY",
            format!("{ac}: service_area[0] is empty"),
        ),
        (
            "/intents/0/service_area/0",
            long(101),
            "/intents/0/service_area/0",
            "TOO_LONG",
            format!("{ac}: service_area[0] is longer than 100 characters"),
        ),
        (
            "/intents/0/intent_version",
            Some(json!("1.1.1")),
            "/intents/0/intent_version",
            "VERSION_ABOVE_LIVE",
            format!("{ac}: intent_version 1.1.1 is above the live version 1.1.0"),
        ),
        (
            "/intents/1/intent",
            Some(json!("auto.book_ac_service")),
            "/intents/1/domain",
            "DOMAIN_MISMATCH",
            format!("{ac}: domain must be auto, the namespace of the intent, found \"lifestyle\""),
        ),
    ];
    for (changed, value, pointer, code, said) in cases {
        let refusal = judge(&with(changed, value.clone())).expect_err(changed);
        let first = &refusal.violations[0];
        assert_eq!(refusal.code, "INVALID_REQUEST", "{changed} {value:?}");
        assert_eq!((first.pointer.as_str(), first.code.as_str()), (pointer, code), "{changed} {value:?}");
        assert_eq!(first.message, said);
    }
    assert_eq!(judge(&json!([])).expect_err("no object").violations[0].pointer, "");
}

#[test]
fn an_intent_that_does_not_exist_has_its_own_code() {
    for (written, said) in [
        ("auto.book_ac_services", r#"there is no intent "auto.book_ac_services"; did you mean auto.book_ac_service?"#),
        ("travel.book_hotel", r#"travel.book_hotel: there is no intent "travel.book_hotel""#),
        ("AUTO.book_ac_service", "did you mean auto.book_ac_service?"),
        (" auto.book_ac_service", "did you mean auto.book_ac_service?"),
        ("", r#"intents[0]: there is no intent """#),
        ("book_ac_service", r#"intents[0]: there is no intent "book_ac_service""#),
    ] {
        let refusal = judge(&with("/intents/0/intent", Some(written.into()))).expect_err(written);
        assert_eq!(refusal.code, "INVALID_INTENT", "{written}");
        assert_eq!(refusal.violations[0].pointer, "/intents/0/intent");
        assert!(refusal.violations[0].message.contains(said), "{refusal:?}");
    }
}

#[test]
fn the_code_is_of_the_first_breach() {
    let unknown = with("/intents/0/intent", Some("auto.order".into()));
    let mut later = unknown.clone();
    later["intents"][1]["pricing"]["min"] = 10_000.into();
    assert_eq!(judge(&later).expect_err("two breaches").code, "INVALID_INTENT");
    let mut before = unknown;
    before["businessName"] = "".into();
    let refusal = judge(&before).expect_err("two breaches");
    assert_eq!((refusal.code.as_str(), refusal.violations.len()), ("INVALID_REQUEST", 2));
}

#[test]
fn an_intent_is_listed_once() {
    let mut body = valid();
    body["intents"][1] = body["intents"][0].clone();
    let refusal = judge(&body).expect_err("twice");
    assert_eq!(refusal.code, "INVALID_REQUEST");
    assert_eq!(
        (refusal.violations[0].pointer.as_str(), refusal.violations[0].message.as_str()),
        ("/intents/1/intent", "auto.book_ac_service: listed twice, in intents[0] and intents[1]")
    );
}

#[test]
fn entries_are_counted() {
    let entries = |count: usize| with("/intents", Some(vec![json!({}); count].into()));
    let codes = |count: usize| judge(&entries(count)).expect_err("empty entries").violations[0].code.clone();
    assert_eq!((codes(50).as_str(), codes(51).as_str()), ("REQUIRED", "TOO_MANY_ITEMS"));
    let listed = judge(&entries(51)).expect_err("empty entries").violations;
    assert_eq!(listed.len(), intent_gateway_domain::violations::VIOLATIONS_LISTED_MAX + 1);
}

#[test]
fn the_rest_only_warns_and_is_kept() {
    let long = |length: usize| Some("x".repeat(length).into());
    let ac = "/intents/0";
    let cases: Vec<(&str, Option<Value>, &str, &str)> = vec![
        ("/foo", Some(json!(1)), "/foo", "UNKNOWN_MEMBER"),
        ("/businessName", Some(json!("A\u{7}B")), "/businessName", "CONTROL_CHARACTER"),
        ("/foo", Some(json!({"a": [1]})), "/foo", "UNKNOWN_MEMBER"),
        ("/intents/0/tool_role", Some(json!("search")), "/intents/0/tool_role", "UNKNOWN_MEMBER"),
        ("/intents/0/pricing/unit", Some(json!("hour")), "/intents/0/pricing/unit", "UNKNOWN_MEMBER"),
        ("/intents/0/pricing/currency", None, "/intents/0/pricing/currency", "CURRENCY_ASSUMED"),
        ("/intents/0/description", None, "/intents/0/description", "REQUIRED"),
        ("/intents/0/description", Some(json!("")), "/intents/0/description", "EMPTY"),
        ("/intents/0/description", Some(json!(5)), "/intents/0/description", "WRONG_TYPE"),
        ("/intents/0/description", long(201), "/intents/0/description", "TOO_LONG"),
        ("/intents/0/ttbs_signals", None, "/intents/0/ttbs_signals", "REQUIRED"),
        ("/intents/0/ttbs_signals", Some(json!([1, 1, 1, 1])), "/intents/0/ttbs_signals", "WRONG_TYPE"),
        ("/intents/0/ttbs_signals/time", None, "/intents/0/ttbs_signals/time", "REQUIRED"),
        ("/intents/0/ttbs_signals/time", Some(json!("0.5")), "/intents/0/ttbs_signals/time", "WRONG_TYPE"),
        ("/intents/0/ttbs_signals/taste", Some(json!(1.01)), "/intents/0/ttbs_signals/taste", "OUT_OF_RANGE"),
        ("/intents/0/ttbs_signals/safety", Some(json!(-0.01)), "/intents/0/ttbs_signals/safety", "OUT_OF_RANGE"),
        ("/intents/0/ttbs_signals/speed", Some(json!(1)), "/intents/0/ttbs_signals/speed", "UNKNOWN_MEMBER"),
        ("/intents/0/availability", Some(json!(24)), "/intents/0/availability", "WRONG_TYPE"),
        (
            "/intents/0/availability",
            Some(json!("when we feel like it")),
            "/intents/0/availability",
            "AVAILABILITY_UNREAD",
        ),
        ("/intents/0/availability", long(501), "/intents/0/availability", "TOO_LONG"),
        ("/intents/0/completion_callback", None, "/intents/0/completion_callback", "REQUIRED"),
        ("/intents/0/completion_callback", Some(json!(false)), "/intents/0/completion_callback", "WRONG_TYPE"),
        (
            "/intents/0/completion_callback",
            Some(json!("https://gateway.example/api/v1/cpc/mcp_provider/other")),
            "/intents/0/completion_callback",
            "CALLBACK_MISMATCH",
        ),
        ("/intents/0/widget_type", None, "/intents/0/widget_type", "REQUIRED"),
        ("/intents/0/widget_type", Some(json!("yoga_class_options")), "/intents/0/widget_type", "WIDGET_MISMATCH"),
        ("/intents/0/intent_version", None, "/intents/0/intent_version", "REQUIRED"),
        ("/intents/0/intent_version", Some(json!(1)), "/intents/0/intent_version", "WRONG_TYPE"),
        ("/intents/0/intent_version", Some(json!("1.1")), "/intents/0/intent_version", "BAD_FORMAT"),
        ("/intents/0/intent_version", Some(json!("1.0.9")), "/intents/0/intent_version", "VERSION_NOT_LIVE"),
        ("/intents/0/api_mapping", Some(json!("x")), "/intents/0/api_mapping", "WRONG_TYPE"),
        ("/intents/0/service_area/0", Some(json!("in_all")), "/intents/0/service_area/0", "PLACE_IMPLAUSIBLE"),
        ("/intents/0/service_area/0", Some(json!("56001")), "/intents/0/service_area/0", "PLACE_IMPLAUSIBLE"),
        ("/intents/0/service_area/0", Some(json!("060001")), "/intents/0/service_area/0", "PLACE_IMPLAUSIBLE"),
        ("/intents/0/service_area/0", Some(json!("56 0001")), "/intents/0/service_area/0", "PLACE_IMPLAUSIBLE"),
        ("/intents/0/service_area/0", Some(json!("बेंगलुरु")), "/intents/0/service_area/0", "PLACE_IMPLAUSIBLE"),
    ];
    for (changed, value, pointer, code) in cases {
        let accepted = judge(&with(changed, value.clone())).unwrap_or_else(|refusal| panic!("{changed}: {refusal:?}"));
        let warned: Vec<_> = accepted.warnings.iter().map(|w| (w.pointer.as_str(), w.code.as_str())).collect();
        assert_eq!(warned, [(pointer, code)], "{changed} {value:?}");
        if pointer.starts_with(ac) {
            assert!(accepted.warnings[0].message.starts_with("auto.book_ac_service: "), "{:?}", accepted.warnings);
        }
        // Nothing that was sent is lost.
        let kept = serde_json::to_string(&accepted.manifest).expect("serialises");
        let sent = value.filter(|value| !value.is_null()).map(|value| value.to_string());
        assert!(sent.is_none_or(|sent| kept.contains(&sent)), "{changed}: {kept}");
    }
}

/// How a REST API answers the one tool.
fn mapping() -> Value {
    json!({"kind": "rest", "tools": {"search_things": {
        "operation_id": "listThings", "method": "GET", "path": "/things", "response": {"things": {"$res": "/items"}},
    }}})
}

#[test]
fn a_mapping_that_cannot_be_read_is_warned_of_where_it_is_wrong() {
    let mut broken = mapping();
    broken["tools"]["search_things"]["operation_id"] = json!(7);
    let accepted = judge(&with("/intents/0/api_mapping", Some(broken.clone()))).expect("warns");
    assert_eq!(accepted.manifest.intents[0].api_mapping, Some(broken), "kept for the reviewer");
    let pointers: Vec<_> = accepted.warnings.iter().map(|warning| warning.pointer.as_str()).collect();
    assert_eq!(pointers, ["/intents/0/api_mapping/tools/search_things/operation_id"]);
    assert!(accepted.warnings[0].message.contains(": api_mapping/tools/search_things"), "{:?}", accepted.warnings);
}

#[test]
fn the_planned_widget_and_no_hours_are_fine() {
    for (changed, value) in [
        ("/intents/0/widget_type", Some(json!("AcServiceWidget"))),
        ("/intents/0/availability", None),
        ("/intents/0/availability", Some(json!(""))),
        ("/intents/0/intent_version", Some(json!("1.1.0+build.7"))),
        ("/intents/0/pricing/min", Some(json!(0))),
        ("/intents/0/pricing/min", Some(json!(9000.5))),
        ("/intents/0/description", Some("x".repeat(200).into())),
        ("/intents/0/api_mapping", Some(mapping())),
    ] {
        let accepted = judge(&with(changed, value.clone())).expect(changed);
        assert_eq!(accepted.warnings, vec![], "{changed} {value:?}");
    }
}

#[test]
fn unreadable_signals_count_as_undeclared() {
    let accepted = judge(&with("/intents/0/ttbs_signals/time", Some(json!(7)))).expect("warns");
    let signals = accepted.manifest.intents[0].ttbs_signals;
    assert_eq!(signals, Axes { time: 0.5, taste: 0.5, budget: 1.0, safety: 0.0 });
}

#[test]
fn large_prices_are_compared_exactly() {
    let mut body = valid();
    body["intents"][0]["pricing"] =
        json!({"min": 9_007_199_254_740_993_u64, "max": 9_007_199_254_740_992_u64, "currency": "INR"});
    assert_eq!(judge(&body).expect_err("one apart").violations[0].code, "MIN_ABOVE_MAX");
    body["intents"][0]["pricing"] = json!({"min": -0.0, "max": 0, "currency": "INR"});
    assert!(judge(&body).is_ok());
}

#[test]
fn absent_means_no_review() {
    assert!(!judge(&with("/submitForReview", None)).expect("valid").submit_for_review);
    assert!(!judge(&with("/submitForReview", Some(json!(false)))).expect("valid").submit_for_review);
}

#[test]
fn what_the_reviewer_must_see_is_flagged() {
    let flags = |body: &Value| {
        let accepted = judge(body).expect("valid");
        accepted.flags.into_iter().map(|flag| (flag.code, flag.intent.to_string())).collect::<Vec<_>>()
    };
    let yoga = "lifestyle.book_yoga_class".to_owned();
    let signals = |time: f64, taste: f64, budget: f64, safety: f64| {
        let signals = json!({"time": time, "taste": taste, "budget": budget, "safety": safety});
        flags(&with("/intents/1/ttbs_signals", Some(signals)))
    };
    let inflated = vec![(FlagCode::InflatedSignals, yoga.clone())];
    assert_eq!(signals(1.0, 1.0, 1.0, 1.0), inflated);
    assert_eq!(signals(1.0, 1.0, 1.0, 0.1), inflated);
    assert_eq!(signals(0.95, 0.95, 0.95, 0.95), inflated);
    assert_eq!(signals(1.0, 1.0, 0.9, 0.8), vec![]);
    let whole = with("/intents/1/service_area", Some(json!(["Pune", "IN_ALL"])));
    assert_eq!(flags(&whole), vec![(FlagCode::VerifyWholeCountry, yoga)]);
}

proptest! {
    /// Whatever is sent: a refusal says what and where; what is accepted keeps every rule that was checked.
    #[test]
    fn a_submission_is_refused_with_reasons_or_sound(
        at in any::<prop::sample::Index>(),
        value in intent_gateway_testing::json::json_value(),
    ) {
        let mut body = valid();
        intent_gateway_testing::json::replace_somewhere(&mut body, at, value);
        let told = match judge(&body) {
            Ok(Accepted { manifest, warnings, .. }) => {
                prop_assert!(!manifest.business_name.is_empty());
                prop_assert!((1..=INTENTS_MAX).contains(&manifest.intents.len()));
                for entry in &manifest.intents {
                    prop_assert_eq!(&entry.domain, entry.intent.domain());
                    prop_assert!(!entry.service_area.is_empty());
                    let (min, max) = (entry.pricing.min.as_f64(), entry.pricing.max.as_f64());
                    prop_assert!(Some(0.0) <= min && min <= max);
                    prop_assert!(entry.ttbs_signals.values().iter().all(|signal| (0.0..=1.0).contains(signal)));
                }
                let kept = serde_json::to_value(&manifest).expect("serialises");
                prop_assert_eq!(serde_json::from_value::<Manifest>(kept).expect("reads what it writes"), manifest);
                warnings
            }
            Err(refusal) => {
                prop_assert!(!refusal.violations.is_empty());
                refusal.violations
            }
        };
        for breach in told {
            prop_assert!(intent_gateway_testing::json::points_into(&body, &breach.pointer), "{breach:?}");
            prop_assert!(!breach.message.is_empty() && breach.message.len() < 1_000, "{breach:?}");
        }
    }

    /// A form that is not itself is refused or becomes a submission that can be judged.
    #[test]
    fn an_authoring_form_never_gets_stuck(
        at in any::<prop::sample::Index>(),
        value in intent_gateway_testing::json::json_value(),
    ) {
        let mut form = form();
        intent_gateway_testing::json::replace_somewhere(&mut form, at, value);
        match from_authoring(&form, Some(&partner())) {
            Ok(submission) => drop(judge(&submission)),
            Err(refusal) => prop_assert!(!refusal.violations.is_empty()),
        }
    }
}

fn form() -> Value {
    json!({
        "manifest_version": "v0.1.0",
        "business": {
            "name": "Cool Car Co.",
            "legal_name": "Cool Car Services Private Limited",
            "tier": "tier1",
            "partner_id": partner().as_str(),
        },
        "intents": valid()["intents"],
        "submitForReview": true,
    })
}

#[test]
fn the_authoring_form_becomes_a_submission() {
    let mut expected = valid();
    expected["businessName"] = "Cool Car Co.".into();
    assert_eq!(from_authoring(&form(), Some(&partner())).expect("valid"), expected);
    assert_eq!(from_authoring(&form(), None).expect("valid"), expected);
    assert!(judge(&expected).is_ok());
    let mut early = form();
    early["manifest_version"] = MANIFEST_VERSION.into();
    early["business"].as_object_mut().expect("an object").remove("partner_id");
    early["business"]["tier"] = "tier2".into();
    early.as_object_mut().expect("an object").remove("submitForReview");
    expected.as_object_mut().expect("an object").remove("submitForReview");
    assert_eq!(from_authoring(&early, Some(&partner())).expect("not yet anybody's"), expected);
}

#[test]
fn what_the_authoring_form_adds_is_checked() {
    let long = || Some("x".repeat(201).into());
    let cases: Vec<(&str, Option<Value>, &str)> = vec![
        ("/manifest_version", None, "REQUIRED"),
        ("/manifest_version", Some(json!(0.1)), "WRONG_TYPE"),
        ("/manifest_version", Some(json!("0.1")), "BAD_FORMAT"),
        ("/manifest_version", Some(json!("0.2.0")), "MANIFEST_VERSION_UNSUPPORTED"),
        ("/business", None, "REQUIRED"),
        ("/business", Some(json!("Cool Car Co.")), "WRONG_TYPE"),
        ("/business/name", None, "REQUIRED"),
        ("/business/name", Some(json!("")), "EMPTY"),
        ("/business/name", long(), "TOO_LONG"),
        ("/business/legal_name", None, "REQUIRED"),
        ("/business/legal_name", Some(json!(1)), "WRONG_TYPE"),
        ("/business/tier", None, "REQUIRED"),
        ("/business/tier", Some(json!("tier3")), "NOT_IN_VOCABULARY"),
        ("/business/partner_id", Some(json!("ptr_other")), "PARTNER_MISMATCH"),
        ("/business/partner_id", Some(json!("no partner")), "BAD_FORMAT"),
        ("/business/partner_id", Some(json!(null)), "WRONG_TYPE"),
        ("/business/phone", Some(json!("1")), "UNKNOWN_MEMBER"),
        ("/businessName", Some(json!("x")), "UNKNOWN_MEMBER"),
        ("/intents/1/intent_version", None, "REQUIRED"),
        ("/intents/1/intent_version", Some(json!(1.0)), "WRONG_TYPE"),
        ("/intents/1/intent_version", Some(json!("1.0")), "BAD_FORMAT"),
    ];
    for (changed, value, code) in cases {
        let mut broken = form();
        let (owner, member) = changed.rsplit_once('/').expect("a pointer");
        let owner = broken.pointer_mut(owner).and_then(Value::as_object_mut).expect("an object");
        match value.clone() {
            Some(value) => drop(owner.insert(member.to_owned(), value)),
            None => drop(owner.remove(member)),
        }
        let refusal = from_authoring(&broken, Some(&partner())).expect_err(changed);
        let found: Vec<_> = refusal.violations.iter().map(|v| (v.pointer.as_str(), v.code.as_str())).collect();
        assert_eq!(found, [(changed, code)], "{value:?}");
        assert_eq!(refusal.code, "INVALID_REQUEST");
    }
    assert_eq!(from_authoring(&json!("x"), None).expect_err("no mapping").violations[0].pointer, "");
}
