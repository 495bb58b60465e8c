//! Somebody holds a leaked secret, and tokens that it opened. The owner, who alone reads the mailbox, gets rid of them at
//! every gateway; they cannot lock the owner out or move what is called.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Answer, Gateway};
use crate::onboarding::{Business, Platform, replica, stores};

/// How soon an eviction is in force at every gateway (issue: trust).
const IN_FORCE_MAX: Duration = Duration::from_secs(1);
const OWNER: &str = "owner@coolcar.example";

/// A business whose secret has leaked.
struct Leak {
    business: Business,
    client_id: Value,
    /// As it leaked.
    client_secret: Value,
}

async fn call(gateway: &Gateway, method: &str, path: &str, token: &str, body: Value) -> Answer {
    gateway.call(method, path, Some(token), Some(&body)).await
}

/// The token that credentials open, or the refusal's status.
async fn enter(gateway: &Gateway, client_id: &Value, client_secret: &Value) -> Result<String, u16> {
    let body = json!({"client_id": client_id, "client_secret": client_secret});
    let answer = gateway.call("POST", "/api/v1/business/token", None, Some(&body)).await;
    answer.body["token"].as_str().map(str::to_owned).ok_or(answer.status)
}

async fn leak(platform: &Platform) -> Leak {
    let business = platform.sign_up(OWNER).await;
    let issued = platform.post(&business.path("credentials"), &business.token, json!({})).await;
    assert_eq!(issued.status, 201, "{}", issued.body);
    let hook = json!({"webhook_url": "https://coolcar.example/hook"});
    let saved = platform.put(&format!("{}/webhook", business.path("credentials")), &business.token, hook).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
    let endpoint = json!({"url": "https://mcp.coolcar.example/mcp"});
    let registered = platform.put(&business.path("connection"), &business.token, endpoint).await;
    assert_eq!(registered.status, 200, "{}", registered.body);
    let member = |name: &str| issued.body[name].clone();
    Leak { client_id: member("client_id"), client_secret: member("client_secret"), business }
}

/// The code in a mail that undoes what it tells of.
fn undo_code(mail: &str) -> String {
    let at = mail.find("undo_").expect("a code");
    mail[at..].chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
}

/// Asks until the token is refused; how long that took.
async fn refused_after(gateway: &Gateway, path: &str, token: &str) -> Duration {
    let since = Instant::now();
    loop {
        let begun = since.elapsed();
        let answer = gateway.call("GET", path, Some(token), None).await;
        if answer.status == 401 {
            assert_eq!(answer.body["error"]["code"], "INVALID_AUTH");
            return begun;
        }
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(begun < 5 * IN_FORCE_MAX, "the token is still accepted");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thief_is_evicted_everywhere_and_stays_out() {
    for (engine, store) in stores() {
        let platform = Platform::start(store.as_deref());
        // A second gateway where the engine lets two share a store.
        let second = store.as_deref().map(|store| replica(&platform, store));
        let gateways: Vec<&Gateway> = std::iter::once(&platform.gateway).chain(&second).collect();
        let Leak { business, client_id, client_secret } = leak(&platform).await;
        let thief = enter(&platform.gateway, &client_id, &client_secret).await.expect("the secret has leaked");

        let rotate = format!("{}/rotate", business.path("credentials"));
        let rotated = call(gateways[0], "POST", &rotate, &business.token, json!({"at_once": true})).await;
        assert_eq!(rotated.status, 200, "{engine}: {}", rotated.body);
        for gateway in &gateways {
            let after = refused_after(gateway, &business.path("accounts"), &thief).await;
            assert!(after < IN_FORCE_MAX, "{engine}: refused after {after:?}");
            // What every role may read is closed to it as well.
            assert_eq!(gateway.call("GET", "/api/v1/intents", Some(&thief), None).await.status, 401, "{engine}");
            assert_eq!(enter(gateway, &client_id, &client_secret).await, Err(401), "{engine}");
            let again = call(gateway, "POST", &rotate, &thief, json!({})).await;
            assert_eq!(again.status, 401, "{engine}: the thief does not rotate again: {}", again.body);
            // The owner goes on with the token that the mailed code has opened, and with the new secret.
            let own = gateway.call("GET", &business.path("accounts"), Some(&business.token), None).await;
            assert_eq!(own.status, 200, "{engine}: {}", own.body);
            assert!(enter(gateway, &client_id, &rotated.body["client_secret"]).await.is_ok(), "{engine}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thief_locks_nobody_out_and_moves_nothing() {
    let platform = Platform::start(None);
    let Leak { business, client_id, client_secret } = leak(&platform).await;
    let gateway = &platform.gateway;
    let thief = enter(gateway, &client_id, &client_secret).await.expect("the secret has leaked");
    let (credentials, connection) = (business.path("credentials"), business.path("connection"));
    let tried = [
        ("POST", format!("{credentials}/rotate"), json!({"at_once": true})),
        ("POST", format!("{credentials}/webhook/rotate"), json!({"at_once": true})),
        ("PUT", format!("{credentials}/webhook"), json!({"webhook_url": "https://thief.example/hook"})),
        ("PUT", connection.clone(), json!({"url": "https://thief.example/mcp"})),
    ];
    for (method, path, body) in tried {
        let refused = call(gateway, method, &path, &thief, body).await;
        let code = &refused.body["error"]["code"];
        assert_eq!((refused.status, code), (401, &json!("FRESH_SIGN_IN_NEEDED")), "{method} {path}: {}", refused.body);
    }
    let seen = platform.post(&format!("{credentials}/rotate"), &thief, json!({})).await;
    assert_eq!(seen.status, 200, "the specification's own rotation: {}", seen.body);
    assert!(enter(gateway, &client_id, &client_secret).await.is_ok(), "with its overlap: the owner's programs go on");

    // The owner is told, and takes it back from the mailbox alone.
    let [mail] = platform.mails_saying(OWNER, "client_secret was replaced", 1).await.try_into().expect("one mail");
    assert!(mail.contains("credentials"), "{mail}");
    let undo = json!({"account_id": business.id, "code": undo_code(&mail)});
    let undone = gateway.call("POST", "/api/v1/business/undo", None, Some(&undo)).await;
    assert_eq!((undone.status, &undone.body["undone"]), (200, &json!("client_secret")), "{}", undone.body);
    assert_eq!(enter(gateway, &client_id, &seen.body["client_secret"]).await, Err(401), "the thief's secret is over");
    for token in [&thief, &business.token] {
        let ended = gateway.call("GET", &business.path("accounts"), Some(token), None).await;
        assert_eq!(ended.status, 401, "every session has ended");
    }
    let again = gateway.call("POST", "/api/v1/business/undo", None, Some(&undo)).await;
    assert_eq!(again.status, 401, "a code is good once");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_is_told_of_first_addresses_and_takes_them_back() {
    let platform = Platform::start(None);
    let (business, gateway) = (platform.sign_up(OWNER).await, &platform.gateway);
    let issued = platform.post(&business.path("credentials"), &business.token, json!({})).await;
    let thief = enter(gateway, &issued.body["client_id"], &issued.body["client_secret"]).await.expect("it has leaked");
    let (webhook, connection) = (format!("{}/webhook", business.path("credentials")), business.path("connection"));
    let addresses = [
        (&webhook, json!({"webhook_url": "https://thief.example/hook"})),
        (&connection, json!({"url": "https://thief.example/mcp"})),
    ];
    for (path, body) in addresses {
        let set = platform.put(path, &thief, body).await;
        assert_eq!(set.status, 200, "a program onboards so: {path}: {}", set.body);
    }
    let told = platform.mails_saying(OWNER, "had none before", 2).await;
    for mail in told {
        let what = if mail.contains("your webhook now has") { "webhook" } else { "endpoint" };
        assert!(mail.contains("thief.example"), "{mail}");
        let undo = json!({"account_id": business.id, "code": undo_code(&mail)});
        let undone = gateway.call("POST", "/api/v1/business/undo", None, Some(&undo)).await;
        assert_eq!((undone.status, &undone.body["undone"]), (200, &json!(what)), "{mail}: {}", undone.body);
    }
    let account = gateway.admin_get("/connections").await;
    assert_eq!(account["connections"], json!([]), "{account}");
    let credentials = gateway.call("GET", &business.path("credentials"), Some(gateway.admin_token()), None).await;
    assert_eq!(credentials.body.get("webhook_url").cloned().unwrap_or_default(), Value::Null, "{}", credentials.body);
    let again = platform.put(&connection, &thief, json!({"url": "https://thief.example/mcp"})).await;
    assert_eq!(again.status, 401, "every session has ended: {}", again.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_ends_all_sessions() {
    let platform = Platform::start(None);
    let Leak { business, client_id, client_secret } = leak(&platform).await;
    let other = enter(&platform.gateway, &client_id, &client_secret).await.expect("entered");
    let end = format!("{}/sessions/end", business.path("accounts"));
    let ended = platform.gateway.call("POST", &end, Some(&business.token), None).await;
    assert_eq!(ended.status, 204, "{}", ended.body);
    for token in [&business.token, &other] {
        let refused = platform.gateway.call("GET", &business.path("accounts"), Some(token), None).await;
        assert_eq!(refused.status, 401, "{}", refused.body);
    }
    assert!(enter(&platform.gateway, &client_id, &client_secret).await.is_ok(), "secrets go on");
}
