//! rmcp's own server as a partner, in each of its modes.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future::join_all;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::probe::Lifecycle;
use intent_gateway_domain::secret::Secret;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::{CALL, call, call_within, client, partner};
use crate::probe::probe;

/// Speaks the given revisions, or all that rmcp knows.
#[derive(Clone)]
struct Workshop(Option<ProtocolVersion>);

impl ServerHandler for Workshop {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match &self.0 {
            Some(only) => vec![only.clone()].into(),
            None => ProtocolVersion::KNOWN_VERSIONS.into(),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}});
        let schema = schema.as_object().expect("an object").clone();
        Ok(ListToolsResult::with_all_items(vec![Tool::new("search_slots", "Finds slots.", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let parts = context.extensions.get::<http::request::Parts>().expect("the HTTP request");
        let token = parts.headers.get("authorization").map_or("", |value| value.to_str().expect("a text"));
        if token == "Bearer refused" {
            let data = json!({"platform_error_code": "SLOT_GONE", "platform_field": "slot_id"});
            return Err(ErrorData::new(ErrorCode(-32010), "taken", Some(data)));
        }
        let revision = parts.headers.get("mcp-protocol-version").map(|value| value.to_str().expect("a text"));
        let text = json!({"revision": revision, "tool": request.name, "arguments": request.arguments, "token": token})
            .to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

struct Running {
    url: String,
    serving: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn start(workshop: Workshop, config: StreamableHttpServerConfig) -> Running {
    let service =
        StreamableHttpService::new(move || Ok(workshop.clone()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                // The client closes connections as it likes.
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Running { url, serving }
}

fn modes() -> [(&'static str, StreamableHttpServerConfig); 3] {
    let config = StreamableHttpServerConfig::default;
    [
        ("sessions and events", config()),
        ("no sessions, events", config().with_legacy_session_mode(false)),
        ("no sessions, JSON", config().with_legacy_session_mode(false).with_json_response(true)),
    ]
}

#[tokio::test]
async fn every_mode_answers_and_sees_each_callers_own_token() {
    for (mode, config) in modes() {
        let server = start(Workshop(None), config).await;
        let (client, partner) = (client(), partner("workshop", &server.url));
        let users = [Secret::new("one"), Secret::new("two")];
        let calls = (0..20).map(|turn| call_within(&client, &partner, users.get(turn % 3), CALL));
        for (turn, outcome) in join_all(calls).await.into_iter().enumerate() {
            let text = outcome.unwrap_or_else(|failure| panic!("{mode}: {failure}"));
            let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let token = users.get(turn % 3).map_or(String::new(), |token| format!("Bearer {}", token.expose()));
            assert_eq!(answer["token"], token.as_str(), "{mode}");
            assert_eq!(answer["tool"], "search");
            assert_eq!(answer["arguments"]["city"], "Pune");
        }
    }
}

#[tokio::test]
async fn every_mode_delivers_platform_errors() {
    for (mode, config) in modes() {
        let server = start(Workshop(None), config).await;
        let (client, partner) = (client(), partner("workshop", &server.url));
        let outcome = call_within(&client, &partner, Some(&Secret::new("refused")), CALL).await;
        let expected = CallFailure::Platform {
            code: "SLOT_GONE".to_owned(),
            message: "taken".to_owned(),
            field: Some("slot_id".to_owned()),
        };
        assert_eq!(outcome, Err(expected), "{mode}");
        assert!(call(&client, &partner).await.is_ok(), "{mode}");
    }
}

#[tokio::test]
async fn every_revision_is_spoken() {
    let revisions = [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
    for revision in revisions {
        for (mode, config) in modes() {
            let server = start(Workshop(Some(revision.clone())), config).await;
            let (client, partner) = (client(), partner("workshop", &server.url));
            let text = call(&client, &partner).await.unwrap_or_else(|failure| panic!("{revision}, {mode}: {failure}"));
            let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(answer["revision"], revision.as_str(), "{mode}");
        }
    }
}

#[tokio::test]
async fn every_revision_is_probed() {
    let revisions = [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
    for revision in revisions {
        for (mode, config) in modes() {
            let server = start(Workshop(Some(revision.clone())), config).await;
            let record = probe(&Endpoint::mcp(&server.url), None).await;
            assert!(record.passed(), "{revision}, {mode}: {record:?}");
            assert_eq!(record.protocol_version.as_deref(), Some(revision.as_str()), "{mode}");
            let discovered = revision == ProtocolVersion::V_2026_07_28;
            let lifecycle = if discovered { Lifecycle::Discover } else { Lifecycle::Initialize };
            assert_eq!(record.lifecycle, Some(lifecycle), "{revision}, {mode}");
            let session = if mode == "sessions and events" && !discovered { "stateful" } else { "stateless" };
            assert_eq!(json!(record.session), json!(session), "{revision}, {mode}");
            assert!(record.server.as_ref().is_some_and(|server| !server.name.is_empty()), "{revision}, {mode}");
            let [tool] = &record.tools[..] else { panic!("{revision}, {mode}: {:?}", record.tools) };
            assert_eq!(tool["inputSchema"]["required"], json!(["city"]));
        }
    }
}
