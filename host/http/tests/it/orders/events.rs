//! What has changed, as pages and as a stream.

use http::StatusCode;
use http_body_util::BodyExt as _;
use intent_gateway_domain::order::Order;
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{ask, asker, keep, order};
use crate::support::{Ask, Gateway, refused};

const EVENTS: &str = "/api/v1/orders/events";

async fn page(gateway: &Gateway, who: &str, query: &str) -> Value {
    ask(gateway, who, None, &format!("{EVENTS}{query}")).await.json()
}

fn told(page: &Value) -> Vec<(&str, &str)> {
    let events = page["events"].as_array().expect("a list").iter();
    events
        .map(|event| (event["request_id"].as_str().expect("an identifier"), event["state"].as_str().expect("a state")))
        .collect()
}

#[tokio::test]
async fn pages_tell_what_has_changed_since_a_cursor() {
    let gateway = Gateway::with_orders().await;
    let mut orders: Vec<Order> = Vec::new();
    for (who, user, identifier) in [("bot", Some("ann"), "BK-1"), ("bot", None, "BK-2"), ("other", None, "BK-3")] {
        orders.push(order(&asker(who, user), identifier, 30));
        keep(&gateway, orders.last().expect("one")).await;
    }
    let first = page(&gateway, "bot", "?limit=1").await;
    assert_eq!((told(&first), &first["more"]), (vec![("booking BK-1", "booked")], &json!(true)));
    let next = first["next"].as_str().expect("a cursor");
    let second = page(&gateway, "bot", &format!("?after={next}")).await;
    assert_eq!((told(&second), &second["more"]), (vec![("booking BK-2", "booked")], &json!(false)));
    let next = second["next"].as_str().expect("a cursor").to_owned();
    let quiet = page(&gateway, "bot", &format!("?after={next}")).await;
    assert!(told(&quiet).is_empty());
    for state in ["changed", "cancelled"] {
        state.clone_into(&mut orders[0].state);
        keep(&gateway, &orders[0]).await;
    }
    let changed = page(&gateway, "bot", &format!("?after={}", quiet["next"].as_str().expect("a cursor"))).await;
    assert_eq!(told(&changed), [("booking BK-1", "cancelled")]);
    let event = &changed["events"][0];
    assert_eq!((&event["order"], &event["search_request_id"]), (&json!(orders[0].id.as_str()), &json!("search BK-1")));
    assert_eq!((&event["is_open"], &event["changed_at"]), (&json!(true), &json!("2027-01-15T07:59:30Z")));
    // The header names the last event as well, and comes before the query.
    let token = gateway.token_of(Role::Orchestrator, "bot");
    let again = Ask::get(&format!("{EVENTS}?after={}", changed["next"].as_str().expect("a cursor")));
    let again = again.header("authorization", &format!("Bearer {token}")).header("last-event-id", &next);
    assert_eq!(told(&gateway.call(again).await.json()), [("booking BK-1", "cancelled")]);
    assert_eq!(told(&page(&gateway, "other", "").await), [("booking BK-3", "booked")]);
}

#[tokio::test]
async fn a_cursor_is_good_for_its_orchestrator_alone() {
    let gateway = Gateway::with_orders().await;
    keep(&gateway, &order(&asker("bot", None), "BK-1", 30)).await;
    let next = page(&gateway, "bot", "").await["next"].as_str().expect("a cursor").to_owned();
    assert!(!next.contains("=") && next.len() < 200, "{next}");
    let altered = format!("{}A", &next[..next.len() - 1]);
    let long = "x".repeat(400);
    for (who, query) in [
        ("other", format!("?after={next}")),
        ("bot", format!("?after={altered}")),
        ("bot", "?after=1".to_owned()),
        ("bot", "?after=".to_owned()),
        ("bot", format!("?after={long}")),
        ("bot", "?limit=0".to_owned()),
        ("bot", "?limit=501".to_owned()),
        ("bot", "?since=1".to_owned()),
    ] {
        let answer = ask(&gateway, who, None, &format!("{EVENTS}{query}")).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{who} {query}");
    }
    let token = gateway.token_of(Role::Orchestrator, "bot");
    let ask =
        Ask::get(EVENTS).header("authorization", &format!("Bearer {token}")).header("accept", "text/event-stream");
    let refusal = gateway.call(ask.header("last-event-id", "unheard of")).await;
    assert_eq!(refusal.refusal(), refused(400, "INVALID_REQUEST"), "a stream that cannot begin has a status");
}

/// A stream as it comes.
struct Stream(axum::body::Body);

impl Stream {
    async fn open(gateway: &Gateway, who: &str, after: Option<&str>) -> Self {
        let token = gateway.token_of(Role::Orchestrator, who);
        let ask = Ask::get(EVENTS).header("authorization", &format!("Bearer {token}"));
        let ask = ask.header("accept", "text/event-stream");
        let ask = after.map_or(ask.clone(), |after| ask.header("last-event-id", after));
        let response = gateway.router.clone().oneshot(ask.request(gateway)).await.expect("never fails");
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut stream = Self(response.into_body());
        assert_eq!(stream.next().await.as_deref(), Some("retry: 1000\n\n"));
        stream
    }

    async fn next(&mut self) -> Option<String> {
        let frame = self.0.frame().await?.expect("never fails");
        Some(String::from_utf8(frame.into_data().expect("data").into()).expect("UTF-8"))
    }
}

/// Identifier, name and data of each event.
fn read(text: &str) -> Vec<(String, String, Value)> {
    let events = text.split("\n\n").filter(|event| !event.is_empty());
    let event = |event: &str| {
        let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
        (field("id: "), field("event: "), serde_json::from_str(&field("data: ")).expect("JSON"))
    };
    events.map(event).collect()
}

#[tokio::test]
async fn a_stream_tells_of_changes_as_they_come() {
    let gateway = Gateway::with_orders().await;
    let mut kept = order(&asker("bot", Some("ann")), "BK-1", 30);
    keep(&gateway, &kept).await;
    keep(&gateway, &order(&asker("other", None), "BK-2", 30)).await;
    let mut stream = Stream::open(&gateway, "bot", None).await;
    let events = read(&stream.next().await.expect("what there is"));
    let [(first, name, data)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((name.as_str(), &data["order"], &data["state"]), ("order", &json!(kept.id.as_str()), &json!("booked")));
    "cancelled".clone_into(&mut kept.state);
    // It waits, the order changes, and it looks again.
    let change = async {
        while gateway.stream_timer.waits_ms().is_empty() {
            tokio::task::yield_now().await;
        }
        keep(&gateway, &kept).await;
        gateway.stream_timer.advance(1_000);
    };
    let (next, ()) = tokio::join!(stream.next(), change);
    let events = read(&next.expect("the change"));
    let [(second, _, data)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((&data["order"], &data["state"]), (&json!(kept.id.as_str()), &json!("cancelled")));
    // Whoever comes back begins after the last event seen, here or with a page.
    assert_eq!(told(&page(&gateway, "bot", &format!("?after={first}")).await), [("booking BK-1", "cancelled")]);
    assert!(told(&page(&gateway, "bot", &format!("?after={second}")).await).is_empty());
    drop(stream);
    let mut again = Stream::open(&gateway, "bot", Some(first)).await;
    assert_eq!(read(&again.next().await.expect("what was missed"))[0].2["state"], "cancelled");
    gateway.draining.cancel();
    let end = again.next().await.expect("the end");
    assert!(end.contains("retry: 5000") && end.contains(r#"{"reason":"shutdown","resume":true}"#), "{end}");
    assert_eq!(again.next().await, None);
}

#[tokio::test]
async fn a_stream_ends_after_an_hour_and_where_the_store_fails() {
    let gateway = Gateway::with_orders().await;
    keep(&gateway, &order(&asker("bot", None), "BK-1", 30)).await;
    let mut stream = Stream::open(&gateway, "bot", None).await;
    let last = read(&stream.next().await.expect("what there is"))[0].0.clone();
    gateway.clock.advance(3_600_000);
    let events = read(&stream.next().await.expect("the end"));
    assert_eq!((&events[0].0, &events[0].2), (&last, &json!({"reason": "time_limit", "resume": true})));
    assert_eq!(stream.next().await, None);
    drop(stream);
    let mut stream = Stream::open(&gateway, "bot", Some(&last)).await;
    gateway.kept.store.break_engine("no disk");
    let events = read(&stream.next().await.expect("the end"));
    assert_eq!(events[0].2, json!({"reason": "interrupted", "resume": true}));
}

#[tokio::test]
async fn streams_have_a_bound() {
    let gateway = Gateway::with_orders().await;
    let open = Stream::open(&gateway, "bot", None).await;
    let token = gateway.token_of(Role::Orchestrator, "bot");
    let ask =
        Ask::get(EVENTS).header("authorization", &format!("Bearer {token}")).header("accept", "text/event-stream");
    assert_eq!(gateway.call(ask.clone()).await.refusal(), refused(503, "OVERLOADED"));
    drop(open);
    let _open = Stream::open(&gateway, "bot", None).await;
}
