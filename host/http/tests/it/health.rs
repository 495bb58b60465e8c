//! Partners' health, as the platform team sees it.

use std::time::Duration;

use http::StatusCode;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::LatencyTargets;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::health::StrikeCounter as _;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_http::auth::Role;
use intent_gateway_outbound::health::breaker::CONSECUTIVE_MAX;
use intent_gateway_outbound::health::{Health, Observation, Outcome};
use serde_json::{Value, json};

use crate::business::{team, team_get};
use crate::support::{Ask, Gateway, INTENT, NOW_MS, refused};

const HEALTH: &str = "/api/v1/admin/health";
const TARGETS: LatencyTargets = LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None };

fn id(text: &str) -> PartnerId {
    PartnerId::parse(text).expect("well formed")
}

fn call(health: &Health, partner: &str, outcome: Outcome, elapsed_ms: u64, now_ms: u64) {
    let (partner, intent) = (id(partner), IntentId::parse(INTENT).expect("well formed"));
    let elapsed = Duration::from_millis(elapsed_ms);
    let seen =
        Observation { partner: &partner, intent: &intent, tool: "search_things", targets: TARGETS, outcome, elapsed };
    health.record(&seen, Timestamp::from_ms(now_ms));
}

/// One partner is out of the pool, one is broken, one has two strikes and is not routed.
async fn troubled() -> Gateway {
    let gateway = Gateway::new().await;
    for second in (0..=400).rev() {
        let now_ms = NOW_MS - second * 1_000;
        call(&gateway.health, "good", Outcome::Answered, 200, now_ms);
        call(&gateway.health, "faraway", Outcome::Answered, 4_000, now_ms);
    }
    for _ in 0..CONSECUTIVE_MAX {
        call(&gateway.health, "broken", Outcome::Broken, 5, NOW_MS - 1);
    }
    for incident in ["r1", "r2"] {
        gateway.health.strike(&id("gone"), "FORBIDDEN_FIELD", incident, Timestamp::from_ms(NOW_MS - 1_000));
    }
    gateway
}

fn names(list: &Value) -> Vec<&str> {
    list["partners"].as_array().expect("a list").iter().filter_map(|partner| partner["partner"].as_str()).collect()
}

#[tokio::test]
async fn everybody_is_shown_and_what_is_wrong_with_them() {
    let gateway = troubled().await;
    let list = team_get(&gateway, HEALTH).await;
    assert_eq!((names(&list), &list["next"]), (vec!["broken", "faraway", "gone", "good"], &Value::Null));
    let [broken, faraway, gone, good] = list["partners"].as_array().expect("a list").as_slice() else { panic!() };
    assert_eq!((&broken["routed"], &broken["breaker"]["state"]), (&json!(true), &json!("open")));
    assert!(broken["breaker"]["until"].as_str().is_some_and(|until| until.starts_with("2027-01-15T08:00:0")));
    assert_eq!(broken["breaker"]["consecutive"], CONSECUTIVE_MAX);
    let intent = &faraway["intents"][0];
    assert_eq!((&intent["intent"], &intent["in_pool"]), (&json!(INTENT), &json!(false)));
    assert_eq!((&intent["out"]["tool"], &intent["out"]["target_p95_ms"]), (&json!("search_things"), &json!(1_500)));
    assert_eq!(intent["out"]["over_for_ms"], 300_000);
    let tool = &good["intents"][0]["tools"][0];
    assert_eq!(tool["targets"], json!({"p50_ms": 600, "p95_ms": 1_500, "p99_ms": null}));
    assert_eq!((&tool["slow"], &good["intents"][0]["in_pool"]), (&json!(0), &json!(true)));
    assert!(tool["p95_ms"].as_u64().is_some_and(|p95| (200..250).contains(&p95)), "{tool}");
    assert_eq!((&gone["routed"], &gone["breaker"]["state"]), (&json!(false), &json!("closed")));
    let strikes = json!([{
        "code": "FORBIDDEN_FIELD", "suspends_at": 3, "within_days": 90,
        "incidents": [{"at": "2027-01-15T07:59:59Z", "id": "r1"}, {"at": "2027-01-15T07:59:59Z", "id": "r2"}],
    }]);
    assert_eq!(gone["strikes"], strikes);
}

#[tokio::test]
async fn the_list_comes_in_pages() {
    let gateway = troubled().await;
    let first = team_get(&gateway, &format!("{HEALTH}?limit=3")).await;
    assert_eq!((names(&first), &first["next"]), (vec!["broken", "faraway", "gone"], &json!("gone")));
    let second = team_get(&gateway, &format!("{HEALTH}?limit=3&after=gone")).await;
    assert_eq!((names(&second), &second["next"]), (vec!["good"], &Value::Null));
    for query in ["limit=0", "status=live", "x=1"] {
        let answer = gateway.call(Ask::get(&format!("{HEALTH}?{query}")).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
}

#[tokio::test]
async fn one_partner_is_shown_whether_or_not_it_was_ever_called() {
    let gateway = Gateway::new().await;
    let path = |partner: &str| format!("/api/v1/admin/partners/{partner}/health");
    let unheard = json!({
        "partner": "good", "routed": true, "strikes": [], "intents": [],
        "breaker": {"state": "closed", "consecutive": 0, "failed": 0, "calls": 0, "until": null},
    });
    assert_eq!(team_get(&gateway, &path("good")).await, unheard);
    call(&gateway.health, "good", Outcome::Answered, 200, NOW_MS);
    assert_eq!(team_get(&gateway, &path("good")).await["intents"][0]["tools"][0]["calls"], 1);
    for nobody in ["nobody", "a%20b"] {
        let answer = gateway.call(Ask::get(&path(nobody)).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{nobody}");
    }
}

#[tokio::test]
async fn the_team_takes_down_what_only_people_see() {
    let gateway = Gateway::new().await;
    let strike = json!({"intent": INTENT, "code": "WARRANTY_DECLINED", "external_id": "BK-1", "reason": "sent away"});
    let path = "/api/v1/admin/partners/good/strikes";
    let answer = team(&gateway, path, strike.clone()).await;
    let taken = json!({"partner": "good", "code": "WARRANTY_DECLINED", "external_id": "BK-1"});
    assert_eq!((answer.status, answer.json()), (StatusCode::ACCEPTED, taken));
    {
        let findings = gateway.evidence.all_findings();
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        assert_eq!((finding.severity, finding.at_ms), (Severity::Strike, Timestamp::from_ms(NOW_MS)));
        assert_eq!((finding.external_id.as_deref(), finding.request_id.as_str()), (Some("BK-1"), ""));
        assert_eq!((&*finding.violation.code, &*finding.violation.message), ("WARRANTY_DECLINED", "sent away"));
    }
    let log = team_get(&gateway, "/api/v1/admin/audit?subject=good").await;
    let entry = &log["entries"][0];
    assert_eq!((&entry["action"], &entry["actor"]["role"]), (&json!("partner.strike_recorded"), &json!("admin")));
    assert_eq!(entry["detail"]["external_id"], "BK-1");
    // Findings of it are shown like any others, without a request.
    let shown = team_get(&gateway, "/api/v1/admin/partners/good/findings").await;
    assert_eq!(shown["findings"][0]["severity"], "strike");

    let nobody = team(&gateway, "/api/v1/admin/partners/nobody/strikes", strike.clone()).await;
    assert_eq!(nobody.refusal(), refused(404, "NOT_FOUND"));
    for (member, value, code) in [
        ("intent", json!("things"), "INVALID_INTENT"),
        ("code", json!("warranty"), "INVALID_REQUEST"),
        ("external_id", json!(""), "INVALID_REQUEST"),
        ("reason", Value::Null, "INVALID_REQUEST"),
    ] {
        let mut bad = strike.clone();
        bad[member] = value;
        assert_eq!(team(&gateway, path, bad).await.refusal(), refused(400, code), "{member}");
    }
}
