//! Completion reports as partners send them, to the real gateway: the whole way from a search to the ledger, what is
//! compared with the quote, bad input of every kind, kills and power losses under load, and two gateways on one store.
//!
//! What is booked is read out of the store itself, past the gateway, so that an answer is never its own witness.
#![expect(clippy::print_stderr, reason = "the stores and the figures are for whoever asks with --nocapture")]

mod bad_input;
mod crash;
mod erased;
mod flow;
mod history;
mod load;
mod ordered;
mod parity;
mod quoted;
mod replicas;
mod seeded;
pub(crate) mod serving;
mod shown;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::{FindingQuery, KeptFinding, Severity};
use intent_gateway_domain::ports::Evidence as _;
use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::signature::{SIGNATURE_HEADER, Signer, TIMESTAMP_HEADER};
use intent_gateway_ledger::{Books as _, Entry};
use intent_gateway_store::{Location, SqlStore};
use serde_json::{Value, json};

use crate::harness::{Answer, PartnerEntry, client, root, vault_of};

/// How long a receipt of a ranking, which is kept a moment after the answer, may take.
const SOON: Duration = Duration::from_secs(20);
/// How often is looked whether it has come.
const LOOK: Duration = Duration::from_millis(10);
/// Entries that are read from the ledger at once.
const ENTRIES_PAGE: u32 = 1_000;
/// Findings that are read at once.
const FINDINGS_PAGE: u32 = 200;
/// A port to which no mail is ever sent.
pub(crate) const NO_SMTP: u16 = 1;

/// The sample of a report of an AC service, as one that has just closed: the same all the while, for the same order must
/// have the same content.
static AC_REPORT: LazyLock<Value> = LazyLock::new(|| {
    let mut report = sample("auto-book-ac-service", "completion-report.json");
    report["closed_at"] = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    report
});

/// The key of a partner of the configuration.
pub(crate) fn key_of(partner: &str) -> String {
    format!("whsec_{partner}_of_an_end_to_end_test_and_long_enough")
}

/// Where a partner reports.
pub(crate) fn endpoint(base_url: &str, partner: &str) -> String {
    format!("{base_url}/api/v1/cpc/mcp_provider/{partner}")
}

/// A partner of the configuration that reports, and that nobody calls.
pub(crate) fn reporter_entry(id: &str) -> PartnerEntry {
    PartnerEntry { signing_key: Some(key_of(id)), ..PartnerEntry::new(id, "http://127.0.0.1:9/mcp") }
}

fn now_ms() -> u64 {
    SystemClock.now().as_ms()
}

/// A sample of a contract.
fn sample(package: &str, name: &str) -> Value {
    let path = root().join("plugins").join(package).join("samples").join(name);
    serde_json::from_slice(&std::fs::read(path).expect("the sample is there")).expect("it is JSON")
}

/// A report of an AC service that has just closed.
pub(crate) fn ac_report(order: &str, request_id: &str) -> Value {
    with(AC_REPORT.clone(), &[("external_id", json!(order)), ("request_id", json!(request_id))])
}

/// Puts values at members of an object.
fn with(mut document: Value, changes: &[(&str, Value)]) -> Value {
    for (member, value) in changes {
        document[*member] = value.clone();
    }
    document
}

/// Sends reports as one partner does.
pub(crate) struct Reporter {
    url: String,
    signer: Signer,
    client: reqwest::Client,
}

impl Reporter {
    pub(crate) fn new(base_url: &str, partner: &str, key: &str) -> Self {
        let signer = Signer::new(&Secret::new(key));
        Self { url: endpoint(base_url, partner), signer, client: client() }
    }

    /// Signs now, and sends.
    pub(crate) async fn report(&self, report: &Value) -> Answer {
        self.text(&report.to_string()).await
    }

    /// Signs a text now, and sends it as it is.
    async fn text(&self, text: &str) -> Answer {
        self.try_text(text).await.expect("the gateway answers")
    }

    /// The same to a gateway that may be killed meanwhile.
    async fn try_text(&self, text: &str) -> Result<Answer, reqwest::Error> {
        let now = now_ms();
        let request = self.client.post(&self.url).header(TIMESTAMP_HEADER, now.to_string());
        let request = request.header(SIGNATURE_HEADER, self.signer.sign(now, text.as_bytes()));
        let response = request.header("content-type", "application/json").body(text.to_owned()).send().await?;
        let status = response.status().as_u16();
        let body = response.bytes().await?;
        Ok(Answer { status, body: serde_json::from_slice(&body).expect("JSON") })
    }
}

/// The receipt in an acknowledgement.
#[track_caller]
fn receipt(answer: &Answer) -> &str {
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["receipt_id"].as_str().unwrap_or_else(|| panic!("no receipt: {}", answer.body))
}

/// Status and code of a refusal.
#[track_caller]
fn refusal(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.body["error"]["code"].as_str().unwrap_or_else(|| panic!("no refusal: {}", answer.body)))
}

/// The store, read past the gateway.
struct Kept(SqlStore);

/// What a refused report must leave as it is: nothing of it is booked. That it was refused is a finding of its own, which
/// is not part of this.
#[derive(Debug, PartialEq, Eq)]
struct State {
    ledger: (u64, Digest),
    findings: Vec<KeptFinding>,
    audit: (u64, String),
}

impl Kept {
    /// The store of a gateway with this folder and this address of a store, if it has one of its own.
    async fn of(folder: &Path, store: Option<&str>) -> Self {
        let location = match store {
            Some(url) => Location::parse(url).expect("an address"),
            None => Location::file(folder.join("state/gateway.db")),
        };
        Self(SqlStore::open(&location, Some(&vault_of(folder))).await.expect("the store opens"))
    }

    async fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let after = entries.last().map_or(0, |last| last.number);
            let page = self.0.entries(after, ENTRIES_PAGE).await.expect("it reads");
            if page.is_empty() {
                return entries;
            }
            entries.extend(page);
        }
    }

    /// All entries of a ledger that must be sound.
    async fn sound(&self) -> Vec<Entry> {
        let verified = self.0.verify_ledger().await.expect("it reads");
        assert!(verified.is_sound(), "{:?}", verified.faults);
        self.entries().await
    }

    /// All findings against a partner, newest first.
    async fn findings(&self, partner: &str) -> Vec<KeptFinding> {
        let mut findings: Vec<KeptFinding> = Vec::new();
        loop {
            let before = findings.last().map(|last| last.number);
            let page = self.0.findings(FindingQuery::all(partner, before, FINDINGS_PAGE)).await.expect("it reads");
            if page.is_empty() {
                return findings;
            }
            findings.extend(page);
        }
    }

    /// Codes and pointers of what was found in the booked report of an order; reports that were refused are left out.
    async fn found(&self, partner: &str, order: &str) -> BTreeSet<(String, String)> {
        let findings = self.findings(partner).await.into_iter().map(|kept| kept.finding);
        let booked = findings.filter(|finding| finding.severity != Severity::Drop);
        let of_order = booked.filter(|finding| finding.external_id.as_deref() == Some(order));
        of_order.map(|finding| (finding.violation.pointer, finding.violation.code)).collect()
    }

    async fn state(&self, partners: &[&str]) -> State {
        let mut findings = Vec::new();
        for partner in partners {
            let found = self.findings(partner).await.into_iter();
            findings.extend(found.filter(|kept| kept.finding.severity == Severity::Note));
        }
        let (entries, head) = self.0.verify_audit().await.expect("the log holds together");
        State { ledger: self.0.head().await.expect("it reads"), findings, audit: (entries, head.to_string()) }
    }

    /// Waits until the ranking of a request is kept.
    async fn ranked(&self, request_id: &str) {
        let deadline = Instant::now() + SOON;
        while self.0.receipts_of(request_id, 1).await.expect("it reads").is_empty() {
            assert!(Instant::now() < deadline, "no receipt of {request_id}");
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// What a finding is, as [`Kept::found`] gives it.
fn finding(pointer: &str, code: &str) -> (String, String) {
    (pointer.to_owned(), code.to_owned())
}

/// The acknowledgement of an order on which this commission is due.
fn acknowledgement(receipt: &str, order: &str, commission_inr: f64, status: &str) -> Value {
    json!({"receipt_id": receipt, "external_id": order, "commission_inr": commission_inr, "status": status})
}
