//! Who may do what, tried on the running gateway: every operation of its own document, filled in with what really
//! exists, under every token that does not open it. Each is refused, and nothing has changed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::flow::profile;
use super::steps::Ready;
use super::{Business, INTENT, Platform, SIGNING_KEY, manifest};
use crate::calls::booking;
use crate::completion::{Reporter, ac_report};
use crate::harness::{Answer, request};

/// A key that the gateway does not know.
const FOREIGN_KEY: &str = "a-key-of-somebody-else-of-more-than-32-bytes";
/// The operations that take no token.
const OPEN: [&str; 15] = [
    "GET /.well-known/oauth-client/{document}",
    "GET /health",
    // For users' browsers; what they hold stands in the path or in a cookie.
    "GET /link/callback",
    "GET /link/callback/{issuer}",
    "GET /link/{ticket}",
    "GET /live",
    "POST /link/{ticket}",
    "GET /openapi.json",
    "GET /ready",
    "POST /api/v1/business/sign-in",
    "POST /api/v1/business/sign-up",
    "POST /api/v1/business/sign-up/verify",
    "POST /api/v1/business/token",
    // It takes a code out of a mail instead.
    "POST /api/v1/business/undo",
    // It takes a signature instead.
    "POST /api/v1/cpc/mcp_provider/{partner_id}",
];

/// What an operation must be answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// 401: nobody knows who asks.
    Unknown,
    /// 403: it is known, and may not.
    NotAllowed,
    /// Let in; it is not asked here, for it may change something.
    LetIn,
}

/// A token, and what it opens.
struct Bearer {
    name: &'static str,
    token: Option<String>,
    expected: fn(&Operation) -> Expected,
}

/// An operation of the document, with its path filled in.
struct Operation {
    name: String,
    method: String,
    path: String,
    roles: Vec<String>,
    /// What would change something, were it let in.
    body: Option<Value>,
    /// Whether it is for a user, who must be named.
    for_user: bool,
}

impl Operation {
    async fn ask(&self, platform: &Platform, token: Option<&str>) -> Answer {
        let Self { method, path, body, for_user, .. } = self;
        match for_user {
            true => platform.gateway.call_for("asha", method, path, token, body.as_ref()).await,
            false => platform.gateway.call(method, path, token, body.as_ref()).await,
        }
    }
}

/// The claims of a token.
fn claims(token: &str) -> Value {
    let claims = token.split('.').nth(1).expect("claims");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).expect("base64")).expect("JSON")
}

/// A token like another, with other claims and signed with another key, under the same key's name.
pub(crate) fn resigned(token: &str, key: &str, change: impl FnOnce(&mut Value)) -> String {
    let (header, _) = token.split_once('.').expect("a header");
    let mut claims = claims(token);
    change(&mut claims);
    let message = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    let keyed = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
    let signature = keyed.chain_update(&message).finalize().into_bytes();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn expired(token: &str) -> String {
    resigned(token, SIGNING_KEY, |claims| {
        let issued = claims["iat"].as_u64().expect("a time");
        // An hour ago: far past the leeway that clocks are given.
        (claims["iat"], claims["exp"]) = (json!(issued - 7_200), json!(issued - 3_600));
    })
}

/// A partner's token that says to be an admin's, under the signature that it had.
fn promoted(token: &str) -> String {
    let mut claims = claims(token);
    claims["role"] = json!("admin");
    let parts: Vec<&str> = token.split('.').collect();
    format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode(claims.to_string()), parts[2])
}

/// Every token that the matrix tries.
fn bearers(platform: &Platform, own: &Business, other: &Business) -> Vec<Bearer> {
    let admin = platform.gateway.admin_token();
    let unknown = |name, token: Option<String>| Bearer { name, token, expected: |_| Expected::Unknown };
    let unsigned = || {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
        format!("{header}.{}.", admin.split('.').nth(1).expect("claims"))
    };
    let partner = platform.gateway.token(&["--role", "partner", "--subject", &own.id]);
    let stranger = platform.gateway.token(&["--role", "partner", "--subject", "ptr_0000000000000000"]);
    vec![
        unknown("no token", None),
        unknown("garbage", Some("garbage".to_owned())),
        unknown("garbage in three parts", Some("x.y.z".to_owned())),
        unknown("an admin's, forged", Some(resigned(admin, FOREIGN_KEY, |_| {}))),
        unknown("the account's own, forged", Some(resigned(&own.token, FOREIGN_KEY, |_| {}))),
        unknown("an admin's, without a signature", Some(unsigned())),
        unknown("an admin's, expired", Some(expired(admin))),
        unknown("the account's own, expired", Some(expired(&own.token))),
        unknown("the account's own, promoted", Some(promoted(&own.token))),
        unknown(
            "an admin's, for somebody else",
            Some(resigned(admin, SIGNING_KEY, |claims| claims["aud"] = json!("elsewhere"))),
        ),
        Bearer { name: "another account's", token: Some(other.token.clone()), expected: Operation::opens_to_strangers },
        Bearer { name: "no account's", token: Some(stranger), expected: Operation::opens_to_strangers },
        Bearer {
            name: "an orchestrator's",
            token: Some(platform.gateway.orchestrator_token().to_owned()),
            expected: |operation| operation.opens_to("orchestrator"),
        },
        Bearer {
            name: "an orchestrator's, with the account as its subject",
            token: Some(platform.gateway.token(&["--role", "orchestrator", "--subject", &own.id])),
            expected: |operation| operation.opens_to("orchestrator"),
        },
        Bearer { name: "the account's own", token: Some(partner), expected: |operation| operation.opens_to("partner") },
    ]
}

impl Operation {
    /// The answer to a good token of a role.
    fn opens_to(&self, role: &str) -> Expected {
        if self.roles.iter().any(|named| named == role) { Expected::LetIn } else { Expected::NotAllowed }
    }

    /// The answer to a good token of another account than the one of the path.
    fn opens_to_strangers(&self) -> Expected {
        if self.name.contains("{account_id}") { Expected::NotAllowed } else { self.opens_to("partner") }
    }
}

/// Reads the document that the gateway serves; `fill` gives what stands for each parameter.
async fn operations(
    platform: &Platform,
    fill: impl Fn(&str) -> String,
    body: impl Fn(&str) -> Value,
) -> Vec<Operation> {
    let document = platform.gateway.call("GET", "/openapi.json", None, None).await.body;
    let mut operations = Vec::new();
    for (template, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("a path item") {
            let method = method.to_uppercase();
            let name = format!("{method} {template}");
            let alternatives = operation["security"].as_array().unwrap_or_else(|| panic!("{name} says nothing"));
            let roles = alternatives.iter().flat_map(|one| one["bearer"].as_array().cloned().unwrap_or_default());
            let roles: Vec<String> = roles.map(|role| role.as_str().expect("a role").to_owned()).collect();
            for status in ["401", "403"].into_iter().filter(|_| !roles.is_empty()) {
                assert!(operation["responses"][status].is_object(), "{name} does not document {status}");
            }
            let parts = template.split('/').map(|part| {
                let parameter = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
                parameter.map_or_else(|| part.to_owned(), &fill)
            });
            let mut path = parts.collect::<Vec<_>>().join("/");
            if template.ends_with("/receipts") {
                path.push_str("?request_id=r1");
            }
            let body = (method != "GET" && method != "DELETE").then(|| body(&name));
            let mut parameters = operation["parameters"].as_array().into_iter().flatten();
            let for_user = parameters.any(|one| one["name"] == "x-user-id" && one["required"] == true);
            operations.push(Operation { name, method, path, roles, body, for_user });
        }
    }
    operations
}

/// A notice that asks nothing of partners' programs, a day ahead.
fn notice() -> Value {
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    json!({"kind": "other", "title": "A pause", "text": "For an hour.", "takes_effect_at": at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()})
}

/// A body that the operation would take.
fn body(name: &str, reference: &str) -> Value {
    match name.rsplit('/').next().expect("a last part") {
        "search" => request(),
        "classify" => json!({"utterance": "my car's AC blows warm air"}),
        "profile" => profile("https://coolcar.example/privacy"),
        "webhook" => json!({"webhook_url": "https://stranger.example/hook"}),
        "test-call" => json!({"user_intent": INTENT}),
        "decision" => json!({"decision": "reject", "notes": "by a stranger"}),
        "test" => json!({"intent": INTENT, "confirmed": []}),
        "strikes" => {
            let (code, order) = ("WARRANTY_DECLINED", "BK-1");
            json!({"intent": INTENT, "code": code, "external_id": order, "reason": "by a stranger"})
        }
        "notices" => notice(),
        "policy" => json!({"policy": "auto"}),
        "promote" => json!({"why": "by a stranger"}),
        "rollout" => json!({"act": "abort", "why": "by a stranger"}),
        "revocations" => json!({"key": "0011223344556677", "reason": "by a stranger"}),
        "suspend" | "lift" | "accept-drift" | "withdraw" => json!({"reason": "by a stranger"}),
        "{account_id}" if name.contains("/tier2/") => json!({
            "business_name": "CoolCar",
            "legal_name": "CoolCar",
            "phone": "+91 80 4000-1234",
            "service_area": ["Bengaluru"],
            "services": [{"intent": INTENT, "pricing": {"min": 500, "max": 900, "currency": "INR"}}],
        }),
        "{account_id}" if name.contains("/manifest/") => manifest(true),
        "try" => json!({
            "intent": INTENT, "tool": "search_ac_service_slots", "arguments": request(), "answer": {"items": []},
            "mapping": {"kind": "rest", "tools": {"search_ac_service_slots": {
                "operation_id": "find", "method": "GET", "path": "/slots", "response": {"slots": {"$res": "/items"}},
            }}},
        }),
        "{account_id}" if name.contains("/connection/") => {
            json!({"kind": "mcp", "url": "https://stranger.example/mcp"})
        }
        "{tool}" | "stream" => json!({"reference": reference, "arguments": booking("by-a-stranger")}),
        "reversal" => json!({"reason": "by a stranger"}),
        "correction" => json!({"reason": "by a stranger", "amount_inr": 1}),
        _ => json!({}),
    }
}

/// All that an operation could have changed, as the platform team and the partner see it.
async fn state(platform: &Platform, business: &Business) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in ["accounts", "reviews", "connections", "contracts", "contracts/failures", "partners"] {
        seen.push(platform.gateway.admin_get(&format!("/{path}")).await);
    }
    seen.push(platform.get(&business.path("accounts"), platform.gateway.admin_token()).await.body);
    let documents = format!("{}/documents", business.path("accounts"));
    seen.push(platform.get(&documents, platform.gateway.admin_token()).await.body);
    seen
}

/// What the audit log tells of changes; what the admin of this test reads stands there as well, a moment later.
async fn audited_changes(platform: &Platform) -> Vec<Value> {
    let verdict = platform.gateway.admin_get("/audit/verify").await;
    assert_eq!(verdict["ok"], true, "{verdict}");
    let mut changes = Vec::new();
    let mut after = json!(0);
    while !after.is_null() {
        let page = platform.gateway.admin_get(&format!("/audit?limit=500&after={after}")).await;
        let entries = page["entries"].as_array().expect("a list").iter();
        let is_read = |entry: &&Value| {
            let action = entry["action"].as_str().expect("a text");
            action.ends_with(".read") || action.ends_with(".listed")
        };
        changes.extend(entries.filter(|entry| !is_read(entry)).cloned());
        after = page["next"].clone();
    }
    changes
}

fn assert_refused(answer: &Answer, expected: Expected, what: &str) {
    let (status, code) = match expected {
        Expected::Unknown => (401, "INVALID_AUTH"),
        Expected::NotAllowed => (403, "FORBIDDEN"),
        Expected::LetIn => unreachable!("it was not asked"),
    };
    assert_eq!((answer.status, &answer.body["error"]["code"]), (status, &json!(code)), "{what}: {}", answer.body);
    let members: Vec<&str> = answer.body.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(members, ["error"], "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_operation_opens_to_a_token_that_is_not_for_it() {
    let platform = Platform::start(None);
    // All that an operation could lay hands on is there: a live partner with credentials, a webhook and an open review.
    let Ready { business: own, .. } = &platform.ready("ops@coolcar.example").await;
    platform.admin(&own.admin_path("switch-on"), json!({})).await;
    platform.post(&own.path("credentials"), &own.token, json!({})).await;
    let webhook = format!("{}/webhook", own.path("credentials"));
    let hook = platform.put(&webhook, &own.token, json!({"webhook_url": "https://coolcar.example/hook"})).await;
    let key = hook.body["webhook_signing_key"].as_str().unwrap_or_else(|| panic!("{}", hook.body));
    platform.routed(&[&own.id]).await;
    let found = platform.gateway.found(&request()).await;
    let receipt = found["receipt"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned();
    let option = found["options"].as_array().expect("a list").iter().find(|option| option["bookable"] == true);
    let reference = option.unwrap_or_else(|| panic!("{found}"))["reference"].as_str().expect("a text").to_owned();
    let request_id = found["request_id"].as_str().expect("a text");
    let reporter = Reporter::new(&platform.gateway.server.url, &own.id, key);
    let reported = reporter.report(&ac_report("BK-1", request_id)).await;
    assert_eq!(reported.status, 200, "{}", reported.body);
    let statement = platform.gateway.admin_get("/ledger/entries").await["entries"][0]["month"].clone();
    let month = statement.as_str().expect("a month").to_owned();
    let documents = format!("{}/documents", own.path("accounts"));
    let licence = format!("{documents}?kind=shop&name=licence.pdf");
    let kept = platform.gateway.post_file(&licence, "application/pdf", b"%PDF-1.7 a licence", &own.token).await;
    let document = kept.body["id"].as_str().unwrap_or_else(|| panic!("{}", kept.body)).to_owned();
    let sent = platform.post(&own.path("manifest"), &own.token, manifest(true)).await;
    let review = sent.body["review"].as_str().unwrap_or_else(|| panic!("{}", sent.body)).to_owned();
    let other = platform.sign_up("ops@warmcar.example").await;
    let contracts = platform.gateway.admin_get("/contracts").await;
    let digest = contracts["contracts"][0]["digest"].as_str().expect("a digest").to_owned();

    let announced = platform.admin("/api/v1/admin/notices", notice()).await["notice_id"].clone();
    let announced = announced.as_str().expect("an id").to_owned();

    let fill = |parameter: &str| match parameter {
        "account_id" | "id" | "partner" => own.id.clone(),
        "notice" => announced.clone(),
        "ticket" => "none".to_owned(),
        "issuer" => "0".repeat(32),
        "review" => review.clone(),
        // There is none: whoever may decide it is told so.
        "approval" => "apr_0".to_owned(),
        "intent" => INTENT.to_owned(),
        "digest" => digest.clone(),
        "partner_id" => own.id.clone(),
        "number" => "1".to_owned(),
        "month" => month.clone(),
        "receipt" => receipt.clone(),
        "document" => document.clone(),
        // Likewise: only its owner is told that there is none.
        "event" => "evt_0".to_owned(),
        "order" | "order_id" => "ord_0000000000000000000000000000".to_owned(),
        "tool" => "create_ac_service_booking".to_owned(),
        other => panic!("no value is known for the parameter `{other}`"),
    };
    let fitting = |name: &str| match name {
        "POST /api/v1/links" => json!({"partner": own.id}),
        name => body(name, &reference),
    };
    let operations = operations(&platform, fill, fitting).await;
    let open: Vec<&str> =
        operations.iter().filter(|one| one.roles.is_empty()).map(|operation| operation.name.as_str()).collect();
    let mut expected = OPEN.to_vec();
    expected.sort_by_key(|name| name.split(' ').nth(1));
    assert_eq!(open, expected);

    let bearers = bearers(&platform, own, &other);
    let before = state(&platform, own).await;
    let told = audited_changes(&platform).await;
    let mut asked = 0;
    for operation in operations.iter().filter(|one| !one.roles.is_empty()) {
        let Operation { name, .. } = operation;
        for bearer in &bearers {
            let expected = (bearer.expected)(operation);
            if expected == Expected::LetIn {
                continue;
            }
            let answer = operation.ask(&platform, bearer.token.as_deref()).await;
            assert_refused(&answer, expected, &format!("{name} with {}", bearer.name));
            asked += 1;
        }
        assert_eq!(audited_changes(&platform).await, told, "{name} has changed something");
    }
    eprintln!("{asked} requests were refused at {} operations", operations.len() - open.len());
    assert_eq!(state(&platform, own).await, before);
    platform.routed(&[&own.id]).await;
    for operation in operations.iter().filter(|one| !one.roles.is_empty()) {
        assert_real(&platform, operation).await;
    }
}

/// An admin's token opens the operation, and the request is one that it takes: a refusal proved something.
async fn assert_real(platform: &Platform, operation: &Operation) {
    let Operation { name, method, .. } = operation;
    // The first two take a component, the third would end the search that comes after it, and another takes an account that
    // a user's browser has linked. The next wants a contract to have failed. Three take and hand over files, and the others show or decide what
    // there is none of.
    let apart = [
        "POST /api/v1/admin/contracts",
        "POST /api/v1/admin/contracts/compare",
        "POST /api/v1/admin/receipts/export",
        "DELETE /api/v1/admin/intents/{intent}",
        "DELETE /api/v1/admin/intents/{intent}/coming",
        "POST /api/v1/admin/intents/{intent}/rollout",
        "DELETE /api/v1/links/{partner}",
        "GET /api/v1/admin/intents/{intent}/faults/{number}",
        "GET /api/v1/admin/accounts/{id}/documents/{document}",
        "POST /api/v1/business/tier1/accounts/{account_id}/documents",
        "PUT /api/v1/business/tier1/accounts/{account_id}/documents/{document}",
        "GET /api/v1/admin/approvals/{approval}",
        "POST /api/v1/admin/approvals/{approval}/approve",
        "POST /api/v1/admin/approvals/{approval}/refuse",
        "GET /api/v1/orders/{order_id}",
        "GET /api/v1/admin/orders/{order_id}",
        "GET /api/v1/business/tier1/accounts/{account_id}/orders/{order}",
        "GET /api/v1/business/tier1/accounts/{account_id}/events/{event}",
        "POST /api/v1/business/tier1/accounts/{account_id}/events/{event}/replay",
    ];
    if apart.contains(&name.as_str()) {
        return;
    }
    let answer = operation.ask(platform, Some(platform.gateway.admin_token())).await;
    // What fits the request and not the moment, such as lifting no suspension, is a conflict.
    let taken = (200..300).contains(&answer.status) || (answer.status == 409 && method != "GET");
    assert!(taken, "{name}: {} {}", answer.status, answer.body);
}
