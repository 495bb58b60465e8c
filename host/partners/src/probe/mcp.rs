//! The probe of an MCP server: a session of its own, `tools/list` to its last page, and the session is ended.

use std::collections::HashSet;

use http::header::HeaderValue;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::PROBE_CALL_TIMEOUT;
use intent_gateway_domain::partner_error::{clean, protocol};
use intent_gateway_domain::probe::{
    Lifecycle, PROBE_CAPABILITIES_MAX_BYTES, PROBE_PAGES_MAX, PROBE_TEXT_MAX_CHARS, PROBE_TOOLS_MAX,
    PROBE_TOOLS_MAX_BYTES, ServerInfo, SessionMode, Step,
};
use serde_json::Value;
use tokio::time::Instant;

use super::{Fault, ProbeEnded, Probing, millis};
use crate::client::PartnerClient;
use crate::messenger::Opening;
use crate::mirror::Mirror;
use crate::session::Session;

/// Bytes of a cursor, which travels back to the server.
const CURSOR_MAX_BYTES: usize = 4 * 1024;
/// Where the answer to `server/discover` says who the server is (MCP, revision 2026-07-28).
const SERVER_INFO_META: &str = "io.modelcontextprotocol/serverInfo";

impl PartnerClient {
    pub(super) async fn probe_mcp(
        &self,
        url: &str,
        bearer: Option<HeaderValue>,
        probing: &mut Probing,
    ) -> Result<(), ProbeEnded> {
        let begun = Instant::now();
        let uri = match self.policy().endpoint(url) {
            Ok(uri) => uri,
            Err(failure) => return probing.step(Step::Initialize, begun, Err(failure.into())),
        };
        let (outcome, opening) = Session::open_watched(self.wire().clone(), uri, bearer, self.first_opening()).await;
        let described = probing.describe(opening.as_ref());
        let opened = match (outcome, described) {
            // What is missing in the partner's own words says more than that rmcp could not read them.
            (Err(CallFailure::Protocol(_)), Err(fault)) => Err(fault),
            (Err(failure), _) => Err(explain(failure)),
            (Ok(session), Err(fault)) => {
                session.close().await;
                Err(fault)
            }
            (Ok(session), Ok(())) => Ok(session),
        };
        let session = probing.step(Step::Initialize, begun, opened)?;
        probing.record.protocol_version = Some(session.revision().to_string());
        let listed = probing.list(&session).await;
        session.close().await;
        listed
    }
}

/// Why a session could not be opened, and what is behind it most often.
fn explain(failure: CallFailure) -> Fault {
    let hint = match failure {
        CallFailure::HttpStatus(404 | 405) => "is the path of the endpoint right? Most SDKs serve at /mcp",
        CallFailure::Redirect(_) => {
            "register the address that it leads to, with or without a / at its end as it is there"
        }
        _ => return failure.into(),
    };
    let Fault { code, message } = failure.into();
    Fault { code, message: format!("{message}; {hint}") }
}

impl Probing {
    /// Records what a server said of itself, and judges it.
    fn describe(&mut self, opening: Option<&Opening>) -> Result<(), Fault> {
        let Some(opening) = opening else { return Ok(()) };
        self.record.lifecycle = Some(opening.lifecycle);
        self.record.session =
            Some(if opening.session.is_some() { SessionMode::Stateful } else { SessionMode::Stateless });
        let Ok(result) = serde_json::from_str::<Value>(opening.result.get()) else { return Ok(()) };
        // The newer lifecycle agrees on a revision in each request, and its answer names none.
        self.record.protocol_version = result.get("protocolVersion").and_then(Value::as_str).map(quote_name);
        let info = result.get("serverInfo").or_else(|| result.get("_meta")?.get(SERVER_INFO_META));
        let said = |member: &str| info.and_then(|info| info.get(member)?.as_str()).map(quote_name).unwrap_or_default();
        let server = ServerInfo { name: said("name"), version: said("version") };
        if server.name.trim().is_empty() {
            self.note("`serverInfo.name` is empty; it should identify the company");
        }
        self.record.server = Some(server);
        let capabilities = result.get("capabilities");
        match capabilities {
            Some(found) if found.to_string().len() <= PROBE_CAPABILITIES_MAX_BYTES => {
                self.record.capabilities = Some(found.clone());
            }
            Some(_) => self.note(format!("`capabilities` has more than {PROBE_CAPABILITIES_MAX_BYTES} bytes")),
            None => {}
        }
        match capabilities.and_then(|capabilities| capabilities.get("tools")) {
            Some(Value::Object(tools)) => {
                if tools.get("listChanged") != Some(&Value::Bool(true)) {
                    self.note("`capabilities.tools.listChanged` is not true");
                }
                Ok(())
            }
            _ => Err(Fault::new("TOOLS_CAPABILITY_MISSING", "the server does not declare `capabilities.tools`")),
        }
    }

    /// Reads all pages of `tools/list`.
    async fn list(&mut self, session: &Session) -> Result<(), ProbeEnded> {
        let mut cursor: Option<String> = None;
        let mut seen = HashSet::new();
        let mut bytes = 0;
        for _ in 0..PROBE_PAGES_MAX {
            let begun = Instant::now();
            let answer = tokio::time::timeout(PROBE_CALL_TIMEOUT, session.list_tools(cursor.as_deref())).await;
            let page = match answer {
                Ok(Ok(page)) => self.take_page(page, &mut bytes, session.lifecycle()),
                Ok(Err(failure)) => Err(failure.into()),
                Err(_) => Err(CallFailure::Timeout(millis(PROBE_CALL_TIMEOUT)).into()),
            };
            let page = page.and_then(|next| match next {
                Some(next) if !seen.insert(next.clone()) => {
                    Err(protocol("`tools/list` named a cursor for the second time").into())
                }
                next => Ok(next),
            });
            cursor = self.step(Step::ListTools, begun, page)?;
            if cursor.is_none() {
                return Ok(());
            }
        }
        let fault = Fault::new("TOOL_LIST_TOO_LARGE", format!("`tools/list` has more than {PROBE_PAGES_MAX} pages"));
        self.step(Step::ListTools, Instant::now(), Err(fault))
    }

    /// Takes the tools of one page; returns where the next one is.
    fn take_page(&mut self, mut page: Value, bytes: &mut usize, lifecycle: Lifecycle) -> Result<Option<String>, Fault> {
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err(protocol("a `tools/list` result without an array `tools`").into());
        };
        for tool in tools {
            *bytes += tool.to_string().len();
            if self.record.tools.len() >= PROBE_TOOLS_MAX || *bytes > PROBE_TOOLS_MAX_BYTES {
                let message = format!(
                    "`tools/list` has more than {PROBE_TOOLS_MAX} tools, or more than {PROBE_TOOLS_MAX_BYTES} bytes"
                );
                return Err(Fault::new("TOOL_LIST_TOO_LARGE", message));
            }
            match Mirror::of(&tool["inputSchema"]) {
                // As the protocol has it, such a tool is none (MCP 2026-07-28, Schema Extension).
                Err(error) if lifecycle == Lifecycle::Discover => {
                    let name = tool["name"].as_str().unwrap_or_default();
                    self.note(format!("the tool `{name}` is passed over: {error}"));
                }
                _ => self.record.tools.push(tool),
            }
        }
        match page.get("nextCursor") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(next)) if next.len() <= CURSOR_MAX_BYTES => Ok(Some(next.clone())),
            Some(_) => Err(protocol("a `nextCursor` that is no text of ordinary length").into()),
        }
    }
}

fn quote_name(text: &str) -> String {
    clean(text).chars().take(PROBE_TEXT_MAX_CHARS).collect()
}
