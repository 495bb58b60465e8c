//! Completion reports as a partner sends them: signed, each for another order, ready as the bytes of a request.

use std::fmt::Write as _;

use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::signature::Signer;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// Who reports.
pub(crate) const PARTNER: &str = "bench-partner";
/// What it signs with.
pub(crate) const SIGNING_KEY: &str = "whsec_6c1f0a9b3d5e7284c6a8e0f1b2d3c4a5968778695a4b3c2d1e0f9a8b7c6d5e4f";
/// The intent that the orders were made under.
pub(crate) const INTENT: &str = "auto.book_ac_service";

/// Requests that each stand for several orders, as one search shows options for one of them.
pub(crate) const SEARCHES: u64 = 1_000;

/// The request that a search is made with, and that reports name.
pub(crate) fn request_id(number: u64) -> String {
    format!("req_5f2c8a1e9b{:06}", number % SEARCHES)
}

/// Where reports are sent to.
pub(crate) fn path() -> String {
    format!("/api/v1/cpc/mcp_provider/{PARTNER}")
}

/// What was quoted, and ordered.
#[derive(Clone)]
pub(crate) struct Quoted {
    /// The option.
    pub(crate) option: Box<RawValue>,
    /// Code of the work.
    pub(crate) scope: String,
    pub(crate) labour_inr: u64,
}

impl Quoted {
    /// What an option of the contract's samples quotes.
    pub(crate) fn of(option: &Value) -> Self {
        let scope = option["service_scope"]["code"].as_str().expect("a scope is quoted").to_owned();
        let labour_inr = option["estimated_price"]["labour_inr"].as_u64().expect("a price is quoted");
        Self { option: to_raw_value(option).expect("JSON is written as JSON"), scope, labour_inr }
    }
}

/// What the partner calls an order.
pub(crate) fn external_id(number: u64) -> String {
    format!("BK-{:016x}", scattered(number))
}

/// The report of an order, as it was quoted; no two numbers give the same.
pub(crate) fn body(number: u64, quoted: &Quoted) -> String {
    let Quoted { scope, labour_inr, .. } = quoted;
    let (order, amount) = (external_id(number), labour_inr + number % 100);
    format!(
        "{{\"intent\":\"{INTENT}\",\"external_id\":\"{order}\",\"request_id\":\"{}\",\"amount_inr\":{amount}.5,\
         \"gst_inr\":522,\"tips_inr\":50,\"pass_through_inr\":0,\"closed_at\":\"2026-05-04T16:10:00+05:30\",\
         \"status\":\"completed\",\"service_scope_performed\":\"{scope}\",\"warranty_card_issued\":true}}",
        request_id(number)
    )
}

/// A number that stands for no other, in no order: identifiers of real partners tell no time. (Splitmix64, which is a
/// bijection.)
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Requests, one after the other in memory.
pub(crate) struct Pool {
    bytes: String,
    ends: Vec<usize>,
}

impl Pool {
    /// Signs the reports of the orders from `first` on, now: a signature holds for five minutes.
    pub(crate) fn signed_now(first: u64, count: usize, quoted: &Quoted) -> Self {
        let signer = Signer::new(&Secret::new(SIGNING_KEY));
        let timestamp_ms = now_ms();
        let path = path();
        let (mut bytes, mut ends) = (String::new(), Vec::with_capacity(count));
        for number in (first..).take(count) {
            let body = body(number, quoted);
            let signature = signer.sign(timestamp_ms, body.as_bytes());
            write!(
                bytes,
                "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                 x-platform-timestamp: {timestamp_ms}\r\nx-platform-signature: {signature}\r\n\r\n{body}",
                body.len()
            )
            .expect("writing to a string does not fail");
            ends.push(bytes.len());
        }
        Self { bytes, ends }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A request, whole.
    pub(crate) fn get(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes.as_bytes()[start..self.ends[place]]
    }
}

/// Milliseconds since the epoch.
pub(crate) fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("the clock is right");
    u64::try_from(now.as_millis()).expect("the clock is right")
}
