//! A look at the partner's orders, before a write that failed is made again (spec 1, rule 6 for the partner-hosted endpoint).
//!
//! The contract names the tool that lists them, and its judgement of the answer says whether one is the caller's. Whenever that
//! cannot be told, the write is not repeated: a second order is worse than a failure.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Outgoing, Step};
use crate::{OrderLookup, OutboundCall, PartnerAnswer, PreparedArguments};
use intent_gateway_domain::contract::{About, Exchange, Tool};
use intent_gateway_domain::error::CallFailure;

/// What the partner's orders say.
pub(super) enum Orders {
    /// The order is there: their answer tells of it.
    Landed(PartnerAnswer),
    /// It is not there, so it can be made again.
    None,
    /// Nobody can say.
    Unclear,
}

/// Reads the partner's orders for a write that is to be repeated, as a call of its own.
pub(super) async fn read_orders(write: &Outgoing<'_>, next: &dyn Step) -> Result<Orders, CallFailure> {
    let call = &write.call;
    let reader = call.tool()?.orders_tool.as_deref().and_then(|name| call.descriptor().tool(name));
    let Some(reader) = reader else {
        tracing::warn!(tool = %call.tool, "the contract names no tool that reads the orders; nothing is made again");
        return Ok(Orders::Unclear);
    };
    let arguments = shared_members(&call.arguments.text, reader);
    let Ok(prepared) = call.contract.check_request(&call.context, &reader.name, &arguments, About::default()).await
    else {
        return Ok(Orders::Unclear);
    };
    let text: Box<str> = prepared.arguments.get().into();
    let lookup = OrderLookup { tool: Arc::from(reader.name.as_str()), arguments: text.clone() };
    let arguments = Arc::new(PreparedArguments::of_this_time(text));
    let read = OutboundCall { tool: lookup.tool.clone(), arguments, ..OutboundCall::clone(call) };
    let outgoing = Outgoing { call: Arc::new(read), ..write.clone().unheard() };
    let Ok(answer) = next.call(outgoing).await else { return Ok(Orders::Unclear) };
    let exchange = Exchange {
        tool: &lookup.tool,
        arguments: &lookup.arguments,
        payload: &answer.answer.text,
        about: About::default(),
    };
    Ok(match call.contract.check_response(&call.context, exchange).await {
        Ok(checked) if checked.reference.is_some() => {
            Orders::Landed(PartnerAnswer { found_by: Some(lookup), ..answer })
        }
        Ok(_) => Orders::None,
        Err(_) => Orders::Unclear,
    })
}

/// The members of the arguments that another tool takes as well.
fn shared_members(arguments: &str, reader: &Tool) -> String {
    let schema: Value = serde_json::from_str(reader.request_schema.get()).unwrap_or_default();
    let mut arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    arguments.retain(|name, _| schema["properties"].get(name).is_some());
    Value::Object(arguments).to_string()
}
