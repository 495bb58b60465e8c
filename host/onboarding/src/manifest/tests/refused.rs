//! What is checked at submit, and refuses.

use serde_json::{Value, json};

use super::*;

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
fn large_prices_are_compared_exactly() {
    let mut body = valid();
    body["intents"][0]["pricing"] =
        json!({"min": 9_007_199_254_740_993_u64, "max": 9_007_199_254_740_992_u64, "currency": "INR"});
    assert_eq!(judge(&body).expect_err("one apart").violations[0].code, "MIN_ABOVE_MAX");
    body["intents"][0]["pricing"] = json!({"min": -0.0, "max": 0, "currency": "INR"});
    assert!(judge(&body).is_ok());
}
