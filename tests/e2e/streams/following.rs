//! Following an order: asked or listened to, cut and resumed, failed, ended.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::partner::{Partner, Track};
use super::reader::{Reader, Told, post};
use super::{TRACK, booked, gateway, of_order, path};
use crate::harness::Gateway;

/// Between two calls of a track tool (spec 1, rule 5 for the partner-hosted endpoint).
const BETWEEN_CALLS: Duration = Duration::from_secs(5);

fn at(place: u32) -> Value {
    json!({"status": "on_the_way", "at": place})
}

fn word(number: u32) -> Value {
    json!({"progress": number, "message": format!("{number} km")})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_answers_is_asked_for_all_who_follow() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "");
    let reference = booked(&gateway).await;
    partner.track(Track::Answer(at(1)));

    let start = Instant::now();
    let mut first = Reader::follow(&gateway, &reference).await;
    let update = first.expect("update").await;
    assert_eq!((&update.data["payload"], &update.data["tool"]), (&at(1), &json!(TRACK)));
    assert_eq!((&update.data["partner"], &update.data["missed"]), (&json!("a"), &Value::Null));
    let called = gateway.post(&path(&format!("tools/{TRACK}")), &of_order(&reference)).await;
    assert_eq!(called.body["payload"], at(1), "{}", called.body);
    assert_eq!(partner.counts().tracks, 1, "whoever asks in between is served the last answer");
    for member in ["contract", "reference", "advisory", "notes", "intent"] {
        assert_eq!(update.data[member], called.body[member], "{member}");
    }

    partner.track(Track::Answer(at(2)));
    let mut second = Reader::follow(&gateway, &reference).await;
    assert_eq!(second.expect("update").await, update, "the newest answer is there at once");
    let next = first.expect("update").await;
    assert_eq!((&next.data["payload"], next.number()), (&at(2), 2));
    assert_eq!(second.expect("update").await, next);
    assert!(start.elapsed() >= BETWEEN_CALLS, "{:?}", start.elapsed());
    assert_eq!(partner.counts().tracks, 2, "one call for both");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_refused_before_a_stream_begins() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "[streams]\nmax_open = 1\n");
    let reference = booked(&gateway).await;
    // In the middle: the last character of base64 may have bits that mean nothing.
    let (front, back) = reference.split_at(reference.len() / 2);
    let altered = format!("{front}{}{}", if back.starts_with('x') { 'y' } else { 'x' }, &back[1..]);
    let bad = json!({"reference": reference, "arguments": {"refuse": "yes"}});
    let track = format!("tools/{TRACK}/stream");
    for (end, body, headers, status, code) in [
        (track.as_str(), of_order(&altered), vec![], 400, "INVALID_REFERENCE"),
        (&track, of_order(&reference), vec![("x-user-id", "bob")], 400, "INVALID_REFERENCE"),
        (&track, bad, vec![], 400, "INVALID_REQUEST"),
        (&track, json!({"reference": reference}), vec![], 400, "INVALID_REQUEST"),
        ("tools/book_ride/stream", of_order(&reference), vec![], 404, "NOT_FOUND"),
        ("tools/no_such_tool/stream", of_order(&reference), vec![], 404, "NOT_FOUND"),
    ] {
        let response = post(&gateway, &path(end), &body, &headers).await;
        assert_eq!(response.status(), status, "{end}");
        let body: Value = response.json().await.expect("JSON");
        assert_eq!(body["error"]["code"], code, "{body}");
    }
    assert_eq!(partner.counts().tracks, 0, "nobody was called");

    let mut one = Reader::follow(&gateway, &reference).await;
    one.expect("update").await;
    let response = post(&gateway, &path(&track), &of_order(&reference), &[]).await;
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].as_bytes()), (503, &b"1"[..]));
    // Its place is free again once the reader has left.
    drop(one);
    let deadline = Instant::now() + BETWEEN_CALLS;
    while post(&gateway, &path(&track), &of_order(&reference), &[]).await.status() != 200 {
        assert!(Instant::now() < deadline, "the place is not given back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_connection_is_resumed_and_each_event_seen_once() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "");
    let reference = booked(&gateway).await;
    partner.track(Track::Stream);

    let mut reader = Reader::follow(&gateway, &reference).await;
    assert_eq!(reader.retry, None);
    partner.until("the ride is streamed", |counts| counts.open == 1).await;
    let mut seen: Vec<Told> = Vec::new();
    for number in 1..=3 {
        partner.tell(word(number));
        seen.push(reader.expect("progress").await);
    }
    assert_eq!(reader.retry, Some(1_000));
    assert_eq!(seen[0].data, json!({"params": word(1)}), "without the token");
    drop(reader);
    for number in 4..=9 {
        partner.tell(word(number));
    }
    let mut reader = Reader::follow_after(&gateway, &reference, &seen[2]).await;
    for _ in 4..=9 {
        seen.push(reader.expect("progress").await);
    }
    // Between two words, and in the middle of nothing.
    drop(reader);
    let mut reader = Reader::follow_after(&gateway, &reference, &seen[8]).await;
    tokio::time::sleep(BETWEEN_CALLS).await;
    partner.end(at(9));
    seen.push(reader.expect("update").await);
    seen.push(reader.expect("end").await);
    assert_eq!(reader.next().await, None);

    let numbers: Vec<u64> = seen.iter().map(Told::number).collect();
    assert_eq!(numbers, (1..=11).collect::<Vec<_>>());
    let words: Vec<&Value> = seen[..9].iter().map(|told| &told.data["params"]["progress"]).collect();
    assert_eq!(words, (1..=9).map(Value::from).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    assert_eq!(seen[9].data["payload"], at(9));
    assert_eq!(seen[10].data, json!({"reason": "complete", "resume": false}));
    assert_eq!(partner.counts().tracks, 1, "all of it in one call");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_ride_is_streamed_it_can_be_asked_for() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "");
    let reference = booked(&gateway).await;
    partner.track(Track::Stream);
    let mut reader = Reader::follow(&gateway, &reference).await;
    partner.until("the ride is streamed", |counts| counts.open == 1).await;
    partner.tell(word(1));
    reader.expect("progress").await;
    partner.track(Track::Answer(at(2)));
    tokio::time::sleep(BETWEEN_CALLS).await;
    let called = gateway.post(&path(&format!("tools/{TRACK}")), &of_order(&reference)).await;
    assert_eq!((called.status, &called.body["payload"]), (200, &at(2)), "{}", called.body);
    partner.tell(word(2));
    reader.expect("progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_told_and_those_that_stand_end_it() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "");
    let reference = booked(&gateway).await;
    partner.track(Track::Fail("LOCATION_LOST"));
    let mut reader = Reader::follow(&gateway, &reference).await;
    let lost = reader.expect("error").await;
    assert_eq!(lost.data["error"]["code"], "LOCATION_LOST", "{}", lost.data);
    assert_eq!(lost.data["error"]["message"], "The vehicle cannot be located at the moment.");
    partner.track(Track::Answer(at(1)));
    assert_eq!(reader.expect("update").await.data["payload"], at(1));
    partner.track(Track::Fail("RIDE_OVER"));
    assert_eq!(reader.expect("error").await.data["error"]["code"], "RIDE_OVER");
    assert_eq!(reader.expect("end").await.data, json!({"reason": "failed", "resume": false}));
    assert_eq!(reader.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_answer_may_hold_no_progress_may() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "");
    let reference = booked(&gateway).await;
    partner.track(Track::Stream);
    let mut reader = Reader::follow(&gateway, &reference).await;
    partner.until("the ride is streamed", |counts| counts.open == 1).await;
    for _ in 0..3 {
        partner.tell(json!({"progress": 1, "offer": {"sponsored_rank": 1}}));
    }
    partner.tell(word(2));
    assert_eq!(reader.expect("progress").await.data["params"], word(2));
    let findings = gateway.findings("a").await;
    let strikes: Vec<_> = findings.iter().filter(|finding| finding["severity"] == "strike").collect();
    assert_eq!(strikes.len(), 1, "one call is one incident: {findings:?}");
    assert_eq!(strikes[0]["violation"]["pointer"], "/offer/sponsored_rank", "{findings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_of_life_comes_and_a_shutdown_ends_all_cleanly() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "[streams]\nheartbeat_ms = 100\n");
    let reference = booked(&gateway).await;
    partner.track(Track::Stream);
    let (mut one, mut other) = (Reader::follow(&gateway, &reference).await, Reader::follow(&gateway, &reference).await);
    partner.until("the ride is streamed", |counts| counts.open == 1).await;
    one.until_heartbeats(5).await;
    partner.tell(word(1));
    for reader in [&mut one, &mut other] {
        reader.expect("progress").await;
    }
    let start = Instant::now();
    let Gateway { server, folder: _folder, .. } = gateway;
    let stopped = tokio::task::spawn_blocking(move || server.stop());
    for reader in [&mut one, &mut other] {
        assert_eq!(reader.expect("end").await.data, json!({"reason": "shutdown", "resume": true}));
        assert_eq!(reader.next().await, None);
        assert_eq!(reader.retry, Some(5_000));
    }
    partner.until("the call is given up", |counts| counts.open == 0).await;
    assert!(stopped.await.expect("waited for"), "a clean stop");
    assert!(start.elapsed() < BETWEEN_CALLS, "nothing waited for a deadline: {:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_is_not_called_for_those_who_have_left() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "");
    let reference = booked(&gateway).await;
    partner.track(Track::Stream);
    let reader = Reader::follow(&gateway, &reference).await;
    partner.until("the ride is streamed", |counts| counts.open == 1).await;
    drop(reader);
    partner.until("the call is given up", |counts| counts.open == 0).await;
    assert_eq!(partner.counts().tracks, 1);
}
