//! Reports that are booked: whose they are, and what they are compared with.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::clock::Clock as _;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::{Severity, Source};
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::StoreError;
use intent_gateway_ledger::completion::intake::{IntakeError, REQUEST_NOT_ROUTED};
use intent_gateway_ledger::completion::keyring::STALE_AFTER_MS;
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::signature::{Signer, WINDOW_MS};
use intent_gateway_ledger::completion::{CLOSED_IN_FUTURE, REPORTS_IN_FLIGHT_MAX};
use intent_gateway_ledger::{DeskError, EntryKind, Judge};
use serde_json::json;

use crate::world::{KEY, NOW, World, code, play_contract, report, with};

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
fn a_report_that_the_contract_strikes_is_booked_and_counts_against_the_partner() {
    let world = World::new(&["1.0.0"]);
    world.send(&with("notes", json!("relabelled"))).expect("it is taken");
    let struck = world.desk.books.findings().into_iter().filter(|found| found.severity == Severity::Strike);
    let struck: Vec<_> = struck.map(|found| (found.violation.code, found.source)).collect();
    assert_eq!(struck, [("RELABELLED".to_owned(), Some(Source::Report))]);
    assert_eq!(world.entries().len(), 1);
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
