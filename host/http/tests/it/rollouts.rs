//! Rollouts over a fake: what is asked for, what is told, and what is refused.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Method;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::versions::{ContractAdminError, VersionName, WaitedFor};
use intent_gateway_http::auth::Role;
use intent_gateway_rollout::{
    Course, EndedRollout, Evidence, IntentRollouts, Measure, Missing, RolloutAct, RolloutDesk, RolloutEnd,
    RolloutError, RolloutId, RolloutOrder, RolloutPause, RolloutPolicy, RolloutStatus, StageCount, guards,
};
use serde_json::{Value, json};

use crate::contract::digest;
use crate::support::{Ask, Gateway, INTENT, refused};

/// A rollout of the one version that is loaded is always under way. Asked for one of another version, it is refused by the version's
/// first byte.
pub(crate) struct FakeRollouts;

fn name(number: &str) -> VersionName {
    VersionName { version: number.parse().expect("semver"), digest: digest() }
}

fn status(order: RolloutOrder) -> RolloutStatus {
    let RolloutOrder { policy, why, by, .. } = order;
    let policy = policy.unwrap_or_default();
    let mut evidence = Evidence::default();
    (0..100).for_each(|at| evidence.note(Measure::Empty, at < 3, Some("rank_1")));
    RolloutStatus {
        intent: IntentId::parse(INTENT).expect("an intent"),
        candidate: name("1.1.0"),
        baseline: name("1.0.0"),
        begun_at_ms: Timestamp::from_ms(1),
        guards: guards(&policy, &evidence),
        by: by.clone(),
        why: why.clone(),
        policy,
        stage: 0,
        stage_at_ms: Timestamp::from_ms(2),
        paused: Some(RolloutPause { at_ms: Timestamp::from_ms(3), by, why }),
        missing: Missing { decisions: 7, ms: 60_000 },
        seen: vec![StageCount { compared: 100, ..StageCount::default() }],
        waits_for: vec![WaitedFor { gateway: "b".to_owned(), failure: None }],
    }
}

impl RolloutDesk for FakeRollouts {
    fn course(&self, intent: &str) -> Option<Course> {
        let mut course =
            Course::new(RolloutId { digest: digest(), begun_at_ms: Timestamp::from_ms(1) }, RolloutPolicy::default());
        let mut evidence = Evidence::default();
        for (at, stage) in [(1, 0), (2, 1)] {
            (0..50).for_each(|nth| evidence.note(Measure::Empty, nth == 0, None));
            course.add(Timestamp::from_ms(at), stage, &evidence);
        }
        (intent == INTENT).then_some(course)
    }

    fn begin(&self, order: RolloutOrder) -> BoxFuture<'_, Result<RolloutStatus, RolloutError>> {
        let version = || "1.0.0".parse().expect("semver");
        let outcome = match order.digest {
            asked if asked == digest() => Ok(status(order)),
            asked if asked == Digest::of(b"nothing live") => {
                Err(RolloutError::NothingLive(IntentId::parse(INTENT).expect("an intent")))
            }
            asked if asked == Digest::of(b"live") => Err(RolloutError::Live(version())),
            asked if asked == Digest::of(b"under way") => Err(RolloutError::UnderWay(version())),
            other => Err(ContractAdminError::Unknown(other.to_string()).into()),
        };
        std::future::ready(outcome).boxed()
    }

    fn act<'a>(
        &'a self,
        intent: &'a str,
        _: RolloutAct,
        _: String,
        _: Actor,
    ) -> BoxFuture<'a, Result<(), RolloutError>> {
        let is_known = intent == INTENT;
        std::future::ready(if is_known { Ok(()) } else { Err(RolloutError::None(intent.to_owned())) }).boxed()
    }

    fn rollout<'a>(&'a self, intent: &'a str) -> BoxFuture<'a, Result<IntentRollouts, RolloutError>> {
        if intent != INTENT {
            return std::future::ready(Err(RolloutError::None(intent.to_owned()))).boxed();
        }
        let last = EndedRollout {
            candidate: name("1.0.1"),
            begun_at_ms: Timestamp::from_ms(1),
            ended_at_ms: Timestamp::from_ms(2),
            stage: 1,
            end: RolloutEnd::TakenBack,
            why: "empty: 3 of 9".to_owned(),
            broken: Vec::new(),
            by: Actor::gateway(),
        };
        std::future::ready(Ok(IntentRollouts { current: None, last: Some(last) })).boxed()
    }
}

fn promote(digest: Digest) -> String {
    format!("/api/v1/admin/contracts/{digest}/promote")
}

fn rollout(intent: &str) -> String {
    format!("/api/v1/admin/intents/{intent}/rollout")
}

#[tokio::test]
async fn a_version_is_promoted_for_a_reason_and_by_a_policy_that_can_be_followed() {
    let gateway = Gateway::new().await;
    let ask =
        async |digest, body: Value| gateway.call(Ask::json(&promote(digest), body.to_string()).role(Role::Admin)).await;
    let done = ask(digest(), json!({"why": " a new rule "})).await;
    assert_eq!(done.status.as_u16(), 201);
    let told = done.json();
    assert_eq!((&told["why"], &told["by"]["role"]), (&json!("a new rule"), &json!("admin")));
    assert_eq!(
        told["policy"]["stages"][1],
        json!({"share_percent": 5.0, "compare_percent": 10.0, "decisions": 500, "minutes": 10})
    );
    let empty = told["guards"].as_array().expect("an array").iter().find(|guard| guard["measure"] == "empty");
    let empty = empty.expect("it is bounded");
    assert_eq!(
        (&empty["hits"], &empty["of"], &empty["receipts"]),
        (&json!(3), &json!(100), &json!(["rank_1", "rank_1", "rank_1"]))
    );
    assert_eq!(told["waits_for"], json!([{"gateway": "b"}]));

    let policy = json!({"stages": [{"share_percent": 50, "decisions": 5}], "bounds": {"empty": null}});
    let told = ask(digest(), json!({"why": "x", "policy": policy})).await.json();
    assert!(told["guards"].as_array().expect("an array").iter().all(|guard| guard["measure"] != "empty"));
    for bad in [
        json!({}),
        json!({"why": "  "}),
        json!({"why": "x".repeat(501)}),
        json!({"why": "x", "policy": {"stages": []}}),
        json!({"why": "x", "policy": {"stages": [{"share_percent": 100, "decisions": 1}]}}),
        json!({"why": "x", "policy": {"stages": [{"share": 1, "decisions": 1}]}}),
        json!({"why": "x", "force": true}),
    ] {
        assert_eq!(ask(digest(), bad.clone()).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    let why = || json!({"why": "x"});
    assert_eq!(ask(Digest::of(b"unknown"), why()).await.refusal(), refused(404, "NOT_FOUND"));
    assert_eq!(ask(Digest::of(b"nothing live"), why()).await.refusal(), refused(409, "NOTHING_LIVE"));
    assert_eq!(ask(Digest::of(b"live"), why()).await.refusal(), refused(409, "ALREADY_LIVE"));
    assert_eq!(ask(Digest::of(b"under way"), why()).await.refusal(), refused(409, "ROLLOUT_UNDER_WAY"));
    let told = gateway
        .call(Ask::get(&format!("/api/v1/admin/intents/{INTENT}/rollout?course=true")).role(Role::Admin))
        .await
        .json();
    let course = &told["course"];
    assert_eq!((&course["at_ms"], &course["stage"]), (&json!([1, 2]), &json!([0, 1])), "{course}");
    let empty = course["figures"].as_array().and_then(|figures| figures.iter().find(|one| one["measure"] == "empty"));
    let empty = empty.expect("it is bounded");
    assert_eq!((&empty["hits"], &empty["of"], &empty["bound"]), (&json!([1, 2]), &json!([50, 100]), &json!(0.001)));
    let odd = Ask::get(&format!("/api/v1/admin/intents/{INTENT}/rollout?course=maybe")).role(Role::Admin);
    assert_eq!(gateway.call(odd).await.status.as_u16(), 400);
    let no_digest = "/api/v1/admin/contracts/abc/promote";
    let answer = gateway.call(Ask::json(no_digest, why().to_string()).role(Role::Admin)).await;
    assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"));
}

#[tokio::test]
async fn a_rollout_is_shown_and_acted_on() {
    let gateway = Gateway::new().await;
    let shown = gateway.call(Ask::get(&rollout(INTENT)).role(Role::Admin)).await.json();
    assert_eq!((&shown["rollout"], &shown["last"]["end"]), (&Value::Null, &json!("taken_back")));
    let act = async |intent: &str, body: Value| {
        gateway.call(Ask::json(&rollout(intent), body.to_string()).role(Role::Admin)).await
    };
    for word in ["pause", "resume", "abort", "advance", "finish"] {
        let done = act(INTENT, json!({"act": word, "why": "night"})).await;
        assert_eq!((done.status.as_u16(), &done.json()["intent"]), (200, &json!(INTENT)), "{word}");
    }
    for bad in [json!({"act": "pause"}), json!({"act": "stop", "why": "x"}), json!({"why": "x"})] {
        assert_eq!(act(INTENT, bad.clone()).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    let unknown = act("test.other", json!({"act": "abort", "why": "x"})).await;
    assert_eq!(unknown.refusal(), refused(404, "NOT_FOUND"));
    for role in [Role::Orchestrator, Role::Partner] {
        let ask = Ask::new(Method::GET, &rollout(INTENT)).role(role);
        assert_eq!(gateway.call(ask).await.refusal(), refused(403, "FORBIDDEN"));
    }
}
