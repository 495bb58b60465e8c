//! Comparisons and revocations over fakes: what is asked for, what is told, and what is refused.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Method;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Evaluation;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, ContractIntake, Workers};
use intent_gateway_domain::versions::{
    ContractAdminError, IntakeStanding, LoadFailure, LoadOrder, Loaded, LoadedVersion, Origin, RefusedComponent,
};
use intent_gateway_http::auth::Role;
use intent_gateway_testing::contract::{ScriptedContract, accept_any_request, descriptor};
use semver::Version;
use serde_json::{Value, json};

use crate::support::{Ask, Gateway, refused};

const COMPARE: &str = "/api/v1/admin/contracts/compare";

/// Examines everything but `bad` as a version that shows nothing.
pub(crate) struct ShowsNothing;

impl ContractIntake for ShowsNothing {
    fn find(&self, _: Digest) -> Option<LoadedVersion> {
        None
    }

    fn live_version(&self, _: &IntentId) -> Option<Version> {
        None
    }

    fn standing(&self, _: &IntentId) -> IntakeStanding {
        IntakeStanding::Open
    }

    fn examine<'a>(
        &'a self,
        component: Bytes,
        origin: &'a Origin,
        _: &'a Actor,
    ) -> BoxFuture<'a, Result<Arc<dyn Contract>, ContractAdminError>> {
        let refused = || {
            ContractAdminError::Rejected(Box::new(LoadFailure {
                at_ms: Timestamp::EPOCH,
                origin: origin.clone(),
                digest: None,
                intent: None,
                version: None,
                code: "NO_COMPONENT".to_owned(),
                message: "these bytes are no component".to_owned(),
                removed: Vec::new(),
            }))
        };
        let contract = ScriptedContract::new(descriptor("1.1.0"))
            .on_check_request(|context, _, arguments| Ok(accept_any_request(context, arguments)))
            .on_evaluate(|_, _, _| Ok(Evaluation::default()));
        let examined =
            if &component[..] == b"bad" { Err(refused()) } else { Ok(Arc::new(contract) as Arc<dyn Contract>) };
        std::future::ready(examined).boxed()
    }

    fn take(&self, _: Arc<dyn Contract>, _: Bytes, _: LoadOrder) -> BoxFuture<'_, Result<Loaded, ContractAdminError>> {
        std::future::ready(Err(ContractAdminError::ShuttingDown)).boxed()
    }

    fn note_unreadable(&self, _: RefusedComponent, _: Origin) {}
}

/// Works where it is asked.
pub(crate) struct OnThisThread;

impl Workers for OnThisThread {
    fn count(&self) -> usize {
        1
    }

    fn run(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        work
    }

    fn spent(&self) -> Duration {
        Duration::ZERO
    }
}

/// The data of the events of a name.
fn events(stream: &str, name: &str) -> Vec<Value> {
    let data = stream.split("\n\n").filter_map(|event| event.strip_prefix(&format!("event: {name}\ndata: ")));
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

async fn compare(gateway: &Gateway, query: &str, component: &'static [u8]) -> crate::support::Answer {
    let ask = Ask::wasm(&format!("{COMPARE}{query}"), component);
    gateway.call(ask.role(Role::Admin)).await
}

#[tokio::test]
async fn a_candidate_is_compared_with_what_was_ranked_and_nothing_is_loaded() {
    let gateway = Gateway::new().await;
    let search = Ask::json("/api/v1/intents/test.find_things/search", json!({ "request_id": "r-1" }).to_string());
    let receipt = gateway.call(search.role(Role::Orchestrator)).await.json()["receipt"].clone();
    let answer = compare(&gateway, "?since_ms=0", b"shows nothing").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    let text = answer.text();
    let [report] = &events(text, "report")[..] else { panic!("one report: {text}") };
    assert_eq!((&report["receipts"], &report["different"], &report["newly_empty"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!((&report["worst"][0]["receipt"], &report["candidate"]["version"]), (&receipt, &json!("1.1.0")));
    assert_eq!((&report["baseline"]["is"], &report["baseline"]["version"]), (&json!("version"), &json!("1.2.3")));
    assert_eq!(events(text, "end"), [json!({ "reason": "complete", "resume": false })]);
    let noted = gateway.accesses.take_all();
    let compared = noted.iter().find(|entry| entry.action == "contract.compared").expect("it is noted");
    assert!(compared.detail.to_string().contains(" against live, since 0"), "{:?}", compared.detail);
    let later = format!("?since_ms={}", crate::support::NOW_MS + 1);
    let none = compare(&gateway, &later, b"shows nothing").await.text().to_owned();
    assert_eq!(events(&none, "report")[0]["receipts"], json!(0));
}

#[tokio::test]
async fn what_cannot_be_compared_is_refused() {
    let gateway = Gateway::new().await;
    for (query, component, expected) in [
        ("?since_ms=x", &b"x"[..], refused(400, "INVALID_REQUEST")),
        ("?since_ms=9223372036854775808", &b"x"[..], refused(400, "INVALID_REQUEST")),
        ("?limit=0", b"x", refused(400, "INVALID_REQUEST")),
        ("?against=nobody", b"x", refused(400, "INVALID_REQUEST")),
        ("?other=1", b"x", refused(400, "INVALID_REQUEST")),
        ("", b"bad", refused(422, "NO_COMPONENT")),
        (&format!("?against={}", Digest::of(b"x")), b"x", refused(404, "NOT_FOUND")),
        (&format!("?digest={}", Digest::of(b"x")), b"", refused(404, "NOT_FOUND")),
    ] {
        assert_eq!(compare(&gateway, query, component).await.refusal(), expected, "{query}");
    }
    for role in [Role::Orchestrator, Role::Partner] {
        let ask = Ask::new(Method::POST, COMPARE).role(role);
        assert_eq!(gateway.call(ask).await.refusal(), refused(403, "FORBIDDEN"));
    }
}

#[tokio::test]
async fn a_key_or_a_component_is_revoked_once_and_for_a_reason() {
    const REVOCATIONS: &str = "/api/v1/admin/contracts/revocations";
    let gateway = Gateway::new().await;
    let revoke = async |body: Value| gateway.call(Ask::json(REVOCATIONS, body.to_string()).role(Role::Admin)).await;
    for bad in [
        json!({"reason": "lost"}),
        json!({"component": Digest::of(b"x"), "key": "0011223344556677", "reason": "lost"}),
        json!({"component": Digest::of(b"x"), "reason": "  "}),
        json!({"component": Digest::of(b"x"), "reason": "x".repeat(501)}),
        json!({"key": "00112233", "reason": "lost"}),
    ] {
        assert_eq!(revoke(bad.clone()).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    let done = revoke(json!({"key": "0011223344556677", "reason": "lost"})).await;
    assert_eq!((done.status.as_u16(), &done.json()["versions"][0]["was_live"]), (201, &json!(true)));
    assert_eq!(revoke(json!({"key": "0011223344556677", "reason": "lost"})).await.status.as_u16(), 200);
    let listed = gateway.call(Ask::get(REVOCATIONS).role(Role::Admin)).await.json();
    assert_eq!(listed["revocations"].as_array().map(Vec::len), Some(1));
    let revoked = &listed["revocations"][0];
    assert_eq!((&revoked["key"], &revoked["component"]), (&json!("0011223344556677"), &Value::Null));
}

#[tokio::test]
async fn receipts_are_exported_without_their_people() {
    const EXPORT: &str = "/api/v1/admin/receipts/export";
    let gateway = Gateway::new().await;
    let search = Ask::json("/api/v1/intents/test.find_things/search", json!({ "request_id": "r-of-asha" }).to_string());
    let receipt = gateway.call(search.role(Role::Orchestrator)).await.json()["receipt"].clone();
    let export = async |query: &str, role: Role| {
        gateway.call(Ask::new(Method::POST, &format!("{EXPORT}{query}")).role(role)).await
    };
    let answer = export("?intent=test.find_things&since_ms=0", Role::Admin).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.headers["content-type"]),
        (200, &"text/event-stream".parse().expect("a value"))
    );
    let text = answer.text();
    let [exported] = &events(text, "receipt")[..] else { panic!("one receipt: {text}") };
    assert_eq!(exported["intent"], json!("test.find_things"));
    assert_ne!(exported["id"], receipt);
    assert!(!text.contains("r-of-asha"), "{text}");
    assert_eq!(events(text, "counted"), [json!({ "receipts": 1 })]);
    assert_eq!(events(text, "summary"), [json!({ "receipts": 1, "changed": 0, "left_out": [] })]);
    assert_eq!(events(text, "end"), [json!({ "reason": "complete", "resume": false })]);
    let noted = gateway.accesses.take_all();
    let exported = noted.iter().find(|entry| entry.action == "receipts.exported").expect("it is noted");
    assert!(exported.detail.to_string().contains("at most 10000 since 0"), "{:?}", exported.detail);
    for bad in ["", "?intent=x", "?intent=test.find_things&limit=0", "?intent=test.find_things&other=1"] {
        assert_eq!(export(bad, Role::Admin).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    for role in [Role::Orchestrator, Role::Partner] {
        assert_eq!(export("?intent=test.find_things", role).await.refusal(), refused(403, "FORBIDDEN"));
    }
}
