use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::contract::{LatencyTargets, RetryPolicy, ToolRole};

fn field(name: &str, breach: Breach) -> ForbiddenField {
    ForbiddenField { name: name.to_owned(), breach, reason: "For tests.".to_owned() }
}

#[test]
fn a_rule_is_broken_by_name_and_value() {
    let added = [field("padded_price", Breach::Present), field("ad_bid", Breach::UnlessEmpty)];
    let fields = ForbiddenFields::new(&added);
    let broken = |name: &str, kind| fields.broken_by(name, kind).map(|rule| rule.name);
    assert_eq!(broken("adBid", Kind::Null), Some("ad_bid"), "a contract relaxes nothing");
    assert_eq!(broken("Padded-Price", Kind::EmptyString), Some("padded_price"));
    assert_eq!(broken("\u{440}added_price", Kind::Other), Some("padded_price"));
    assert_eq!(broken("AI_GENERATED_PHOTO", Kind::False), None);
    assert_eq!(broken("AI_GENERATED_PHOTO", Kind::Null), Some("ai_generated_photo"));
    assert_eq!(broken("artificialUrgencyText", Kind::EmptyString), None);
    assert_eq!(broken("artificialUrgencyText", Kind::Other), Some("artificial_urgency_text"));
    for (name, _, _) in PLATFORM_FIELDS {
        assert_eq!(broken(name, Kind::Other), Some(name));
        assert_eq!(
            fields.broken_by_ascii(name.to_uppercase().as_bytes(), || Kind::Other).map(|rule| rule.name),
            Some(name)
        );
    }
    assert!(
        fields.broken_by_ascii("\u{440}added_price".as_bytes(), || Kind::Other).is_none(),
        "it says nothing of others"
    );
}

/// A tool whose answers have these members.
fn tool(members: &Value) -> Tool {
    let schema = |schema: Value| RawValue::from_string(schema.to_string()).expect("JSON");
    Tool {
        name: "search_tea".to_owned(),
        role: ToolRole::Search,
        purpose: "For tests.".to_owned(),
        latency: LatencyTargets { p50_ms: 1, p95_ms: 2, p99_ms: None },
        rate_per_minute: None,
        idempotency_key: None,
        retry: RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
        cache_seconds: None,
        orders_tool: None,
        request_schema: schema(json!({})),
        response_schema: schema(json!({"type": "object", "properties": members})),
    }
}

#[test]
fn what_is_forbidden_is_not_declared_under_whatever_name() {
    let told = |added: &[ForbiddenField], members: Value| problems(added, "offers", &[tool(&members)]);
    let cups = || json!({"cups": {"type": "array", "items": {"properties": {"sizeMl": {"type": "integer"}}}}});
    assert_eq!(
        told(&[field("size_ml", Breach::Present)], cups()),
        [
            "the forbidden field `size_ml` is a member of the answers of `search_tea` (`/cups/*/sizeMl`), so each of them would \
          be a breach; forbid it or declare it, not both"
        ]
    );
    assert!(
        told(&[], json!({"AdBid": {}}))[0].starts_with("the forbidden field `ad_bid` is a member"),
        "the platform's"
    );
    // One that may hold the value which is not a breach.
    assert_eq!(told(&[], json!({"ai_generated_photos": {"type": "boolean"}})), [] as [String; 0]);
    assert_eq!(told(&[], json!({"artificial_urgency_text": {"type": ["string", "null"]}})), [] as [String; 0]);
    assert_eq!(told(&[], json!({"ai_generated_photos": {"type": "boolean", "const": true}})).len(), 1);
    assert_eq!(told(&[], json!({"ai_generated_photos": {"type": "string"}})).len(), 1);
    assert_eq!(told(&[], json!({"artificial_urgency_text": {"type": "object"}})).len(), 1);
    assert_eq!(told(&[field("size", Breach::Present)], cups()), [] as [String; 0], "a part of a name is another name");
}

#[test]
fn a_contract_forbids_what_can_be_compared() {
    let long = "a".repeat(65);
    for name in ["", "__", "\u{430}d", &long] {
        let told = problems(&[field(name, Breach::Present)], "offers", &[]);
        assert!(told.len() == 1 && told[0].contains("cannot be compared"), "{told:?}");
    }
    assert!(
        problems(&[field("offers", Breach::Present)], "OFFERS", &[])[0].starts_with("`search.options-key` is `OFFERS`")
    );
    assert_eq!(problems(&[field("padding", Breach::Present)], "offers", &[]), [] as [String; 0]);
}
