//! Orders as they are shown: to the orchestrator through which they were placed, to their partner, and to the platform team.

mod asked;
mod at_partner;
mod events;
mod team;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::order::{Happening, Order, OrderEvent, OrderedOption};
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};
use intent_gateway_domain::user::{Asker, Orchestrator, Pseudonym};
use intent_gateway_http::auth::{ISSUER, Role};
use intent_gateway_testing::orders::booked_by;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{Answer, Ask, Gateway, INTENT, NOW_MS};

/// Who asks with the token of an orchestrator of this name, for this user.
pub(crate) fn asker(orchestrator: &str, user: Option<&str>) -> Asker {
    let user = user.map(|user| Pseudonym::parse(user).expect("well formed"));
    Asker::new(Orchestrator::new(ISSUER, orchestrator), user.as_ref())
}

/// An order at `good`, opened so many seconds ago; its search and its booking are named after the identifier.
pub(crate) fn order(of: &Asker, identifier: &str, seconds_ago: u64) -> Order {
    let at = Timestamp::from_ms(NOW_MS - seconds_ago * 1_000);
    let requests = [format!("search {identifier}"), format!("booking {identifier}")];
    let mut order = booked_by(of, "good", INTENT, requests.each_ref().map(String::as_str), &[identifier], at);
    let kept = [("booking_id", json!(identifier)), ("total_inr", json!(499.5)), ("note", json!("ring twice"))];
    order.kept = kept.map(|(name, value)| (name.to_owned(), value)).into();
    order.begin("book_thing", &format!("booking {identifier}"), None, at);
    let answered = Happening::Answered { tool: "book_thing".to_owned(), state: order.state.clone() };
    order.history.push(OrderEvent { at_ms: at, what: answered });
    order
}

/// Keeps an order, or keeps it as it is now.
pub(crate) async fn keep(gateway: &Gateway, order: &Order) {
    let known = load::<Order>(&*gateway.kept.store, order.id.as_str()).await.expect("read");
    let mut change = Change::default();
    if known.is_none() {
        let option = RawValue::from_string(r#"{ "thing_id":"t1",  "price_inr":480 }"#.to_owned()).expect("JSON");
        change.put(&Versioned::new(OrderedOption { order: order.id.clone(), option }));
    }
    change.put(&Versioned { revision: known.map_or(0, |known| known.revision), value: order.clone() });
    gateway.kept.store.commit(change).await.expect("kept");
}

/// The first identifier of each order of a list.
fn ids(list: &Value) -> Vec<&str> {
    let orders = list["orders"].as_array().expect("a list").iter();
    orders.map(|order| order["identifiers"][0].as_str().expect("an identifier")).collect()
}

/// Asks as an orchestrator for a user.
async fn ask(gateway: &Gateway, orchestrator: &str, user: Option<&str>, path: &str) -> Answer {
    let token = gateway.token_of(Role::Orchestrator, orchestrator);
    let ask = Ask::get(path).header("authorization", &format!("Bearer {token}"));
    gateway
        .call(match user {
            Some(user) => ask.header("x-user-id", user),
            None => ask,
        })
        .await
}
