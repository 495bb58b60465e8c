//! A gateway whose partners are each behind a proxy of its own.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chaos::footprint::Footprint;
use chaos::proxy::Proxy;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::SEARCH_DEADLINE;
use crate::calls::booking;
use crate::harness::{
    Answer, Gateway, GatewayOptions, PartnerEntry, Server, ac_contract, built, request, root, rust_partner,
};
use crate::search::honest_slots;

const SEARCH_TOOL: &str = "search_ac_service_slots";
const CREATE_TOOL: &str = "create_ac_service_booking";
/// How long the gateway keeps an unused connection to a partner, seconds.
const POOL_IDLE_SECONDS: u64 = 1;
/// Memory for what was shown, bytes: so little that it is full before anything is measured.
const SHOWN_MAX_BYTES: usize = 1024 * 1024;
/// How long it may take until connections that nobody uses are closed.
const QUIET_MAX: Duration = Duration::from_secs(20);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(100);
/// Options of a canned partner: few, so that a search is mostly calls.
const OPTIONS: usize = 3;

/// Whether calls keep to the rates, and partners that ask for it are left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rates {
    /// As by default.
    Kept,
    /// Switched off, for a load that they would hold back.
    Off,
}

/// A gateway with its partners.
pub(super) struct Fleet {
    pub(super) gateway: Gateway,
    /// By identifier. Each is there even where the partner behind it is another's.
    pub(super) proxies: Vec<(String, Proxy)>,
    /// What every user of the fleet asks for.
    pub(super) request: Value,
    /// The slot that can be booked at each canned partner, as often as one likes.
    slot_id: String,
    _partners: [Server; 2],
    _folder: TempDir,
}

/// Writes what a canned partner answers; the search's options among it can be booked one by one, and the first is.
fn canned_partner(folder: &Path, slots: &[Value]) -> Server {
    let slot = &slots[0];
    let payload = json!({"result_token": "canned", "expires_at": "2099-01-01T00:00:00Z", "slots": slots});
    let sample = root().join("plugins/auto-book-ac-service/samples/booking.json");
    let mut booked: Value = serde_json::from_slice(&std::fs::read(sample).expect("the sample is there")).expect("JSON");
    booked["slot_id"] = slot["slot_id"].clone();
    booked["total_estimate_inr"] = slot["estimated_price"]["total_estimate_inr"].clone();
    booked["service_scope_confirmed"] = slot["service_scope"]["code"].clone();
    let mut command = Command::new(built("debug/partner-canned"));
    command.args(["--port", "0", "--intent", "auto.book_ac_service"]);
    for (tool, answer) in [(SEARCH_TOOL, &payload), (CREATE_TOOL, &booked)] {
        let path = folder.join(tool).with_extension("json");
        std::fs::write(&path, answer.to_string()).expect("writable");
        command.arg("--tool").arg(format!("{tool}={}", path.display()));
    }
    Server::start(&mut command, &folder.join("partner-canned.log"))
}

impl Fleet {
    /// A gateway with these partners, all of them canned but the one named `rust`.
    pub(super) async fn start(partners: &[&str], rates: Rates) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let request = request();
        let slots: Vec<Value> = honest_slots().await.into_iter().take(OPTIONS).collect();
        let slot_id = slots[0]["slot_id"].as_str().expect("a text").to_owned();
        let servers = [canned_partner(folder.path(), &slots), rust_partner("oem", folder.path())];
        let mut proxies = Vec::new();
        for id in partners {
            let server = &servers[usize::from(*id == "rust")];
            let address = server.url.strip_prefix("http://").and_then(|url| url.split('/').next());
            proxies.push(((*id).to_owned(), Proxy::start(address.expect("an address")).await));
        }
        let gateway = Gateway::start(&GatewayOptions {
            partners: proxies.iter().map(|(id, proxy)| PartnerEntry::new(id, &proxy.url())).collect(),
            contracts: vec![ac_contract()],
            extra: format!(
                "pool_idle_secs = {POOL_IDLE_SECONDS}\n[search]\ntimeout_ms = {}\nshown_max_bytes = {SHOWN_MAX_BYTES}\n\
                 [outbound]\nrate_limits = {}\nsearch_cache = false\n",
                SEARCH_DEADLINE.as_millis(),
                rates == Rates::Kept
            ),
            ..GatewayOptions::default()
        });
        Self { gateway, proxies, request, slot_id, _partners: servers, _folder: folder }
    }

    pub(super) fn proxy(&self, id: &str) -> &Proxy {
        let found = self.proxies.iter().find(|(of, _)| of == id);
        &found.unwrap_or_else(|| panic!("{id} is no partner")).1
    }

    pub(super) async fn search(&self) -> (Answer, Duration) {
        let start = Instant::now();
        let answer = self.gateway.search(&self.request).await;
        (answer, start.elapsed())
    }

    /// The reference by which a canned partner's slot is booked, out of an answer with its options.
    pub(super) fn reference(&self, answer: &Answer, partner: &str) -> String {
        let options = answer.body["options"].as_array().expect("a list");
        let mut of_partner = options.iter().filter(|option| option["partner"] == partner);
        let option = of_partner.find(|option| option["option"]["slot_id"] == *self.slot_id);
        let option = option.unwrap_or_else(|| panic!("{partner} has no such option: {}", answer.body));
        option["reference"].as_str().expect("a text").to_owned()
    }

    /// Books, each time as another request.
    pub(super) async fn book(&self, reference: &str, request_id: &str) -> (Answer, Duration) {
        let path = format!("/api/v1/intents/auto.book_ac_service/tools/{CREATE_TOOL}");
        let body = json!({"reference": reference, "arguments": booking(request_id)});
        let start = Instant::now();
        let answer = self.gateway.post(&path, &body).await;
        (answer, start.elapsed())
    }

    /// What the gateway holds.
    pub(super) fn footprint(&self) -> Footprint {
        let ports: BTreeSet<u16> = self.proxies.iter().map(|(_, proxy)| proxy.port).collect();
        Footprint::of(self.gateway.server.id(), &ports).expect("Linux tells")
    }

    /// The partners to which connections are open, as their own side sees it.
    pub(super) fn left_open(&self) -> Vec<String> {
        let open = self.proxies.iter().filter(|(_, proxy)| proxy.open() > 0);
        open.map(|(id, proxy)| format!("{id} has {} open connections", proxy.open())).collect()
    }

    /// Looks until nothing is wrong any more, for as long as the gateway may take to let go of what it does not use.
    pub(super) async fn settled(&self, wrong: impl Fn(&Footprint) -> Vec<String>) -> (Footprint, Vec<String>) {
        let deadline = Instant::now() + QUIET_MAX;
        loop {
            let footprint = self.footprint();
            let mut found = wrong(&footprint);
            found.extend(self.left_open());
            if found.is_empty() || Instant::now() > deadline {
                return (footprint, found);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}
