//! The authoring form.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

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
    early["manifest_version"] = super::super::authoring::MANIFEST_VERSION.into();
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

proptest! {
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
