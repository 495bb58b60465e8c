//! Somebody who may only watch, or only review, tries what the rest of the platform team does: ships and unloads contracts,
//! reverses what was booked, suspends a partner, reads users' receipts, takes a partner's keys, moves where it is called.

use serde_json::{Value, json};

use super::unseen_change::entries;
use crate::harness::{Answer, Gateway};
use crate::onboarding::{INTENT, Platform};

/// A request that the scope of its token does not open, and the scope that would.
struct Try<'a> {
    method: &'a str,
    path: String,
    body: Value,
    needed: &'a str,
}

async fn contracts(gateway: &Gateway) -> Value {
    gateway.admin_get("/contracts").await["contracts"].clone()
}

fn assert_refused(answer: &Answer, needed: &str, what: &str) {
    let code = format!("SCOPE_{}_NEEDED", needed.to_uppercase());
    assert_eq!((answer.status, &answer.body["error"]["code"]), (403, &json!(code)), "{what}: {}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_does_no_more_than_its_scope_says() {
    let platform = Platform::start(None);
    let gateway = &platform.gateway;
    let business = platform.sign_up("ops@coolcar.example").await;
    let before = contracts(gateway).await;
    let digest = before[0]["digest"].as_str().expect("a digest");
    let scoped = |scope: &str| gateway.token(&["--role", "admin", "--subject", "mallory", "--scope", scope]);

    let attempt = |method, path: String, body, needed| Try { method, path, body, needed };
    let ship = || {
        vec![
            attempt("POST", "/api/v1/admin/contracts".to_owned(), json!({}), "ship"),
            attempt("POST", format!("/api/v1/admin/contracts/{digest}/activate"), json!({}), "ship"),
            attempt("DELETE", format!("/api/v1/admin/intents/{INTENT}"), Value::Null, "ship"),
        ]
    };
    let book = || {
        let entry = "/api/v1/admin/ledger/entries/1";
        vec![
            attempt("POST", format!("{entry}/reversal"), json!({"reason": "mine"}), "ledger"),
            attempt("POST", format!("{entry}/correction"), json!({"reason": "mine", "amount_inr": 1}), "ledger"),
        ]
    };
    // With its keys one could sign reports in the partner's name, which the ledger books; at its endpoint one would get users' requests.
    let keys = || {
        let credentials = business.path("credentials");
        vec![
            attempt("POST", credentials.clone(), json!({}), "all"),
            attempt("PUT", format!("{credentials}/webhook"), json!({"webhook_url": "https://m.example/"}), "all"),
            attempt("PUT", business.path("connection"), json!({"url": "https://m.example/mcp"}), "all"),
        ]
    };
    let decide = || {
        let suspend = business.admin_path("suspend");
        vec![
            attempt("POST", suspend, json!({"reason": "mine"}), "review"),
            attempt("GET", "/api/v1/admin/receipts?request_id=r1".to_owned(), Value::Null, "review"),
        ]
    };
    let users = || vec![attempt("DELETE", "/api/v1/user-data".to_owned(), Value::Null, "all")];
    for (scope, tries) in [
        ("watch", vec![ship(), book(), keys(), decide(), users()]),
        ("review", vec![ship(), book(), keys(), users()]),
        ("ledger", vec![ship(), keys(), decide(), users()]),
        ("ship", vec![book(), keys(), decide(), users()]),
        ("watch,review,ledger", vec![ship(), keys(), users()]),
    ] {
        let token = scoped(scope);
        for Try { method, path, body, needed } in tries.into_iter().flatten() {
            let answer = gateway.call(method, &path, Some(&token), Some(&body).filter(|body| !body.is_null())).await;
            assert_refused(&answer, needed, &format!("{method} {path} with {scope}"));
        }
    }
    assert_eq!(contracts(gateway).await, before, "the same contracts are live");

    // The right scope opens it, and the audit log says who did it with which.
    let shipper = scoped("ship");
    let shipped =
        gateway.call("POST", &format!("/api/v1/admin/contracts/{digest}/activate"), Some(&shipper), None).await;
    assert_eq!(shipped.status, 200, "{}", shipped.body);
    let unloaded = gateway.call("DELETE", &format!("/api/v1/admin/intents/{INTENT}"), Some(&shipper), None).await;
    assert_eq!(unloaded.status, 204, "{}", unloaded.body);
    let log = entries(gateway, Some(INTENT), "contract.left_service").await.remove(0);
    assert_eq!(log["actor"], json!({"role": "admin", "subject": "mallory"}), "{log}");
    assert_eq!(log["detail"]["scope"], "ship", "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_whose_endpoint_the_team_moves_is_told() {
    let platform = Platform::start(None);
    let business = platform.sign_up("ops@coolcar.example").await;
    let connection = business.path("connection");
    let own = platform.put(&connection, &business.token, json!({"url": "https://mcp.coolcar.example/mcp"})).await;
    assert_eq!(own.status, 200, "{}", own.body);
    let moved =
        platform.put(&connection, platform.gateway.admin_token(), json!({"url": "https://m.example/mcp"})).await;
    assert_eq!(moved.status, 200, "{}", moved.body);
    let [mail] = platform.mails_saying(&business.email, "https://m.example/mcp", 1).await.try_into().expect("one mail");
    assert!(mail.contains("asked for by the platform team") && mail.contains("undo_"), "{mail}");
}
