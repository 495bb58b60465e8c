//! Orders that wait for the reports of a load: kept in a gateway's store as if they had been booked through it.

use std::ops::Range;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::order::OrderedOption;
use intent_gateway_domain::store::{Change, Store as _, Versioned};
use intent_gateway_store::{Location, SqlStore};
use intent_gateway_testing::orders::booked;
use serde_json::json;
use serde_json::value::RawValue;

use crate::reports::{INTENT, PARTNER, external_id, now_ms, request_id};

/// Orders that are kept in one commit.
const AT_ONCE: usize = 500;

/// Keeps the orders of these numbers, each with the option that was ordered.
pub(crate) async fn keep(store_url: &str, contract: Digest, option: &RawValue, numbers: Range<u64>) {
    let location = Location::parse(store_url).expect("the store's address");
    let store = SqlStore::open(&location, None).await.expect("the store opens");
    let now = Timestamp::from_ms(now_ms());
    let numbers: Vec<u64> = numbers.collect();
    for numbers in numbers.chunks(AT_ONCE) {
        let mut change = Change::default();
        for number in numbers {
            let (identifier, search) = (external_id(*number), request_id(*number));
            let booking = format!("booking of {identifier}");
            let mut order = booked(PARTNER, INTENT, &search, &booking, &[&identifier], now);
            order.contract = contract;
            order.kept.insert("booking_id".to_owned(), json!(identifier));
            change.put(&Versioned::new(OrderedOption { order: order.id.clone(), option: option.to_owned() }));
            change.put(&Versioned::new(order));
        }
        store.commit(change).await.expect("the orders are kept");
    }
    store.close().await;
}
