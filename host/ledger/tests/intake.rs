//! Tests of taking reports: the order of the steps, what is judged by whom, and that a refusal leaves nothing behind.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use intent_gateway_domain::clock::{Clock as _, Timestamp};
use intent_gateway_domain::contract::{CheckedCompletion, OrderWay};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::findings::{Finding, Severity, Source};
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_domain::order::Order;
use intent_gateway_domain::receipt::QuotedOptions;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::store::StoreError;
use intent_gateway_ledger::completion::intake::{
    Acknowledgement, Delivery, Intake, IntakeError, ORDER_IDENTIFIER_NEW, ORDER_NOT_OPEN, ORDER_NOT_SEEN,
    REQUEST_NOT_ROUTED,
};
use intent_gateway_ledger::completion::keyring::{KeyRing, STALE_AFTER_MS};
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::signature::{Presented, Signer, WINDOW_MS};
use intent_gateway_ledger::completion::test_reports::TestReports;
use intent_gateway_ledger::completion::test_reports::{TEST_REPORT_KEPT_MS, TEST_REPORTS_MAX, forget_test_reports};
use intent_gateway_ledger::completion::unsigned::UnsignedReports;
use intent_gateway_ledger::completion::{CLOSED_IN_FUTURE, REPORTS_IN_FLIGHT_MAX};
use intent_gateway_ledger::{DeskError, Entry, EntryKind, Judge};
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{ContractCall, ScriptedContract, descriptor, refusal, violation};
use intent_gateway_testing::desk::MemoryDesk;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::fleet::steady;
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::orders::booked;
use intent_gateway_testing::standings::GivenStandings;
use intent_gateway_testing::store::MemoryStore;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);
const KEY: &str = "whsec_of_coolcar";
const REFUSED_NOTE: &str = "no good";

/// A contract that says of reports what those that ship say.
fn make_contract(version: &str) -> ScriptedContract {
    let mut declared = descriptor(version);
    declared.completion.amount_max_inr = 1_000_000;
    declared.completion.statuses = vec!["completed".to_owned()];
    ScriptedContract::new(declared).with_digest(Digest::of(version.as_bytes()))
}

/// A contract that finds a mismatch wherever what was quoted is not what `done` says.
fn play_contract(version: &str) -> Arc<ScriptedContract> {
    let contract = make_contract(version);
    Arc::new(contract.on_check_completion(|_, report, about| judge(report, about.quoted)))
}

fn judge(report: &str, quoted: Option<&str>) -> Result<CheckedCompletion, ContractError> {
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

struct World {
    intake: Intake,
    desk: Arc<MemoryDesk>,
    journal: Arc<MemoryJournal>,
    contracts: Arc<Catalogue>,
    /// Every version that was ever loaded, in the order of the test.
    versions: Vec<Arc<ScriptedContract>>,
    watch: Arc<TestClock>,
    /// Time that passes, whatever the clock shows.
    passing: Arc<TestClock>,
    standings: Arc<GivenStandings>,
}

impl World {
    fn new(versions: &[&str]) -> Self {
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
    fn compare(&self) {
        let refreshed = self.intake.keys.refresh();
        refreshed.now_or_never().expect("ready").expect("read");
    }

    fn quote(&self, version: &str, options: &[Value]) {
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

    fn send(&self, body: &str) -> Result<Acknowledgement, IntakeError> {
        let now = self.watch.now().as_ms();
        let signature = Signer::new(&Secret::new(KEY)).sign(now, body.as_bytes());
        self.present("coolcar", &now.to_string(), &signature, body.as_bytes())
    }

    fn present(
        &self,
        partner: &str,
        timestamp: &str,
        signature: &str,
        body: &[u8],
    ) -> Result<Acknowledgement, IntakeError> {
        let presented = Presented { timestamp: Some(timestamp.as_bytes()), signature: Some(signature.as_bytes()) };
        self.intake.take(Delivery { partner, presented, body }).now_or_never().expect("ready")
    }

    fn entries(&self) -> Vec<Entry> {
        self.desk.books.entries_held().clone()
    }

    fn found(&self) -> Vec<String> {
        self.desk.books.findings().into_iter().map(|finding| finding.violation.code).collect()
    }

    fn judged(&self) -> usize {
        self.versions.iter().map(|version| version.calls().len()).sum()
    }
}

fn report() -> Value {
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

fn with(name: &str, value: Value) -> String {
    let mut report = report();
    report[name] = value;
    report.to_string()
}

fn code(outcome: Result<Acknowledgement, IntakeError>) -> &'static str {
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

#[test]
fn a_report_is_booked_and_acknowledged() {
    let world = World::new(&["1.0.0"]);
    world.quote("1.0.0", &[json!({"done": "gas", "where": "here"})]);
    let acknowledged = world.send(&report().to_string()).expect("taken");
    let entry = world.entries().pop().expect("booked");
    assert_eq!(acknowledged.receipt_id, entry.receipt_id());
    assert_eq!((&*acknowledged.external_id, &*acknowledged.status), ("BK-1", "completed"));
    // 10 % of 1499.50 INR.
    assert_eq!(acknowledged.commission_inr, Paise::new(14_995));
    let wire = serde_json::to_value(&acknowledged).expect("serialises");
    assert_eq!(wire["commission_inr"], json!(149.95));
    let judge = Judge { version: "1.0.0".parse().expect("semver"), stand_in: false };
    assert_eq!((entry.posting.judged_by, entry.posting.late_minutes), (judge, Some(7)));
    assert_eq!((entry.posting.posted_at_ms, entry.posting.kind), (NOW, EntryKind::Charge));
    assert_eq!(world.found(), Vec::<String>::new());
}

#[test]
fn nothing_looks_into_a_body_whose_signature_does_not_hold() {
    let world = World::new(&["1.0.0"]);
    let now = NOW.as_ms().to_string();
    let signature = Signer::new(&Secret::new(KEY)).sign(NOW.as_ms(), b"{}");
    for (partner, timestamp, body) in
        [("coolcar", &*now, &b"no JSON"[..]), ("other", &now, b"{}"), ("", &now, b"{}"), ("coolcar", "1", b"{}")]
    {
        assert_eq!(code(world.present(partner, timestamp, &signature, body)), "SIGNATURE_INVALID");
    }
    let old = NOW.minus_ms(WINDOW_MS + 1).as_ms();
    let signature = Signer::new(&Secret::new(KEY)).sign(old, b"no JSON");
    assert_eq!(code(world.present("coolcar", &old.to_string(), &signature, b"no JSON")), "TIMESTAMP_OUT_OF_WINDOW");
    // What nobody with its key has signed is counted under its name, and nobody's under none.
    let counted = |partner: &str| world.intake.unsigned.of(&PartnerId::parse(partner).expect("sound"));
    assert_eq!(counted("coolcar").map(|count| (count.count, count.last_at)), Some((2, NOW)));
    assert_eq!(counted("other"), None);
    assert_eq!((world.desk.looked_up(), world.judged(), world.entries().len()), (0, 0, 0));
}

#[test]
fn what_nobody_signed_takes_no_place_and_a_partner_takes_no_others() {
    let world = World::new(&["1.0.0"]);
    let greedy = PartnerId::parse("greedy").expect("sound");
    let taken: Vec<_> = std::iter::from_fn(|| world.intake.in_flight.try_take(&greedy)).collect();
    assert!(taken.len() > REPORTS_IN_FLIGHT_MAX / 2);
    world.send(&report().to_string()).expect("another partner's reports have places");
    let rest: Vec<_> = (0..REPORTS_IN_FLIGHT_MAX)
        .map_while(|number| world.intake.in_flight.try_take(&PartnerId::parse(&format!("p{number}")).expect("sound")))
        .collect();
    assert_eq!(taken.len() + rest.len(), REPORTS_IN_FLIGHT_MAX);
    assert_eq!(code(world.send(&report().to_string())), "TOO_MANY");
    let (now, body) = (NOW.as_ms(), b"{}");
    let unsigned = world.present("coolcar", &now.to_string(), "sha256=00", body);
    assert_eq!(code(unsigned), "SIGNATURE_INVALID", "said without a place");
    drop((taken, rest));
    world.send(&report().to_string()).expect("taken");
}

#[test]
fn a_business_that_reports_too_often_waits_for_the_next_minute_and_no_other_does() {
    let mut world = World::new(&["1.0.0"]);
    world.intake.reports = ReportRate::new(NonZeroU32::new(2), Fleet::default());
    world.watch.advance(15_000);
    world.compare();
    // What nobody signed counts for nobody.
    let unsigned = world.present("coolcar", &world.watch.now().as_ms().to_string(), "sha256=00", b"{}");
    assert_eq!(code(unsigned), "SIGNATURE_INVALID");
    for order in ["BK-1", "BK-2"] {
        world.send(&with("external_id", json!(order))).expect("taken");
    }
    let refused = world.send(&with("external_id", json!("BK-3")));
    assert!(matches!(refused, Err(IntakeError::TooOften(wait)) if wait == Duration::from_secs(45)), "{refused:?}");
    assert_eq!(world.entries().len(), 2);
    world.watch.advance(45_000);
    world.compare();
    world.send(&with("external_id", json!("BK-3"))).expect("the next minute has begun");
}

#[test]
fn a_ring_that_is_too_old_takes_nothing() {
    let world = World::new(&["1.0.0"]);
    let stale = STALE_AFTER_MS;
    world.passing.set(stale);
    world.send(&report().to_string()).expect("just fresh enough");
    world.passing.set(stale + 1);
    assert_eq!(code(world.send(&report().to_string())), "STALE");
    world.intake.keys.note_compared(stale);
    world.send(&report().to_string()).expect("compared with the store");
    world.intake.keys.note_compared(1);
    world.send(&report().to_string()).expect("what was compared later stays");
}

#[test]
fn a_clock_that_is_set_makes_the_ring_neither_older_nor_younger() {
    const HOUR_MS: u64 = 60 * 60 * 1_000;
    let world = World::new(&["1.0.0"]);
    world.watch.set(NOW.plus_ms(HOUR_MS).as_ms());
    world.send(&report().to_string()).expect("an hour ahead");
    world.compare();
    world.watch.set(NOW.as_ms());
    world.passing.set(STALE_AFTER_MS + 1);
    assert_eq!(code(world.send(&report().to_string())), "STALE", "back again, and not compared since");
}

#[test]
fn a_repeat_is_answered_alike_and_not_judged_again() {
    let world = World::new(&["1.0.0"]);
    let first = world.send(&report().to_string()).expect("taken");
    let judged = world.judged();
    // The version that is live meanwhile would refuse it.
    let newer = play_contract("2.0.0");
    world.contracts.activate(newer.clone());
    let pretty = serde_json::to_string_pretty(&report()).expect("serialises").replace("1499.5", "1.4995e3");
    assert_eq!(world.send(&pretty).expect("taken"), first);
    assert_eq!((world.judged(), world.entries().len()), (judged, 1));
    let other = code(world.send(&with("gst_inr", json!(1))));
    assert_eq!((other, world.judged(), world.entries().len()), ("IDEMPOTENCY_CONFLICT", judged, 1));
    assert_eq!(newer.calls(), []);
}

#[test]
fn what_was_booked_between_look_up_and_booking_is_not_booked_again() {
    let world = World::new(&["1.0.0"]);
    let first = world.send(&report().to_string()).expect("taken");
    world.desk.overlook();
    assert_eq!(world.send(&report().to_string()).expect("taken"), first);
    assert_eq!(code(world.send(&with("tips_inr", json!(2)))), "IDEMPOTENCY_CONFLICT");
    assert_eq!(world.entries().len(), 1);
}

#[test]
fn refusals_leave_nothing_behind() {
    let world = World::new(&["1.0.0"]);
    let cases = [
        ("[1]".to_owned(), "INVALID_REQUEST"),
        (with("amount_inr", json!(-1)), "INVALID_REQUEST"),
        (with("notes", json!(REFUSED_NOTE)), "INVALID_REQUEST"),
        (with("intent", json!("test.other")), "INVALID_INTENT"),
        (with("notes", json!("trap")), "CONTRACT_TRAP"),
        (with("notes", json!("misread")), "CONTRACT_INVALID_OUTPUT"),
    ];
    for (body, expected) in cases {
        assert_eq!(code(world.send(&body)), expected, "{body}");
    }
    world.desk.refuse_bookings(DeskError::Full);
    assert_eq!(code(world.send(&report().to_string())), "FULL");
    assert_eq!((world.entries().len(), world.found().len()), (0, 0));
}

/// Whoever wrote the report need not be the one who read the answer.
#[test]
fn what_is_wrong_with_a_signed_report_that_is_refused_is_told_to_its_partner() {
    let world = World::new(&["1.0.0"]);
    world.send(&report().to_string()).expect("taken");
    assert_eq!(world.journal.all_findings(), [], "what is booked is kept with its entry");
    let refused = |body: &str| {
        let before = world.journal.all_findings().len();
        code(world.send(body));
        let found = world.journal.all_findings().split_off(before);
        assert!(found.iter().all(|found| found.severity == Severity::Drop && found.source == Some(Source::Report)));
        let told = |found: Finding| (found.violation.pointer, found.violation.code, found.excerpt);
        found.into_iter().map(told).collect::<Vec<_>>()
    };
    let told = |pointer: &str, code: &str, sent: &str| (pointer.to_owned(), code.to_owned(), Some(sent.to_owned()));
    let mut two = report();
    (two["amount_inr"], two["tips_inr"]) = (json!("1499.5"), json!(true));
    let expected = [told("/amount_inr", "WRONG_TYPE", "\"1499.5\""), told("/tips_inr", "WRONG_TYPE", "true")];
    assert_eq!(refused(&two.to_string()), expected, "all that is wrong with it");
    let of_report = world.journal.all_findings().pop().expect("kept");
    assert_eq!((of_report.external_id.as_deref(), &*of_report.request_id), (Some("BK-1"), "req-1"));
    assert_eq!((&*of_report.intent, of_report.partner.as_str()), ("test.find_things", "coolcar"));
    assert_eq!(refused(&with("gst_inr", json!(1))), [told("/external_id", "IDEMPOTENCY_CONFLICT", "\"BK-1\"")]);
    assert_eq!(refused(&with("intent", json!("test.other"))), [told("/intent", "INVALID_INTENT", "\"test.other\"")]);
    let unread = refused("[1]");
    assert_eq!((unread.len(), unread[0].1.as_str(), &unread[0].2), (1, "WRONG_TYPE", &None));
    // By the contract, in its own words.
    let mut other = report();
    (other["external_id"], other["notes"]) = (json!("BK-9"), json!(REFUSED_NOTE));
    assert_eq!(refused(&other.to_string()), [told("/done", "NO_GOOD", "\"gas\"")]);
    // The gateway's own failures are not the partner's.
    other["notes"] = json!("trap");
    assert_eq!(refused(&other.to_string()), []);
}

#[test]
fn a_report_that_was_held_up_is_told_and_one_that_nobody_signed_is_not() {
    let world = World::new(&["1.0.0"]);
    let body = report().to_string();
    let old = NOW.minus_ms(WINDOW_MS + 1).as_ms();
    let signature = Signer::new(&Secret::new(KEY)).sign(old, body.as_bytes());
    world.present("coolcar", &NOW.as_ms().to_string(), &signature, body.as_bytes()).expect_err("refused");
    assert_eq!(world.journal.all_findings(), [], "anybody can send it");
    world.present("coolcar", &old.to_string(), &signature, body.as_bytes()).expect_err("refused");
    let found = world.journal.all_findings();
    assert_eq!(
        found.iter().map(|found| found.violation.code.as_str()).collect::<Vec<_>>(),
        ["TIMESTAMP_OUT_OF_WINDOW"]
    );
    assert_eq!(found[0].external_id.as_deref(), Some("BK-1"));
}

#[test]
fn a_report_is_the_same_by_whichever_name_of_its_intent() {
    let world = World::new(&["1.0.0"]);
    let mut declared = descriptor("1.1.0");
    declared.aliases = vec![IntentId::parse("other.find_things").expect("sound")];
    let contract = ScriptedContract::new(declared).with_digest(Digest::of(b"1.1.0"));
    world.contracts.activate(Arc::new(contract.on_check_completion(|_, report, about| {
        assert!(!report.contains("other.find_things"), "no contract meets an alias");
        judge(report, about.quoted)
    })));
    let first = world.send(&with("intent", json!("other.find_things"))).expect("taken");
    let entry = world.entries().pop().expect("booked");
    assert_eq!(entry.posting.intent.as_str(), "test.find_things");
    assert_eq!(world.send(&report().to_string()).expect("the same report"), first);
    let mut other = report();
    (other["intent"], other["gst_inr"]) = (json!("other.find_things"), json!(1));
    assert_eq!(code(world.send(&other.to_string())), "IDEMPOTENCY_CONFLICT");
    assert_eq!(world.entries().len(), 1);
}

#[test]
fn everything_wrong_with_a_report_is_told_at_once() {
    let world = World::new(&["1.0.0", "1.1.0"]);
    // The contract finds a common member wrong as the host does, and one of its own.
    let strict = |version: &str| {
        Arc::new(make_contract(version).on_check_completion(|_, report, _| {
            let report: Value = serde_json::from_str(report).expect("an object");
            if report["notes"] == "trap" {
                return Err(ContractFault::trap("unreachable").into());
            }
            Err(refusal("INVALID_REQUEST", [violation("/amount_inr", "OUT_OF_RANGE"), violation("/done", "NO_GOOD")]))
        }))
    };
    let contract = strict("2.0.0");
    world.contracts.activate(contract.clone());
    let told = |body: &str| match world.send(body).expect_err("refused") {
        IntakeError::Refused(refusal) => {
            assert_eq!(refusal.code, "INVALID_REQUEST");
            let told = refusal.violations.into_iter().map(|found| format!("{} {}", found.pointer, found.code));
            told.collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let common = ["/amount_inr OUT_OF_RANGE", "/closed_at BAD_FORMAT"];
    let all = [common[0], common[1], "/done NO_GOOD"];
    let mut wrong = report();
    (wrong["amount_inr"], wrong["closed_at"]) = (json!(-1), json!("yesterday"));
    assert_eq!(told(&wrong.to_string()), all, "the common ones first, nothing twice");
    // What its descriptor says of sound members is told as well, although the contract has not come to them.
    let mut unlisted = report();
    (unlisted["status"], unlisted["tips_inr"]) = (json!("done"), json!(99_999_999));
    let stated = ["/status NOT_IN_VOCABULARY", "/tips_inr OUT_OF_RANGE"];
    assert_eq!(told(&unlisted.to_string()), [all[0], all[2], stated[0], stated[1]]);
    unlisted["closed_at"] = json!("yesterday");
    assert_eq!(told(&unlisted.to_string()), [all[1], all[0], all[2], stated[0], stated[1]]);
    // Without what names the order, too.
    wrong["external_id"] = json!(7);
    assert_eq!(told(&wrong.to_string()), ["/external_id WRONG_TYPE", all[0], all[1], all[2]]);
    wrong["external_id"] = json!("BK-1");
    // A contract that fails or is not there takes nothing away, and a body that is not an object is asked of nobody.
    wrong["notes"] = json!("trap");
    assert_eq!(told(&wrong.to_string()), common);
    wrong["notes"] = json!("");
    let asked = contract.calls().len();
    wrong["intent"] = json!("test.other");
    assert_eq!(told(&wrong.to_string()), common);
    wrong["intent"] = json!("no intent");
    assert_eq!(told(&wrong.to_string()), ["/intent BAD_FORMAT", common[0], common[1]]);
    assert_eq!(told("[1]"), [" WRONG_TYPE"]);
    assert_eq!(contract.calls().len(), asked);
    // What was quoted by another version is judged by that one, which finds nothing more.
    wrong["intent"] = json!("test.find_things");
    world.quote("1.0.0", &[json!({"done": "gas", "where": "here"})]);
    assert_eq!(told(&wrong.to_string()), common);
    assert_eq!((contract.calls().len(), world.entries().len(), world.found().len()), (asked, 0, 0));
}

#[test]
fn refused_reports_of_one_business_take_a_bounded_part_of_the_journal() {
    let world = World::new(&["1.0.0"]);
    let long = "x".repeat(60_000);
    let mut named_at_length = report();
    for name in ["intent", "external_id", "request_id"] {
        named_at_length[name] = json!(long);
    }
    code(world.send(&named_at_length.to_string()));
    let found = world.journal.all_findings();
    let held = |found: &Finding| {
        found.intent.len() + found.request_id.len() + found.external_id.as_ref().map_or(0, String::len)
    };
    assert!(!found.is_empty() && found.iter().all(|found| held(found) < 1_000), "{found:?}");
    for _ in 0..1_100 {
        code(world.send(&with("amount_inr", json!("1"))));
    }
    assert_eq!(world.journal.all_findings().len(), 1_000);
}

#[test]
fn a_report_that_the_contract_strikes_is_booked_and_counts_against_the_partner() {
    let world = World::new(&["1.0.0"]);
    world.send(&with("notes", json!("relabelled"))).expect("it is taken");
    let struck = world.desk.books.findings().into_iter().filter(|found| found.severity == Severity::Strike);
    let struck: Vec<_> = struck.map(|found| (found.violation.code, found.source)).collect();
    assert_eq!(struck, [("RELABELLED".to_owned(), Some(Source::Report))]);
    assert_eq!(world.entries().len(), 1);
}

#[test]
fn an_amount_beyond_what_the_intent_states_is_refused_whatever_its_contract_says() {
    let world = World::new(&["1.0.0"]);
    let outcome = world.send(&with("gst_inr", json!(1_000_000.01)));
    assert!(
        matches!(&outcome, Err(IntakeError::Refused(refusal)) if refusal.violations[0].pointer == "/gst_inr"),
        "{outcome:?}"
    );
    assert_eq!((world.judged(), world.entries().len()), (1, 0));
    world.send(&with("gst_inr", json!(1_000_000))).expect("it is booked");
}

#[test]
fn the_version_that_ranked_judges_and_a_stand_in_is_told() {
    let world = World::new(&["1.0.0", "1.1.0"]);
    let judge = |external_id: &str| {
        world.send(&with("external_id", json!(external_id))).expect("taken");
        let Judge { version, stand_in } = world.entries().pop().expect("booked").posting.judged_by;
        (version.to_string(), stand_in)
    };
    // No ranking is kept.
    assert_eq!(judge("BK-1"), ("1.1.0".to_owned(), true));
    assert_eq!(world.found(), [REQUEST_NOT_ROUTED]);
    world.quote("1.0.0", &[json!({"done": "gas", "where": "here"})]);
    assert_eq!(judge("BK-2"), ("1.0.0".to_owned(), false));
    world.contracts.unload(Digest::of(b"1.0.0"));
    assert_eq!(judge("BK-3"), ("1.1.0".to_owned(), true));
    // An intent that is out of service is still judged by the version that ranked.
    world.contracts.unload(Digest::of(b"1.1.0"));
    assert_eq!(code(world.send(&with("external_id", json!("BK-4")))), "INVALID_INTENT");
    assert_eq!(world.found(), [REQUEST_NOT_ROUTED]);
}

#[test]
fn the_option_that_fits_best_is_the_one_compared_with() {
    let world = World::new(&["1.0.0"]);
    let option = |done: &str, place: &str| json!({"done": done, "where": place});
    let send = |external_id: &str| {
        let before = world.judged();
        world.send(&with("external_id", json!(external_id))).expect("taken");
        world.judged() - before
    };
    world.quote("1.0.0", &[option("leak", "there"), option("leak", "here"), option("gas", "there")]);
    // All three are tried; one mismatch is the least.
    assert_eq!(send("BK-1"), 3);
    assert_eq!(world.found(), ["MISMATCH"]);
    world.quote("1.0.0", &[option("gas", "here"), option("leak", "here")]);
    // The search ends with the one that fits.
    assert_eq!(send("BK-2"), 4);
    assert_eq!(world.found(), ["MISMATCH"]);
    let findings = world.desk.books.findings();
    assert_eq!(findings[0].external_id.as_deref(), Some("BK-1"));
    assert_eq!((findings[0].source, findings[0].excerpt.as_deref()), (Some(Source::Report), Some("\"gas\"")));
    assert_eq!((findings[0].severity, findings[0].partner.as_str()), (Severity::Note, "coolcar"));
}

#[test]
fn findings_of_the_host_and_of_the_contract_are_kept_together() {
    let world = World::new(&["1.0.0"]);
    world.quote("1.0.0", &[json!({"done": "leak", "where": "here"})]);
    world.send(&with("closed_at", json!("2026-01-02T05:00:00+05:30"))).expect("taken");
    assert_eq!(world.found(), [CLOSED_IN_FUTURE, "MISMATCH"]);
}

#[test]
fn what_cannot_be_looked_up_is_not_booked() {
    let world = World::new(&["1.0.0"]);
    world.desk.refuse_look_ups(DeskError::Store(Arc::new(StoreError::Busy)));
    assert_eq!(code(world.send(&report().to_string())), "FAILED");
    assert_eq!((world.judged(), world.entries().len()), (0, 0));
}

/// An order of the request "req-1", booked under "booking-1" as "BK-1", of an option where gas was quoted here.
fn order(world: &World) -> Order {
    let order = booked("coolcar", "test.find_things", "req-1", "booking-1", &["BK-1"], NOW.minus_ms(5_000));
    let option = RawValue::from_string(json!({"done": "gas", "where": "here"}).to_string()).expect("JSON");
    world.desk.books.keep_order(order.clone(), Some(option));
    order
}

/// A world whose contracts declare the way of an order.
fn world_of_orders() -> World {
    let world = World::new(&["1.0.0"]);
    let mut declared = descriptor("1.1.0");
    declared.order =
        Some(OrderWay { states: Vec::new(), steps: Vec::new(), amount: None, due_after: None, history: Vec::new() });
    let contract = ScriptedContract::new(declared).with_digest(Digest::of(b"1.1.0"));
    world.contracts.activate(Arc::new(contract.on_check_completion(|_, report, about| judge(report, about.quoted))));
    world
}

#[test]
fn a_report_closes_its_order_and_is_judged_by_what_was_ordered() {
    let world = world_of_orders();
    let order = order(&world);
    // Another option that was shown would fit as well; it is not what was ordered.
    world.quote("1.0.0", &[json!({"done": "other", "where": "here"})]);
    let acknowledged = world.send(&report().to_string()).expect("taken");
    assert!(world.found().is_empty(), "{:?}", world.found());
    let closed = world.desk.books.order(&order.id);
    assert_eq!((closed.state.as_str(), closed.is_open), ("completed", false));
    let report = closed.report.expect("closed by it");
    assert_eq!((report.external_id.as_str(), &report.receipt), ("BK-1", &acknowledged.receipt_id));
    let judged = world.versions[0].calls();
    let [ContractCall::CheckCompletion { quoted, order: Some(seen), .. }] = &judged[..] else { panic!("{judged:?}") };
    assert_eq!(seen.state, "booked");
    assert!(quoted.as_deref().is_some_and(|quoted| quoted.contains("gas")));
    // It comes again.
    assert_eq!(world.send(&self::report().to_string()).expect("taken"), acknowledged);
}

#[test]
fn what_fits_another_option_than_the_ordered_one_is_found_out() {
    let world = world_of_orders();
    order(&world);
    world.quote("1.0.0", &[json!({"done": "other", "where": "here"})]);
    world.send(&with("done", json!("other"))).expect("taken");
    assert_eq!(world.found(), ["MISMATCH"]);
}

#[test]
fn a_report_finds_its_order_by_the_request_where_the_partner_calls_it_otherwise() {
    for request in ["req-1", "booking-1"] {
        let world = world_of_orders();
        let order = order(&world);
        let mut report = report();
        report["external_id"] = json!("another name");
        report["request_id"] = json!(request);
        world.send(&report.to_string()).expect("taken");
        assert_eq!(world.found(), [ORDER_IDENTIFIER_NEW], "{request}");
        assert!(!world.desk.books.order(&order.id).is_open);
    }
}

#[test]
fn an_order_is_charged_once_whatever_it_is_called() {
    let world = world_of_orders();
    let mut order = order(&world);
    order.identifiers.insert("PBR-1".to_owned());
    world.desk.books.keep_order(order, None);
    world.send(&report().to_string()).expect("taken");
    assert_eq!(code(world.send(&with("external_id", json!("PBR-1")))), "IDEMPOTENCY_CONFLICT");
    assert_eq!(world.entries().len(), 1);
    // Under its request alone it is another order's, which nobody has seen.
    world.send(&with("external_id", json!("BK-9"))).expect("taken");
    assert!(world.found().contains(&ORDER_NOT_SEEN.to_owned()));
}

#[test]
fn an_order_that_was_over_and_one_that_was_never_seen_are_found_out() {
    let world = world_of_orders();
    let mut order = order(&world);
    "cancelled".clone_into(&mut order.state);
    order.is_open = false;
    world.desk.books.keep_order(order, None);
    world.send(&report().to_string()).expect("taken");
    assert_eq!(world.found(), [ORDER_NOT_OPEN]);
    let world = world_of_orders();
    world.send(&report().to_string()).expect("taken");
    assert_eq!(world.found(), [ORDER_NOT_SEEN, REQUEST_NOT_ROUTED]);
}

#[test]
fn a_report_of_a_business_that_was_never_live_is_a_test_and_costs_nothing() {
    let world = World::new(&["1.0.0"]);
    world.standings.set(false);
    world.quote("1.0.0", &[json!({"done": "paint", "where": "here"})]);
    let first = world.send(&report().to_string()).expect("taken");
    assert!(first.test && first.receipt_id.starts_with("test_"), "{first:?}");
    assert_eq!((first.commission_inr, first.status.as_str()), (Paise::ZERO, "completed"));
    let told = serde_json::to_value(&first).expect("serialises");
    assert_eq!((&told["test"], &told["commission_inr"]), (&json!(true), &json!(0.0)));
    // It was judged, its sender is told, and nothing is in the ledger.
    assert_eq!(world.judged(), 1);
    let found = world.journal.found();
    assert_eq!(found, [(Severity::Note, "MISMATCH".to_owned())]);
    assert_eq!((world.entries().len(), world.found().len()), (0, 0));
    // The same again is answered alike, without judging it anew; another is a conflict.
    assert_eq!(world.send(&report().to_string()).expect("taken"), first);
    assert_eq!(code(world.send(&with("gst_inr", json!(1)))), "IDEMPOTENCY_CONFLICT");
    assert_eq!(world.judged(), 1);
    let partner = PartnerId::parse("coolcar").expect("sound");
    let listed = world.intake.tests.list(&partner).now_or_never().expect("ready").expect("read");
    let [kept] = &listed[..] else { panic!("one") };
    assert_eq!((kept.receipt_id(), kept.would_be_charged), (first.receipt_id, true));
    // Once live, the same order is real, and charged.
    world.standings.set(true);
    let real = world.send(&report().to_string()).expect("taken");
    assert!(!real.test && real.receipt_id.starts_with("rcpt_"), "{real:?}");
    assert!(serde_json::to_value(&real).expect("serialises").get("test").is_none(), "as the spec has it");
    assert_eq!(world.entries().len(), 1);
}

#[test]
fn a_report_of_an_order_is_real_whoever_reports_it() {
    let world = World::new(&["1.0.0"]);
    world.standings.set(false);
    world.desk.books.keep_order(booked("coolcar", "test.find_things", "req-0", "req-1", &["BK-1"], NOW), None);
    let taken = world.send(&report().to_string()).expect("taken");
    assert!(!taken.test);
    assert_eq!(world.entries().len(), 1);
}

#[test]
fn tests_are_forgotten_in_time_and_the_oldest_makes_room() {
    let world = World::new(&["1.0.0"]);
    world.standings.set(false);
    let ids = |world: &World| {
        let partner = PartnerId::parse("coolcar").expect("sound");
        let listed = world.intake.tests.list(&partner).now_or_never().expect("ready").expect("read");
        listed.into_iter().map(|report| report.external_id).collect::<Vec<_>>()
    };
    for number in 0..=TEST_REPORTS_MAX {
        world.watch.advance(1);
        world.send(&with("external_id", json!(format!("BK-{number}")))).expect("taken");
    }
    let kept = ids(&world);
    assert_eq!((kept.len(), kept[0].as_str()), (TEST_REPORTS_MAX as usize, "BK-200"));
    assert_eq!(kept.last().map(String::as_str), Some("BK-1"), "the oldest has made room");
    let forget = |at: Timestamp| {
        let forgotten = forget_test_reports(&*world.intake.tests.store, at).now_or_never().expect("ready");
        forgotten.expect("forgotten")
    };
    // BK-1 came two milliseconds after the beginning.
    assert_eq!(forget(NOW.plus_ms(TEST_REPORT_KEPT_MS + 1)), 0);
    assert_eq!(forget(NOW.plus_ms(TEST_REPORT_KEPT_MS + 2)), 1);
    assert_eq!(ids(&world).len(), TEST_REPORTS_MAX as usize - 1);
}
