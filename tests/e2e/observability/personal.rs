//! Nothing about a user leaves through the log, the metrics or the traces, at whatever level the gateway logs, and
//! whatever a partner answers.

use serde_json::{Value, json};

use super::collector::Collector;
use super::{Observed, SEARCH, exporting};
use crate::calls::booking;
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, request};
use crate::scripted::{Behaviour, Scripted};

/// What is known of a user: an identifier, a name, a telephone number, two addresses, a vehicle and words of their own.
const PERSONAL: [&str; 7] = [
    "user-7f3a-asha",
    "Asha Rao",
    "+919845012345",
    "asha.rao@mail.example",
    "14 Cubbon Lane",
    "KA05MX1234",
    "my late father's car",
];
/// All that the gateway's own crates have to say.
const EVERYTHING: &str = "warn,intent_gateway=trace,intent_gateway_domain=trace,intent_gateway_outbound=trace,intent_gateway_routing=trace,intent_gateway_onboarding=trace,\
     intent_gateway_ledger=trace,intent_gateway_linking=trace,intent_gateway_http=trace,\
                          intent_gateway_partners=trace,intent_gateway_sandbox=trace,intent_gateway_store=trace,\
                          intent_gateway_mail=trace";

/// A document with everything about the user in it.
fn about(mut document: Value) -> Value {
    let [_, name, phone, mail, street, plate, _] = PERSONAL;
    document["contact_phone"] = phone.into();
    document["contact_email"] = mail.into();
    document["customer_name"] = name.into();
    document["service_address"] = json!({"line1": street, "city": "Bengaluru"});
    document["vehicle"]["registration_number"] = plate.into();
    document["ac_issue"]["user_description"] = PERSONAL[6].into();
    document
}

fn assert_absent(text: &str, place: &str) {
    for personal in PERSONAL {
        for line in text.lines() {
            assert!(!line.contains(personal), "{personal} is in the {place}: {line}");
        }
    }
}

fn settings(collector: &Collector) -> String {
    exporting(&collector.url).replace("format = \"json\"", &format!("format = \"json\"\nlevel = {EVERYTHING:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_and_a_booking_leave_nothing_about_the_user() {
    let collector = Collector::start().await;
    let observed = Observed::start(&settings(&collector)).await;
    let headers = [("x-user-id", PERSONAL[0])];
    let booked = observed.search_and_book(&headers, &about(request()), about(booking("r1"))).await;
    assert!(booked["payload"]["booking_id"].is_string(), "{booked}");
    // It was all there to be found: the partner has got it.
    let sent = observed.recorder.seen("create_ac_service_booking")[0].arguments.to_string();
    for personal in &PERSONAL[1..] {
        assert!(sent.contains(personal), "{personal}: {sent}");
    }

    // What is refused is told as well, and no better.
    let refused = json!({"reference": format!("opt_{}", PERSONAL[3]), "arguments": about(json!({"vehicle": {}, "ac_issue": {}}))});
    let path = format!("/api/v1/intents/auto.book_ac_service/tools/create_ac_service_booking?of={}", PERSONAL[3]);
    let answer = observed.gateway.post(&path, &refused).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    let answer = observed.gateway.post(SEARCH, &about(json!({"vehicle": {}, "ac_issue": {}}))).await;
    assert_eq!(answer.status, 400, "{}", answer.body);

    assert_absent(&observed.scraped().await.text, "metrics");
    let spans = collector.until(|spans| spans.iter().filter(|span| span.name.starts_with("POST ")).count() >= 4).await;
    for span in &spans {
        assert_absent(&span.whole, "spans");
    }
    let log = observed.gateway.log();
    assert!(log.contains("served"), "the log says nothing: {log}");
    assert_absent(&log, "log");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partners_own_words_stay_out_of_the_log() {
    let collector = Collector::start().await;
    let said = PERSONAL.join(", ");
    let mut partners = Vec::new();
    for behaviour in [
        Behaviour::Text(format!("no slot for {said}")),
        Behaviour::Payload(json!({"slots": said})),
        Behaviour::Payload(json!({"slots": [{"slot_id": PERSONAL[3], "warranty": said}], "result_token": [said]})),
        Behaviour::Body(
            r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": "Asha Rao", "message": "Asha Rao, +919845012345"}}"#,
        ),
        Behaviour::Body("no JSON-RPC at all: Asha Rao, +919845012345"),
        Behaviour::Fails(json!({
            "code": -32019, "message": said.clone(),
            "data": {"platform_error_code": PERSONAL[1], "platform_field": PERSONAL[2]}
        })),
    ] {
        partners.push(Scripted::start(behaviour).await);
    }
    let entries = partners.iter().enumerate().map(|(number, partner)| partner.entry(&format!("partner-{number}")));
    let gateway = Gateway::start(&GatewayOptions {
        partners: entries.collect::<Vec<PartnerEntry>>(),
        contracts: vec![ac_contract()],
        extra: settings(&collector),
        ..GatewayOptions::default()
    });
    let found = gateway.found(&about(request())).await;
    assert_eq!(found["partners"].as_array().map(Vec::len), Some(partners.len()), "{found}");
    let spans = collector.until(|spans| spans.iter().any(|span| span.name.starts_with("POST "))).await;
    for span in &spans {
        assert_absent(&span.whole, "spans");
    }
    let log = gateway.log();
    assert!(log.contains("a partner's answer is missing"), "the log says nothing: {log}");
    assert_absent(&log, "log");
}
