//! A partner that answers every call of a tool with the same file: the first partner of a new intent, for the time
//! before anybody has built a real one.
//!
//! `partner-canned --tool search_tea=answer.json` is a whole MCP server. It looks at no arguments and books nothing;
//! the templates for a partner's own server are the other examples.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use clap::Parser;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject, ListToolsResult,
    MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The largest request body in bytes. A search is about 1 KB.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// The largest answer in bytes; the platform takes no larger one.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Answers every call of a tool with the same file.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example:\n  partner-canned --intent food.order_tea --tool search_tea=tea.json --port 8104"
)]
struct Options {
    /// A tool and the file with its answer, a JSON document.
    #[arg(long = "tool", value_name = "NAME=FILE", required = true, value_parser = parse_tool)]
    tools: Vec<(String, PathBuf)>,
    /// The intent that the tools belong to.
    #[arg(long, default_value = "example.canned")]
    intent: String,
    /// Port to listen on, on the loopback address; 0 takes a free one.
    #[arg(long, default_value_t = 8104)]
    port: u16,
}

fn parse_tool(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("expected a tool's name, `=` and a file".to_owned()),
    }
}

/// The MCP side.
#[derive(Clone, Debug)]
struct Canned {
    intent: Arc<str>,
    /// The answers by tool, JSON text.
    answers: Arc<BTreeMap<String, String>>,
}

impl Canned {
    fn read(options: &Options) -> anyhow::Result<Self> {
        let mut answers = BTreeMap::new();
        for (name, path) in &options.tools {
            let answer = read_answer(path)?;
            ensure!(answers.insert(name.clone(), answer).is_none(), "the tool `{name}` is given twice");
        }
        Ok(Self { intent: options.intent.as_str().into(), answers: Arc::new(answers) })
    }

    fn descriptor(&self, name: &str) -> Tool {
        let schema = JsonObject::from_iter([("type".to_owned(), json!("object"))]);
        let domain = self.intent.split('.').next().unwrap_or_default();
        let platform = json!({"intent": &*self.intent, "domain": domain, "service_area": ["IN_ALL"]});
        let meta = JsonObject::from_iter([("platform".to_owned(), platform)]);
        Tool::new(name.to_owned(), "Answers with a file.", Arc::new(schema)).with_meta(MetaObject(meta))
    }
}

/// Reads an answer, and sees to it that it is JSON.
fn read_answer(path: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(text.len() <= MAX_ANSWER_BYTES, "{} has more than {MAX_ANSWER_BYTES} bytes", path.display());
    let answer: Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    Ok(answer.to_string())
}

impl ServerHandler for Canned {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("Canned", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.answers.keys().map(|name| self.descriptor(name)).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.answers.get(&*request.name) {
            Some(answer) => Ok(CallToolResult::success(vec![ContentBlock::text(answer.clone())]).into()),
            None => Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None)),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let server = Canned::read(&options)?;
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)))
        .await
        .with_context(|| format!("cannot listen on port {}", options.port))?;
    let address = listener.local_addr()?;
    let stop = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(stop.clone());
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    let router = axum::Router::new().route_service("/mcp", mcp);
    // The signal is caught before the ready line: who has read it may send one at once.
    let mut terminate = signal(SignalKind::terminate())?;
    writeln!(std::io::stdout(), "listening on http://{address}/mcp")?;
    axum::serve(listener, router)
        .with_graceful_shutdown(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                Ok(()) = tokio::signal::ctrl_c() => {}
            }
            stop.cancel();
        })
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_and_their_answers() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tea.json");
        std::fs::write(&file, "{ \"offers\": [] }").unwrap();
        let tool = format!("--tool=search_tea={}", file.display());
        let read = |more: &[&str]| {
            let options = Options::try_parse_from(["partner-canned", &tool].iter().chain(more))?;
            Canned::read(&options)
        };
        let canned = read(&["--intent", "food.order_tea"]).unwrap();
        assert_eq!(canned.answers["search_tea"], r#"{"offers":[]}"#);
        let platform = canned.descriptor("search_tea").meta.unwrap().0["platform"].clone();
        assert_eq!((&platform["intent"], &platform["domain"]), (&json!("food.order_tea"), &json!("food")));
        assert!(read(&[&tool]).is_err(), "given twice");
        for wrong in ["--tool=x", "--tool==file", "--tool=x=/no/such/file"] {
            assert!(read(&[wrong]).is_err(), "{wrong}");
        }
        std::fs::write(&file, "no JSON").unwrap();
        assert!(read(&[]).is_err());
    }
}
