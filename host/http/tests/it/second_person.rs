//! What an admin cannot undo waits for a second person, where that is set, and is carried out once.

use std::time::Duration;

use futures_util::future::join;
use http::{Method, StatusCode};
use intent_gateway_domain::approval::{APPROVAL_LIFE_MS, APPROVALS_MAX, APPROVALS_OF_ONE_MAX, Approval};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::store::all;
use intent_gateway_http::auth::{Role, Scope, Scopes};
use serde_json::{Value, json};

use crate::business::{Partner, manifest};
use crate::contract::digest;
use crate::support::{Answer, Ask, Gateway, INTENT, NOW_MS, refused};

const APPROVALS: &str = "/api/v1/admin/approvals";

impl Gateway {
    /// A token of a person with scopes; every call is with another one.
    fn of_person(&self, subject: &str, scopes: &[Scope]) -> String {
        let scopes: Scopes = scopes.iter().copied().collect();
        self.tokens.issue_scoped(subject, Duration::from_secs(3_600), &scopes).expect("issued")
    }

    async fn call_as(&self, subject: &str, ask: Ask) -> Answer {
        self.call_with(&self.of_person(subject, &[Scope::All]), ask).await
    }

    async fn call_with(&self, token: &str, ask: Ask) -> Answer {
        self.call(ask.header("authorization", &format!("Bearer {token}"))).await
    }

    async fn waiting(&self) -> Vec<Value> {
        let list = self.call_as("watcher", Ask::get(APPROVALS)).await.json();
        list["approvals"].as_array().expect("a list").clone()
    }

    /// Asks for something that has to wait; what the answer calls it.
    async fn wait_for(&self, subject: &str, ask: Ask) -> String {
        let answer = self.call_as(subject, ask).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text());
        answer.json()["id"].as_str().expect("an identifier").to_owned()
    }

    async fn actions(&self) -> Vec<String> {
        self.kept.store.log().into_iter().map(|entry| entry.action).collect()
    }
}

fn retire() -> Ask {
    Ask::new(Method::DELETE, &format!("/api/v1/admin/intents/{INTENT}"))
}

fn approve(id: &str) -> Ask {
    Ask::new(Method::POST, &format!("{APPROVALS}/{id}/approve"))
}

fn refuse(id: &str) -> Ask {
    Ask::new(Method::POST, &format!("{APPROVALS}/{id}/refuse"))
}

fn activate(digest: &str) -> Ask {
    Ask::new(Method::POST, &format!("/api/v1/admin/contracts/{digest}/activate"))
}

fn erase(user: &str) -> Ask {
    Ask::new(Method::DELETE, "/api/v1/user-data").header("x-user-id", user)
}

/// One request for each operation that waits: what it needs, what it does.
fn all_that_waits(account: &str, review: &str) -> Vec<(Ask, &'static str, &'static str)> {
    let reject = json!({ "decision": "reject", "notes": "no" }).to_string();
    let entry = "/api/v1/admin/ledger/entries/1";
    let document = format!("/api/v1/business/tier1/accounts/{account}/documents/doc_1");
    vec![
        (erase("ann"), "all", "erases a user"),
        (retire(), "ship", "takes an intent out of service"),
        (activate(&Digest::of(b"known").to_string()), "ship", "makes a version live that never was"),
        (Ask::json(&format!("/api/v1/admin/reviews/{review}/decision"), reject), "review", "rejects a review"),
        (Ask::json(&format!("{entry}/reversal"), r#"{"reason":"x"}"#), "ledger", "takes an entry of the ledger back"),
        (
            Ask::json(&format!("{entry}/correction"), r#"{"reason":"x","amount_inr":1}"#),
            "ledger",
            "corrects an entry of the ledger",
        ),
        (Ask::new(Method::DELETE, &document), "review", "deletes a partner's document"),
    ]
}

async fn review_of(partner: &Partner<'_>) -> String {
    partner.post("manifest/*", manifest()).await.json()["review"].as_str().expect("a review").to_owned()
}

#[tokio::test]
async fn each_operation_waits_where_it_is_set_and_goes_on_where_not() {
    for is_set in [true, false] {
        let gateway = if is_set { Gateway::with_second_person().await } else { Gateway::new().await };
        let partner = Partner::sign_up(&gateway).await;
        let review = review_of(&partner).await;
        let before = gateway.actions().await;
        for (ask, scope, what) in all_that_waits(&partner.id, &review) {
            let (method, path) = (ask.method.clone(), ask.path.clone());
            let answer = gateway.call_as("asha", ask).await;
            if !is_set {
                assert_ne!(answer.status, StatusCode::ACCEPTED, "{what}");
                continue;
            }
            assert_eq!(answer.status, StatusCode::ACCEPTED, "{what}: {}", answer.text());
            let told = answer.json();
            assert!(told["id"].as_str().is_some_and(|id| id.starts_with("apr_")), "{told}");
            assert_eq!(
                told,
                json!({
                    "id": told["id"], "status": "waiting", "what": what, "method": method.as_str(), "path": path,
                    "by": {"role": "admin", "subject": "asha"}, "scope": scope,
                    "asked_at": "2027-01-15T08:00:00Z", "expires_at": "2027-01-16T08:00:00Z",
                })
            );
            assert_eq!(gateway.waiting().await.last(), Some(&told));
        }
        if is_set {
            let done = gateway.actions().await.split_off(before.len());
            assert_eq!(done, vec!["approval.requested"; 7], "nothing else was done");
            assert!(gateway.admin.actors.lock().expect("actors").is_empty());
        } else {
            assert!(gateway.waiting().await.is_empty());
            assert_eq!(gateway.admin.actors.lock().expect("actors").len(), 2, "activated and unloaded");
        }
    }
}

#[tokio::test]
async fn a_review_that_was_rejected_and_a_user_that_was_erased_went_through() {
    let gateway = Gateway::with_second_person().await;
    let partner = Partner::sign_up(&gateway).await;
    let review = review_of(&partner).await;
    let mut answers = Vec::new();
    for (ask, ..) in all_that_waits(&partner.id, &review) {
        let id = gateway.wait_for("asha", ask).await;
        let answer = gateway.call_as("ravi", approve(&id)).await;
        answers.push((answer.status.as_u16(), serde_json::from_slice::<Value>(&answer.body).unwrap_or_default()));
    }
    let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
    // There is no such entry and no such document: the operation's own refusals.
    assert_eq!(statuses, [200, 204, 200, 200, 404, 404, 404]);
    assert_eq!(answers[0].1["receipts"], 0);
    assert_eq!(answers[2].1["waits_for"][0]["gateway"], "gw-2", "it was asked for: {}", answers[2].1);
    assert_eq!((&answers[3].1["status"], &answers[3].1["decision"]["notes"]), (&json!("rejected"), &json!("no")));
    assert_eq!(answers[4].1["error"]["code"], "NOT_FOUND");
    assert!(gateway.waiting().await.is_empty());
}

#[tokio::test]
async fn what_is_too_large_to_be_kept_is_refused_with_what_to_do() {
    let gateway = Gateway::with_second_person().await;
    let partner = Partner::sign_up(&gateway).await;
    let load = async |query: &str| {
        let ask = Ask::wasm(&format!("/api/v1/admin/contracts{query}"), b"removing");
        gateway.call_as("asha", ask).await
    };
    for forced in ["?allow_removed_values=true", "?activate=true&allow_removed_values=true"] {
        assert_eq!(load(forced).await.refusal(), refused(409, "LOAD_BEFORE_ACTIVATION"), "{forced}");
    }
    assert!(gateway.admin.loads.lock().expect("loads").is_empty());
    assert_eq!(load("?activate=false&allow_removed_values=true").await.status, StatusCode::CREATED);
    assert_eq!(load("").await.refusal(), refused(422, "VOCABULARY_VALUES_REMOVED"));

    let document = format!("/api/v1/business/tier1/accounts/{}/documents/doc_1?kind=shop", partner.id);
    let put = Ask::new(Method::PUT, &document).header("content-type", "application/pdf").body(&b"%PDF-1.7"[..]);
    assert_eq!(gateway.call_as("asha", put).await.refusal(), refused(409, "ADD_BEFORE_DELETION"));

    let large = json!({ "reason": "x".repeat(64 * 1024), "amount_inr": 1 }).to_string();
    let correction = Ask::json("/api/v1/admin/ledger/entries/1/correction", large);
    assert_eq!(gateway.call_as("asha", correction).await.refusal(), refused(413, "PAYLOAD_TOO_LARGE"));
    let long = Ask::new(Method::DELETE, &format!("/api/v1/admin/intents/{}", "x".repeat(1_024)));
    assert_eq!(gateway.call_as("asha", long).await.refusal(), refused(400, "INVALID_REQUEST"));
    assert!(gateway.waiting().await.is_empty());
}

#[tokio::test]
async fn what_can_be_undone_does_not_wait() {
    let gateway = Gateway::with_second_person().await;
    let partner = Partner::sign_up(&gateway).await;
    let review = review_of(&partner).await;
    let decide = Ask::json(&format!("/api/v1/admin/reviews/{review}/decision"), r#"{"decision":"approve"}"#);
    assert_eq!(gateway.call_as("asha", decide).await.refusal(), refused(409, "NOT_READY"));
    assert_eq!(gateway.call_as("asha", activate(&digest().to_string())).await.status, StatusCode::OK, "it is live");
    assert_eq!(gateway.call_as("asha", Ask::wasm("/api/v1/admin/contracts", b"new")).await.status, StatusCode::CREATED);
    // Nobody waits for what nobody has.
    let unknown = Digest::of(b"x").to_string();
    assert_eq!(gateway.call_as("asha", activate(&unknown)).await.refusal(), refused(404, "NOT_FOUND"));
    // An orchestrator erases its own users without asking the team.
    assert_eq!(gateway.call(erase("ann").role(Role::Orchestrator)).await.status, StatusCode::OK);
    assert!(gateway.waiting().await.is_empty());
}

#[tokio::test]
async fn somebody_else_with_the_scope_approves_once_and_the_log_names_both() {
    let gateway = Gateway::with_second_person().await;
    let id = gateway.wait_for("asha", retire()).await;
    for scopes in [&[Scope::All][..], &[Scope::Watch, Scope::Ship]] {
        let another = gateway.of_person("asha", scopes);
        let answer = gateway.call_with(&another, approve(&id)).await;
        assert_eq!(answer.refusal(), refused(403, "SECOND_PERSON_NEEDED"), "{scopes:?}");
    }
    let without = gateway.of_person("ravi", &[Scope::Watch, Scope::Review]);
    for ask in [approve(&id), refuse(&id), Ask::get(&format!("{APPROVALS}/{id}"))] {
        assert_eq!(gateway.call_with(&without, ask).await.refusal(), refused(403, "SCOPE_SHIP_NEEDED"));
    }
    assert_eq!(gateway.waiting().await.len(), 1);
    assert!(gateway.admin.actors.lock().expect("actors").is_empty());

    let with = gateway.of_person("ravi", &[Scope::Watch, Scope::Ship]);
    let approved = gateway.call_with(&with, approve(&id)).await;
    assert_eq!((approved.status, approved.body.len()), (StatusCode::NO_CONTENT, 0));
    let actors = gateway.admin.actors.lock().expect("actors").clone();
    let both =
        Actor { approved_by: Some("ravi".to_owned()), scope: Some("all".to_owned()), ..Actor::new("admin", "asha") };
    assert_eq!(actors, [both]);
    for ask in [approve(&id), refuse(&id)] {
        assert_eq!(
            gateway.call_with(&with, ask).await.refusal(),
            refused(404, "APPROVAL_NOT_FOUND"),
            "it is done once"
        );
    }
    let log = gateway.kept.store.log();
    let told: Vec<_> = log.iter().map(|entry| (entry.action.as_str(), entry.actor.subject.as_str())).collect();
    assert_eq!(told, [("approval.requested", "asha"), ("approval.approved", "ravi")]);
    assert!(log.iter().all(|entry| entry.subject == id));
    let detail: Value = serde_json::from_str(&log[1].detail).expect("JSON");
    assert_eq!((&detail["asked_by"], &detail["scope"]), (&json!("asha"), &json!("watch ship")));
}

#[tokio::test]
async fn two_who_approve_at_once_carry_it_out_once() {
    let gateway = Gateway::with_second_person().await;
    let id = gateway.wait_for("asha", retire()).await;
    // Both have read that it waits before either takes it.
    gateway.kept.store.hold_reads();
    let both = join(gateway.call_as("ravi", approve(&id)), gateway.call_as("zoe", approve(&id)));
    let release = async {
        tokio::task::yield_now().await;
        gateway.kept.store.release_reads();
    };
    let ((one, other), ()) = join(both, release).await;
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 404]);
    assert_eq!(gateway.admin.actors.lock().expect("actors").len(), 1);
    let approved = gateway.actions().await.into_iter().filter(|action| action == "approval.approved").count();
    assert_eq!(approved, 1);
}

#[tokio::test]
async fn what_is_refused_or_too_old_is_not_carried_out() {
    let gateway = Gateway::with_second_person().await;
    for subject in ["ravi", "asha"] {
        let id = gateway.wait_for("asha", retire()).await;
        let answer = gateway.call_as(subject, refuse(&id)).await;
        assert_eq!((answer.status, &answer.json()["status"]), (StatusCode::OK, &json!("refused")), "{subject}");
        assert_eq!(gateway.call_as("ravi", approve(&id)).await.refusal(), refused(404, "APPROVAL_NOT_FOUND"));
    }
    let id = gateway.wait_for("asha", retire()).await;
    let ravi = gateway.tokens.issue(Role::Admin, "ravi", Duration::from_secs(2 * 86_400)).expect("issued");
    gateway.clock.set(NOW_MS + APPROVAL_LIFE_MS - 1);
    assert_eq!(gateway.waiting().await.len(), 1);
    gateway.clock.set(NOW_MS + APPROVAL_LIFE_MS);
    assert!(gateway.waiting().await.is_empty());
    for ask in [approve(&id), refuse(&id), Ask::get(&format!("{APPROVALS}/{id}"))] {
        assert_eq!(gateway.call_with(&ravi, ask).await.refusal(), refused(404, "APPROVAL_NOT_FOUND"));
    }
    assert!(gateway.admin.actors.lock().expect("actors").is_empty());
    // The next request finds the record over, which the log is told.
    gateway.wait_for("asha", retire()).await;
    let log = gateway.kept.store.log();
    let expired: Vec<_> = log.iter().filter(|entry| entry.action == "approval.expired").collect();
    assert_eq!((expired.len(), &expired[0].subject, &expired[0].actor), (1, &id, &Actor::gateway()));
    assert_eq!(all::<Approval>(&*gateway.kept.store, None).await.expect("read").len(), 1);
}

#[tokio::test]
async fn one_person_leaves_room_and_all_together_are_bounded() {
    let gateway = Gateway::with_second_person().await;
    for person in 0..APPROVALS_MAX / APPROVALS_OF_ONE_MAX {
        let subject = format!("person-{person}");
        for _ in 0..APPROVALS_OF_ONE_MAX {
            gateway.wait_for(&subject, retire()).await;
        }
        let own = gateway.call_as(&subject, retire()).await;
        assert_eq!(own.refusal(), refused(409, "TOO_MANY_APPROVALS"), "{subject}");
    }
    assert_eq!(gateway.waiting().await.len(), APPROVALS_MAX);
    assert_eq!(gateway.call_as("asha", retire()).await.refusal(), refused(409, "TOO_MANY_APPROVALS"));
    let first = gateway.waiting().await[0]["id"].as_str().expect("an identifier").to_owned();
    gateway.call_as("asha", refuse(&first)).await;
    gateway.wait_for("asha", retire()).await;
}

#[tokio::test]
async fn what_waits_is_shown_whole_to_its_scope_and_is_sealed_in_the_store() {
    let gateway = Gateway::with_second_person().await;
    let id = gateway.wait_for("asha", erase("ann-of-the-store")).await;
    let shown = gateway.call_as("ravi", Ask::get(&format!("{APPROVALS}/{id}"))).await;
    assert_eq!(shown.headers["cache-control"], "no-store");
    let shown = shown.json();
    assert_eq!(
        (&shown["user"], &shown["body"], &shown["query"]),
        (&json!("ann-of-the-store"), &json!(""), &json!(null))
    );
    assert_eq!(shown["approval"], gateway.waiting().await[0]);
    assert!(!gateway.kept.store.everything().contains("ann-of-the-store"));
    let body = r#"{"reason":"booked twice","amount_inr":1.50}"#;
    let id = gateway.wait_for("asha", Ask::json("/api/v1/admin/ledger/entries/7/correction", body)).await;
    assert_eq!(gateway.call_as("ravi", Ask::get(&format!("{APPROVALS}/{id}"))).await.json()["body"], body);
    for strange in ["x", "apr_%00", "..%2f", &"x".repeat(65)] {
        let answer = gateway.call_as("ravi", Ask::get(&format!("{APPROVALS}/{strange}"))).await;
        assert_eq!(answer.refusal(), refused(404, "APPROVAL_NOT_FOUND"), "{strange}");
    }
}
