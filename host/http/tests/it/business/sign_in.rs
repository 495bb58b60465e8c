//! How a business signs up and in, and what strangers learn.

use http::StatusCode;
use intent_gateway_http::auth::Role;
use intent_gateway_http::{Limits, Rates};
use serde_json::{Value, json};

use super::{EMAIL, Partner, code, post};
use crate::support::{Ask, Gateway, LIMITS, NOW_MS, RATES, refused};

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
    gateway.clock.set(NOW_MS + 11 * 60_000);
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
    let before = gateway.kept.letters.mails().len();
    gateway.onboarding.postman.deliver().await.expect("delivered");
    let letters = gateway.kept.letters.mails();
    assert_eq!(letters.len(), before + 1);
    assert!(letters.iter().all(|mail| mail.to == EMAIL));
}

#[tokio::test]
async fn codes_that_were_used_up_are_followed_by_the_next_after_a_while() {
    let gateway = Gateway::with(Limits { trusted_proxies: 1, ..LIMITS }).await;
    let ask = async || {
        let asked = json!({ "email": EMAIL, "business_name": "CoolCar" });
        post(&gateway, "/api/v1/business/sign-up", asked).await
    };
    for _ in 0..6 {
        assert_eq!(ask().await.status, StatusCode::ACCEPTED, "asking locks nobody out");
    }
    let guess = json!({ "email": EMAIL, "code": "guess" });
    for network in ["198.51.100.7", "198.51.100.8"] {
        for _ in 0..5 {
            let guessed = Ask::json("/api/v1/business/sign-up/verify", guess.to_string());
            let guessed = guessed.header("x-forwarded-for", network);
            assert_eq!(gateway.call(guessed).await.refusal(), refused(401, "INVALID_AUTH"));
        }
    }
    let last = ask().await;
    assert_eq!(last.refusal(), refused(429, "RATE_LIMITED"));
    assert_eq!(last.headers["retry-after"], "600");
}

#[tokio::test]
async fn a_proxy_that_nobody_told_of_shows() {
    let gateway = Gateway::new().await;
    let warnings = async || gateway.call(Ask::get("/health")).await.json()["warnings"].clone();
    assert_eq!(warnings().await, json!([]));
    let body = json!({ "email": EMAIL }).to_string();
    let proxied = Ask::json("/api/v1/business/sign-in", body).header("x-forwarded-for", "198.51.100.7");
    assert_eq!(gateway.call(proxied).await.status, StatusCode::ACCEPTED);
    assert_eq!(warnings().await, json!(["UNTRUSTED_PROXY"]));
}

#[tokio::test]
async fn one_client_may_ask_so_often_without_a_token() {
    let gateway = Gateway::with(Rates { open_per_minute: 3.try_into().expect("not zero"), ..RATES }).await;
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
async fn sign_ins_and_the_teams_reads_are_noted() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let issued = partner.post("credentials/*", json!({})).await.json();
    let enter = async |client_id: &Value, secret: &Value| {
        let body = json!({ "client_id": client_id, "client_secret": secret });
        post(&gateway, "/api/v1/business/token", body).await.status
    };
    let wrong = json!("wrong");
    assert_eq!(enter(&issued["client_id"], &issued["client_secret"]).await, StatusCode::OK);
    assert_eq!(enter(&issued["client_id"], &wrong).await, StatusCode::UNAUTHORIZED);
    assert_eq!(enter(&wrong, &wrong).await, StatusCode::UNAUTHORIZED);
    let verify = json!({ "email": EMAIL, "code": "000000" });
    assert_eq!(post(&gateway, "/api/v1/business/sign-up/verify", verify).await.status, StatusCode::UNAUTHORIZED);
    let own = format!("/api/v1/business/tier1/accounts/{}", partner.id);
    // A path that is written in another way is about the same account.
    let orders = format!("{own}/orders");
    let encoded = |path: &str| path.replace("ptr_", "ptr%5F");
    for path in [own.clone(), encoded(&own), encoded(&orders), "/api/v1/admin/accounts".to_owned()] {
        assert_eq!(gateway.call(Ask::get(&path).role(Role::Admin)).await.status, StatusCode::OK, "{path}");
    }
    // What a partner reads of its own, and what nobody gets to read, is none.
    assert_eq!(partner.get("accounts/*").await.status, StatusCode::OK);
    let refused = gateway.call(Ask::get("/api/v1/admin/receipts/rank_0").role(Role::Admin)).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);

    let mut noted: Vec<_> = gateway
        .accesses
        .take_all()
        .into_iter()
        .map(|entry| {
            (entry.action, entry.actor.role, entry.subject, entry.detail["times"].clone(), entry.detail["what"].clone())
        })
        .collect();
    noted.sort_by(|one, other| (&one.0, &one.2).cmp(&(&other.0, &other.2)));
    let entry = |action: &str, role: &str, subject: &str, times: u32, what: &[&str]| {
        (action.to_owned(), role.to_owned(), subject.to_owned(), json!(times), json!(what))
    };
    let expected = [
        entry("account.entered", "partner", &partner.id, 1, &["credentials"]),
        entry("account.listed", "admin", "tester", 1, &["/api/v1/admin/accounts"]),
        entry("account.read", "admin", &partner.id, 2, &[&own]),
        entry("order.listed", "admin", &partner.id, 1, &[&orders]),
        entry("sign_in.failed", "stranger", &partner.id, 2, &["credentials", "code"]),
        entry("sign_in.failed", "stranger", "unknown", 1, &["credentials"]),
    ];
    assert_eq!(noted, expected);
}
