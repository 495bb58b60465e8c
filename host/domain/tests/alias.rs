//! Other names of an intent: what they mean, what becomes of documents that use them, and who may have them.

use std::sync::Arc;

use futures_executor::block_on;
use intent_gateway_domain::alias::{check, resolve, rewrite, rewrite_any};
use intent_gateway_domain::classify::{Decision, classify};
use intent_gateway_domain::contract::{Classification, Descriptor, PointerElsewhere};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contracts as _;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::contract::{ScriptedContract, descriptor};

fn id(name: &str) -> IntentId {
    IntentId::parse(name).expect("well formed")
}

fn named(intent: &str, aliases: &[&str]) -> Descriptor {
    Descriptor { intent: id(intent), aliases: aliases.iter().map(|alias| id(alias)).collect(), ..descriptor("1.0.0") }
}

fn insurance() -> Descriptor {
    named("finance.insure", &["auto.insure", "auto.cover"])
}

#[test]
fn an_alias_is_put_right_and_nothing_else_is_touched() {
    let insurance = insurance();
    let cases = [
        (r#"{"intent":"auto.insure"}"#, r#"{"intent":"finance.insure"}"#),
        (
            "{ \"b\" : 1e3,\n \"intent\"\t: \"auto.cover\" , \"é\": [\"auto.cover\"] }",
            "{ \"b\" : 1e3,\n \"intent\"\t: \"finance.insure\" , \"é\": [\"auto.cover\"] }",
        ),
        (r#"{"intent":"auto.\u0069nsure"}"#, r#"{"intent":"finance.insure"}"#),
        // Twice is still twice, for whoever judges the document.
        (
            r#"{"intent":"auto.insure","intent":"auto.insure"}"#,
            r#"{"intent":"finance.insure","intent":"finance.insure"}"#,
        ),
    ];
    for (document, expected) in cases {
        assert_eq!(rewrite(document, &insurance), expected);
    }
    let untouched = [
        r#"{"intent":"finance.insure"}"#,
        r#"{"intent":"auto.wash","note":"auto.insure"}"#,
        r#"{"within":{"intent":"auto.insure"}}"#,
        r#"{"intent":["auto.insure"]}"#,
        r#"["auto.insure"]"#,
        r#"{"intent":"auto.insure""#,
        "auto.insure",
        "",
    ];
    for document in untouched {
        assert_eq!(rewrite(document, &insurance), document);
    }
}

#[test]
fn a_name_means_the_intent_whose_alias_it_is() {
    let contracts = Catalogue::of([insurance(), named("auto.wash", &[])].map(|it| Arc::new(ScriptedContract::new(it))));
    for (name, meant) in
        [("auto.insure", "finance.insure"), ("finance.insure", "finance.insure"), ("auto.wash", "auto.wash")]
    {
        assert_eq!(resolve(&*contracts, &id(name)), id(meant));
        let document = format!(r#"{{"intent":"{name}"}}"#);
        assert_eq!(rewrite_any(&document, &*contracts), format!(r#"{{"intent":"{meant}"}}"#));
    }
    assert_eq!(resolve(&*contracts, &id("auto.unknown")), id("auto.unknown"), "as it is");
    for document in ["", "[]", r#"{"intent":7}"#, r#"{"intent":"auto.unknown"}"#] {
        assert_eq!(rewrite_any(document, &*contracts), document);
    }
    contracts.retire("finance.insure");
    assert!(contracts.live("auto.insure").is_none(), "what is out of service has no other name either");
}

#[test]
fn a_contract_that_knows_its_neighbour_by_an_alias_points_to_the_neighbour() {
    let wash = ScriptedContract::new(Descriptor {
        cues: vec!["car".to_owned()],
        pairs: vec!["auto.cover".to_owned()],
        ..named("auto.wash", &[])
    });
    let wash = wash.on_classify(|utterance, _| {
        let elsewhere =
            PointerElsewhere { intent: "auto.insure".to_owned(), score: 0.9, reason: "cover is wanted".to_owned() };
        let score = if utterance.contains("wash") { 0.9 } else { 0.0 };
        Ok(Classification { score, evidence: vec![], elsewhere: vec![elsewhere], also: vec!["auto.cover".to_owned()] })
    });
    let contracts = Catalogue::of([wash, ScriptedContract::new(insurance())].map(Arc::new));
    let classified = block_on(classify(&*contracts, "cover my car", ""));
    assert_eq!((classified.decision, classified.intent.as_deref()), (Decision::Elsewhere, Some("finance.insure")));
    assert_eq!((classified.elsewhere[0].intent.as_str(), classified.elsewhere[0].live), ("finance.insure", true));
    let classified = block_on(classify(&*contracts, "wash my car", ""));
    assert_eq!(
        (classified.intent.as_deref(), &classified.also[..]),
        (Some("auto.wash"), &["finance.insure".to_owned()][..])
    );
}

#[test]
fn no_name_means_two() {
    let insurance = insurance();
    let taken = |next: &Descriptor| check(next, [&insurance]).map_err(|error| (error.code(), error.to_string()));
    assert_eq!(taken(&named("auto.wash", &["auto.clean"])), Ok(()));
    assert_eq!(taken(&named("finance.insure", &["auto.insure"])), Ok(()), "the next version of the same");
    for (intent, alias, name) in [
        ("auto.wash", "auto.cover", "auto.cover"),
        ("auto.wash", "finance.insure", "finance.insure"),
        ("auto.insure", "auto.clean", "auto.insure"),
    ] {
        let (code, message) = taken(&named(intent, &[alias])).expect_err("taken");
        assert_eq!(code, "ALIAS_TAKEN");
        assert!(message.contains(&format!("`{name}`")) && message.contains("`finance.insure` 1.0.0"), "{message}");
    }
}
