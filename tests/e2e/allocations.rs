//! Heap allocations of whole requests, counted: an allocation more in a loop is seen here before anybody measures a time.
//!
//! The gateway's parts run on one thread, put together as the gateway puts them together: server, routing, sandbox, partner
//! client, journal and store. Client and partner are on threads of their own, so that nothing of theirs is counted; neither is what
//! the store's own threads do in SQLite.
#![expect(clippy::print_stderr, reason = "the counts are for whoever asks with --nocapture")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::ports::Journal;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_http::auth::{Role, Tokens};
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::signature::{SIGNATURE_HEADER, Signer, TIMESTAMP_HEADER};
use intent_gateway_store::{Location, SqlStore};
use intent_gateway_testing::directory::partner;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::samples::{AC_SERVICE, OPTIONS, Sample, YOGA_CLASS};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Handle};

use crate::completion::{ac_report, endpoint, key_of, serving};
use crate::harness::{Gateway, GatewayOptions, ac_contract, built, client};
use crate::onboarding::SIGNING_KEY;
use crate::scripted::{Behaviour, Scripted};

/// What one request of each kind took when it was last counted.
const KNOWN: [(&str, u64); 4] =
    [("search", 590), ("tool call that reads", 333), ("tool call that books", 919), ("completion report", 208)];
/// How much more it may take, percent.
const ALLOWED_PERCENT: u64 = 2;

/// Requests of each kind before any counts, which fill caches and grow tables.
const WARM_UP: usize = 4;
/// Requests that count; the median is taken, for work in the background falls into one or another.
const COUNTED: usize = 9;
/// Who answers, and reports; one of those that the parts know a key of.
const PARTNER: &str = "alpha";

/// The system's allocator, which counts for each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Allocations of this thread so far; one that grows is one more.
fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

fn note() {
    // A thread that ends has nothing to count in any more.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; this one hands on to the system's")]
// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: likewise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        note();
        // SAFETY: likewise.
        unsafe { System.realloc(pointer, layout, bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: likewise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What the partner answers: it knows the tool by the arguments.
fn answer(found: &BTreeMap<&str, String>, arguments: &Value) -> String {
    if let Some(found) = arguments["intent"].as_str().and_then(|intent| found.get(intent)) {
        return found.clone();
    }
    if arguments["slot_id"].is_null() {
        return YOGA_CLASS.read("slots.json");
    }
    let mut booking: Value = serde_json::from_str(&AC_SERVICE.read("booking.json")).expect("JSON");
    booking["slot_id"] = arguments["slot_id"].clone();
    booking["booking_id"] = booking_of(arguments["request_id"].as_str().expect("a text")).into();
    booking.to_string()
}

/// The partner's identifier of what a request has booked.
fn booking_of(request_id: &str) -> String {
    format!("booking-of-{request_id}")
}

/// Asks from another thread.
struct Asking {
    elsewhere: Handle,
    client: reqwest::Client,
    url: String,
    token: String,
    journal: Arc<dyn Journal>,
    keys: Arc<KeyRing>,
}

impl Asking {
    /// What a request's answer says, and what was allocated here until it was there and all that it leaves was kept.
    async fn ask(&self, request: reqwest::RequestBuilder) -> (Value, u64) {
        let sent = self.elsewhere.spawn(async move {
            let response = request.send().await.expect("it is answered");
            let (status, text) = (response.status(), response.text().await.expect("a whole answer"));
            assert!(status.is_success(), "{status}: {text}");
            serde_json::from_str(&text).expect("JSON")
        });
        let before = allocations();
        let answer = sent.await.expect("no panic");
        assert!(self.journal.settle().await, "all is kept");
        (answer, allocations() - before)
    }

    fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.url)).bearer_auth(&self.token);
        request.header("content-type", "application/json").body(body.to_string())
    }

    /// The options that were found, and what it took.
    async fn search(&self, sample: Sample, number: usize) -> (Vec<Value>, u64) {
        let mut body: Value = serde_json::from_str(&sample.request()).expect("JSON");
        body["request_id"] = format!("search-{number:02}").into();
        let (found, count) = self.ask(self.post(&format!("/api/v1/intents/{}/search", sample.intent), &body)).await;
        let options = found["options"].as_array().expect("a list");
        assert_eq!(options.len(), OPTIONS, "{found}");
        (options.clone(), count)
    }

    async fn call(&self, sample: Sample, tool: &str, option: &Value, arguments: &Value) -> u64 {
        let body = json!({"reference": option["reference"], "arguments": arguments});
        self.ask(self.post(&format!("/api/v1/intents/{}/tools/{tool}", sample.intent), &body)).await.1
    }

    async fn report(&self, body: &Value) -> u64 {
        // Keys that were not compared for some seconds verify nothing.
        self.keys.refresh().await.expect("the store is read");
        let text = body.to_string();
        let now = jiff::Timestamp::now().as_millisecond().unsigned_abs();
        let signature = Signer::new(&Secret::new(key_of(PARTNER))).sign(now, text.as_bytes());
        let request = self.client.post(endpoint(&self.url, PARTNER)).header("content-type", "application/json");
        let request = request.header(TIMESTAMP_HEADER, now.to_string()).header(SIGNATURE_HEADER, signature);
        let (taken, count) = self.ask(request.body(text)).await;
        assert!(taken["receipt_id"].is_string(), "{taken}");
        count
    }
}

/// Arguments of a call out of the samples, as those of a request about an option.
fn arguments(sample: Sample, name: &str, request_id: &str, (member, id): (&str, &Value)) -> Value {
    let mut arguments: Value = serde_json::from_str(&sample.read(name)).expect("JSON");
    arguments["request_id"] = request_id.into();
    arguments[member] = id.clone();
    arguments
}

/// The median of those that count.
fn median(mut counts: Vec<u64>) -> u64 {
    counts.drain(..WARM_UP);
    counts.sort_unstable();
    counts[counts.len() / 2]
}

#[test]
fn allocations_of_a_request_are_bounded() {
    let elsewhere = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let found = BTreeMap::from([AC_SERVICE, YOGA_CLASS].map(|sample| (sample.intent, sample.payload())));
    let behaviour = Behaviour::Written(Arc::new(move |arguments| answer(&found, arguments)));
    let scripted = elsewhere.block_on(Scripted::start(behaviour));
    let mut listed = partner(PARTNER, &[AC_SERVICE.intent, YOGA_CLASS.intent]);
    listed.endpoint = Endpoint::mcp(&scripted.url);
    let folder = Gateway::folder_for(&GatewayOptions {
        contracts: vec![ac_contract(), built(&format!("contracts/{}.wasm", YOGA_CLASS.package))],
        ..GatewayOptions::default()
    });
    let here = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let counts = here.block_on(async {
        let vault = vault();
        let location = Location::file(folder.path().join("gateway.db"));
        let store = SqlStore::open(&location, Some(&vault)).await.expect("it opens");
        store.begin_chains().await.expect("the chains begin");
        let store = Arc::new(store);
        let contracts = serving::serving_contracts(&store, folder.path()).await;
        let (state, keys) =
            serving::state(false, (store, vault), contracts, folder.path(), vec![Arc::new(listed)]).await;
        let journal = state.searcher.journal.clone();
        let clock = state.searcher.clock.clone();
        let server = serving::bind(state).await;
        let url = format!("http://{}", server.local_addr());
        tokio::spawn(server.run());
        let tokens = Tokens::new(&[Secret::new(SIGNING_KEY)], "tests", clock).expect("a usable key");
        let token = tokens.issue(Role::Orchestrator, "assistant", std::time::Duration::from_secs(600));
        let token = token.expect("a token");
        let asking = Asking { elsewhere: elsewhere.handle().clone(), client: client(), url, token, journal, keys };
        count(&asking).await
    });
    let most = KNOWN.map(|(_, known)| known * (100 + ALLOWED_PERCENT) / 100);
    for (((what, known), count), most) in KNOWN.into_iter().zip(counts).zip(most) {
        eprintln!("{what:<22} {count:>6} allocations, last time {known}, at most {most}");
    }
    assert!(
        counts.iter().zip(most).all(|(count, most)| *count <= most),
        "searches, reads, bookings and reports allocate {counts:?} times; allowed are {most:?}"
    );
}

/// Allocations of a search, a read, a booking and a report.
async fn count(asking: &Asking) -> [u64; 4] {
    let (mut searches, mut reads, mut bookings, mut reports) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut slots = Vec::new();
    for number in 0..WARM_UP + COUNTED {
        let (found, count) = asking.search(AC_SERVICE, number).await;
        searches.push(count);
        slots = found;
    }
    let (studios, _) = asking.search(YOGA_CLASS, 0).await;
    for (number, (slot, studio)) in slots.iter().zip(&studios).enumerate().take(WARM_UP + COUNTED) {
        let request_id = format!("call-{number:02}");
        let about = ("yoga_studio_id", &studio["option"]["yoga_studio"]["identity"]["id"]);
        let read = arguments(YOGA_CLASS, "slots-arguments.json", &request_id, about);
        reads.push(asking.call(YOGA_CLASS, "get_available_slots", studio, &read).await);
        let booking =
            arguments(AC_SERVICE, "create-arguments.json", &request_id, ("slot_id", &slot["option"]["slot_id"]));
        bookings.push(asking.call(AC_SERVICE, "create_ac_service_booking", slot, &booking).await);
        reports.push(asking.report(&ac_report(&booking_of(&request_id), &request_id)).await);
    }
    [searches, reads, bookings, reports].map(median)
}
