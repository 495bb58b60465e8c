//! The gateway as it is deployed: the optimised binary on its defaults, the AC contract, a partner that signs, and rankings
//! that the reports are compared with.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::FindingQuery;
use intent_gateway_domain::ports::Evidence as _;
use intent_gateway_ledger::Books as _;
use intent_gateway_ledger::completion::intake::ORDER_NOT_SEEN;
use intent_gateway_store::{Location, SqlStore};
use serde_json::Value;
use test_servers::Server;

use crate::reports::{INTENT, PARTNER, Quoted, SEARCHES, SIGNING_KEY, request_id};
use crate::{orders, root, start};

/// The contract's crate, whose samples are used.
const PACKAGE: &str = "auto-book-ac-service";
/// Signs tokens and seals secrets; PostgreSQL, which others may share, wants it said.
const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
/// The tool that searches.
const TOOL: &str = "search_ac_service_slots";
/// Findings that are looked at in the end.
const FINDINGS_READ: u32 = 100;

/// A gateway's folder and where it keeps its records.
pub(crate) struct Gateway {
    config: PathBuf,
    store_url: String,
}

impl Gateway {
    /// Prepares a gateway in a folder, with its records at `store_url` or in SQLite.
    pub(crate) fn prepare(folder: &Path, partner: &Server, store_url: Option<String>) -> Self {
        let (config, state) = (folder.join("gateway.toml"), folder.join("state"));
        let contracts = folder.join("contracts");
        std::fs::create_dir(&contracts).expect("writable");
        std::fs::write(contracts.join("contract.wasm"), component()).expect("writable");
        let store_url = store_url.unwrap_or_else(|| format!("sqlite://{}", state.join("gateway.db").display()));
        let text = format!(
            "state_dir = {state:?}\n[server]\nlisten = \"127.0.0.1:0\"\ndrain_announce_ms = 0\n[store]\nurl = {store_url:?}\n\
             [contracts]\ndir = {contracts:?}\n[partner_client]\nallow_loopback_http = true\n\
             [outbound]\nrate_limits = false\n[log]\nlevel = \"error\"\n\
             [auth]\nsigning_key = {KEY:?}\nmaster_key = {KEY:?}\n\
             [[partners]]\nid = {PARTNER:?}\nname = \"Bench\"\nurl = {:?}\nwebhook_signing_key = {SIGNING_KEY:?}\n\
             [[partners.listings]]\nintent = {INTENT:?}\nservice_area = [\"IN_ALL\"]\n",
            partner.url
        );
        std::fs::write(&config, text).expect("writable");
        Self { config, store_url }
    }

    pub(crate) fn start(&self) -> Server {
        let server = start("the gateway", Command::new(program()).arg("serve").arg("--config").arg(&self.config));
        server.wait_for_intents(1).expect("its contract goes live");
        server
    }

    /// Makes every search that a report may name; what the best option of the last one quotes.
    pub(crate) async fn search(&self, server: &Server) -> Quoted {
        let mut token = Command::new(program());
        let token = token.args(["token", "--role", "orchestrator", "--config"]).arg(&self.config).output();
        let token = String::from_utf8(token.expect("the gateway issues a token").stdout).expect("ASCII");
        let (client, url) = (reqwest::Client::new(), format!("{}/api/v1/intents/{INTENT}/search", server.url));
        let mut request = sample("request.json");
        let mut quoted = None;
        for number in 0..SEARCHES {
            request["request_id"] = request_id(number).into();
            let asked = client.post(&url).bearer_auth(token.trim()).json(&request).send().await;
            let answer: Value = asked.expect("the gateway answers").json().await.expect("JSON");
            let best = &answer["options"][0]["option"];
            assert!(best.is_object(), "the search found nothing: {answer}");
            quoted = Some(Quoted::of(best));
        }
        quoted.expect("there are searches")
    }

    /// Keeps orders for the reports of these numbers.
    pub(crate) async fn keep_orders(&self, quoted: &Quoted, numbers: Range<u64>) {
        orders::keep(&self.store_url, Digest::of(&component()), &quoted.option, numbers).await;
    }

    /// Sees to it that what was measured is what was meant: every acknowledged report is in the ledger, none differs from what
    /// was quoted, and each had an order or none had.
    pub(crate) async fn check(&self, acknowledged: u64, has_orders: bool) {
        let location = Location::parse(&self.store_url).expect("the store's address");
        let store = SqlStore::open(&location, None).await.expect("the store opens");
        let (last, _) = store.head().await.expect("the ledger can be read");
        assert!(last >= acknowledged, "{acknowledged} were acknowledged, and the ledger ends with {last}");
        let findings =
            store.findings(FindingQuery::all(PARTNER, None, FINDINGS_READ)).await.expect("findings can be read");
        let is_meant = |code: &str| !has_orders && code == ORDER_NOT_SEEN;
        let others = findings.iter().find(|kept| !is_meant(&kept.finding.violation.code));
        assert!(others.is_none(), "a report was found fault with: {others:?}");
        assert_eq!(findings.is_empty(), has_orders, "orders were kept: {has_orders}");
        store.close().await;
    }
}

fn program() -> PathBuf {
    root().join("target/release/intent-gateway")
}

/// The contract.
pub(crate) fn component() -> Vec<u8> {
    let path = root().join("target/contracts").join(PACKAGE).with_extension("wasm");
    let problem = |error| panic!("{}: {error}; `cargo xtask guests` builds it", path.display());
    std::fs::read(&path).unwrap_or_else(problem)
}

/// A sample of the contract.
pub(crate) fn sample(name: &str) -> Value {
    let path = root().join("plugins").join(PACKAGE).join("samples").join(name);
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    serde_json::from_slice(&text).expect("the sample is JSON")
}

/// A partner that answers each search with the contract's sample of a payload.
pub(crate) fn start_partner() -> Server {
    let answer = root().join("plugins").join(PACKAGE).join("samples/payload.json");
    let mut command = Command::new(root().join("target/release/partner-canned"));
    command.args(["--port", "0", "--intent", INTENT, "--tool", &format!("{TOOL}={}", answer.display())]);
    start("the partner", &mut command)
}
