//! What the tests of the intake take: a gateway of one intent over fakes, and a report.

use std::sync::Arc;

use futures_util::FutureExt as _;
use intent_gateway_domain::clock::{Clock as _, Timestamp};
use intent_gateway_domain::contract::CheckedCompletion;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::receipt::QuotedOptions;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_ledger::completion::REPORTS_IN_FLIGHT_MAX;
use intent_gateway_ledger::completion::intake::{Acknowledgement, Delivery, Intake, IntakeError};
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::signature::{Presented, Signer};
use intent_gateway_ledger::completion::test_reports::TestReports;
use intent_gateway_ledger::completion::unsigned::UnsignedReports;
use intent_gateway_ledger::{DeskError, Entry};
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{ScriptedContract, descriptor, refusal, violation};
use intent_gateway_testing::desk::MemoryDesk;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::fleet::steady;
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::standings::GivenStandings;
use intent_gateway_testing::store::MemoryStore;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub(crate) const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);
pub(crate) const KEY: &str = "whsec_of_coolcar";
pub(crate) const REFUSED_NOTE: &str = "no good";

/// A contract that says of reports what those that ship say.
pub(crate) fn make_contract(version: &str) -> ScriptedContract {
    let mut declared = descriptor(version);
    declared.completion.amount_max_inr = 1_000_000;
    declared.completion.statuses = vec!["completed".to_owned()];
    ScriptedContract::new(declared).with_digest(Digest::of(version.as_bytes()))
}

/// A contract that finds a mismatch wherever what was quoted is not what `done` says.
pub(crate) fn play_contract(version: &str) -> Arc<ScriptedContract> {
    let contract = make_contract(version);
    Arc::new(contract.on_check_completion(|_, report, about| judge(report, about.quoted)))
}

pub(crate) fn judge(report: &str, quoted: Option<&str>) -> Result<CheckedCompletion, ContractError> {
    let report: Value = serde_json::from_str(report).expect("the host has read it");
    if report["notes"] == REFUSED_NOTE {
        return Err(refusal("INVALID_REQUEST", [violation("/done", "NO_GOOD")]));
    }
    if report["notes"] == "trap" {
        return Err(ContractFault::trap("unreachable").into());
    }
    let quoted: Option<Value> = quoted.map(|quoted| serde_json::from_str(quoted).expect("an option"));
    let mut findings = Vec::new();
    if let Some(quoted) = quoted {
        let differs = |name: &str| quoted[name] != report[name];
        let mismatches = ["done", "where"].into_iter().filter(|name| differs(name));
        findings.extend(mismatches.map(|_| violation("/done", "MISMATCH")));
    }
    let text = |name: &str| report[name].as_str().expect("a text").to_owned();
    let misread = if report["notes"] == "misread" { 1 } else { 0 };
    Ok(CheckedCompletion {
        external_id: text("external_id"),
        request_id: text("request_id"),
        status: text("status"),
        amount_paise: 149_950 + misread,
        charged: report["status"] == "completed",
        late_minutes: Some(7),
        findings,
        strikes: if report["notes"] == "relabelled" { vec![violation("/done", "RELABELLED")] } else { Vec::new() },
    })
}

pub(crate) struct World {
    pub(crate) intake: Intake,
    pub(crate) desk: Arc<MemoryDesk>,
    pub(crate) journal: Arc<MemoryJournal>,
    pub(crate) contracts: Arc<Catalogue>,
    /// Every version that was ever loaded, in the order of the test.
    pub(crate) versions: Vec<Arc<ScriptedContract>>,
    pub(crate) watch: Arc<TestClock>,
    /// Time that passes, whatever the clock shows.
    pub(crate) passing: Arc<TestClock>,
    pub(crate) standings: Arc<GivenStandings>,
}

impl World {
    pub(crate) fn new(versions: &[&str]) -> Self {
        let partner = PartnerId::parse("coolcar").expect("sound");
        let (journal, standings) = (Arc::new(MemoryJournal::default()), Arc::new(GivenStandings::default()));
        let (desk, watch) = (Arc::new(MemoryDesk::default()), TestClock::at(NOW.as_ms()));
        let configured = [(partner, Secret::new(KEY))];
        let passing = TestClock::at(0);
        let keys =
            Arc::new(KeyRing::new(Arc::new(MemoryStore::default()), vault(), steady(passing.clone()), configured));
        // Of one intent, so that the last is live.
        let versions: Vec<_> = versions.iter().map(|version| play_contract(version)).collect();
        let contracts = Catalogue::of(versions.iter().cloned());
        let intake = Intake {
            keys,
            contracts: contracts.clone(),
            desk: desk.clone(),
            tests: TestReports { store: Arc::new(MemoryStore::default()), standings: standings.clone() },
            journal: journal.clone(),
            in_flight: FairSlots::new(REPORTS_IN_FLIGHT_MAX),
            reports: ReportRate::default(),
            unsigned: UnsignedReports::default(),
            clock: watch.clone(),
            rate: Rate::DEFAULT,
        };
        let world = Self { intake, desk, journal, contracts, versions, watch, passing, standings };
        world.compare();
        world
    }

    /// Has the keys of the configuration in the ring, and the ring compared now.
    pub(crate) fn compare(&self) {
        let refreshed = self.intake.keys.refresh();
        refreshed.now_or_never().expect("ready").expect("read");
    }

    pub(crate) fn quote(&self, version: &str, options: &[Value]) {
        let options = options.iter().map(|option| RawValue::from_string(option.to_string()).expect("JSON")).collect();
        let ranking = QuotedOptions {
            receipt: "rank_1".to_owned(),
            at: NOW.minus_ms(1_000),
            version: version.parse().expect("semver"),
            contract: Digest::of(version.as_bytes()),
            options,
        };
        self.desk.books.quote("req-1", ranking);
    }

    pub(crate) fn send(&self, body: &str) -> Result<Acknowledgement, IntakeError> {
        let now = self.watch.now().as_ms();
        let signature = Signer::new(&Secret::new(KEY)).sign(now, body.as_bytes());
        self.present("coolcar", &now.to_string(), &signature, body.as_bytes())
    }

    pub(crate) fn present(
        &self,
        partner: &str,
        timestamp: &str,
        signature: &str,
        body: &[u8],
    ) -> Result<Acknowledgement, IntakeError> {
        let presented = Presented { timestamp: Some(timestamp.as_bytes()), signature: Some(signature.as_bytes()) };
        self.intake.take(Delivery { partner, presented, body }).now_or_never().expect("ready")
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.desk.books.entries_held().clone()
    }

    pub(crate) fn found(&self) -> Vec<String> {
        self.desk.books.findings().into_iter().map(|finding| finding.violation.code).collect()
    }

    pub(crate) fn judged(&self) -> usize {
        self.versions.iter().map(|version| version.calls().len()).sum()
    }
}

pub(crate) fn report() -> Value {
    json!({
        "intent": "test.find_things",
        "external_id": "BK-1",
        "request_id": "req-1",
        "amount_inr": 1499.5,
        "gst_inr": 0,
        "tips_inr": 0,
        "pass_through_inr": 0,
        "closed_at": "2026-01-01T05:00:00+05:30",
        "status": "completed",
        "done": "gas",
        "where": "here",
        "notes": "",
    })
}

pub(crate) fn with(name: &str, value: Value) -> String {
    let mut report = report();
    report[name] = value;
    report.to_string()
}

pub(crate) fn code(outcome: Result<Acknowledgement, IntakeError>) -> &'static str {
    match outcome.expect_err("refused") {
        IntakeError::Signature(error) => error.code(),
        IntakeError::Stale(_) => "STALE",
        IntakeError::TooMany => "TOO_MANY",
        IntakeError::TooOften(_) => "TOO_OFTEN",
        IntakeError::Refused(_) => "INVALID_REQUEST",
        IntakeError::UnknownIntent(_) => "INVALID_INTENT",
        IntakeError::Conflict(_) => "IDEMPOTENCY_CONFLICT",
        IntakeError::Contract(fault) => fault.code(),
        IntakeError::Desk(DeskError::Full) => "FULL",
        IntakeError::Desk(_) | IntakeError::Test(_) | IntakeError::Unbookable(_) | IntakeError::Unsound(_) => "FAILED",
    }
}
