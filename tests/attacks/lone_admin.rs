//! Somebody has stolen the token of one admin, with every scope, and tries to do alone what nobody can undo: plainly, in disguise, by
//! approving it with a second token of the same person, and by approving once more what was approved before.

use futures_util::future::join;
use reqwest::Method;
use serde_json::{Value, json};

use super::unseen_change::entries;
use crate::harness::{Answer, Gateway, GatewayOptions, ac_contract, client, safety_first_contract};
use crate::onboarding::{INTENT, MASTER_KEY, SIGNING_KEY, stores};

const APPROVALS: &str = "/api/v1/admin/approvals";

fn gateway(store: Option<&str>) -> Gateway {
    let store = store.map(|url| format!("[store]\nurl = {url:?}\n")).unwrap_or_default();
    let extra = format!(
        "{store}[auth]\nsigning_key = \"{SIGNING_KEY}\"\nmaster_key = \"{MASTER_KEY}\"\nsecond_person = true\n"
    );
    Gateway::start(&GatewayOptions { contracts: vec![ac_contract()], extra, ..GatewayOptions::default() })
}

fn person(gateway: &Gateway, subject: &str, scopes: &str) -> String {
    gateway.token(&["--role", "admin", "--subject", subject, "--scope", scopes])
}

async fn is_live(gateway: &Gateway) -> bool {
    let intents = gateway.call("GET", "/api/v1/intents", Some(gateway.orchestrator_token()), None).await;
    intents.body["intents"].as_array().expect("a list").iter().any(|one| one["intent"] == INTENT)
}

async fn live(gateway: &Gateway) -> Vec<Value> {
    let versions = gateway.admin_get("/contracts").await["contracts"].clone();
    let live = versions.as_array().expect("a list").iter().filter(|version| version["live"] == true);
    live.map(|version| version["digest"].clone()).collect()
}

async fn waiting(gateway: &Gateway) -> usize {
    gateway.admin_get("/approvals").await["approvals"].as_array().expect("a list").len()
}

fn id_of(answer: &Answer) -> String {
    assert_eq!((answer.status, &answer.body["status"]), (202, &json!("waiting")), "{}", answer.body);
    answer.body["id"].as_str().expect("an identifier").to_owned()
}

fn code(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.body["error"]["code"].as_str().unwrap_or_default())
}

async fn decide(gateway: &Gateway, token: &str, id: &str, decision: &str) -> Answer {
    gateway.call("POST", &format!("{APPROVALS}/{id}/{decision}"), Some(token), None).await
}

/// The same request in every disguise: what the router would take for it, and what it must not.
async fn retire_in_disguise(gateway: &Gateway, token: &str) -> Vec<(String, u16)> {
    let dotted = INTENT.replace('.', "%2E");
    let intents = "/api/v1/admin/intents";
    let plain = format!("{intents}/{INTENT}");
    let as_is = |method: &str, path: String| (method.to_owned(), path, ("x-none", "none"));
    let overriding = |header| ("POST".to_owned(), plain.clone(), (header, "DELETE"));
    let forging = |header, value| ("DELETE".to_owned(), plain.clone(), (header, value));
    let tries = [
        as_is("DELETE", plain.clone()),
        as_is("DELETE", format!("{intents}/{dotted}")),
        as_is("DELETE", format!("{plain}?approved=true&approved_by=ravi")),
        forging("approved", "apr_1"),
        forging("x-approved-by", "ravi"),
        forging("x-user-id", "ravi"),
        forging("x-forwarded-for", "198.51.100.7"),
        forging("x-original-url", "/api/v1/intents"),
        as_is("delete", plain.clone()),
        as_is("Delete", plain.clone()),
        as_is("HEAD", plain.clone()),
        as_is("PATCH", plain.clone()),
        overriding("x-http-method-override"),
        overriding("x-http-method"),
        overriding("x-method-override"),
        as_is("POST", format!("{plain}?_method=DELETE")),
        as_is("DELETE", format!("{plain}/")),
        as_is("DELETE", format!("{intents}//{INTENT}")),
        as_is("DELETE", format!("/api/v1/admin//intents/{INTENT}")),
        as_is("DELETE", format!("/api/v1/%61dmin/intents/{INTENT}")),
        as_is("DELETE", format!("/API/v1/admin/intents/{INTENT}")),
        as_is("DELETE", format!("/api/v1/admin%2Fintents/{INTENT}")),
    ];
    let mut answers = Vec::new();
    for (method, path, (header, value)) in tries {
        let name = format!("{method} {path} {header}: {value}");
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let request = client().request(method, format!("{}{path}", gateway.server.url)).header(header, value);
        let answer = request.bearer_auth(token).send().await.expect("an answer");
        assert!(is_live(gateway).await, "{name}");
        answers.push((name, answer.status().as_u16()));
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stolen_token_does_nothing_that_cannot_be_undone() {
    let gateway = &gateway(None);
    let mallory = &person(gateway, "mallory", "all");
    for (name, status) in retire_in_disguise(gateway, mallory).await {
        let expected = if name.starts_with("DELETE") { [202, 404] } else { [404, 405] };
        assert!(expected.contains(&status), "{name}: {status}");
    }
    assert_eq!(waiting(gateway).await, 8, "what the router takes for the request waits");

    // A version that was never live, in whatever spelling, and one that takes values out.
    let before = live(gateway).await;
    let component = std::fs::read(safety_first_contract()).expect("readable");
    let load = async |query: &str| {
        let url = format!("{}/api/v1/admin/contracts{query}", gateway.server.url);
        let request = client().post(url).header("content-type", "application/wasm").body(component.clone());
        let answer = request.bearer_auth(mallory).send().await.expect("an answer");
        (answer.status().as_u16(), answer.json::<Value>().await.expect("JSON"))
    };
    for forced in ["?allow_removed_values=true", "?allow_removed_values=true&activate=true"] {
        let (status, body) = load(forced).await;
        assert_eq!((status, &body["error"]["code"]), (409, &json!("LOAD_BEFORE_ACTIVATION")), "{forced}");
    }
    let (status, loaded) = load("?allow_removed_values=true&activate=false").await;
    assert_eq!(status, 201, "{loaded}");
    let digest = loaded["digest"].as_str().expect("a digest");
    let encoded = digest.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    for named in [digest, &encoded] {
        let path = format!("/api/v1/admin/contracts/{named}/activate");
        id_of(&gateway.call("POST", &path, Some(mallory), None).await);
    }
    assert_eq!(live(gateway).await, before);

    // Every other operation that cannot be undone.
    let reason = json!({"reason": "mine", "amount_inr": 1});
    for (method, path) in [
        ("POST", "/api/v1/admin/ledger/entries/1/reversal"),
        ("POST", "/api/v1/admin/ledger/entries/1/correction"),
        ("DELETE", "/api/v1/business/tier1/accounts/ptr_0123456789abcdef/documents/doc_1"),
        ("DELETE", "/api/v1/user-data"),
    ] {
        id_of(&gateway.call(method, path, Some(mallory), Some(&reason).filter(|_| method == "POST")).await);
    }
    let reject = json!({"decision": "reject", "notes": "mine"});
    let rejected = gateway.call("POST", "/api/v1/admin/reviews/rev_1/decision", Some(mallory), Some(&reject)).await;
    id_of(&rejected);
    let replaced = gateway
        .post_file(
            "/api/v1/business/tier1/accounts/ptr_0123456789abcdef/documents/doc_1?kind=shop",
            "application/pdf",
            b"%PDF-1.7",
            mallory,
        )
        .await;
    assert_eq!(replaced.status, 405, "it is put, and not posted: {}", replaced.body);

    // The same person stays the same with another token; other roles approve nothing.
    let retire = format!("/api/v1/admin/intents/{INTENT}");
    let id = id_of(&gateway.call("DELETE", &retire, Some(mallory), None).await);
    for scopes in ["all", "watch,ship", "watch,review,ship,ledger"] {
        let second = person(gateway, "mallory", scopes);
        let answer = decide(gateway, &second, &id, "approve").await;
        assert_eq!(code(&answer), (403, "SECOND_PERSON_NEEDED"), "{scopes}");
    }
    let orchestrator = gateway.orchestrator_token();
    let partner = gateway.token(&["--role", "partner", "--subject", "ptr_0123456789abcdef"]);
    for token in [orchestrator, &partner] {
        assert_eq!(code(&decide(gateway, token, &id, "approve").await), (403, "FORBIDDEN"));
    }
    let lacking = person(gateway, "ravi", "watch,review");
    assert_eq!(code(&decide(gateway, &lacking, &id, "approve").await), (403, "SCOPE_SHIP_NEEDED"));
    for path in
        [format!("{APPROVALS}/{id}/approve/"), format!("{APPROVALS}//{id}/approve"), format!("{APPROVALS}/{id}")]
    {
        let answer = gateway.call("POST", &path, Some(mallory), None).await;
        assert!([404, 405].contains(&answer.status), "{path}: {}", answer.body);
    }
    assert!(is_live(gateway).await);

    // Once somebody else has approved, it is done; the same approval does nothing once more.
    let ravi = person(gateway, "ravi", "watch,ship");
    let approved = decide(gateway, &ravi, &id, "approve").await;
    assert_eq!((approved.status, &approved.body), (204, &Value::Null));
    assert!(!is_live(gateway).await);
    let serving = before[0].as_str().expect("a digest");
    let back = gateway.call("POST", &format!("/api/v1/admin/contracts/{serving}/activate"), Some(mallory), None).await;
    assert_eq!(back.status, 200, "it was live before: {}", back.body);
    for token in [mallory, &ravi] {
        assert_eq!(code(&decide(gateway, token, &id, "approve").await), (404, "APPROVAL_NOT_FOUND"));
    }
    assert!(is_live(gateway).await);
    let told = entries(gateway, Some(INTENT), "contract.left_service").await;
    assert_eq!((told.len(), &told[0]["actor"]["subject"]), (1, &json!("mallory")), "{told:?}");
    assert_eq!((&told[0]["detail"]["approved_by"], &told[0]["detail"]["scope"]), (&json!("ravi"), &json!("all")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_carried_out_once_after_a_restart() {
    for (name, store) in stores() {
        let gateway = gateway(store.as_deref());
        let retire = format!("/api/v1/admin/intents/{INTENT}");
        let asha = person(&gateway, "asha", "ship");
        let id = id_of(&gateway.call("DELETE", &retire, Some(&asha), None).await);
        let refused = id_of(&gateway.call("DELETE", &retire, Some(&asha), None).await);
        let gateway = gateway.restart();
        let (ravi, zoe) = (person(&gateway, "ravi", "watch,ship"), person(&gateway, "zoe", "all"));
        assert_eq!(waiting(&gateway).await, 2, "{name}");
        assert_eq!(decide(&gateway, &zoe, &refused, "refuse").await.body["status"], "refused", "{name}");
        let (one, other) = join(decide(&gateway, &ravi, &id, "approve"), decide(&gateway, &zoe, &id, "approve")).await;
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 404], "{name}: {} {}", one.body, other.body);
        assert!(!is_live(&gateway).await, "{name}");
        for done in [&id, &refused] {
            assert_eq!(code(&decide(&gateway, &ravi, done, "approve").await), (404, "APPROVAL_NOT_FOUND"), "{name}");
        }
        assert_eq!(entries(&gateway, Some(&id), "approval.requested").await.len(), 1, "{name}");
        assert_eq!(entries(&gateway, Some(&id), "approval.approved").await.len(), 1, "{name}");
        assert_eq!(entries(&gateway, Some(&refused), "approval.refused").await.len(), 1, "{name}");
    }
}
