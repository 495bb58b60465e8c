//! A search that shows what it has while it waits for the rest.

use serde_json::{Value, json};

use super::partner::Partner;
use super::reader::{Reader, post};
use super::{gateway, path};

const EVENTS: [(&str, &str); 1] = [("accept", "text/event-stream")];

/// An answer without what is different in each: times, and what is sealed with them.
fn comparable(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let members = answer.as_object_mut().expect("an object");
    for name in ["receipt", "complete", "awaited"] {
        members.remove(name);
    }
    for option in answer["options"].as_array_mut().expect("a list") {
        assert!(option["reference"].as_str().is_some_and(|reference| reference.starts_with("opt_")));
        option["reference"] = Value::Null;
    }
    for partner in answer["partners"].as_array_mut().expect("a list") {
        partner["elapsed_ms"] = Value::Null;
    }
    answer
}

fn of(snapshot: &Value, list: &str, member: &str) -> Vec<String> {
    let list = snapshot[list].as_array().expect("a list").iter();
    list.map(|entry| entry[member].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_gives_a_whole_ranking_and_the_last_is_the_plain_one() {
    let partners = [
        ("a", Partner::start("a", &[30, 60]).await),
        ("b", Partner::start("b", &[10]).await),
        ("c", Partner::start("c", &[50, 20]).await),
    ];
    let entries: Vec<(&str, &str)> = partners.iter().map(|(id, partner)| (*id, partner.url.as_str())).collect();
    let gateway = gateway(&entries, "");
    for (_, partner) in &partners {
        partner.open_gate(false);
    }
    let body = json!({"request_id": "r1"});
    let mut reader = Reader::open(&gateway, &path("search"), &body, &EVENTS).await;
    for (_, partner) in &partners {
        partner.until("it is asked", |counts| counts.searching == 1).await;
    }

    // In another order than they stand in.
    partners[2].1.open_gate(true);
    let first = reader.expect("snapshot").await.data;
    assert_eq!((&first["complete"], &first["awaited"]), (&json!(false), &json!(["a", "b"])));
    assert_eq!(of(&first, "partners", "partner"), ["c"]);
    assert_eq!((of(&first, "options", "partner"), first["code"].as_str()), (vec!["c".into(), "c".into()], None));
    assert_eq!(first["options"][0]["option"]["ride_id"], "c-20");
    // What is shown can be booked, and is held to what was shown.
    let booking = json!({"reference": first["options"][0]["reference"], "arguments": {}});
    let booked = gateway.post(&path("tools/book_ride"), &booking).await;
    assert_eq!((booked.status, &booked.body["payload"]["ride_id"]), (200, &json!("c-20")), "{}", booked.body);

    partners[0].1.open_gate(true);
    let second = reader.expect("snapshot").await.data;
    assert_eq!((&second["complete"], &second["awaited"]), (&json!(false), &json!(["b"])));
    assert_eq!(of(&second, "options", "partner"), ["c", "a", "c", "a"]);

    partners[1].1.open_gate(true);
    let last = reader.expect("snapshot").await.data;
    assert_eq!((&last["complete"], &last["awaited"]), (&json!(true), &json!([])));
    assert_eq!(reader.expect("end").await.data, json!({"reason": "complete", "resume": false}));
    assert_eq!(reader.next().await, None);

    let plain = gateway.post(&path("search"), &body).await;
    assert_eq!(comparable(&last), comparable(&plain.body));
    assert_eq!(of(&last, "options", "partner"), ["b", "c", "a", "c", "a"]);
    let receipts: Vec<_> = [&first, &second, &last].map(|snapshot| snapshot["receipt"].clone()).into();
    assert!(receipts[0].is_string() && receipts.iter().all(|receipt| *receipt == receipts[0]), "one for all of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_does_not_answer_is_shown_as_such_at_the_deadline() {
    let (quick, slow) = (Partner::start("quick", &[10]).await, Partner::start("slow", &[5]).await);
    slow.open_gate(false);
    let gateway = gateway(&[("quick", &quick.url), ("slow", &slow.url)], "[search]\ntimeout_ms = 1000\n");
    let mut reader = Reader::open(&gateway, &path("search"), &json!({}), &EVENTS).await;
    let first = reader.expect("snapshot").await.data;
    assert_eq!((&first["complete"], &first["awaited"]), (&json!(false), &json!(["slow"])));
    let last = reader.expect("snapshot").await.data;
    assert_eq!(last["complete"], true);
    assert_eq!(of(&last, "partners", "status"), ["answered", "failed"]);
    assert_eq!(last["partners"][1]["code"], "PARTNER_TIMEOUT");
    assert_eq!(last["options"].as_array().map(Vec::len), Some(1));
    reader.expect("end").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_who_could_be_asked_is_one_empty_snapshot() {
    let gateway = gateway(&[], "");
    let mut reader = Reader::open(&gateway, &path("search"), &json!({}), &EVENTS).await;
    let only = reader.expect("snapshot").await.data;
    assert_eq!((&only["complete"], &only["options"], &only["partners"]), (&json!(true), &json!([]), &json!([])));
    reader.expect("end").await;
    assert_eq!(reader.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_refused_as_ever() {
    let gateway = gateway(&[], "");
    for (intent, body, status, code) in [
        ("mobility.book_ride", json!({"refuse": "yes"}), 400, "INVALID_REQUEST"),
        ("mobility.nothing", json!({}), 404, "INVALID_INTENT"),
    ] {
        let response = post(&gateway, &format!("/api/v1/intents/{intent}/search"), &body, &EVENTS).await;
        assert_eq!(response.status(), status);
        let body: Value = response.json().await.expect("JSON");
        assert_eq!(body["error"]["code"], code, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_takes_the_partners_calls_along() {
    let partner = Partner::start("a", &[10]).await;
    partner.open_gate(false);
    let gateway = gateway(&[("a", &partner.url)], "");
    let reader = Reader::open(&gateway, &path("search"), &json!({}), &EVENTS).await;
    partner.until("it is asked", |counts| counts.searching == 1).await;
    drop(reader);
    partner.until("the call is given up", |counts| counts.searching == 0).await;
}
