//! From nothing to live traffic and out again, over the routes alone.

use std::sync::atomic::Ordering;

use http::{Method, StatusCode};
use intent_gateway_http::Limits;
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use crate::keeping::tool;
use crate::support::{Answer, Ask, Gateway, INTENT, LIMITS, NOW_MS, refused};

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

    async fn get(&self, path: &str) -> Answer {
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
    let order = json!({ "intent": INTENT, "requests": [{ "request_id": "s-1" }] });
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
    let letters = gateway.kept.letters.0.lock().expect("no panic");
    let told = |text: &str| letters.iter().any(|mail| mail.to == EMAIL && mail.text.contains(text));
    assert!(told("Forbidden fields.") && told("approved"), "the partner is told by mail");
}

#[tokio::test]
async fn codes_are_good_once_and_not_for_long() {
    let gateway = Gateway::new().await;
    let verify = async |email: &str, code: &str| {
        post(&gateway, "/api/v1/business/sign-up/verify", json!({ "email": email, "code": code })).await
    };
    let first = code(&gateway, EMAIL).await;
    let wrong = if first == "000000" { "000001" } else { "000000" };
    let refusal = verify(EMAIL, wrong).await;
    assert_eq!(refusal.refusal(), refused(401, "INVALID_AUTH"));
    assert_eq!(refusal.headers["www-authenticate"], "Bearer");
    assert_eq!(verify("nobody@coolcar.example", &first).await.refusal(), refused(401, "INVALID_AUTH"));
    let opened = verify(EMAIL, &first).await.json();
    assert_eq!(opened["created"], true);
    assert_eq!(verify(EMAIL, &first).await.refusal(), refused(401, "INVALID_AUTH"), "used");

    // The address has an account now: the answer tells nobody, and the code enters it.
    let second = code(&gateway, EMAIL).await;
    let entered = verify(EMAIL, &second).await.json();
    assert_eq!((&entered["created"], &entered["account_id"]), (&json!(false), &opened["account_id"]));
    let third = code(&gateway, EMAIL).await;
    gateway.clock.0.store(NOW_MS + 11 * 60_000, Ordering::Relaxed);
    assert_eq!(verify(EMAIL, &third).await.refusal(), refused(401, "INVALID_AUTH"), "too old");
}

#[tokio::test]
async fn sign_in_tells_strangers_nothing() {
    let gateway = Gateway::new().await;
    let sign_in = async |email: &str| post(&gateway, "/api/v1/business/sign-in", json!({ "email": email })).await;
    Partner::sign_up(&gateway).await;
    let (known, unknown) = (sign_in(EMAIL).await, sign_in("nobody@else.example").await);
    assert_eq!((known.status, unknown.status), (StatusCode::ACCEPTED, StatusCode::ACCEPTED));
    assert_eq!(known.json()["expires_at"], unknown.json()["expires_at"]);
    let before = gateway.kept.letters.0.lock().expect("no panic").len();
    gateway.onboarding.postman.deliver().await.expect("delivered");
    let letters = gateway.kept.letters.0.lock().expect("no panic");
    assert_eq!(letters.len(), before + 1);
    assert!(letters.iter().all(|mail| mail.to == EMAIL));
}

#[tokio::test]
async fn too_many_codes_are_refused_with_a_time_to_wait() {
    let gateway = Gateway::new().await;
    let asked = json!({ "email": EMAIL, "business_name": "CoolCar" });
    let mut last = None;
    for _ in 0..6 {
        last = Some(post(&gateway, "/api/v1/business/sign-up", asked.clone()).await);
    }
    let last = last.expect("an answer");
    assert_eq!(last.refusal(), refused(429, "RATE_LIMITED"));
    assert_eq!(last.headers["retry-after"], "3600");
}

#[tokio::test]
async fn one_client_may_ask_so_often_without_a_token() {
    let limits = Limits { open_per_minute: 3.try_into().expect("not zero"), ..LIMITS };
    let gateway = Gateway::with(limits).await;
    let ask = async || post(&gateway, "/api/v1/business/sign-in", json!({ "email": EMAIL })).await;
    for _ in 0..3 {
        assert_eq!(ask().await.status, StatusCode::ACCEPTED);
    }
    let refusal = ask().await;
    assert_eq!(refusal.refusal(), refused(429, "RATE_LIMITED"));
    assert_eq!(refusal.headers["cache-control"], "no-store");
    assert!(refusal.headers.contains_key("retry-after"));
    let own = Ask::get("/api/v1/intents").role(Role::Orchestrator);
    assert_eq!(gateway.call(own).await.status, StatusCode::OK, "whoever has a token is not counted");
}

#[tokio::test]
async fn what_strangers_send_is_checked() {
    let gateway = Gateway::new().await;
    let violations = async |path: &str, body: Value| {
        let answer = post(&gateway, path, body).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"));
        let violations = answer.json()["error"]["violations"].as_array().expect("violations").clone();
        violations.iter().map(|one| one["pointer"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    let sign_up = "/api/v1/business/sign-up";
    assert_eq!(violations(sign_up, json!({})).await, ["/email", "/business_name"]);
    assert_eq!(violations(sign_up, json!({ "email": 1, "business_name": [] })).await, ["/email", "/business_name"]);
    for email in ["asha", "asha@gmail.com", "a@b@c.example", "asha@cool car.example", "asha\u{0}@coolcar.example"] {
        let pointers = violations(sign_up, json!({ "email": email, "business_name": "CoolCar" })).await;
        assert_eq!(pointers, ["/email"], "{email}");
    }
    let verify = "/api/v1/business/sign-up/verify";
    assert_eq!(violations(verify, json!({ "email": EMAIL, "code": 123_456 })).await, ["/code"]);
    assert_eq!(violations("/api/v1/business/token", json!([])).await, ["", "/client_id", "/client_secret"]);
}

#[tokio::test]
async fn secrets_are_shown_once_and_credentials_give_tokens() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    assert_eq!(partner.get("credentials/*").await.refusal(), refused(404, "NOT_FOUND"));
    let issued = partner.post("credentials/*", json!({})).await.json();
    let secret = issued["client_secret"].as_str().expect("a secret").to_owned();
    let (client_id, customer_id) = (issued["client_id"].as_str(), issued["customer_id"].as_str());
    assert!(client_id.is_some_and(|id| id.starts_with("platform_sandbox_") && id.len() == 41));
    assert!(customer_id.is_some_and(|id| id.starts_with("cust_") && id.len() == 17));
    assert_eq!((&issued["webhook_url"], &issued["webhook_signing_key"]), (&Value::Null, &Value::Null));
    assert_eq!(partner.post("credentials/*", json!({})).await.refusal(), refused(409, "CREDENTIALS_EXIST"));
    let shown = partner.get("credentials/*").await;
    assert_eq!(shown.json()["client_secret"], "(redacted)");
    assert!(!shown.text().contains(&secret) && !partner.get("accounts/*").await.text().contains(&secret));

    let credentials = |secret: &str| json!({ "client_id": client_id, "client_secret": secret });
    let token = async |secret: &str| post(&gateway, "/api/v1/business/token", credentials(secret)).await;
    let entered = token(&secret).await;
    assert_eq!(entered.json()["expires_at"], "2027-01-15T09:00:00Z");
    let by_token = Partner {
        gateway: &gateway,
        id: partner.id.clone(),
        token: entered.json()["token"].as_str().expect("a token").to_owned(),
    };
    assert_eq!(by_token.get("accounts/*").await.status, StatusCode::OK);
    assert_eq!(token("sk_sandbox_nonsense").await.refusal(), refused(401, "INVALID_AUTH"));

    // Without a body and with one; the one before works for a day, or not at all.
    let rotated = partner.send(Ask::new(Method::POST, &partner.path("credentials/*/rotate"))).await.json();
    assert_eq!(rotated["client_secrets"][1]["works_until"], "2027-01-16T08:00:00Z");
    assert_eq!(token(&secret).await.status, StatusCode::OK);
    let at_once = partner.post("credentials/*/rotate", json!({ "at_once": true })).await.json();
    assert_eq!(token(&secret).await.refusal(), refused(401, "INVALID_AUTH"));
    assert_eq!(token(at_once["client_secret"].as_str().expect("a secret")).await.status, StatusCode::OK);
    let wrong = partner.post("credentials/*/rotate", json!({ "at_once": "yes" })).await;
    assert_eq!(wrong.refusal(), refused(400, "INVALID_REQUEST"));
}

#[tokio::test]
async fn the_webhook_brings_a_signing_key_once() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let rotate = Ask::new(Method::POST, &partner.path("credentials/*/webhook/rotate"));
    assert_eq!(partner.send(rotate.clone()).await.refusal(), refused(404, "NOT_FOUND"));
    partner.post("credentials/*", json!({})).await;
    let plain = partner.put("credentials/*/webhook", json!({ "webhook_url": "http://coolcar.example" })).await;
    assert_eq!(plain.json()["error"]["violations"][0]["pointer"], "/webhook_url");
    let address = json!({ "webhook_url": "https://coolcar.example/hook" });
    let saved = partner.put("credentials/*/webhook", address.clone()).await.json();
    let key = saved["webhook_signing_key"].as_str().expect("a key").to_owned();
    assert!(key.starts_with("whsec_"));
    let same = partner.put("credentials/*/webhook", address).await.json();
    assert_eq!(same["webhook_signing_key"], "(redacted)", "nothing changed");
    let rotated = partner.send(rotate).await.json();
    assert_ne!(rotated["webhook_signing_key"], key.as_str());
    assert_eq!(rotated["webhook_signing_keys"].as_array().map(Vec::len), Some(2));
    let shown = partner.get("credentials/*").await;
    assert_eq!(shown.json()["webhook_url"], "https://coolcar.example/hook");
    assert_eq!(shown.json()["webhook_signing_key"], "(redacted)");
    assert!(!shown.text().contains(&key) && !shown.text().contains("whsec_"));
}

#[tokio::test]
async fn a_manifest_is_refused_with_a_plain_message_and_every_violation() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let mut wrong = manifest();
    wrong["intents"][0]["pricing"]["min"] = json!(1_000);
    wrong["intents"][0]["service_area"] = json!([]);
    let refusal = partner.post("manifest/*", wrong).await;
    assert_eq!(refusal.refusal(), refused(400, "INVALID_REQUEST"));
    let error = &refusal.json()["error"];
    let message = error["message"].as_str().expect("text");
    assert!(message.contains(INTENT) && message.contains("min"), "{message}");
    assert_eq!(error["violations"].as_array().map(Vec::len), Some(2));
    assert_eq!(partner.get("manifest/*").await.refusal(), refused(404, "NOT_FOUND"), "nothing changed");
    let mut unknown = manifest();
    unknown["intents"][0]["intent"] = json!("test.find_thing");
    assert_eq!(partner.post("manifest/*", unknown).await.refusal(), refused(400, "INVALID_INTENT"));
    for bad in [json!([]), json!("manifest"), json!(null), json!({})] {
        assert_eq!(partner.post("manifest/*", bad).await.refusal(), refused(400, "INVALID_REQUEST"));
    }

    let mut draft = manifest();
    draft["submitForReview"] = json!(false);
    draft["intents"][0]["availability"] = json!("whenever");
    let kept = partner.post("manifest/*", draft).await.json();
    assert_eq!((&kept["status"], &kept["number"], &kept["review"]), (&json!("draft"), &json!(1), &Value::Null));
    let warned = kept["warnings"].as_array().expect("warnings");
    assert!(warned.iter().any(|warning| warning["pointer"] == "/intents/0/availability"), "{warned:?}");
    let sent = partner.post("manifest/*", manifest()).await.json();
    assert_eq!((&sent["status"], &sent["number"]), (&json!("pending_review"), &json!(2)));
    let shown = partner.get("manifest/*").await.json();
    assert_eq!((&shown["latest"]["number"], &shown["approved"]), (&json!(2), &Value::Null));
    assert_eq!(shown["latest"]["manifest"]["businessName"], "CoolCar Service");
    assert_eq!(shown["review"], sent["review"]);
}

#[tokio::test]
async fn a_test_call_answers_with_a_stub() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let call = async |wish: Value| partner.post("credentials/*/test-call", json!({ "user_intent": wish })).await;
    let answer = call(json!("I need a thing")).await.json();
    assert_eq!((&answer["ok"], &answer["intent"]), (&json!(true), &json!(INTENT)));
    let option = &answer["stub_response"]["options"][0];
    assert!(option["id"].is_string() && option["vehicle_kind"].is_string());
    assert!(option["fare"]["total_inr"].is_u64() && option["eta"]["pickup_minutes"].is_u64());
    assert_eq!(call(json!(INTENT)).await.json()["intent"], INTENT);
    let nobody = call(json!("good morning")).await.json();
    assert_eq!((&nobody["ok"], &nobody["intent"]), (&json!(false), &json!("")));
    assert_eq!(nobody["stub_response"]["options"], json!([]));
    assert_eq!(call(json!("test.find_thing")).await.refusal(), refused(400, "INVALID_INTENT"));
    for bad in [json!(""), json!(5), json!("x".repeat(2_001)), Value::Null] {
        assert_eq!(call(bad).await.refusal(), refused(400, "INVALID_REQUEST"));
    }
}

#[tokio::test]
async fn a_failed_probe_is_an_answer_and_is_recorded() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    partner.give_everything().await;
    let tools = gateway.kept.seen.tools.lock().expect("no panic").take();
    let answer = team(&gateway, &mcp_admin(&partner, "probe"), json!({})).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        (&answer.json()["ok"], &answer.json()["failure"]["code"]),
        (&json!(false), &json!("PARTNER_UNREACHABLE"))
    );
    let shown = team_get(&gateway, &format!("/api/v1/mcp-admin/{}", partner.id)).await;
    assert_eq!((&shown["state"], &shown["probe"]["passed"]), (&json!("probe_failed"), &json!(false)));
    assert_eq!(shown["probe"]["failed_step"]["step"], "initialize");
    assert_eq!(shown["probe"]["elapsed_ms"], 42);
    let early = team(&gateway, &mcp_admin(&partner, "test"), json!({ "intent": INTENT, "requests": [{}] })).await;
    assert_eq!(early.refusal(), refused(409, "NO_PROBE"));

    *gateway.kept.seen.tools.lock().expect("no panic") = tools;
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
    *gateway.kept.seen.tools.lock().expect("no panic") = Some(vec![tool("Finds other things.")]);
    let probed = team(&gateway, &mcp_admin(&partner, "probe"), json!({})).await.json();
    assert_eq!(probed["connection"]["state"], "live");
    assert_eq!(probed["connection"]["quarantine"][INTENT][0]["kind"], "DESCRIPTION_CHANGED");
    let open = team_get(&gateway, "/api/v1/admin/reviews?status=open").await;
    assert_eq!(open["reviews"][0]["subject"]["kind"], "drift");
    let accepted = team(&gateway, &mcp_admin(&partner, "accept-drift"), reason).await;
    assert_eq!(accepted.json()["quarantine"], json!({}));
}

#[tokio::test]
async fn reviews_are_decided_once_and_with_all_items() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let sent = partner.post("manifest/*", manifest()).await.json();
    let review = format!("/api/v1/admin/reviews/{}", sent["review"].as_str().expect("a review"));
    let decide = async |order: Value| team(&gateway, &format!("{review}/decision"), order).await;
    let blocked = decide(json!({ "decision": "approve" })).await;
    assert_eq!(blocked.refusal(), refused(409, "NOT_READY"), "there is no profile");
    assert_eq!(decide(json!({ "decision": "reject" })).await.refusal(), refused(400, "INVALID_REQUEST"));
    assert_eq!(decide(json!({ "decision": "maybe" })).await.refusal(), refused(400, "INVALID_REQUEST"));
    let rejected = decide(json!({ "decision": "reject", "notes": "Give a profile first." })).await.json();
    assert_eq!(
        (&rejected["status"], &rejected["decision"]["notes"]),
        (&json!("rejected"), &json!("Give a profile first."))
    );
    assert_eq!(decide(json!({ "decision": "approve" })).await.refusal(), refused(409, "REVIEW_CLOSED"));
    assert_eq!(partner.get("manifest/*").await.json()["latest"]["notes"], "Give a profile first.");

    partner.put("accounts/*/profile", profile()).await;
    partner.post("manifest/*", manifest()).await;
    let approved = approve(&gateway).await;
    assert_eq!((&approved["status"], &approved["privacy_policy"]["live"]), (&json!("approved"), &json!(true)));
    assert_eq!(partner.get("manifest/*").await.json()["approved"]["number"], 2);
    for path in ["/api/v1/admin/reviews/rev_x", "/api/v1/admin/reviews/a%00b"] {
        let answer = gateway.call(Ask::get(path).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{path}");
    }
}

#[tokio::test]
async fn a_profile_is_checked() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let mut wrong = profile();
    wrong["gstin"] = json!("27AAPFU0939F1ZX");
    let refusal = partner.put("accounts/*/profile", wrong).await;
    assert_eq!(refusal.json()["error"]["violations"][0]["pointer"], "/gstin");
    for (member, value, pointer) in [
        ("legal_name", json!(4), "/legal_name"),
        ("legal_entity_type", json!("guild"), "/legal_entity_type"),
        ("licences", json!([{ "kind": "fssai", "number": 7 }]), "/licences/0/number"),
        ("grievance_officer", json!({ "name": "A", "email": "a@b.example" }), "/grievance_officer"),
    ] {
        let mut wrong = profile();
        wrong[member] = value;
        let refusal = partner.put("accounts/*/profile", wrong).await.json();
        assert_eq!(refusal["error"]["violations"][0]["pointer"], pointer, "{refusal}");
    }
    for bad in [json!({}), json!([]), json!({ "legal_name": 4 })] {
        assert_eq!(partner.put("accounts/*/profile", bad).await.refusal(), refused(400, "INVALID_REQUEST"));
    }
    let kept = partner.put("accounts/*/profile", profile()).await.json();
    assert_eq!(kept["profile"]["gstin"], "27AAPFU0939F1ZV");
}

#[tokio::test]
async fn no_partner_sees_or_touches_another() {
    let gateway = Gateway::new().await;
    let one = Partner::sign_up(&gateway).await;
    let other = Partner::of(&gateway, "ravi@farcars.example").await;
    assert_ne!(one.id, other.id);
    let intruder = Partner { gateway: &gateway, id: one.id.clone(), token: other.token.clone() };
    assert_eq!(intruder.get("accounts/*").await.refusal(), refused(403, "FORBIDDEN"));
    assert_eq!(intruder.post("credentials/*", json!({})).await.refusal(), refused(403, "FORBIDDEN"));
    let nobody = Partner { gateway: &gateway, id: "ptr_0000000000000000".to_owned(), token: other.token.clone() };
    assert_eq!(nobody.get("accounts/*").await.refusal(), refused(403, "FORBIDDEN"), "nothing tells who exists");
    let search = Ask::json("/api/v1/intents/test.find_things/search", "{}");
    let answer = gateway.call(search.header("authorization", &format!("Bearer {}", one.token))).await;
    assert_eq!(answer.refusal(), refused(403, "FORBIDDEN"));
}

#[tokio::test]
async fn an_admin_acts_for_a_partner_and_the_log_names_the_admin() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let issue = Ask::json(&partner.path("credentials/*"), "{}").role(Role::Admin);
    assert_eq!(gateway.call(issue).await.status, StatusCode::CREATED);
    let log = team_get(&gateway, &format!("/api/v1/admin/audit?subject={}", partner.id)).await;
    let entries = log["entries"].as_array().expect("entries");
    let seen: Vec<_> = entries.iter().map(|entry| (&entry["action"], &entry["actor"]["role"])).collect();
    assert_eq!(seen, [(&json!("account.opened"), &json!("partner")), (&json!("credentials.issued"), &json!("admin"))]);
    assert_eq!(entries[1]["actor"]["subject"], "tester");
    assert!(entries[1]["detail"]["client_id"].is_string());
    let nobody = gateway.call(Ask::json("/api/v1/business/tier1/credentials/ptr_none", "{}").role(Role::Admin)).await;
    assert_eq!(nobody.refusal(), refused(404, "NOT_FOUND"));
}

#[tokio::test]
async fn the_audit_log_is_read_in_pages_and_verified() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    go_live(&partner).await;
    let count = gateway.kept.store.log.lock().expect("no panic").len() as u64;
    assert!(count > 6);
    let first = team_get(&gateway, "/api/v1/admin/audit?limit=2").await;
    assert_eq!((&first["entries"][1]["seq"], &first["next"]), (&json!(2), &json!(2)));
    let second = team_get(&gateway, "/api/v1/admin/audit?after=2&limit=500").await;
    assert_eq!((&second["entries"][0]["seq"], &second["next"]), (&json!(3), &Value::Null));
    let verified = team_get(&gateway, "/api/v1/admin/audit/verify").await;
    assert_eq!((&verified["ok"], &verified["entries"]), (&json!(true), &json!(count)));
    gateway.kept.store.log.lock().expect("no panic")[2].action.push('x');
    let verified = team_get(&gateway, "/api/v1/admin/audit/verify").await;
    assert_eq!((&verified["ok"], &verified["entries"]), (&json!(false), &json!(2)));
    assert!(verified["problem"].as_str().is_some_and(|problem| problem.contains('3')));
}

#[tokio::test]
async fn lists_come_in_pages() {
    let gateway = Gateway::new().await;
    for n in 0..5 {
        let partner = Partner::of(&gateway, &format!("asha@coolcar{n}.example")).await;
        partner.post("manifest/*", manifest()).await;
    }
    for (path, list) in [("accounts", "accounts"), ("reviews", "reviews")] {
        let mut after = String::new();
        let mut seen = Vec::new();
        loop {
            let page = team_get(&gateway, &format!("/api/v1/admin/{path}?limit=2{after}")).await;
            seen.extend(page[list].as_array().expect("a list").clone());
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!(seen.len(), 5, "{path}");
    }
    let refused_query = async |query: &str| {
        let answer = gateway.call(Ask::get(&format!("/api/v1/admin/{query}")).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    };
    for query in [
        "accounts?limit=0",
        "accounts?limit=501",
        "accounts?limit=x",
        "accounts?status=open",
        "accounts?after=a%00",
        "reviews?status=opened",
        "reviews?offset=1",
        "connections?status=dead",
        "audit?after=-1",
        "audit?after=18446744073709551615",
        "audit?limit=1000",
        "audit?subject=a%00b",
    ] {
        refused_query(query).await;
    }
}

#[tokio::test]
async fn a_store_that_fails_is_a_fault_without_detail() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    gateway.kept.store.broken.store(true, Ordering::Relaxed);
    let answer = partner.get("accounts/*").await;
    assert_eq!(answer.refusal(), refused(500, "INTERNAL_ERROR"));
    assert!(!answer.text().contains("secret"));
}
