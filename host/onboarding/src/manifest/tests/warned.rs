//! What is kept for the reviewer, with a warning or a flag.

use serde_json::{Value, json};

use super::*;

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
        (
            "/intents/0/service_area/0",
            Some(json!("St. Thomas Mount (Chennai)")),
            "/intents/0/service_area/0",
            "PLACE_UNKNOWN",
        ),
        ("/intents/0/service_area/0", Some(json!("Bengalore")), "/intents/0/service_area/0", "PLACE_UNKNOWN"),
        ("/intents/0/service_area/0", Some(json!("999999")), "/intents/0/service_area/0", "PLACE_UNKNOWN"),
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
fn a_mapping_that_misses_its_contract_is_warned_of_where_it_does() {
    let mapped = LiveIntent {
        intent: IntentId::parse("auto.book_ac_service").expect("well formed"),
        ..LiveIntent::from(&intent_gateway_testing::contract::descriptor("1.1.0"))
    };
    let other = live("lifestyle.book_yoga_class", &["yoga_class_options"]);
    let catalogue: Catalogue = [mapped, other].into_iter().collect();
    let terms = Terms { catalogue: &catalogue, partner: &partner(), base_url: BASE };
    let mut misspelt = mapping();
    let tools = misspelt["tools"].as_object_mut().expect("an object");
    let tool = tools.remove("search_things").expect("there");
    tools.insert("serch_things".to_owned(), tool);
    let body = with("/intents/0/api_mapping", Some(misspelt));
    let accepted = submit(&body, &terms).expect("warns");
    let found = accepted.warnings.iter().find(|warning| warning.code == "UNKNOWN_TOOL").expect("a warning");
    assert_eq!(found.pointer, "/intents/0/api_mapping/tools/serch_things");
    assert!(found.message.ends_with("did you mean `search_things`?"), "{}", found.message);
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

#[test]
fn an_entry_by_an_alias_is_kept_under_the_intents_own_name() {
    let alias = IntentId::parse("vehicle.cool_car").expect("well formed");
    let catalogue: Catalogue = [
        LiveIntent { aliases: vec![alias], ..live("auto.book_ac_service", &["generic_listings", "AcServiceWidget"]) },
        live("lifestyle.book_yoga_class", &["yoga_class_options"]),
    ]
    .into_iter()
    .collect();
    let (partner, base_url) = (partner(), "https://gateway.example");
    let terms = Terms { catalogue: &catalogue, partner: &partner, base_url };
    let mut body = with("/intents/0/intent", Some(json!("vehicle.cool_car")));
    for domain in ["vehicle", "auto"] {
        body["intents"][0]["domain"] = json!(domain);
        let accepted = submit(&body, &terms).unwrap_or_else(|refusal| panic!("{domain}: {refusal:?}"));
        let entry = &accepted.manifest.intents[0];
        assert_eq!((entry.intent.as_str(), entry.domain.as_str()), ("auto.book_ac_service", "auto"));
        let warned: Vec<_> = accepted.warnings.iter().map(|it| (it.pointer.as_str(), it.code.as_str())).collect();
        assert_eq!(warned, [("/intents/0/intent", "ALIAS_RESOLVED")]);
    }
    body["intents"][0]["domain"] = json!("lifestyle");
    assert_eq!(submit(&body, &terms).expect_err("refused").violations[0].code, "DOMAIN_MISMATCH");
    // By two names it is still listed twice.
    let mut twice = body["intents"][0].clone();
    (twice["intent"], twice["domain"]) = (json!("auto.book_ac_service"), json!("auto"));
    body["intents"][0]["domain"] = json!("vehicle");
    body["intents"].as_array_mut().expect("a list").push(twice);
    let refused = submit(&body, &terms).expect_err("refused");
    assert_eq!(refused.violations.last().map(|it| it.code.as_str()), Some("DUPLICATE_INTENT"), "{refused:?}");
}
