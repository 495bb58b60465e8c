//! The MCP side: `initialize`, `tools/list` and `tools/call` on rmcp, in front of the desk.
//!
//! Nothing is decided here but how an answer is wrapped.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};

use crate::desk::Desk;

/// One partner's MCP server. Cheap to clone: each session or request gets its own.
#[derive(Debug, Clone)]
pub(crate) struct PartnerServer {
    desk: Arc<Desk>,
    tools: Arc<[Tool]>,
    /// Waited before each tool call is answered, to play a slow partner.
    delay: Duration,
}

impl PartnerServer {
    pub(crate) fn new(desk: Desk, tools: Vec<Tool>, delay: Duration) -> Self {
        Self { desk: Arc::new(desk), tools: tools.into(), delay }
    }
}

impl ServerHandler for PartnerServer {
    fn get_info(&self) -> ServerConfig {
        // The list never changes, but the platform expects the flag (spec 1, JSON-RPC messages).
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let name = self.desk.catalogue().business.name.clone();
        ServerConfig::new(capabilities).with_server_info(Implementation::new(name, env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tokio::time::sleep(self.delay).await;
        let arguments = request.arguments.unwrap_or_default();
        let answer = self.desk.answer(&request.name, &arguments, Timestamp::now());
        // Arguments hold a phone number and an address: neither is logged.
        match answer {
            Ok(payload) => {
                tracing::info!(tool = %request.name, "answered");
                let text = ContentBlock::text(payload.to_string());
                Ok(CallToolResult::success(vec![text]).into())
            }
            Err(refusal) => {
                tracing::info!(tool = %request.name, code = refusal.code.as_str(), "refused");
                Err(refusal.into())
            }
        }
    }
}
