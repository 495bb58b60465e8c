//! What a probe records of servers that behave and of those that do not.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use http::Response;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::PartnerProbe as _;
use intent_gateway_domain::probe::{
    Lifecycle, PROBE_PAGES_MAX, PROBE_TOOLS_MAX, ProbeRecord, ProbeRequest, SessionMode, Step,
};
use intent_gateway_domain::secret::Secret;
use intent_gateway_partners::{PartnerClient, PartnerClientConfig, ResolveHost};
use intent_gateway_testing::catalogue::Catalogue;
use serde_json::{Value, json};

use crate::harness::*;

pub(crate) async fn probe(endpoint: &Endpoint, bearer: Option<&Secret>) -> ProbeRecord {
    probe_by(&client(), endpoint, bearer).await
}

async fn probe_by(client: &PartnerClient, endpoint: &Endpoint, bearer: Option<&Secret>) -> ProbeRecord {
    let partner = PartnerId::parse("p").expect("an identifier");
    let mappings = Mappings::new();
    // None at all: a probe of an MCP server asks for none.
    let contracts = Catalogue::default();
    let request = ProbeRequest {
        partner: &partner,
        endpoint,
        mappings: &mappings,
        contracts: &contracts,
        bearer,
        now: Timestamp::from_ms(5),
    };
    client.probe(request).await
}

fn failure(record: &ProbeRecord) -> (Step, &str) {
    let failure = record.failure.as_ref().unwrap_or_else(|| panic!("it passed: {record:?}"));
    (failure.step, failure.code.as_str())
}

/// Answers `tools/list` with what the script says, everything else as a good server does.
async fn listing(script: impl Fn(&Seen) -> Response<Body> + Send + Sync + 'static) -> Server {
    let script = Arc::new(script);
    Server::scripted(move |seen| {
        let script = Arc::clone(&script);
        async move {
            match seen.rpc() {
                "tools/list" => script(&seen),
                _ => lifecycle(&seen, Some("s1")),
            }
        }
    })
    .await
}

fn answer(seen: &Seen, result: &Value) -> Response<Body> {
    json_response(&json!({"jsonrpc": "2.0", "id": seen.message["id"], "result": result}))
}

#[tokio::test]
async fn a_probe_initialises_lists_and_calls_nothing() {
    let descriptor = json!({
        "name": "search_providers",
        "title": 7,
        "inputSchema": {"type": "object", "x-own": [1, 2.50]},
        "_meta": {"platform": {"intent": "a.b", "unknown": {"deep": null}}},
        "ownMember": {"kept": true},
    });
    let sent = descriptor.clone();
    let server = listing(move |seen| answer(seen, &json!({"tools": [sent]}))).await;
    let record = probe(&Endpoint::mcp(&server.url), Some(&Secret::new("t0ken"))).await;

    assert!(record.passed(), "{record:?}");
    assert_eq!(record.tools, [descriptor], "as it was sent, unknown members included");
    assert_eq!(record.protocol_version.as_deref(), Some("2025-11-25"));
    assert_eq!((record.lifecycle, record.session), (Some(Lifecycle::Initialize), Some(SessionMode::Stateful)));
    let named = record.server.as_ref().expect("a name");
    assert_eq!((named.name.as_str(), named.version.as_str()), ("scripted", "1"));
    assert_eq!(record.capabilities, Some(json!({"tools": {"listChanged": true}})));
    assert!(record.notes.is_empty(), "{:?}", record.notes);
    let steps: Vec<_> = record.steps.iter().map(|step| (step.step, step.passed)).collect();
    assert_eq!(steps, [(Step::Initialize, true), (Step::ListTools, true)]);
    assert_eq!(record.started_at_ms, Timestamp::from_ms(5));
    assert!(record.ended_at_ms >= Timestamp::from_ms(5));

    server.until("the session is ended", |state| state.seen.iter().any(|s| s.method == http::Method::DELETE)).await;
    let state = server.state();
    let rpcs: Vec<_> = state.seen.iter().map(Seen::rpc).filter(|rpc| !rpc.is_empty()).collect();
    assert_eq!(rpcs, ["initialize", "notifications/initialized", "tools/list"]);
    let (metadata, rest): (Vec<_>, Vec<_>) = state.seen.iter().partition(|seen| seen.path.starts_with("/.well-known/"));
    assert!(rest.iter().all(|seen| seen.header("authorization") == Some("Bearer t0ken")));
    assert!(!metadata.is_empty(), "where its users sign in is looked up");
    assert!(metadata.iter().all(|seen| seen.header("authorization").is_none()), "without the token");
    let listed = state.seen.iter().find(|seen| seen.rpc() == "tools/list").expect("a listing");
    assert_eq!(listed.header("mcp-session-id"), Some("s1"));
    assert!(listed.message["params"].get("cursor").is_none());
    let stored = serde_json::to_string(&record).expect("JSON");
    assert_eq!(serde_json::from_str::<ProbeRecord>(&stored).expect("a record"), record, "it can be stored");
    assert!(!stored.contains("t0ken"));
}

#[tokio::test]
async fn all_pages_are_read_and_their_order_is_kept() {
    let server = listing(|seen| match seen.message["params"]["cursor"].as_str() {
        None => answer(seen, &json!({"tools": [{"name": "b"}], "nextCursor": "1"})),
        Some("1") => answer(seen, &json!({"tools": [], "nextCursor": "2"})),
        Some("2") => answer(seen, &json!({"tools": [{"name": "a"}], "nextCursor": null})),
        other => panic!("{other:?}"),
    })
    .await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert!(record.passed(), "{record:?}");
    assert_eq!(record.tools, [json!({"name": "b"}), json!({"name": "a"})]);
    assert_eq!(record.steps.len(), 4);
}

#[tokio::test]
async fn a_list_without_end_is_cut_off() {
    // A cursor that leads in a circle.
    let server = listing(|seen| answer(seen, &json!({"tools": [{"name": "a"}], "nextCursor": "again"}))).await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::ListTools, "PARTNER_PROTOCOL_ERROR"));
    assert_eq!(record.tools.len(), 2, "what was seen is kept");

    // Ever new cursors.
    let server = listing(|seen| {
        let turn = seen.message["params"]["cursor"].as_str().map_or(0, |turn| turn.parse::<u32>().expect("a number"));
        answer(seen, &json!({"tools": [], "nextCursor": (turn + 1).to_string()}))
    })
    .await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::ListTools, "TOOL_LIST_TOO_LARGE"));
    assert_eq!(server.state().count("tools/list"), PROBE_PAGES_MAX);

    // More tools than anybody has.
    let server = listing(|seen| answer(seen, &json!({"tools": vec![json!({}); PROBE_TOOLS_MAX + 1]}))).await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::ListTools, "TOOL_LIST_TOO_LARGE"));
    assert_eq!(record.tools.len(), PROBE_TOOLS_MAX);

    // Few and large ones.
    let server = listing(|seen| {
        let tools = vec![json!({"description": "x".repeat(600_000)}); 4];
        answer(seen, &json!({"tools": tools}))
    })
    .await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::ListTools, "TOOL_LIST_TOO_LARGE"));
    assert_eq!(record.tools.len(), 3);
}

#[tokio::test]
async fn a_listing_that_fails_is_recorded_with_its_code() {
    type Script = fn(&Seen) -> Response<Body>;
    let cases: [(Script, &str); 8] = [
        (|seen| answer(seen, &json!({})), "PARTNER_PROTOCOL_ERROR"),
        (|seen| answer(seen, &json!({"tools": {}})), "PARTNER_PROTOCOL_ERROR"),
        (|seen| answer(seen, &json!({"tools": [], "nextCursor": 5})), "PARTNER_PROTOCOL_ERROR"),
        (|_| raw_json("[]"), "PARTNER_PROTOCOL_ERROR"),
        (|_| status(401), "INVALID_AUTH"),
        (|_| status(500), "PARTNER_HTTP_ERROR"),
        (|_| status(302), "PARTNER_REDIRECT"),
        (
            |seen| {
                let error = json!({"code": -32601, "message": "no such method"});
                json_response(&json!({"jsonrpc": "2.0", "id": seen.message["id"], "error": error}))
            },
            "METHOD_NOT_FOUND",
        ),
    ];
    for (script, code) in cases {
        let server = listing(script).await;
        let record = probe(&Endpoint::mcp(&server.url), None).await;
        assert_eq!(failure(&record), (Step::ListTools, code));
        assert!(record.server.is_some(), "what was seen before is kept");
        server.until("the session is ended", |state| state.seen.iter().any(|s| s.method == http::Method::DELETE)).await;
    }
}

/// A server that answers `initialize` with this result.
async fn opening(result: Value) -> Server {
    Server::scripted(move |seen| {
        let result = result.clone();
        async move {
            match seen.rpc() {
                "initialize" => answer(&seen, &result),
                "tools/list" => answer(&seen, &json!({"tools": []})),
                _ => lifecycle(&seen, None),
            }
        }
    })
    .await
}

#[tokio::test]
async fn what_a_server_says_of_itself_is_judged() {
    let server = opening(
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}),
    )
    .await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::Initialize, "TOOLS_CAPABILITY_MISSING"));
    assert_eq!(record.capabilities, Some(json!({})));
    assert_eq!(server.state().count("tools/list"), 0);

    let server = opening(
        json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": " ", "version": ""}}),
    )
    .await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert!(record.passed(), "{record:?}");
    assert_eq!(record.session, Some(SessionMode::Stateless));
    assert!(record.notes.iter().any(|note| note.contains("serverInfo.name")), "{:?}", record.notes);
    assert!(record.notes.iter().any(|note| note.contains("listChanged")), "{:?}", record.notes);

    // A result that MCP does not allow fails, with what was seen.
    let server = opening(json!({"capabilities": {"tools": {}}})).await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::Initialize, "PARTNER_PROTOCOL_ERROR"));

    let server = opening(json!({"protocolVersion": "1999-01-01", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}})).await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(record.protocol_version.as_deref(), Some("1999-01-01"));
}

#[tokio::test]
async fn an_endpoint_that_is_not_allowed_is_not_asked() {
    let strict = PartnerClient::new(&PartnerClientConfig::default()).expect("valid settings");
    let server = listing(|seen| answer(seen, &json!({"tools": []}))).await;
    for url in [&server.url, "https://10.0.0.1/mcp", "http://partner.example/mcp", "nonsense"] {
        let endpoint = Endpoint::mcp(url);
        assert!(strict.admits(&endpoint).is_err(), "{url}");
        let record = probe_by(&strict, &endpoint, None).await;
        assert_eq!(failure(&record), (Step::Initialize, "PARTNER_ADDRESS_REFUSED"), "{url}");
    }
    assert_eq!(server.state().accepted, 0);
    assert!(strict.admits(&Endpoint::mcp("https://partner.example/mcp")).is_ok());
    let rest = |base: &str, document: &str| Endpoint::Rest { base_url: base.into(), openapi_url: document.into() };
    assert!(strict.admits(&rest("https://p.example", "https://p.example/openapi.json")).is_ok());
    assert!(strict.admits(&rest("https://p.example", "http://p.example/openapi.json")).is_err());
    assert!(strict.admits(&rest("https://127.0.0.1", "https://p.example/openapi.json")).is_err());
    assert!(strict.admits(&rest("https://p.example/?v=1", "https://p.example/openapi.json?v=1")).is_err());
    assert!(strict.admits(&rest("https://p.example/#v1", "https://p.example/openapi.json")).is_err());
    assert!(strict.admits(&rest("https://p.example/v1/", "https://p.example/openapi.json?v=1")).is_ok());
}

#[tokio::test]
async fn a_partner_that_is_not_there_fails_the_first_step() {
    let record = probe(&Endpoint::mcp("http://127.0.0.1:1/mcp"), None).await;
    assert_eq!(failure(&record), (Step::Initialize, "PARTNER_UNREACHABLE"));
    let server = Server::scripted(|_| async { status(401) }).await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::Initialize, "INVALID_AUTH"));
}

/// What a probe says must not tell which names there are inside, nor where they lead.
#[tokio::test]
async fn a_name_that_leads_inside_is_told_as_one_that_leads_nowhere() {
    let inside: Arc<dyn ResolveHost> = Arc::new(ResolvesTo(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 5))));
    let mut told = Vec::new();
    for resolver in [inside, Arc::new(LeadsNowhere)] {
        let client = PartnerClient::with_resolver(&PartnerClientConfig::default(), resolver).expect("valid settings");
        let record = probe_by(&client, &Endpoint::mcp("https://wiki.corp.example/mcp"), None).await;
        assert_eq!(failure(&record), (Step::Initialize, "PARTNER_ADDRESS_REFUSED"));
        told.push((record.failure, record.notes));
    }
    assert_eq!(told[0], told[1]);
    assert!(!format!("{told:?}").contains("10.0.0.5"), "{told:?}");
}

/// A server that never answers costs the time of one call (spec 1, Limits), and not the caller's patience.
#[tokio::test(start_paused = true)]
async fn a_silent_partner_costs_twenty_seconds() {
    let server = Server::scripted(|_| std::future::pending()).await;
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert_eq!(failure(&record), (Step::Initialize, "PARTNER_TIMEOUT"));
    assert!((20_000..25_000).contains(&record.steps[0].elapsed_ms), "{record:?}");
}
