//! A partner's own findings: what was dropped and why, counted, beside how long its tools take; and nobody else's.

use std::time::Duration;

use http::StatusCode;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::LatencyTargets;
use intent_gateway_domain::findings::{Finding, Severity, Source};
use intent_gateway_domain::health::StrikeCounter as _;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Journal as _;
use intent_gateway_http::auth::Role;
use intent_gateway_outbound::health::{Observation, Outcome};
use serde_json::{Value, json};

use crate::business::{Partner, team_get};
use crate::support::{Answer, Ask, Gateway, INTENT, NOW_MS, refused};

const SEARCH: &str = "/api/v1/intents/test.find_things/search";
const TARGETS: LatencyTargets = LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None };

fn path(account: &str, rest: &str) -> String {
    format!("/api/v1/business/tier1/accounts/{account}/findings{rest}")
}

/// As a partner asks.
async fn ask(gateway: &Gateway, token_of: &str, path: &str) -> Answer {
    let token = gateway.token_of(Role::Partner, token_of);
    gateway.call(Ask::get(path).header("authorization", &format!("Bearer {token}"))).await
}

async fn search(gateway: &Gateway, request_id: &str) {
    let body = json!({ "request_id": request_id, "name": "Asha" }).to_string();
    let answer = gateway.call(Ask::json(SEARCH, body).role(Role::Orchestrator)).await;
    assert_eq!(answer.status, StatusCode::OK);
}

fn codes(page: &Value) -> Vec<&str> {
    let findings = page["findings"].as_array().expect("a list").iter();
    findings.filter_map(|finding| finding["violation"]["code"].as_str()).collect()
}

#[tokio::test]
async fn a_partner_sees_what_was_found_in_its_answers_and_by_what() {
    let gateway = Gateway::new().await;
    search(&gateway, "r-1").await;
    let answer = ask(&gateway, "good", &path("good", "")).await;
    assert_eq!((answer.status, &answer.headers["cache-control"]), (StatusCode::OK, &"no-store".parse().expect("text")));
    let page = answer.json();
    assert_eq!(page, team_get(&gateway, "/api/v1/admin/partners/good/findings").await, "the team sees the same");
    let found = page["findings"].as_array().expect("a list");
    let strike = found.iter().find(|one| one["severity"] == "strike").expect("a forbidden field");
    let expected = json!({
        "number": strike["number"], "at_ms": NOW_MS, "partner": "good", "intent": INTENT, "request_id": "r-1",
        "source": "search", "option": 2, "option_id": "t3", "external_id": null, "severity": "strike",
        "violation": strike["violation"], "excerpt": "1",
    });
    assert_eq!(strike, &expected);
    assert_eq!(strike["violation"]["pointer"], "/sponsored_rank");
    // Neither what the user has sent nor how the partner was ranked.
    let text = page.to_string();
    for hidden in ["Asha", "\"score", "\"rank", "\"total"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
}

#[tokio::test]
async fn findings_are_for_their_partner_alone() {
    let gateway = Gateway::new().await;
    search(&gateway, "r-1").await;
    for rest in ["", "/summary"] {
        let other = ask(&gateway, "broken", &path("good", rest)).await;
        assert_eq!(other.refusal(), refused(403, "FORBIDDEN"), "{rest}");
        let none = gateway.call(Ask::get(&path("good", rest))).await;
        assert_eq!(none.refusal(), refused(401, "INVALID_AUTH"), "{rest}");
        let orchestrator = gateway.call(Ask::get(&path("good", rest)).role(Role::Orchestrator)).await;
        assert_eq!(orchestrator.refusal(), refused(403, "FORBIDDEN"), "{rest}");
        let stranger = ask(&gateway, "nobody", &path("nobody", rest)).await;
        assert_eq!(stranger.refusal(), refused(404, "NOT_FOUND"), "{rest}");
        let team = gateway.call(Ask::get(&path("good", rest)).role(Role::Admin)).await;
        assert_eq!(team.status, StatusCode::OK, "{rest}");
    }
    assert_eq!(ask(&gateway, "faraway", &path("faraway", "")).await.json()["findings"], json!([]));
    let signed_up = Partner::sign_up(&gateway).await.id;
    assert_eq!(ask(&gateway, &signed_up, &path(&signed_up, "")).await.json()["findings"], json!([]));
}

#[tokio::test]
async fn findings_are_chosen_by_what_they_are() {
    let gateway = Gateway::new().await;
    search(&gateway, "r-1").await;
    let of_report = Finding {
        at_ms: Timestamp::from_ms(NOW_MS),
        partner: PartnerId::parse("good").expect("well formed"),
        intent: "test.repair_things".to_owned(),
        request_id: "r-2".to_owned(),
        source: Some(Source::Report),
        option_place: None,
        option_id: None,
        external_id: Some("BK-1".to_owned()),
        severity: Severity::Drop,
        violation: intent_gateway_testing::contract::violation("/amount_inr", "WRONG_TYPE"),
        excerpt: Some("\"12\"".to_owned()),
    };
    gateway.evidence.record(of_report);
    let of = async |query: &str| ask(&gateway, "good", &path("good", query)).await;
    let all = of("").await.json();
    let strikes = of("?severity=strike").await.json();
    assert_eq!(codes(&strikes), ["FORBIDDEN_FIELD"]);
    let reports = of("?source=report").await.json();
    assert_eq!((codes(&reports), &reports["findings"][0]["external_id"]), (vec!["WRONG_TYPE"], &json!("BK-1")));
    assert_eq!(codes(&of("?intent=test.repair_things").await.json()), ["WRONG_TYPE"]);
    assert_eq!(codes(&of("?code=FORBIDDEN_FIELD&source=search").await.json()), ["FORBIDDEN_FIELD"]);
    assert_eq!(codes(&of("?code=FORBIDDEN_FIELD&source=report").await.json()), [""; 0]);
    let first = of("?limit=1").await.json();
    let next = of(&format!("?limit=500&before={}", first["next"])).await.json();
    assert_eq!(codes(&first).len() + codes(&next).len(), codes(&all).len());
    let long = format!("?code={}", "X".repeat(201));
    for query in ["?severity=grave", "?source=web", "?limit=0", "?before=x", "?page=2", "?code=A&code=B", &long] {
        assert_eq!(of(query).await.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
}

#[tokio::test]
async fn a_summary_counts_rules_by_day_beside_strikes_and_latency() {
    let gateway = Gateway::new().await;
    search(&gateway, "r-1").await;
    search(&gateway, "r-2").await;
    let good = PartnerId::parse("good").expect("well formed");
    gateway.health.strike(&good, "FORBIDDEN_FIELD", "r-1", Timestamp::from_ms(NOW_MS));
    let intent = IntentId::parse(INTENT).expect("well formed");
    for partner in ["good", "faraway"] {
        let partner = PartnerId::parse(partner).expect("well formed");
        let (tool, outcome, elapsed) = ("search_things", Outcome::Answered, Duration::from_millis(700));
        let seen = Observation { partner: &partner, intent: &intent, tool, targets: TARGETS, outcome, elapsed };
        gateway.health.record(&seen, Timestamp::from_ms(NOW_MS));
    }
    let summary = ask(&gateway, "good", &path("good", "/summary")).await.json();
    assert_eq!(summary, team_get(&gateway, "/api/v1/admin/partners/good/findings/summary").await);
    let counts = summary["counts"].as_array().expect("a list");
    let strike = counts.iter().find(|count| count["severity"] == "strike").expect("counted");
    let day = strike["day"].as_str().expect("a day");
    assert_eq!((day.len(), &strike["code"], &strike["count"]), (10, &json!("FORBIDDEN_FIELD"), &json!(2)));
    assert_eq!(strike["intent"], INTENT);
    assert_eq!(summary["strikes"][0]["incidents"][0]["id"], "r-1");
    let latency = &summary["latency"][0]["tools"][0];
    assert_eq!((&latency["tool"], &latency["targets"]["p95_ms"]), (&json!("search_things"), &json!(1_500)));
    assert!(latency["p95_ms"].as_u64() >= Some(700), "{latency}");
    assert!(!summary.to_string().contains("faraway"), "{summary}");
    let nobody = team_get(&gateway, "/api/v1/admin/partners/faraway/findings/summary").await;
    assert_eq!((&nobody["counts"], &nobody["strikes"]), (&json!([]), &json!([])));
}
