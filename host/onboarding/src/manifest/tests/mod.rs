//! One valid submission, and each rule broken once in it.

mod authoring;
mod phone;
mod refused;
mod warned;

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
        aliases: Vec::new(),
        version: "1.1.0".parse().expect("semver"),
        widget_types: widgets.iter().map(ToString::to_string).collect(),
        shape: None,
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
        "service_area": ["Bengaluru", "560001", "560 002", "S.A.S. Nagar"],
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
fn absent_means_no_review() {
    assert!(!judge(&with("/submitForReview", None)).expect("valid").submit_for_review);
    assert!(!judge(&with("/submitForReview", Some(json!(false)))).expect("valid").submit_for_review);
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
}
