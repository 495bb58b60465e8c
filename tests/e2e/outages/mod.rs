//! Stores that go down under bookings and reports, and gateways that are replaced under load: whoever is not served is told so
//! honestly, and what was acknowledged is there.
#![expect(clippy::print_stderr, reason = "what was not tested is for whoever asks with --nocapture")]

mod clock;
mod disk;
mod postgres;
mod rolling;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::calls::booking;
use crate::completion::{Reporter, ac_report, key_of};
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, client, request, root};
use crate::scripted::{Behaviour, Scripted};
use crate::search::honest_slots;

const PARTNER: &str = "alpha";
const CREATE: &str = "/api/v1/intents/auto.book_ac_service/tools/create_ac_service_booking";
const SEARCH: &str = "/api/v1/intents/auto.book_ac_service/search";
/// Pause before a refused request is repeated: shorter than the gateway asks for, so that more of them meet the outage.
const REPEAT_AFTER: Duration = Duration::from_millis(100);

/// What a caller was told.
#[derive(Debug)]
struct Told {
    status: u16,
    /// Seconds.
    retry_after: Option<u64>,
    body: Value,
}

impl Told {
    fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    /// Whether it says, as it must, that the store is down and when to come again.
    fn is_outage(&self) -> bool {
        (self.status, self.code()) == (503, "STORE_UNAVAILABLE") && self.retry_after.is_some_and(|seconds| seconds > 0)
    }
}

/// A partner with one slot that can be booked as often as one likes; each key gets a booking of its own, and always the same.
async fn partner() -> Scripted {
    let slot = honest_slots().await.into_iter().next().expect("one");
    let sample = root().join("plugins/auto-book-ac-service/samples/booking.json");
    let mut booked: Value = serde_json::from_slice(&std::fs::read(sample).expect("the sample is there")).expect("JSON");
    booked["slot_id"] = slot["slot_id"].clone();
    booked["total_estimate_inr"] = slot["estimated_price"]["total_estimate_inr"].clone();
    booked["service_scope_confirmed"] = slot["service_scope"]["code"].clone();
    let found = json!({"result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z", "slots": [slot]});
    let answer = move |arguments: &Value| {
        if arguments.get("contact_phone").is_none() {
            return found.clone();
        }
        let mut booked = booked.clone();
        booked["booking_id"] = format!("BK-{}", arguments["request_id"].as_str().expect("a key")).into();
        booked
    };
    Scripted::start(Behaviour::Computed(Arc::new(answer))).await
}

/// A gateway with that partner, and an option to book by.
struct World {
    gateway: Gateway,
    partner: Scripted,
    reporter: Reporter,
    reference: String,
    client: reqwest::Client,
}

impl World {
    async fn start(extra: String) -> Self {
        let partner = partner().await;
        let entry = PartnerEntry { signing_key: Some(key_of(PARTNER)), ..partner.entry(PARTNER) };
        let gateway = Gateway::start(&GatewayOptions {
            partners: vec![entry],
            contracts: vec![ac_contract()],
            extra,
            ..GatewayOptions::default()
        });
        let reporter = Reporter::new(&gateway.server.url, PARTNER, &key_of(PARTNER));
        let mut world = Self { gateway, partner, reporter, reference: String::new(), client: client() };
        let found = world.search().await;
        world.reference = reference(&found);
        world
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Told {
        let answer = request.send().await.expect("the gateway answers");
        let status = answer.status().as_u16();
        let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let body = serde_json::from_slice(&answer.bytes().await.expect("whole")).unwrap_or_default();
        Told { status, retry_after, body }
    }

    async fn post(&self, path: &str, body: &Value) -> Told {
        let request = self.client.post(format!("{}{path}", self.gateway.server.url)).json(body);
        self.send(request.bearer_auth(self.gateway.orchestrator_token())).await
    }

    async fn get(&self, path: &str) -> Told {
        self.send(self.client.get(format!("{}{path}", self.gateway.server.url))).await
    }

    async fn search(&self) -> Told {
        self.post(SEARCH, &request()).await
    }

    async fn book(&self, key: &str) -> Told {
        self.book_by(&self.reference, key).await
    }

    async fn book_by(&self, reference: &str, key: &str) -> Told {
        self.post(CREATE, &json!({"reference": reference, "arguments": booking(key)})).await
    }

    async fn report(&self, order: &str) -> Told {
        let answer = self.reporter.report(&ac_report(order, "r-1")).await;
        // The surface's own tests see to the header.
        Told { status: answer.status, retry_after: Some(1), body: answer.body }
    }

    /// The codes of what `/ready` shows.
    async fn troubles(&self) -> Vec<String> {
        let ready = self.get("/ready").await;
        assert_eq!(ready.status, 200, "a store that is down is no reason to take the gateway out: {ready:?}");
        let troubles = ready.body["troubles"].as_array().cloned().unwrap_or_default();
        troubles.iter().map(|trouble| trouble["code"].as_str().expect("a code").to_owned()).collect()
    }
}

/// The reference of the first option of a search's answer.
fn reference(found: &Told) -> String {
    assert_eq!(found.status, 200, "{found:?}");
    found.body["options"][0]["reference"].as_str().unwrap_or_else(|| panic!("no option: {found:?}")).to_owned()
}

/// How often callers were refused, by status and code.
#[derive(Debug, Default)]
struct Refusals(Mutex<BTreeMap<(u16, String), usize>>);

impl Refusals {
    /// Takes a refusal, which must be honest.
    fn take(&self, what: &str, told: &Told) {
        let is_busy = (told.status, told.code()) == (503, "OVERLOADED");
        assert!(told.is_outage() || is_busy, "{what}: {told:?}");
        *self.0.lock().expect("not poisoned").entry((told.status, told.code().to_owned())).or_default() += 1;
    }

    fn outages(&self) -> usize {
        let of = (503, "STORE_UNAVAILABLE".to_owned());
        self.0.lock().expect("not poisoned").get(&of).copied().unwrap_or_default()
    }
}
