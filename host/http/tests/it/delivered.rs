//! What partners deliver against what they declare: shown, raised, decided.

use http::StatusCode;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_http::auth::Role;
use intent_gateway_ledger::completion::{Amounts, Report};
use intent_gateway_ledger::{Booking, Books as _, Judge, JudgedReport, post};
use intent_gateway_onboarding::delivered::DELIVERED_WINDOW_MS;
use serde_json::{Value, json};

use crate::business::{Partner, approve, manifest, profile, team, team_get};
use crate::support::{Ask, Gateway, INTENT, NOW_MS, refused};

const DELIVERED: &str = "/api/v1/admin/delivered";

/// Books a report of so many minutes late.
async fn report(gateway: &Gateway, partner: &str, order: &str, status: &str, late_minutes: Option<i32>, at_ms: u64) {
    let report = Report {
        intent: IntentId::parse(INTENT).expect("well formed"),
        external_id: order.to_owned(),
        request_id: "r-1".to_owned(),
        amounts: Amounts { amount: Paise::new(100_000), ..Amounts::default() },
        closed_at: Timestamp::from_ms(at_ms),
        status: status.to_owned(),
        content: Digest::of(order.as_bytes()),
    };
    let judged_by = Judge { version: "1.2.3".parse().expect("semver"), stand_in: false };
    let verdict = JudgedReport { charged: status == "completed", judged_by, late_minutes, rate: Rate::DEFAULT };
    let partner = PartnerId::parse(partner).expect("well formed");
    let booking = Booking::new(post(&report, &partner, verdict, Timestamp::from_ms(at_ms)), Vec::new()).expect("sound");
    gateway.books.book(vec![booking]).await.expect("booked");
}

/// A partner whose signals are in force, and half of whose orders are cancelled, the others an hour late.
async fn inflated(gateway: &Gateway) -> Partner<'_> {
    let partner = Partner::sign_up(gateway).await;
    assert_eq!(partner.put("accounts/*/profile", profile()).await.status, StatusCode::OK);
    let mut submission = manifest();
    submission["intents"][0]["ttbs_signals"] = json!({ "time": 0.9, "taste": 0.5, "budget": 0.5, "safety": 0.8 });
    assert_eq!(partner.post("manifest/*", submission).await.json()["status"], "pending_review");
    approve(gateway).await;
    for n in 0..20 {
        report(gateway, &partner.id, &format!("done-{n}"), "completed", Some(60), NOW_MS - n).await;
        report(gateway, &partner.id, &format!("gone-{n}"), "cancelled_by_user", None, NOW_MS - n).await;
    }
    partner
}

fn findings() -> Value {
    json!([
        { "axis": "time", "declared": 0.9, "measure": "mean_late_minutes", "delivered": 60.0, "reports": 20 },
        { "axis": "safety", "declared": 0.8, "measure": "completion_rate", "delivered": 0.5, "reports": 40 },
    ])
}

/// Findings without what the scale bears out, which is a number with many digits.
fn told(inflated: &Value) -> Value {
    let mut inflated = inflated.clone();
    for finding in inflated.as_array_mut().expect("findings") {
        let at_most =
            finding.as_object_mut().expect("an object").remove("at_most").and_then(|at_most| at_most.as_f64());
        assert!(at_most.is_some_and(|at_most| at_most < 0.7), "{at_most:?}");
    }
    inflated
}

#[tokio::test]
async fn what_was_delivered_is_shown_beside_what_is_declared() {
    let gateway = Gateway::new().await;
    assert_eq!(team_get(&gateway, DELIVERED).await["delivered"], json!([]));
    let partner = inflated(&gateway).await;
    // Too long ago, and of a partner whose signals nobody knows.
    report(&gateway, &partner.id, "old", "completed", Some(-60), NOW_MS - DELIVERED_WINDOW_MS - 1).await;
    report(&gateway, "a-stranger", "one", "completed", None, NOW_MS).await;

    let all = team_get(&gateway, DELIVERED).await;
    assert_eq!(all["since"], "2026-10-17T08:00:00Z");
    let [stranger, own] = all["delivered"].as_array().expect("a list").as_slice() else { panic!("{all}") };
    let nothing_known = json!({
        "partner": "a-stranger", "intent": INTENT, "reports": 1, "statuses": { "completed": 1 }, "cancellations": {},
        "completed": 1, "completion_rate": 1.0, "timed": 0, "mean_late_minutes": null, "declared": null,
        "inflated": [], "review": null,
    });
    assert_eq!(*stranger, nothing_known);
    assert_eq!((&own["partner"], &own["intent"]), (&json!(partner.id), &json!(INTENT)));
    assert_eq!(own["statuses"], json!({ "cancelled_by_user": 20, "completed": 20 }));
    assert_eq!(own["cancellations"], json!({ "cancelled_by_user": 20 }));
    assert_eq!((&own["reports"], &own["completed"], &own["timed"]), (&json!(40), &json!(20), &json!(20)));
    assert_eq!((&own["completion_rate"], &own["mean_late_minutes"]), (&json!(0.5), &json!(60.0)));
    assert_eq!(own["declared"], json!({ "time": 0.9, "taste": 0.5, "budget": 0.5, "safety": 0.8 }));
    assert_eq!(told(&own["inflated"]), findings());
    assert_eq!(own["review"], Value::Null);

    let one = team_get(&gateway, &format!("{DELIVERED}?partner=a-stranger")).await;
    assert_eq!(one["delivered"], json!([nothing_known]));
    assert_eq!(team_get(&gateway, &format!("{DELIVERED}?partner=nobody")).await["delivered"], json!([]));
    for query in ["partner=a%20b", "partner=", "intent=x"] {
        let answer = gateway.call(Ask::get(&format!("{DELIVERED}?{query}")).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
    for role in [Role::Partner, Role::Orchestrator] {
        let answer = gateway.call(Ask::get(DELIVERED).role(role)).await;
        assert_eq!(answer.refusal(), refused(403, "FORBIDDEN"));
    }
}

#[tokio::test]
async fn inflated_signals_are_a_review_that_sends_them_back() {
    let gateway = Gateway::new().await;
    inflated(&gateway).await;
    assert_eq!(gateway.onboarding.results.review_inflation().await.expect("the store works"), 1);
    let open = team_get(&gateway, "/api/v1/admin/reviews?status=open").await;
    let [review] = open["reviews"].as_array().expect("a list").as_slice() else { panic!("{open}") };
    let subject = &review["subject"];
    assert_eq!(
        (&subject["kind"], &subject["number"], &subject["intents"]),
        (&json!("inflation"), &Value::Null, &Value::Null)
    );
    assert_eq!(subject["inflation"]["intent"], INTENT);
    assert_eq!(subject["inflation"]["declared"]["time"], 0.9);
    assert_eq!(told(&subject["inflation"]["inflated"]), findings());
    assert_eq!(team_get(&gateway, DELIVERED).await["delivered"][0]["review"], review["id"]);

    let id = review["id"].as_str().expect("an identifier");
    let order = json!({ "decision": "reject", "notes": "Correct both." });
    let decided = team(&gateway, &format!("/api/v1/admin/reviews/{id}/decision"), order).await;
    assert_eq!((decided.status, &decided.json()["status"]), (StatusCode::OK, &json!("rejected")));
    gateway.onboarding.postman.deliver().await.expect("delivered");
    let mails = gateway.kept.letters.mails();
    assert!(mails.iter().any(|mail| mail.text.contains("ttbs_signals") && mail.text.contains("Correct both.")));
}
