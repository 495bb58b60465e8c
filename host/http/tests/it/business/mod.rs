//! From nothing to live traffic and out again, over the routes alone. Here: the partner of these tests, and its whole way.

mod connections;
mod documents;
mod notices;
mod papers;
mod sign_in;
mod team;

use http::{Method, StatusCode};
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use crate::support::{Answer, Ask, Gateway, INTENT, refused};

const EMAIL: &str = "asha@coolcar.example";

/// A partner with a token.
pub(crate) struct Partner<'a> {
    gateway: &'a Gateway,
    pub(crate) id: String,
    token: String,
}

async fn post(gateway: &Gateway, path: &str, body: Value) -> Answer {
    gateway.call(Ask::json(path, body.to_string())).await
}

/// Asks for a code and reads it in the mail.
async fn code(gateway: &Gateway, email: &str) -> String {
    let asked = json!({ "email": email, "business_name": "CoolCar Service" });
    let answer = post(gateway, "/api/v1/business/sign-up", asked).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert_eq!(answer.json()["email"], email);
    gateway.onboarding.postman.deliver().await.expect("delivered");
    gateway.kept.letters.code_to(email).expect("a mail with a code")
}

impl<'a> Partner<'a> {
    pub(crate) async fn sign_up(gateway: &'a Gateway) -> Self {
        Self::of(gateway, EMAIL).await
    }

    async fn of(gateway: &'a Gateway, email: &str) -> Self {
        let entry = json!({ "email": email, "code": code(gateway, email).await });
        let answer = post(gateway, "/api/v1/business/sign-up/verify", entry).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.headers["cache-control"], "no-store");
        let body = answer.json();
        assert_eq!((&body["token_type"], &body["account_id"]), (&json!("Bearer"), &body["partner_id"]));
        let text = |name: &str| body[name].as_str().expect("text").to_owned();
        assert!(text("account_id").starts_with("ptr_") && text("account_id").len() == 20);
        Self { gateway, id: text("account_id"), token: text("token") }
    }

    async fn send(&self, ask: Ask) -> Answer {
        let answer = self.gateway.call(ask.header("authorization", &format!("Bearer {}", self.token))).await;
        assert_eq!(answer.headers["cache-control"], "no-store");
        answer
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Ask::get(&self.path(path))).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Ask::json(&self.path(path), body.to_string())).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        let ask = Ask::new(Method::PUT, &self.path(path)).header("content-type", "application/json");
        self.send(ask.body(body.to_string())).await
    }

    /// `credentials/*/rotate` is the route of this account.
    fn path(&self, short: &str) -> String {
        format!("/api/v1/business/tier1/{}", short.replace('*', &self.id))
    }

    async fn give_everything(&self) {
        assert_eq!(self.put("accounts/*/profile", profile()).await.status, StatusCode::OK);
        assert_eq!(self.post("credentials/*", json!({})).await.status, StatusCode::CREATED);
        let webhook = json!({ "webhook_url": "https://api.coolcar.example/hook" });
        assert_eq!(self.put("credentials/*/webhook", webhook).await.status, StatusCode::OK);
        assert_eq!(self.post("manifest/*", manifest()).await.json()["status"], "pending_review");
        let endpoint = json!({ "url": "https://mcp.coolcar.example/mcp" });
        assert_eq!(self.put("connection/*", endpoint).await.json()["state"], "sandbox");
    }
}

pub(crate) fn profile() -> Value {
    json!({
        "legal_name": "CoolCar Service Private Limited",
        "legal_entity_type": "private_limited",
        "gstin": "27AAPFU0939F1ZV",
        "privacy_policy_url": "https://coolcar.example/privacy",
    })
}

pub(crate) fn manifest() -> Value {
    json!({
        "businessName": "CoolCar Service",
        "submitForReview": true,
        "intents": [{
            "intent": INTENT,
            "domain": "test",
            "pricing": { "min": 100, "max": 900, "currency": "INR" },
            "service_area": ["Bengaluru", "560001"],
        }],
    })
}

pub(crate) async fn team(gateway: &Gateway, path: &str, body: Value) -> Answer {
    gateway.call(Ask::json(path, body.to_string()).role(Role::Admin)).await
}

pub(crate) async fn team_get(gateway: &Gateway, path: &str) -> Value {
    let answer = gateway.call(Ask::get(path).role(Role::Admin)).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}");
    answer.json()
}

/// Approves the open review of an account, confirming what a person has to look at.
pub(crate) async fn approve(gateway: &Gateway) -> Value {
    let open = team_get(gateway, "/api/v1/admin/reviews?status=open").await;
    let id = open["reviews"][0]["id"].as_str().expect("an open review").to_owned();
    let view = team_get(gateway, &format!("/api/v1/admin/reviews/{id}")).await;
    let by_hand = |item: &&Value| item["state"] == "by_hand";
    let confirmed: Vec<_> =
        view["checklist"].as_array().expect("items").iter().filter(by_hand).map(|item| item["code"].clone()).collect();
    let order = json!({ "decision": "approve", "confirmed": confirmed });
    let answer = team(gateway, &format!("/api/v1/admin/reviews/{id}/decision"), order).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    answer.json()
}

fn mcp_admin(partner: &Partner<'_>, step: &str) -> String {
    format!("/api/v1/mcp-admin/{}/{step}", partner.id)
}

async fn test(partner: &Partner<'_>) -> Value {
    let confirmed = json!([{ "code": "LICENCE_SEEN", "note": "Seen." }]);
    let order = json!({ "intent": INTENT, "requests": [{ "request_id": "s-1" }], "confirmed": confirmed });
    let answer = team(partner.gateway, &mcp_admin(partner, "test"), order).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    answer.json()
}

/// Up to live.
async fn go_live(partner: &Partner<'_>) {
    let gateway = partner.gateway;
    partner.give_everything().await;
    assert_eq!(team(gateway, &mcp_admin(partner, "probe"), json!({})).await.json()["ok"], true);
    assert_eq!(test(partner).await["passed"], true);
    approve(gateway).await;
    let answer = team(gateway, &mcp_admin(partner, "switch-on"), json!({})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    assert_eq!(answer.json()["routed"], json!([INTENT]));
    assert_eq!(answer.json()["connection"]["state"], "live");
}

#[tokio::test]
async fn a_business_goes_from_nothing_to_live_and_out_again() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let overview = partner.get("accounts/*").await.json();
    assert_eq!((&overview["email"], &overview["business_name"]), (&json!(EMAIL), &json!("CoolCar Service")));
    assert_eq!(overview["created_at"], "2027-01-15T08:00:00Z");
    let next: Vec<_> = overview["next"].as_array().expect("steps").iter().map(|step| step["code"].clone()).collect();
    assert!(next.contains(&json!("PROFILE")) && next.contains(&json!("CREDENTIALS")), "{next:?}");

    let early = team(&gateway, &mcp_admin(&partner, "switch-on"), json!({})).await;
    assert_eq!(early.refusal(), refused(404, "NOT_FOUND"));
    go_live(&partner).await;
    assert_eq!(partner.get("accounts/*").await.json()["next"], json!([]));
    assert_eq!(partner.get("connection/*").await.json()["tests"][INTENT]["passed"], true);
    let counts = team_get(&gateway, "/api/v1/admin/connections/summary").await;
    assert_eq!(counts["states"], json!({"live": 1, "probe_failed": 0, "sandbox": 0, "suspended": 0}));
    let listed = team_get(&gateway, "/api/v1/admin/connections?status=live").await;
    assert_eq!(listed["connections"][0]["account_id"], partner.id.as_str());

    let suspended = team(&gateway, &mcp_admin(&partner, "suspend"), json!({ "reason": "Forbidden fields." })).await;
    assert_eq!(suspended.json()["state"], "suspended");
    assert_eq!(suspended.json()["suspension"]["reason"], "Forbidden fields.");
    assert_eq!(partner.get("connection/*").await.json()["suspension"]["by"]["subject"], "tester");
    let again = team(&gateway, &mcp_admin(&partner, "suspend"), json!({ "reason": "x" })).await;
    assert_eq!(again.refusal(), refused(409, "WRONG_STATE"));
    let lifted = team(&gateway, &mcp_admin(&partner, "lift"), json!({ "reason": "Mended." })).await;
    assert_eq!(lifted.json()["state"], "sandbox");
    let early = team(&gateway, &mcp_admin(&partner, "switch-on"), json!({})).await;
    assert_eq!(early.refusal(), refused(409, "NOT_READY"));
    assert!(early.json()["error"]["violations"].as_array().is_some_and(|missing| missing.len() >= 2));

    gateway.onboarding.postman.deliver().await.expect("delivered");
    let letters = gateway.kept.letters.mails();
    let told = |text: &str| letters.iter().any(|mail| mail.to == EMAIL && mail.text.contains(text));
    assert!(told("Forbidden fields.") && told("approved"), "the partner is told by mail");
}
