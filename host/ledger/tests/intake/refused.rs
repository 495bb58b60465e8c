//! Reports that are refused, and what is told of them.

use std::sync::Arc;

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::findings::{Finding, Severity, Source};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::DeskError;
use intent_gateway_ledger::completion::intake::IntakeError;
use intent_gateway_ledger::completion::signature::{Signer, WINDOW_MS};
use intent_gateway_testing::contract::{ScriptedContract, descriptor, refusal, violation};
use serde_json::{Value, json};

use crate::world::{KEY, NOW, REFUSED_NOTE, World, code, judge, make_contract, report, with};

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
