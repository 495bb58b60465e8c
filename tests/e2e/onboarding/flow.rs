use std::path::Path;

use serde_json::{Value, json};
use test_servers::postgres::Postgres;
use test_servers::secrets;

use super::{Business, INTENT, MASTER_KEY, Platform, SIGNING_KEY, manifest, stores};
use crate::harness::{eventually, request, rust_partner};

/// Searches with each kind of air conditioning, twice each: enough to read a 95th percentile from.
fn samples() -> Vec<Value> {
    let kinds = ["manual", "automatic", "climate_control", "dual_zone"];
    let sample = |(kind, category): (&str, &str)| {
        let mut sample = request();
        sample["vehicle"]["ac_system_type"] = kind.into();
        sample["ac_issue"]["category"] = category.into();
        sample
    };
    let categories = ["not_cooling", "smell"];
    kinds.into_iter().flat_map(|kind| categories.map(|category| (kind, category))).map(sample).collect()
}

pub(super) fn profile(privacy_policy_url: &str) -> Value {
    json!({
        "legal_name": "CoolCar Services Private Limited",
        "legal_entity_type": "private_limited",
        "gstin": "24AAACC1206D1ZM",
        "licences": [
            {"kind": "shop", "number": "KA/BLR/2024/1183"},
            {"kind": "refrigerant_handling", "number": "RHC-2026-0042"}
        ],
        "privacy_policy_url": privacy_policy_url
    })
}

impl Platform {
    /// Confirms every item of a review that waits for a person, and decides it.
    pub(crate) async fn decide(&self, review: &str, decision: &str) -> super::Answer {
        let shown = self.get(&format!("/api/v1/admin/reviews/{review}"), self.gateway.admin_token()).await;
        assert_eq!(shown.status, 200, "{}", shown.body);
        let items = shown.body["checklist"].as_array().expect("a checklist");
        let by_hand = items.iter().filter(|item| item["state"] == "by_hand").map(|item| item["code"].clone());
        let body = json!({"decision": decision, "notes": "as agreed", "confirmed": by_hand.collect::<Vec<_>>()});
        self.post(&format!("/api/v1/admin/reviews/{review}/decision"), self.gateway.admin_token(), body).await
    }

    /// Runs the go-live check with every requirement confirmed that is for people.
    pub(crate) async fn test(&self, business: &Business) -> Value {
        let path = business.admin_path("test");
        let first = self.admin(&path, json!({"intent": INTENT, "requests": samples()})).await;
        let items = first["items"].as_array().unwrap_or_else(|| panic!("no items: {first}"));
        let by_hand = items.iter().filter(|item| item["state"] == "by_hand");
        let confirmed: Vec<Value> = by_hand.map(|item| json!({"code": item["code"], "note": "looked at"})).collect();
        self.admin(&path, json!({"intent": INTENT, "confirmed": confirmed})).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn from_sign_up_to_live_traffic_to_suspension() {
    onboard(Platform::start(None), None).await;
    if stores().len() > 1 {
        eprintln!("on PostgreSQL");
        // A server of its own: all of it is searched for secrets, and a code of six digits is soon found by chance in what
        // other tests write.
        let server = Postgres::start().expect("it starts").expect("it is installed");
        let store = server.database().expect("a database");
        onboard(Platform::start(Some(&store)), Some(server.folder())).await;
    }
}

/// An overhaul costs more than the manifest says of any order: it is shown, and found.
async fn prices_are_held_against_the_manifest(platform: &Platform, business: &Business) {
    let mut noisy = request();
    noisy["request_id"] = "noisy".into();
    noisy["ac_issue"]["category"] = "noise".into();
    let found = platform.gateway.found(&noisy).await;
    let prices = manifest(true)["intents"][0]["pricing"].clone();
    let range = prices["min"].as_i64().expect("a number")..=prices["max"].as_i64().expect("a number");
    let mut outside: Vec<String> = (found["options"].as_array().expect("a list").iter())
        .map(|option| option["option"]["estimated_price"]["total_estimate_inr"].as_i64().expect("whole rupees"))
        .filter(|total| !range.contains(total))
        .map(|total| total.to_string())
        .collect();
    assert!(!outside.is_empty(), "{found}");
    outside.sort_unstable();

    let path = format!("{}/findings?source=search", business.path("accounts"));
    eventually(&format!("these prices are not noted: {outside:?}"), &platform.gateway, async || {
        let shown = platform.get(&path, &business.token).await.body;
        let noted =
            shown["findings"].as_array().expect("a list").iter().filter(|finding| {
                finding["request_id"] == "noisy" && finding["violation"]["code"] == "PRICE_OUT_OF_RANGE"
            });
        let mut sent: Vec<&str> = noted.filter_map(|finding| finding["excerpt"].as_str()).collect();
        sent.sort_unstable();
        (sent == outside).then_some(())
    })
    .await;
}

/// `cluster` is where the store's own server keeps its files.
async fn onboard(platform: Platform, cluster: Option<&Path>) {
    let business = platform.sign_up("ops@coolcar.example").await;
    let (partner, mut known) = (business.token.clone(), Vec::new());

    // Credentials: shown once, good for a token of their own.
    let issued = platform.post(&business.path("credentials"), &partner, json!({})).await;
    assert!(issued.status < 300, "{}", issued.body);
    let (client_id, secret) = (issued.body["client_id"].clone(), issued.body["client_secret"].clone());
    known.push(("client_secret", secret.as_str().expect("a text").to_owned()));
    let shown = platform.get(&business.path("credentials"), &partner).await;
    assert_ne!(shown.body["client_secret"], secret);
    let rotated = platform.post(&format!("{}/rotate", business.path("credentials")), &partner, json!({})).await;
    known.push(("rotated client_secret", rotated.body["client_secret"].as_str().expect("a text").to_owned()));
    let body = json!({"client_id": client_id, "client_secret": secret});
    let token = platform.gateway.call("POST", "/api/v1/business/token", None, Some(&body)).await;
    assert_eq!(token.status, 200, "the old secret works for a day: {}", token.body);
    let token = token.body["token"].as_str().expect("a token").to_owned();

    let webhook = format!("{}/webhook", business.path("credentials"));
    let saved = platform.put(&webhook, &token, json!({"webhook_url": "https://coolcar.example/hook"})).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
    known.push(("signing key", saved.body["webhook_signing_key"].as_str().expect("a text").to_owned()));

    let call = format!("{}/test-call", business.path("credentials"));
    let called = platform.post(&call, &token, json!({"user_intent": "my car's AC blows warm air"})).await;
    assert_eq!((called.status, &called.body["ok"], &called.body["intent"]), (200, &json!(true), &json!(INTENT)));
    let sample = &called.body["sample"];
    assert_eq!(sample["tool"], "search_ac_service_slots", "{}", called.body);
    assert!(sample["request"]["vehicle"].is_object() && sample["options"][0].is_object(), "{sample}");

    // The manifest: refused, then a draft, then under review.
    let mut dear = manifest(true);
    dear["intents"][0]["pricing"]["min"] = json!(7000);
    let refused = platform.post(&business.path("manifest"), &token, dear).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!("INVALID_REQUEST")));
    let message = refused.body["error"]["message"].as_str().expect("a message");
    assert!(message.contains(INTENT) && message.contains("7000"), "{message}");
    let draft = platform.post(&business.path("manifest"), &token, manifest(false)).await;
    assert_eq!(draft.body["status"], "draft", "{}", draft.body);
    let sent = platform.post(&business.path("manifest"), &token, manifest(true)).await;
    assert_eq!(sent.body["status"], "pending_review", "{}", sent.body);
    let review = sent.body["review"].as_str().unwrap_or_else(|| panic!("{}", sent.body)).to_owned();

    // The connection: plain HTTP elsewhere is refused, the real one is probed.
    let server = rust_partner("oem", platform.gateway.folder.path());
    let endpoint = business.path("connection");
    let plain = json!({"kind": "mcp", "url": "http://coolcar.example/mcp"});
    assert_eq!(platform.put(&endpoint, &token, plain).await.status, 400);
    let registered = platform.put(&endpoint, &token, json!({"kind": "mcp", "url": server.url})).await;
    assert_eq!(registered.body["state"], "sandbox", "{}", registered.body);
    let probed = platform.admin(&business.admin_path("probe"), json!({})).await;
    assert_eq!((&probed["connection"]["state"], &probed["ok"]), (&json!("sandbox"), &json!(true)), "{probed}");
    let tested = platform.test(&business).await;
    assert_eq!(tested["passed"], true, "{tested}");

    // Without approval, nothing goes live; and approval needs papers that hold.
    let switch_on = business.admin_path("switch-on");
    let early = platform.post(&switch_on, platform.gateway.admin_token(), json!({})).await;
    assert_eq!((early.status, &early.body["error"]["code"]), (409, &json!("NOT_READY")), "{}", early.body);
    let decided = platform.decide(&review, "approve").await;
    assert_eq!(decided.status, 409, "no profile yet: {}", decided.body);
    let page = Page::start().await;
    let papers = format!("{}/profile", business.path("accounts"));
    let kept = platform.put(&papers, &token, profile(&format!("{}/gone", page.url))).await;
    assert_eq!(kept.status, 200, "{}", kept.body);
    let decided = platform.decide(&review, "approve").await;
    assert_eq!(decided.status, 409, "the privacy policy is not live: {}", decided.body);
    let kept = platform.put(&papers, &token, profile(&format!("{}/privacy", page.url))).await;
    assert_eq!(kept.status, 200, "{}", kept.body);
    let decided = platform.decide(&review, "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.body);
    platform.mails_saying(&business.email, "as agreed", 1).await;
    platform.routed(&[]).await;

    // Switched on, the next search calls it; a restart changes nothing.
    let on = platform.admin(&switch_on, json!({})).await;
    assert_eq!(on["connection"]["state"], "live", "{on}");
    platform.mails_saying(&business.email, "your connection is live", 1).await;
    // What people have confirmed ends where the contract says so.
    let held = &on["connection"]["confirmations"][INTENT];
    assert!(held["CERTIFICATION_VERIFIED"]["valid_until"].is_string(), "{on}");
    assert!(
        held["IDEMPOTENCY_TESTED"]["at"].is_string() && held["IDEMPOTENCY_TESTED"]["valid_until"].is_null(),
        "{on}"
    );
    platform.routed(&[&business.id]).await;
    let platform = platform.restart();
    platform.routed(&[&business.id]).await;
    let found = platform.gateway.found(&request()).await;
    assert!(found["options"].as_array().is_some_and(|options| !options.is_empty()), "{found}");
    prices_are_held_against_the_manifest(&platform, &business).await;

    // Suspended, nobody calls it.
    let suspend = business.admin_path("suspend");
    platform.admin(&suspend, json!({"reason": "relabelled a top-up as an overhaul"})).await;
    platform.routed(&[]).await;
    platform.mails_saying(&business.email, "relabelled", 1).await;
    let again = platform.post(&suspend, platform.gateway.admin_token(), json!({"reason": "twice"})).await;
    assert_eq!(again.status, 409, "{}", again.body);
    let lifted = platform.admin(&business.admin_path("lift"), json!({"reason": "mended"})).await;
    assert_eq!(lifted["state"], "sandbox", "{lifted}");

    let log = platform.get("/api/v1/admin/audit?limit=100", platform.gateway.admin_token()).await;
    let entries = log.body["entries"].as_array().unwrap_or_else(|| panic!("{}", log.body));
    let actions: Vec<&str> = entries.iter().filter_map(|entry| entry["action"].as_str()).collect();
    for action in
        ["account.opened", "credentials.rotated", "review.approved", "connection.switched_on", "connection.lifted"]
    {
        assert!(actions.contains(&action), "{action} is not in {actions:?}");
    }
    let verdict = platform.get("/api/v1/admin/audit/verify", platform.gateway.admin_token()).await;
    assert_eq!((verdict.status, &verdict.body["ok"]), (200, &json!(true)), "{}", verdict.body);

    // What nobody may ever read is nowhere to be read.
    known.extend([("signing key of tokens", SIGNING_KEY.to_owned()), ("master key", MASTER_KEY.to_owned())]);
    known.push(("e-mail code", business.code.clone()));
    known.extend([("token", business.token.clone()), ("token of the credentials", token)]);
    let known: Vec<(&str, &str)> = known.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let folder = platform.gateway.folder.path().to_owned();
    let config = folder.join("gateway.toml");
    let places: Vec<&Path> = std::iter::once(folder.as_path()).chain(cluster).collect();
    secrets::assert_absent(&places, &[&config], &known);
}

/// A site with a privacy policy.
pub(crate) struct Page {
    pub(crate) url: String,
    task: tokio::task::JoinHandle<()>,
}

impl Page {
    pub(crate) async fn start() -> Self {
        let policy = || async { axum::response::Html("<h1>Privacy</h1><p>We keep what we need.</p>") };
        let router = axum::Router::new().route("/privacy", axum::routing::get(policy));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, task }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.task.abort();
    }
}
