//! Somebody with an admin's token changes contracts and reads what was kept of users and businesses, and hopes that nobody
//! can tell; or makes the log of it grow until nobody reads it.

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, eventually, safety_first_contract};
use crate::onboarding::{INTENT, Platform};

/// Where the tests ask from.
const HERE: &str = "127.0.0.1";
/// Entries that one minute of asking for the same may leave: the first, the rest, and those of a minute that began meanwhile.
const ENTRIES_MAX: usize = 4;

/// The audit log of a subject.
async fn log_of(gateway: &Gateway, subject: &str) -> Vec<Value> {
    let log = gateway.admin_get(&format!("/audit?limit=500&subject={subject}")).await;
    log["entries"].as_array().expect("a list").clone()
}

/// The entries of an action, once there are any.
pub(super) async fn entries(gateway: &Gateway, subject: Option<&str>, action: &str) -> Vec<Value> {
    eventually(&format!("no {action} in the audit log"), gateway, async || {
        let query = subject.map(|subject| format!("&subject={subject}")).unwrap_or_default();
        let log = gateway.admin_get(&format!("/audit?limit=500{query}")).await;
        let mut entries = log["entries"].as_array().expect("a list").clone();
        entries.retain(|entry| entry["action"] == action);
        (!entries.is_empty()).then_some(entries)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn contracts_change_in_the_open() {
    let gateway = Gateway::start(&GatewayOptions::default());
    let first = gateway.upload(&std::fs::read(ac_contract()).expect("readable")).await;
    let second = gateway.upload(&std::fs::read(safety_first_contract()).expect("readable")).await;
    let digest = |answer: &crate::harness::Answer| answer.body["digest"].as_str().expect("a digest").to_owned();
    let (first, second) = (digest(&first), digest(&second));
    assert_eq!(gateway.admin_post(&format!("/contracts/{first}/activate")).await.status, 200);
    let intent = format!("/api/v1/admin/intents/{INTENT}");
    assert_eq!(gateway.call("DELETE", &intent, Some(gateway.admin_token()), None).await.status, 204);

    let digests = |entry: &Value, name: &str| entry["detail"][name]["digest"].as_str().map(str::to_owned);
    let told: Vec<_> = eventually("the last change is not in the log", &gateway, async || {
        let log = log_of(&gateway, INTENT).await;
        let told = log.iter().map(|entry| {
            assert_eq!((&entry["detail"]["from"], &entry["actor"]["role"]), (&json!(HERE), &json!("admin")), "{entry}");
            let action = entry["action"].as_str().expect("a text").to_owned();
            (action, digests(entry, "live_before"), digests(entry, "live_after"))
        });
        let told: Vec<_> = told.collect();
        told.last().is_some_and(|(action, ..)| action == "contract.left_service").then_some(told)
    })
    .await;
    let (one, other) = (Some(first.clone()), Some(second.clone()));
    let expected = [
        ("contract.loaded", None, None),
        ("contract.went_live", None, one.clone()),
        ("contract.loaded", one.clone(), one.clone()),
        ("contract.went_live", one.clone(), other.clone()),
        ("contract.went_live", other, one.clone()),
        ("contract.left_service", one, None),
    ];
    assert_eq!(told, expected.map(|(action, before, after)| (action.to_owned(), before, after)));

    // What is tried and not taken is noted, too.
    let garbage = gateway.upload(b"no component").await;
    assert_eq!(garbage.status, 422, "{}", garbage.body);
    let refused = entries(&gateway, None, "contract.refused").await;
    let what = refused[0]["detail"]["what"][0].as_str().expect("a text");
    assert!(what.starts_with("load: NOT_A_COMPONENT"), "{refused:?}");
    assert_eq!(refused[0]["detail"]["from"], json!([HERE]));
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_ins_and_reads_are_noted_and_make_nothing_grow() {
    let platform = Platform::start(None);
    let gateway = &platform.gateway;
    let business = platform.sign_up("ops@coolcar.example").await;
    let opened = log_of(gateway, &business.id).await;
    assert_eq!((&opened[0]["action"], &opened[0]["detail"]["from"]), (&json!("account.opened"), &json!(HERE)));
    let issued = platform.post(&business.path("credentials"), &business.token, json!({})).await;
    let enter = async |secret: &Value| {
        let body = json!({"client_id": issued.body["client_id"], "client_secret": secret});
        gateway.call("POST", "/api/v1/business/token", None, Some(&body)).await.status
    };
    assert_eq!(enter(&issued.body["client_secret"]).await, 200);
    let entered = entries(gateway, Some(&business.id), "account.entered").await;
    assert_eq!(entered[0]["detail"], json!({"times": 1, "what": ["credentials"], "from": [HERE]}));
    assert_eq!(enter(&json!("wrong")).await, 401);
    let failed = entries(gateway, Some(&business.id), "sign_in.failed").await;
    assert_eq!((&failed[0]["actor"]["role"], &failed[0]["detail"]["from"]), (&json!("stranger"), &json!([HERE])));

    for _ in 0..300 {
        gateway.admin_get("/accounts").await;
        let read = gateway.call("GET", &business.path("accounts"), Some(gateway.admin_token()), None).await;
        assert_eq!(read.status, 200, "{}", read.body);
    }
    // In whatever way the path is written, the account is named.
    let encoded = format!("{}/orders", business.path("accounts").replace("ptr_", "ptr%5F"));
    assert_eq!(gateway.call("GET", &encoded, Some(gateway.admin_token()), None).await.status, 200);
    let orders = entries(gateway, Some(&business.id), "order.listed").await;
    assert_eq!(orders[0]["detail"]["what"], json!([format!("{}/orders", business.path("accounts"))]));
    let reads = entries(gateway, Some(&business.id), "account.read").await;
    assert!(reads.len() <= ENTRIES_MAX, "{reads:?}");
    assert_eq!(reads[0]["detail"]["what"], json!([business.path("accounts")]));
    let listed = entries(gateway, None, "account.listed").await;
    assert!(listed.len() <= ENTRIES_MAX, "{listed:?}");
    assert_eq!(gateway.admin_get("/audit/verify").await["ok"], true);
}
