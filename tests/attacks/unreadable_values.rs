//! One partner's value makes the whole answer unreadable to strict readers of JSON (RFC 7493): a number that nothing holds, half
//! a surrogate pair, a control character, a text without end.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::calls::booking;
use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::{Behaviour, Scripted};
use crate::search::honest_slots;

/// Stands in an option where a value is put that a `Value` cannot hold.
const MARK: &str = "\"the value\"";

/// A slot as JSON text whose provider has one more member, which no contract looks at.
fn slot_with(slot: &Value, id: &str, value: &str) -> String {
    let mut slot = slot.clone();
    slot["slot_id"] = id.into();
    slot["provider"]["extra"] = "the value".into();
    slot.to_string().replace(MARK, value)
}

async fn gateway_with(behaviour: Behaviour) -> (Gateway, Scripted) {
    let partner = Scripted::start(behaviour).await;
    let partners = vec![partner.entry("scripted")];
    let gateway =
        Gateway::start(&GatewayOptions { partners, contracts: vec![ac_contract()], ..GatewayOptions::default() });
    (gateway, partner)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_that_no_reader_takes_costs_that_option_alone() {
    let slot = honest_slots().await.swap_remove(0);
    let (digits, long) = ("9".repeat(5_000), format!("\"{}\"", "x".repeat(5_000)));
    let attacks = [
        ("exponent", "1e400", "NUMBER_TOO_LARGE"),
        ("digits", digits.as_str(), "TOO_LONG"),
        ("half", r#""\ud800""#, "LONE_SURROGATE"),
        ("bell", r#""\u0007""#, "CONTROL_CHARACTER"),
        ("nul", r#""\u0000""#, "CONTROL_CHARACTER"),
        ("never", r#""\uffff""#, "NONCHARACTER"),
        ("long", long.as_str(), "TOO_LONG"),
        ("twice", "1,\"extra\":2", "DUPLICATE_MEMBER"),
    ];
    // What is written in other scripts, joined emoji, ends of lines, and exact decimals are not attacks.
    let honest = [r#""योग 👩‍👩‍👧 \ud83d\ude00\r\n\t₹""#, "0.1000000000000000055511151231257827", "9007199254740993"];
    let slots: Vec<String> = attacks
        .iter()
        .map(|(id, value, _)| slot_with(&slot, id, value))
        .chain((0..).zip(honest).map(|(place, value)| slot_with(&slot, &format!("fine-{place}"), value)))
        .collect();
    let payload = format!(
        r#"{{"result_token": "t", "expires_at": "2099-01-01T00:00:00Z", "ignored": 1e400, "slots": [{}]}}"#,
        slots.join(",")
    );
    let (gateway, _partner) = gateway_with(Behaviour::Text(payload)).await;

    // That it can be read at all is the point: this is a strict reader.
    let answer = gateway.found(&request()).await;
    assert_eq!(answer["options"].as_array().map(Vec::len), Some(honest.len()), "{answer}");
    for (id, _, code) in attacks {
        let dropped = answer["dropped"].as_array().expect("a list");
        let one = dropped.iter().find(|one| one["option_id"] == id).unwrap_or_else(|| panic!("{id}: {answer}"));
        let told = (&one["strike"], &one["violations"][0]["code"], &one["violations"][0]["pointer"]);
        assert_eq!(told, (&json!(false), &json!(code), &json!("/provider/extra")), "{id}");
    }
    let findings = gateway.findings("scripted").await;
    let noted = |severity: &str, pointer: &str| {
        findings.iter().filter(|one| one["severity"] == severity && one["violation"]["pointer"] == pointer).count()
    };
    assert_eq!((noted("drop", "/provider/extra"), noted("note", "/ignored")), (attacks.len(), 1), "{findings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_a_tool_that_no_reader_takes_is_refused_with_everything() {
    let slots = json!(honest_slots().await);
    let (gateway, _partner) = gateway_with(Behaviour::Answers(Arc::new(move |arguments| {
        Ok(match arguments["slot_id"].as_str() {
            None => json!({"result_token": "t", "expires_at": "2099-01-01T00:00:00Z", "slots": slots}),
            Some(slot) => {
                json!({"booking_id": "b-1", "slot_id": slot, "bell": "\u{7}", "nul": "a\u{0}", "c1": "\u{9b}2J"})
            }
        })
    })))
    .await;
    let found = gateway.found(&request()).await;
    let call = json!({"reference": found["options"][0]["reference"], "arguments": booking("r-1")});
    let path = "/api/v1/intents/auto.book_ac_service/tools/create_ac_service_booking";
    let answer = gateway.post(path, &call).await;
    assert_eq!(
        (answer.status, &answer.body["error"]["code"]),
        (502, &json!("PARTNER_ANSWER_INVALID")),
        "{}",
        answer.body
    );
    let pointers = |violations: Vec<&Value>| {
        let mut pointers: Vec<String> = violations
            .into_iter()
            .filter(|violation| violation["code"] == "CONTROL_CHARACTER")
            .filter_map(|violation| violation["pointer"].as_str().map(str::to_owned))
            .collect();
        pointers.sort();
        pointers
    };
    let expected = ["/bell", "/c1", "/nul"];
    assert_eq!(pointers(answer.body["error"]["violations"].as_array().expect("a list").iter().collect()), expected);
    let findings = gateway.findings("scripted").await;
    assert_eq!(pointers(findings.iter().map(|finding| &finding["violation"]).collect()), expected, "{findings:?}");
}
