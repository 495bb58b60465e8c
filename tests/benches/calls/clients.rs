//! Who makes the calls: bare hyper, to the partner or to the gateway, and rmcp's client.

use std::collections::HashMap;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, JsonObject};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpClientTransportConfig};

use crate::load::Call;
use crate::rmcp_hyper::OverHyper;
use crate::subject::{Arguments, Subject};

/// Messages that rmcp may have under way at once; its default of 16 would be the bottleneck.
const RMCP_AT_ONCE: usize = 1_024;

/// A client that keeps its connections, as the gateway's does.
pub(crate) fn pool() -> Client<HttpConnector, Full<Bytes>> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)
}

/// hyper, and a body of which only the arguments change.
pub(crate) struct RawHyper {
    client: Client<HttpConnector, Full<Bytes>>,
    uri: Uri,
    authorization: Option<HeaderValue>,
    before: String,
    arguments: Arguments,
}

impl RawHyper {
    /// The JSON-RPC message of a tool call, to a partner.
    pub(crate) fn to_partner(url: &str, subject: &Subject) -> Self {
        let before = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{}\",\"arguments\":",
            subject.tool
        );
        Self {
            client: pool(),
            uri: url.parse().expect("an address"),
            authorization: None,
            before,
            arguments: subject.arguments(),
        }
    }

    /// A call by reference, to the gateway.
    pub(crate) fn to_gateway(url: &str, token: &str, subject: &Subject, reference: &str) -> Self {
        let uri = format!("{url}/api/v1/intents/{}/tools/{}", subject.intent, subject.tool);
        let authorization = HeaderValue::try_from(format!("Bearer {token}")).expect("a token is ASCII");
        Self {
            client: pool(),
            uri: uri.parse().expect("an address"),
            authorization: Some(authorization),
            before: format!("{{\"reference\":\"{reference}\",\"arguments\":"),
            arguments: subject.arguments(),
        }
    }
}

impl Call for RawHyper {
    async fn call(&self, number: u64) {
        // The partner's message has one object more around the arguments than the gateway's.
        let end = if self.authorization.is_some() { "}" } else { "}}" };
        let body = [&self.before, self.arguments.of_call(number).as_str(), end].concat();
        let mut request = Request::post(self.uri.clone()).body(Full::from(body)).expect("a sound request");
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let response = self.client.request(request).await.expect("an answer");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a whole answer").to_bytes();
        assert!(status.is_success() && !body.is_empty(), "{status}: {}", String::from_utf8_lossy(&body));
    }
}

/// rmcp's client.
pub(crate) struct OverRmcp {
    service: RunningService<RoleClient, ClientConfig>,
    tool: &'static str,
    arguments: Arguments,
}

impl OverRmcp {
    /// On connections that are kept.
    pub(crate) async fn over_hyper(url: &str, tool: &'static str, arguments: Arguments) -> Self {
        Self::open(OverHyper::new(url), url, tool, arguments).await
    }

    /// On the transport that rmcp brings.
    pub(crate) async fn stock(url: &str, tool: &'static str, arguments: Arguments) -> Self {
        Self::open(reqwest::Client::new(), url, tool, arguments).await
    }

    async fn open<C>(client: C, url: &str, tool: &'static str, arguments: Arguments) -> Self
    where
        C: StreamableHttpClient + Sync,
    {
        let config = StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(RMCP_AT_ONCE);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let handler = ClientConfig::new(ClientCapabilities::default(), Implementation::new("bench", "1"));
        let service = handler.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await;
        Self { service: service.expect("the partner can be opened"), tool, arguments }
    }
}

impl Call for OverRmcp {
    async fn call(&self, number: u64) {
        let arguments: JsonObject = serde_json::from_str(&self.arguments.of_call(number)).expect("an object");
        let result = self.service.call_tool(CallToolRequestParams::new(self.tool).with_arguments(arguments)).await;
        assert!(!result.expect("an answer").content.is_empty(), "the answer is empty");
    }
}

/// Headers that rmcp wants to be sent.
pub(crate) type Headers = HashMap<hyper::header::HeaderName, HeaderValue>;
