//! A look at the partner's orders, before a write that failed is made again (spec 1, rule 6 for the partner-hosted endpoint).
//!
//! The contract names the tool that lists them, and its judgement of the answer says whether one is the caller's. Whenever that
//! cannot be told, the write is not repeated: a second order is worse than a failure.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Errand, Outbound, Policies, Read, Reply, Sent};
use crate::policy::retry::Plan;
use intent_gateway_domain::contract::{Exchange, Tool};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::secret::Secret;

/// What the partner's orders say.
pub(super) enum Orders {
    /// The order is there: their answer tells of it.
    Landed(Reply),
    /// It is not there, so it can be made again.
    None,
    /// Nobody can say.
    Unclear,
}

impl Outbound {
    /// Reads the partner's orders, within the time that the plan has left.
    pub(super) async fn orders(
        &self,
        policies: &Policies,
        errand: &Errand,
        plan: &Plan<'_>,
        token: Option<&Secret>,
    ) -> Result<Orders, CallFailure> {
        let written = errand.tool()?;
        let reader = written.orders_tool.as_deref().and_then(|name| errand.descriptor().tool(name));
        let Some(reader) = reader else {
            tracing::warn!(tool = %errand.tool, "the contract names no tool that reads the orders; nothing is made again");
            return Ok(Orders::Unclear);
        };
        let arguments = named(&errand.sent.text, reader);
        let Ok(prepared) = errand.contract.check_request(&errand.context, &reader.name, &arguments).await else {
            return Ok(Orders::Unclear);
        };
        // Not out of the cache: what counts is how it is now.
        let sent = Arc::new(Sent { text: prepared.arguments.get().into(), digest: None });
        let reading = Errand { tool: Arc::from(reader.name.as_str()), sent: sent.clone(), ..errand.clone() };
        if self.pass(policies, &reading, reader, true, plan).await.is_err() {
            return Ok(Orders::Unclear);
        }
        let left = plan.left(self.clock.now_ms());
        let Ok(text) = self.observed(policies, &reading, reader, left, token, None).await else {
            return Ok(Orders::Unclear);
        };
        let exchange = Exchange { tool: &reader.name, arguments: &sent.text, payload: &text, quoted: None };
        Ok(match errand.contract.check_response(&errand.context, exchange).await {
            Ok(checked) if checked.reference.is_some() => {
                let by = Read { tool: reading.tool, arguments: sent.text.clone() };
                Orders::Landed(Reply { text, by: Some(by) })
            }
            Ok(_) => Orders::None,
            Err(_) => Orders::Unclear,
        })
    }
}

/// The members of the arguments that another tool takes as well.
fn named(arguments: &str, reader: &Tool) -> String {
    let schema: Value = serde_json::from_str(reader.request_schema.get()).unwrap_or_default();
    let mut arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    arguments.retain(|name, _| schema["properties"].get(name).is_some());
    Value::Object(arguments).to_string()
}
