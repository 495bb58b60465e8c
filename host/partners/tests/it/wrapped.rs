//! The example partners with APIs of their own, wrapped by the mappings in their manifests: a REST API on FastAPI with
//! the OpenAPI document that it generates, and a GraphQL API on graphql-yoga. What comes out is judged by the contract.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use auto_book_ac_service::AcService;
use contract_sdk::example;
use contract_sdk::testing::{self, properties};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::endpoint::{ApiMapping, Endpoint, Mappings};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, PartnerProbe as _, ToolCall};
use intent_gateway_domain::probe::{ProbeRecord, ProbeRequest};
use intent_gateway_domain::secret::Secret;
use intent_gateway_partners::PartnerClient;
use intent_gateway_testing::catalogue::Catalogue;
use serde_json::{Value, json};
use test_servers::Server;

use crate::harness::{CALL, client};
use crate::probe::probe;

const INTENT: &str = "auto.book_ac_service";
const TOOLS: [&str; 3] = ["cancel_ac_service_booking", "create_ac_service_booking", "search_ac_service_slots"];
const TOKEN: &str = "users-own-token";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A wrapped partner and the process behind it.
struct Wrapped {
    client: PartnerClient,
    partner: Arc<Partner>,
    _server: Server,
}

fn start(folder: &str, mut command: Command, endpoint: impl Fn(&str) -> Endpoint) -> Wrapped {
    let home = examples().join(folder);
    let manifest = std::fs::read_to_string(home.join("manifest.yaml")).expect("a manifest");
    let manifest: Value = serde_yaml_ng::from_str(&manifest).expect("YAML");
    let entry = &manifest["intents"][0];
    assert_eq!(entry["intent"], INTENT);
    let mapping = ApiMapping::check(&entry["api_mapping"]).unwrap_or_else(|found| panic!("{folder}: {found:#?}"));
    let mappings = Mappings::from([(IntentId::parse(INTENT).expect("an intent"), Arc::new(mapping))]);
    command.current_dir(&home).args(["--port", "0", "--token", TOKEN]);
    let server =
        Server::start(folder, &mut command, Stdio::null()).expect("`cargo xtask test` installs the example partners");
    let partner = Arc::new(Partner {
        id: PartnerId::parse(folder).expect("an identifier"),
        name: folder.to_owned(),
        endpoint: endpoint(&server.url),
        mappings,
        listings: Vec::new(),
        token: None,
        sign_in: None,
    });
    Wrapped { client: client(), partner, _server: server }
}

fn rest() -> Wrapped {
    let mut command = Command::new(examples().join("partner-rest/.venv/bin/python"));
    command.arg("server.py");
    start("partner-rest", command, |url| Endpoint::Rest {
        base_url: url.to_owned(),
        openapi_url: format!("{url}/openapi.json"),
    })
}

fn graphql(more: &[&str]) -> Wrapped {
    let mut command = Command::new("node");
    command.args(["--import", "tsx", "src/main.ts"]).args(more);
    start("partner-graphql", command, |url| Endpoint::Graphql { url: url.to_owned() })
}

impl Wrapped {
    async fn call(&self, tool: &str, arguments: &Value, bearer: Option<&str>) -> Result<String, CallFailure> {
        let arguments = arguments.to_string();
        let bearer = bearer.map(Secret::new);
        let call = ToolCall { bearer: bearer.as_ref(), ..ToolCall::new(INTENT, tool, &arguments, CALL) };
        self.client.call(&self.partner, call).await.map(|answer| answer.text)
    }

    async fn probe(&self, mappings: &Mappings) -> ProbeRecord {
        let (partner, endpoint) = (&self.partner.id, &self.partner.endpoint);
        let contracts = Catalogue::default();
        let request = ProbeRequest {
            partner,
            endpoint,
            mappings,
            contracts: &contracts,
            bearer: None,
            now: Timestamp::from_ms(0),
        };
        self.client.probe(request).await
    }
}

fn search() -> Value {
    let path = examples().join("catalogues/contract/search-request.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the sample request")).expect("JSON")
}

/// Searches, books the first option and cancels; the contract finds nothing wrong with any answer.
async fn serve(wrapped: &Wrapped) {
    let request = search();
    let found = wrapped.call("search_ac_service_slots", &request, None).await.expect("slots");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert!(found["result_token"].is_string() && found["expires_at"].is_string(), "{found}");
    let slots = found["slots"].as_array().expect("an array").clone();
    let evaluation = properties::evaluate::<AcService>(&request, std::slice::from_ref(&slots));
    assert!(slots.len() > 3, "{slots:?}");
    assert_eq!(evaluation.ranked.len(), slots.len(), "dropped: {:?}", evaluation.dropped);
    assert!(evaluation.findings.is_empty(), "{:?}", evaluation.findings);

    let book = json!({
        "request_id": "r-1", "slot_id": slots[0]["slot_id"], "vehicle": request["vehicle"],
        "ac_issue": request["ac_issue"], "contact_phone": "+919812345678",
    });
    let refused = wrapped.call("create_ac_service_booking", &book, None).await;
    assert_eq!(refused, Err(CallFailure::Unauthorized), "a booking needs the user's own token");
    let booked = wrapped.call("create_ac_service_booking", &book, Some(TOKEN)).await.expect("a booking");
    let case = example::exchange(
        "booked",
        "create_ac_service_booking",
        book.to_string(),
        booked.clone(),
        Some(slots[0].to_string()),
    );
    testing::run::<AcService>(&case.accepts()).expect("the contract accepts the booking");
    let again = wrapped.call("create_ac_service_booking", &book, Some(TOKEN)).await;
    assert_eq!(again, Ok(booked.clone()), "the same key gives the same booking");
    let mut reused = book.clone();
    reused["contact_phone"] = "+919800000000".into();
    let reused = wrapped.call("create_ac_service_booking", &reused, Some(TOKEN)).await;
    assert_eq!(reused.expect_err("the key was used").code(), "IDEMPOTENCY_VIOLATION");
    let mut gone = book.clone();
    (gone["request_id"], gone["slot_id"]) = ("r-2".into(), "none".into());
    let gone = wrapped.call("create_ac_service_booking", &gone, Some(TOKEN)).await;
    assert_eq!(gone.expect_err("no such slot").code(), "SLOT_GONE");

    let booked: Value = serde_json::from_str(&booked).expect("JSON");
    let cancel = json!({"request_id": "r-3", "booking_id": booked["booking_id"], "reason_code": "changed_mind"});
    let cancelled = wrapped.call("cancel_ac_service_booking", &cancel, Some(TOKEN)).await.expect("a cancellation");
    let case = example::exchange("cancelled", "cancel_ac_service_booking", cancel.to_string(), cancelled, None);
    testing::run::<AcService>(&case.accepts()).expect("the contract accepts the cancellation");
}

/// Searches with as little as the contract lets a user say.
async fn serve_the_shortest(wrapped: &Wrapped) {
    let mut request = search();
    let object = request.as_object_mut().expect("an object");
    object.retain(|key, _| ["intent", "vehicle", "ac_issue", "service_preferences"].contains(&key.as_str()));
    request["vehicle"] = json!({"type": "car", "ac_system_type": "automatic"});
    request["service_preferences"] = json!({"doorstep_acceptable": false});
    let found = wrapped.call("search_ac_service_slots", &request, None).await.expect("slots");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert!(found["slots"].is_array(), "{found}");
}

async fn is_probed(wrapped: &Wrapped) -> ProbeRecord {
    let record = wrapped.probe(&wrapped.partner.mappings).await;
    assert!(record.passed(), "{record:#?}");
    let names: Vec<_> = record.tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(names, TOOLS);
    record
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rest_api_serves_the_intent() {
    let wrapped = rest();
    let record = is_probed(&wrapped).await;
    assert!(record.notes.is_empty(), "{:?}", record.notes);
    assert_eq!(record.server.as_ref().map(|server| server.name.as_str()), Some("Green Lane Garages"));
    serve(&wrapped).await;
    serve_the_shortest(&wrapped).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graphql_api_serves_the_intent() {
    let wrapped = graphql(&[]);
    let record = is_probed(&wrapped).await;
    assert!(record.notes.is_empty(), "{:?}", record.notes);
    serve(&wrapped).await;
    serve_the_shortest(&wrapped).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graphql_api_that_keeps_its_schema_back_serves_too() {
    let wrapped = graphql(&["--no-introspection"]);
    let record = is_probed(&wrapped).await;
    assert!(record.notes.iter().any(|note| note.contains("does not tell its schema")), "{:?}", record.notes);
    serve(&wrapped).await;
}

/// What real frameworks say of themselves is what a mistake in a mapping is found by.
#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_a_mapping_are_found_by_the_probe() {
    let wrapped = rest();
    let manifest = std::fs::read_to_string(examples().join("partner-rest/manifest.yaml")).expect("a manifest");
    for (right, wrong, expected) in [
        ("operation_id: book_offer", "operation_id: book_offers", "no operation `book_offers`"),
        ("path: /v1/offers", "path: /v2/offers", "the API's operation is GET /v1/offers"),
        (
            "            Idempotency-Key:",
            "            X-Key:",
            "the required header parameter `idempotency-key` is not mapped",
        ),
        (
            "            home_visit:",
            "            home_visits:",
            "the required query parameter `home_visit` is not mapped",
        ),
        ("            complaint:", "            complain:", "the body's required member `complaint` is not mapped"),
    ] {
        assert_eq!(manifest.matches(right).count(), 1, "{right}");
        let broken: Value = serde_yaml_ng::from_str(&manifest.replace(right, wrong)).expect("YAML");
        let mapping = ApiMapping::check(&broken["intents"][0]["api_mapping"]).expect("well formed");
        let mappings = Mappings::from([(IntentId::parse(INTENT).expect("an intent"), Arc::new(mapping))]);
        let record = wrapped.probe(&mappings).await;
        let failure = record.failure.as_ref().unwrap_or_else(|| panic!("{wrong}: {record:?}"));
        assert!(failure.message.contains(expected), "{wrong}: {}", failure.message);
    }
}

/// The partners with MCP servers of their own, on SDKs that nobody here wrote, show the same tools.
#[tokio::test(flavor = "multi_thread")]
async fn the_example_mcp_servers_are_probed() {
    let mut python = Command::new(examples().join("partner-python/.venv/bin/python"));
    python.arg("server.py");
    let mut node = Command::new("node");
    node.args(["--import", "tsx", "src/main.ts"]);
    let mut sessions = Command::new("node");
    sessions.args(["--import", "tsx", "src/main.ts", "--sessions"]);
    let servers = [
        ("partner-python", python, "stateless"),
        ("partner-typescript", node, "stateless"),
        ("partner-typescript", sessions, "stateful"),
    ];
    for (folder, mut command, session) in servers {
        command.current_dir(examples().join(folder)).args(["--port", "0", "--token", TOKEN]);
        let server = Server::start(folder, &mut command, Stdio::null())
            .expect("`cargo xtask test` installs the example partners");
        let record = probe(&Endpoint::mcp(&server.url), None).await;
        assert!(record.passed(), "{folder}: {record:?}");
        assert!(record.notes.is_empty(), "{folder}: {:?}", record.notes);
        assert_eq!(json!(record.session), session, "{folder}");
        let mut names: Vec<_> = record.tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
        names.sort_unstable();
        assert_eq!(names, TOOLS, "{folder}");
        assert!(record.tools.iter().all(|tool| tool["_meta"]["platform"]["intent"] == INTENT), "{folder}");
    }
}
