//! Probes of a partner's server, and tools that have changed.

use http::StatusCode;
use intent_gateway_domain::probe::{ProbeFailure, Step};
use intent_gateway_testing::probe::{PROBE_MS, shown_tool};
use serde_json::json;

use super::{Partner, go_live, mcp_admin, team, team_get};
use crate::support::{Gateway, INTENT, refused};

#[tokio::test]
async fn a_failed_probe_is_an_answer_and_is_recorded() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    partner.give_everything().await;
    let (code, message) = ("PARTNER_UNREACHABLE".to_owned(), "no connection".to_owned());
    gateway.kept.server.fail(ProbeFailure { step: Step::Initialize, code, message });
    let answer = team(&gateway, &mcp_admin(&partner, "probe"), json!({})).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        (&answer.json()["ok"], &answer.json()["failure"]["code"]),
        (&json!(false), &json!("PARTNER_UNREACHABLE"))
    );
    let shown = team_get(&gateway, &format!("/api/v1/mcp-admin/{}", partner.id)).await;
    assert_eq!((&shown["state"], &shown["probe"]["passed"]), (&json!("probe_failed"), &json!(false)));
    assert_eq!(shown["probe"]["failed_step"]["step"], "initialize");
    assert_eq!(shown["probe"]["elapsed_ms"], PROBE_MS);
    let early = team(&gateway, &mcp_admin(&partner, "test"), json!({ "intent": INTENT, "requests": [{}] })).await;
    assert_eq!(early.refusal(), refused(409, "NO_PROBE"));

    gateway.kept.server.recover();
    let answer = team(&gateway, &mcp_admin(&partner, "probe"), json!({})).await.json();
    assert_eq!((&answer["ok"], &answer["connection"]["state"]), (&json!(true), &json!("sandbox")));
    assert_eq!(answer["connection"]["probe"]["tool_report"]["accepted"][0]["name"], "search_things");
    let wrong = team(&gateway, &mcp_admin(&partner, "test"), json!({ "intent": "thing", "requests": ["x"] })).await;
    assert_eq!(wrong.refusal(), refused(400, "INVALID_REQUEST"));
    let wrong = team(&gateway, &mcp_admin(&partner, "test"), json!({ "intent": "thing" })).await;
    assert_eq!(wrong.refusal(), refused(400, "INVALID_INTENT"));
    let overruled = json!([{ "code": "TWO_SHELVES", "note": "Believe me." }]);
    let order = json!({ "intent": INTENT, "requests": [{}], "confirmed": overruled });
    let wrong = team(&gateway, &mcp_admin(&partner, "test"), order).await;
    assert_eq!(wrong.json()["error"]["violations"][0]["pointer"], "/confirmed");
    let refused_sample = json!({ "intent": INTENT, "requests": [{}, { "mode": "invalid" }] });
    let wrong = team(&gateway, &mcp_admin(&partner, "test"), refused_sample).await;
    assert_eq!(wrong.json()["error"]["violations"][0]["pointer"], "/requests/1/a");
}

#[tokio::test]
async fn changed_tools_are_quarantined_until_they_are_accepted() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    go_live(&partner).await;
    let reason = json!({ "reason": "Only the wording." });
    let early = team(&gateway, &mcp_admin(&partner, "accept-drift"), reason.clone()).await;
    assert_eq!(early.refusal(), refused(409, "NO_DRIFT"));
    gateway.kept.server.show([shown_tool("Finds other things.")]);
    let probed = team(&gateway, &mcp_admin(&partner, "probe"), json!({})).await.json();
    assert_eq!(probed["connection"]["quarantine"], json!({}), "a tool in other words is the same tool");
    let notes = &probed["connection"]["probe"]["notes"];
    assert!(notes[0].as_str().is_some_and(|note| note.contains("in other words")), "{notes}");
    gateway.kept.server.change_tools(|tools| tools[0]["inputSchema"]["properties"] = json!({"other": {}}));
    let probed = team(&gateway, &mcp_admin(&partner, "probe"), json!({})).await.json();
    assert_eq!(probed["connection"]["state"], "live");
    assert_eq!(probed["connection"]["quarantine"][INTENT][0]["kind"], "SCHEMA_CHANGED");
    let open = team_get(&gateway, "/api/v1/admin/reviews?status=open").await;
    assert_eq!(open["reviews"][0]["subject"]["kind"], "drift");
    let accepted = team(&gateway, &mcp_admin(&partner, "accept-drift"), reason).await;
    assert_eq!(accepted.json()["quarantine"], json!({}));
}

#[tokio::test]
async fn what_was_confirmed_is_shown_with_its_end_and_confirmed_anew() {
    const DAY_MS: u64 = 86_400_000;
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    go_live(&partner).await;
    // The partner's own token does not live that long.
    let account = format!("/api/v1/business/tier1/accounts/{}", partner.id);
    let held =
        async || team_get(&gateway, &account).await["connection"]["confirmations"][INTENT]["LICENCE_SEEN"].clone();
    let first = held().await;
    assert_eq!((&first["at"], &first["valid_until"]), (&json!("2027-01-15T08:00:00Z"), &json!("2028-01-15T08:00:00Z")));
    assert_eq!((&first["by"]["subject"], &first["routed_until"]), (&json!("tester"), &json!(null)));

    gateway.clock.advance(336 * DAY_MS);
    gateway.onboarding.tests.tell_ending_confirmations().await.expect("told");
    let overview = team_get(&gateway, &account).await;
    let again = json!([["CONFIRM_AGAIN", "partner", INTENT], ["CONFIRM_AGAIN", "platform", INTENT]]);
    let steps = overview["next"].as_array().expect("steps").iter();
    let steps: Vec<_> = steps.map(|step| json!([step["code"], step["who"], step["intent"]])).collect();
    assert_eq!(json!(steps), again);
    let open = team_get(&gateway, "/api/v1/admin/reviews?status=open").await;
    let review = &open["reviews"][0];
    assert_eq!((&review["subject"]["kind"], &review["subject"]["intents"]), (&json!("renewal"), &json!([INTENT])));
    assert_eq!(review["due_at"], "2028-01-15T08:00:00Z");
    let id = review["id"].as_str().expect("an id");
    let shown = team_get(&gateway, &format!("/api/v1/admin/reviews/{id}")).await;
    let item = &shown["checklist"][0];
    assert_eq!((&item["code"], &item["state"]), (&json!("LICENCE_SEEN"), &json!("by_hand")));

    let unknown = json!({ "intent": INTENT, "confirmed": [{ "code": "NO_SUCH", "note": "Seen." }] });
    let refusal = team(&gateway, &mcp_admin(&partner, "test"), unknown).await;
    assert_eq!(refusal.refusal(), refused(400, "INVALID_REQUEST"));
    let anew = json!({ "intent": INTENT, "confirmed": [{ "code": "LICENCE_SEEN", "note": "This year's." }] });
    let report = team(&gateway, &mcp_admin(&partner, "test"), anew).await;
    assert_eq!((report.status, &report.json()["passed"]), (StatusCode::OK, &json!(true)));
    assert_eq!(held().await["valid_until"], "2028-12-16T08:00:00Z");
    assert_eq!(team_get(&gateway, &account).await["next"], json!([]));
    let open = team_get(&gateway, "/api/v1/admin/reviews?status=open").await;
    assert_eq!(open["reviews"], json!([]));
}
