//! What is next, state by state.

use std::collections::BTreeSet;

use futures_executor::block_on;
use serde_json::json;

use super::world::{INTENT, World, actor, asked_by, manifest};
use crate::compliance::{CheckState, ChecklistItem, DocumentKind, Licence, LicenceKind, WantedItem};
use crate::connection::ConnectionState;
use crate::descriptors::Drift;
use crate::manifest::Status;
use crate::next::{STEP_CODES, next_steps};
use crate::records::{FailedRetest, Review, ReviewStatus, ReviewSubject, Suspension};
use crate::{NextStep, Overview};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::golive::{GoLiveItem, ItemState};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::DAY_MS;

const OTHER: &str = "test.find_others";
/// When steps are worked out.
const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);

impl World {
    fn overview(&self, account: &PartnerId) -> Overview {
        block_on(self.onboarding.accounts.overview(account)).expect("there")
    }

    /// An account that lacks nothing.
    fn complete(&self) -> PartnerId {
        let account = self.live();
        let partner = actor("partner");
        block_on(self.onboarding.credentials.issue(&account, &partner)).expect("issued");
        block_on(self.onboarding.webhooks.set(&account, "https://coolcar.example/hook", &asked_by("partner")))
            .expect("saved");
        account
    }
}

fn intent(name: &str) -> IntentId {
    IntentId::parse(name).expect("well formed")
}

/// Code, turn, and what it concerns; `-` where that is the account.
fn short(step: &NextStep) -> String {
    let about = step.intent.as_ref().map(IntentId::as_str).or(step.paper.as_deref()).unwrap_or("-");
    format!("{} {} {about}", step.code, step.who)
}

/// Into the sandbox, without a test.
fn sandbox(it: &mut Overview) {
    let connection = it.connection.as_mut().expect("there");
    connection.state = ConnectionState::Sandbox;
    connection.tests.clear();
}

fn status(it: &mut Overview, status: Status) {
    let manifests = it.manifests.as_mut().expect("there");
    manifests.latest.status = status;
    manifests.approved = None;
}

/// At [`NOW`] it is the first of January 2026 in India, too.
fn hold_licence(it: &mut Overview, last_day: &str) {
    let licence =
        Licence { kind: LicenceKind::Shop, number: "MH/2020/17".to_owned(), valid_until: Some(last_day.to_owned()) };
    it.account.profile.as_mut().expect("there").licences.push(licence);
}

/// The latest manifest lists another intent besides.
fn list_other(it: &mut Overview) {
    let latest = &mut it.manifests.as_mut().expect("there").latest;
    let mut entry = latest.manifest.intents[0].clone();
    entry.intent = intent(OTHER);
    latest.manifest.intents.push(entry);
}

fn fail_probe(it: &mut Overview, code: &str, missing: &[&str]) {
    let probe = it.connection.as_mut().expect("there").probe.as_mut().expect("probed");
    probe.passed = false;
    probe.failures = vec![Violation { pointer: String::new(), code: code.to_owned(), message: "no answer".to_owned() }];
    let report = probe.tools.get_or_insert_default();
    report.missing = missing.iter().map(|name| (intent(name), vec!["search_things".to_owned()])).collect();
}

fn fail_test(it: &mut Overview, state: ItemState) {
    let report = it.connection.as_mut().expect("there").tests.get_mut(&intent(INTENT)).expect("tested");
    report.items.push(GoLiveItem {
        code: "FAST_ENOUGH".to_owned(),
        text: "It is fast.".to_owned(),
        state,
        detail: "2 s".to_owned(),
    });
}

fn fail_retest(it: &mut Overview, routed_until_ms: Timestamp) {
    fail_test(it, ItemState::Failed);
    let failed = FailedRetest { at_ms: NOW, routed_until_ms, end_told: false };
    it.connection.as_mut().expect("there").failed_retests.insert(intent(INTENT), failed);
}

fn quarantine(it: &mut Overview, status: ReviewStatus) {
    let connection = it.connection.as_mut().expect("there");
    let drift = json!({"intent": INTENT, "tool": "search_things", "kind": "SCHEMA_CHANGED", "now": null});
    let drift: Drift = serde_json::from_value(drift).expect("a drift");
    connection.quarantine.insert(intent(INTENT), vec![drift]);
    connection.drift_review = Some("rev_1".to_owned());
    it.drift_review = Some(Review {
        id: "rev_1".to_owned(),
        account: it.account.id.clone(),
        subject: ReviewSubject::Drift { intents: BTreeSet::new(), drift: connection.quarantine.clone() },
        status,
        opened_at_ms: NOW,
        due_at_ms: NOW,
        decision: None,
    });
}

/// A person has to look at a licence; documents of these kinds are there.
fn want_document(it: &mut Overview, uploaded: &[DocumentKind]) {
    let item = ChecklistItem {
        code: "INSURANCE_LICENCE".to_owned(),
        text: "Insurance agent or broker licence.".to_owned(),
        state: CheckState::ByHand,
        detail: "look CB 123 up in the register".to_owned(),
    };
    it.checklist.push(WantedItem::of(&item, uploaded));
}

/// The one confirmation is so many days old.
fn confirm(it: &mut Overview, days: u64, routed_until_ms: Option<Timestamp>) {
    let held = &mut it.connection.as_mut().expect("there").confirmations;
    let held = held.get_mut(&intent(INTENT)).and_then(|held| held.get_mut("CERTIFICATE_SEEN")).expect("held");
    (held.at_ms, held.routed_until_ms) = (NOW.minus_ms(days * DAY_MS), routed_until_ms);
}

/// Both have to do with it: the partner shows how it is now, the team looks.
const AGAIN: [&str; 2] = ["CONFIRM_AGAIN partner test.find_things", "CONFIRM_AGAIN platform test.find_things"];

type Change = fn(&mut Overview);

/// Each state is a change of an account that lacks nothing, with the steps that follow.
const STATES: [(&str, Change, &[&str]); 40] = [
    ("live", |_| {}, &[]),
    ("without a profile", |it| it.account.profile = None, &["PROFILE partner profile"]),
    ("with a licence on its last day", |it| hold_licence(it, "2026-01-01"), &[]),
    ("with a licence that has ended", |it| hold_licence(it, "2025-12-31"), &["LICENCE_ENDED partner profile"]),
    ("without credentials", |it| it.credentials = None, &["CREDENTIALS partner credentials"]),
    ("without a webhook", |it| it.webhook = None, &["WEBHOOK partner webhook"]),
    (
        "without a manifest",
        |it| {
            sandbox(it);
            it.manifests = None;
        },
        &["MANIFEST partner manifest"],
    ),
    (
        "a draft",
        |it| {
            sandbox(it);
            status(it, Status::Draft);
        },
        &["MANIFEST partner manifest", "MANIFEST_WARNINGS partner manifest", "TEST platform test.find_things"],
    ),
    (
        "waits for review",
        |it| {
            sandbox(it);
            status(it, Status::PendingReview);
            it.manifests.as_mut().expect("there").latest.warnings.clear();
        },
        &["REVIEW platform manifest", "TEST platform test.find_things"],
    ),
    (
        "waits for review, and the checklist fails",
        |it| {
            status(it, Status::PendingReview);
            it.manifests.as_mut().expect("there").latest.warnings.clear();
            it.checklist[2].state = CheckState::Failed;
            it.checklist[2].wanted = Some("Publish it.".to_owned());
        },
        &["CHECKLIST partner PRIVACY_POLICY", "REVIEW platform manifest"],
    ),
    (
        "waits for review, and a document is wanted",
        |it| {
            status(it, Status::PendingReview);
            it.manifests.as_mut().expect("there").latest.warnings.clear();
            want_document(it, &[]);
        },
        &["DOCUMENT partner insurance_agent", "REVIEW platform manifest"],
    ),
    (
        "waits for review, and the document is there",
        |it| {
            status(it, Status::PendingReview);
            it.manifests.as_mut().expect("there").latest.warnings.clear();
            want_document(it, &[DocumentKind::InsuranceBroker]);
        },
        &["REVIEW platform manifest"],
    ),
    (
        "rejected",
        |it| {
            status(it, Status::Rejected);
            it.manifests.as_mut().expect("there").latest.warnings.clear();
        },
        &["MANIFEST partner manifest"],
    ),
    ("no endpoint", |it| it.connection = None, &["CONNECTION partner endpoint"]),
    (
        "not probed",
        |it| {
            sandbox(it);
            it.connection.as_mut().expect("there").probe = None;
        },
        &["PROBE platform -"],
    ),
    (
        "the probe failed",
        |it| {
            it.connection.as_mut().expect("there").state = ConnectionState::ProbeFailed;
            fail_probe(it, "PARTNER_UNREACHABLE", &[]);
        },
        &["PROBE partner endpoint", "PROBE platform -"],
    ),
    (
        "tools are missing",
        |it| {
            it.connection.as_mut().expect("there").state = ConnectionState::ProbeFailed;
            fail_probe(it, "TOOLS_MISSING", &[INTENT]);
        },
        &["TOOLS partner test.find_things", "PROBE platform -"],
    ),
    (
        "listed since the probe",
        |it| {
            sandbox(it);
            list_other(it);
        },
        &["PROBE platform test.find_others", "TEST platform test.find_things"],
    ),
    ("not tested", sandbox, &["TEST platform test.find_things"]),
    (
        "the test failed",
        |it| {
            it.connection.as_mut().expect("there").state = ConnectionState::Sandbox;
            fail_test(it, ItemState::Failed);
        },
        &["TEST partner test.find_things"],
    ),
    (
        "the test waits for people",
        |it| {
            it.connection.as_mut().expect("there").state = ConnectionState::Sandbox;
            fail_test(it, ItemState::ByHand);
        },
        &["TEST platform test.find_things"],
    ),
    ("ready", |it| it.connection.as_mut().expect("there").state = ConnectionState::Sandbox, &["SWITCH_ON platform -"]),
    (
        "tested, and not approved",
        |it| {
            it.connection.as_mut().expect("there").state = ConnectionState::Sandbox;
            status(it, Status::PendingReview);
            it.manifests.as_mut().expect("there").latest.warnings.clear();
        },
        &["REVIEW platform manifest"],
    ),
    (
        "suspended",
        |it| {
            let connection = it.connection.as_mut().expect("there");
            connection.state = ConnectionState::Suspended;
            let reason = "a forbidden field".to_owned();
            connection.suspension = Some(Suspension { reason, at_ms: NOW, by: actor("admin") });
        },
        &["MEND partner -", "LIFT platform -"],
    ),
    ("changed tools under review", |it| quarantine(it, ReviewStatus::Open), &["DRIFT platform test.find_things"]),
    ("changed tools refused", |it| quarantine(it, ReviewStatus::Rejected), &["DRIFT partner test.find_things"]),
    ("the daily probe failed", |it| fail_probe(it, "PARTNER_UNREACHABLE", &[]), &["PROBE partner endpoint"]),
    ("a live intent lost tools", |it| fail_probe(it, "TOOLS_MISSING", &[INTENT]), &["TOOLS partner test.find_things"]),
    ("live, another intent listed", list_other, &["PROBE platform test.find_others"]),
    (
        "live, another intent listed without tools",
        |it| {
            list_other(it);
            fail_probe(it, "TOOLS_MISSING", &[OTHER]);
        },
        &["TOOLS partner test.find_others"],
    ),
    ("a failed re-test", |it| fail_retest(it, NOW.plus_ms(1)), &["RETEST partner test.find_things"]),
    ("a failed re-test, the time over", |it| fail_retest(it, NOW), &["RETEST partner test.find_things"]),
    (
        "a re-test that waits for people",
        |it| {
            fail_retest(it, NOW.plus_ms(1));
            let tests = &mut it.connection.as_mut().expect("there").tests;
            tests.get_mut(&intent(INTENT)).expect("tested").items.last_mut().expect("an item").state =
                ItemState::ByHand;
        },
        &["RETEST platform test.find_things"],
    ),
    ("a confirmation holds", |it| confirm(it, 59, None), &[]),
    ("a confirmation ends soon", |it| confirm(it, 60, None), &AGAIN),
    ("a confirmation has ended", |it| confirm(it, 90, Some(NOW.plus_ms(1))), &AGAIN),
    (
        "a confirmation ends soon, not switched on",
        |it| {
            it.connection.as_mut().expect("there").state = ConnectionState::Sandbox;
            confirm(it, 60, None);
        },
        &[AGAIN[0], AGAIN[1], "SWITCH_ON platform -"],
    ),
    (
        "a confirmation has ended, not switched on",
        |it| {
            it.connection.as_mut().expect("there").state = ConnectionState::Sandbox;
            confirm(it, 90, None);
        },
        &AGAIN,
    ),
    ("live, never passed a test", |it| fail_test(it, ItemState::Failed), &["TEST partner test.find_things"]),
    (
        "nothing at all",
        |it| {
            it.account.profile = None;
            (it.credentials, it.webhook, it.manifests, it.connection) = (None, None, None, None);
        },
        &[
            "PROFILE partner profile",
            "CREDENTIALS partner credentials",
            "WEBHOOK partner webhook",
            "MANIFEST partner manifest",
            "CONNECTION partner endpoint",
        ],
    ),
];

#[test]
fn each_state_says_what_is_next_and_whose_turn_it_is() {
    let world = World::new();
    let account = world.complete();
    let complete = world.overview(&account);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (state, change, expected) in STATES {
        let mut overview = complete.clone();
        change(&mut overview);
        let steps = next_steps(&overview, NOW);
        assert_eq!(steps.iter().map(short).collect::<Vec<_>>(), expected, "{state}");
        for step in steps {
            // Whoever reads only this sentence knows what to do.
            let names_a_way = ["/api/v1/", "`intent-gateway ", "platform team", "next probe", "profile"];
            let ends = step.text.ends_with('.') && !step.text.contains("  ");
            assert!(ends && names_a_way.iter().any(|way| step.text.contains(way)), "{state}: {}", step.text);
            seen.insert(step.code.into_owned());
        }
    }
    assert_eq!(seen, STEP_CODES.map(str::to_owned).into(), "every code comes in some state");
}

#[test]
fn a_date_and_a_reason_are_said() {
    let world = World::new();
    let account = world.complete();
    let text = |change: Change| {
        let mut overview = world.overview(&account);
        change(&mut overview);
        next_steps(&overview, NOW).remove(0).text
    };
    let routed = text(|it| fail_retest(it, NOW.plus_ms(86_400_000)));
    assert!(
        routed.contains("routed until 02 January 2026, 00:00 UTC") && routed.contains("FAST_ENOUGH (2 s)"),
        "{routed}"
    );
    let over = text(|it| fail_retest(it, NOW));
    assert!(over.contains("since 01 January 2026, 00:00 UTC no request"), "{over}");
    let soon = text(|it| confirm(it, 60, None));
    assert!(soon.contains("holds until 31 January 2026, 00:00 UTC and not after: CERTIFICATE_SEEN."), "{soon}");
    let ended = text(|it| confirm(it, 90, Some(NOW.plus_ms(DAY_MS))));
    assert!(ended.contains("(CERTIFICATE_SEEN); requests are routed until 02 January 2026, 00:00 UTC"), "{ended}");
    let over = text(|it| confirm(it, 120, Some(NOW)));
    assert!(over.contains("since 01 January 2026, 00:00 UTC no request"), "{over}");
    let reason = "forbidden fields";
    block_on(world.onboarding.connections.suspend(&account, reason, &actor("admin"))).expect("suspended");
    let suspended = text(|_| {});
    assert!(suspended.contains("The reason: forbidden fields. Mend it"), "{suspended}");
}

#[test]
fn the_partner_sees_the_checklist_of_its_own_submission() {
    let world = World::new();
    let account = world.account();
    assert!(world.overview(&account).checklist.is_empty(), "nothing was submitted");
    let mut country = manifest(true);
    country["intents"][0]["service_area"] = json!(["IN_ALL"]);
    country["intents"][0]["domain"] = json!("test");
    block_on(world.onboarding.submissions.submit(&account, &country, &actor("partner"))).expect("accepted");
    let shown = world.overview(&account).checklist;
    assert_eq!((shown[0].code.as_str(), shown[0].wanted.is_some()), ("PROFILE", true));
    assert_eq!(
        (shown[1].code.as_str(), shown[1].documents[0].as_str()),
        ("VERIFY_WHOLE_COUNTRY:test.find_things", "service_area")
    );
    assert!(shown[1].wanted.as_deref().is_some_and(|wanted| wanted.contains("Upload")), "{shown:?}");
    world.approve(&account);
    let shown = world.overview(&account).checklist;
    assert!(shown.iter().all(|item| item.wanted.is_none()), "{shown:?}");
    let country = shown.last().expect("items");
    assert_eq!(serde_json::to_value(country.state).expect("serialises"), "confirmed");
}
