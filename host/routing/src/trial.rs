//! A dry run of a mapping: what would be sent to a partner's API for some arguments, what the mapping makes of an answer that
//! somebody has pasted, and what the contract says of it. Nobody is called, and nothing is recorded.
//!
//! Not here: the mapping's own soundness (`domain::endpoint`), and what the API says of itself (a probe).

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::calling::first_breach;
use crate::forbidden::ForbiddenFields;
use crate::search::{DroppedChoice, JudgedSearch, judge_answer};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    CallContext, CheckedResponse, Descriptor, Exchange, RankedOption, Refusal, Violation,
};
use intent_gateway_domain::endpoint::{
    ApiMapping, Endpoint, GraphqlTool, Mappings, RequestError, RestRequest, RestTool, Scope, Template, ToolMapping,
};
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::not_json;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, ToolAnswer};

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    pub mapping: &'a ApiMapping,
    pub tool: &'a str,
    /// The tool's arguments, a JSON object.
    pub arguments: &'a str,
    /// HTTP status of the answer.
    pub status: u16,
    /// The API's answer as it was pasted.
    pub answer: &'a str,
}

/// The request that would be sent.
#[derive(Clone, Debug)]
pub enum TriedRequest {
    /// To a REST API.
    Rest(RestRequest),
    /// To a GraphQL API: the body.
    Graphql(Value),
}

/// What would come of the call.
#[derive(Debug)]
pub struct TrialReport {
    /// The arguments as the contract prepares them.
    pub arguments: Box<RawValue>,
    /// What would be sent; or why nothing can be.
    pub request: Result<TriedRequest, RequestError>,
    /// The payload that the mapping makes of the answer; absent where there is none.
    pub payload: Option<Value>,
    /// Why the call would fail, where it would.
    pub failure: Option<CallFailure>,
    /// Options that would be shown, best first, each with what would be noted about it; of a search alone.
    pub ranked: Vec<(RankedOption, Vec<Violation>)>,
    /// Options that would not.
    pub dropped: Vec<DroppedChoice>,
    /// Why the contract refuses the answer; of other tools alone.
    pub refused: Option<Refusal>,
    /// What would be noted about the answer as a whole.
    pub notes: Vec<Violation>,
}

/// The trial itself is not sound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// The mapping has no such tool, or the intent has not.
    #[error("{0}")]
    UnknownTool(String),
    /// The contract refuses the arguments.
    #[error("the arguments were refused with {}", .0.code)]
    Refused(Refusal),
    /// The contract failed.
    #[error("the contract of the intent failed")]
    Contract(#[source] ContractFault),
}

impl From<ContractError> for TrialError {
    fn from(error: ContractError) -> Self {
        match error {
            ContractError::Refused(refusal) => Self::Refused(refusal),
            ContractError::Fault(fault) => Self::Contract(fault),
        }
    }
}

/// Makes a dry run for a partner.
///
/// # Errors
/// [`TrialError`] where there is nothing to try: an unknown tool, arguments that no user's request could have.
pub async fn run(
    contract: &dyn Contract,
    partner: &PartnerId,
    trial: Trial<'_>,
    request_id: String,
    now: Timestamp,
) -> Result<TrialReport, TrialError> {
    let descriptor = contract.descriptor();
    let unknown = |whose: &str| TrialError::UnknownTool(format!("{whose} has no tool `{}`", trial.tool));
    if descriptor.tool(trial.tool).is_none() {
        return Err(unknown("the intent"));
    }
    let tool = trial.mapping.tool(trial.tool).ok_or_else(|| unknown("the mapping"))?;
    let context = CallContext { request_id, now };
    let arguments = contract.check_request(&context, trial.tool, trial.arguments).await?.arguments;
    let sent: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
    let request = match tool {
        ToolMapping::Rest(tool) => tool.request(&sent).map(TriedRequest::Rest),
        ToolMapping::Graphql(tool) => tool.request(&sent).map(TriedRequest::Graphql),
    };
    let mut report = TrialReport {
        arguments,
        request,
        payload: None,
        failure: None,
        ranked: Vec::new(),
        dropped: Vec::new(),
        refused: None,
        notes: Vec::new(),
    };
    match read_answer(tool, trial, &sent, descriptor) {
        Ok(answer) => {
            report.payload = serde_json::from_str(&answer.text).ok();
            judge(contract, &context, partner, trial.tool, &answer, &mut report).await?;
        }
        Err(failure) => report.failure = Some(failure),
    }
    Ok(report)
}

/// What the mapping makes of the answer.
fn read_answer(
    tool: &ToolMapping,
    trial: Trial<'_>,
    arguments: &Value,
    descriptor: &Descriptor,
) -> Result<ToolAnswer, CallFailure> {
    let answer: Value = serde_json::from_str(trial.answer)
        .map_err(|error| CallFailure::Protocol(not_json::describe(not_json::kind(trial.answer), &error)))?;
    let (response, failure, body) = match tool {
        ToolMapping::Rest(tool) => (&tool.response, rest_failure(tool, trial.status, &answer), Some(&answer)),
        ToolMapping::Graphql(tool) => {
            let data = answer.get("data").filter(|data| data.is_object());
            (&tool.response, graphql_failure(tool, trial.status, &answer), data)
        }
    };
    if let Some(failure) = failure {
        return Err(failure.under(descriptor));
    }
    let body =
        body.ok_or_else(|| CallFailure::Protocol("a GraphQL answer with neither `data` nor `errors`".to_owned()))?;
    fill(response, &Scope { arguments, answer: body })
}

fn fill(response: &Template, scope: &Scope<'_>) -> Result<ToolAnswer, CallFailure> {
    let (payload, unmapped) = response.render_items(scope).map_err(|error| CallFailure::Payload(error.to_string()))?;
    Ok(ToolAnswer { text: payload.unwrap_or(Value::Null).to_string(), unmapped })
}

/// The failure that an answer of a REST API reports, as far as its mapping says so.
fn rest_failure(tool: &RestTool, status: u16, answer: &Value) -> Option<CallFailure> {
    let is_success = (200..300).contains(&status);
    let code = if is_success { tool.errors.by_own_code(answer) } else { tool.errors.platform_code(status, answer) };
    match code {
        Some(code) => Some(platform(code, tool.errors.message(answer))),
        None => (!is_success).then_some(CallFailure::HttpStatus(status)),
    }
}

fn graphql_failure(tool: &GraphqlTool, status: u16, answer: &Value) -> Option<CallFailure> {
    let Some(error) = answer["errors"].get(0) else {
        return (!(200..300).contains(&status)).then_some(CallFailure::HttpStatus(status));
    };
    let message = tool.errors.message(error);
    Some(match tool.errors.platform_code(status, error) {
        Some(code) => platform(code, message),
        None => {
            let (sent, message) = (tool.errors.own_code(error), message.unwrap_or_default().to_owned());
            CallFailure::UnknownCode { sent, message }
        }
    })
}

fn platform(code: &str, message: Option<&str>) -> CallFailure {
    let message = message.unwrap_or_default().to_owned();
    CallFailure::Platform { code: code.to_owned(), message, field: None }
}

/// What the contract says of the payload.
async fn judge(
    contract: &dyn Contract,
    context: &CallContext,
    partner: &PartnerId,
    tool: &str,
    answer: &ToolAnswer,
    report: &mut TrialReport,
) -> Result<(), TrialError> {
    let descriptor = contract.descriptor();
    if tool == descriptor.search.tool {
        let judged = judge_answer(contract, context, &report.arguments, nobody(partner), answer).await?;
        match judged {
            Ok(JudgedSearch { ranked, dropped, notes }) => {
                (report.ranked, report.dropped, report.notes) = (ranked, dropped, notes);
            }
            Err(failure) => report.failure = Some(failure),
        }
        return Ok(());
    }
    if let Some(item) = answer.unmapped.first() {
        report.failure = Some(CallFailure::Payload(item.reason.clone()));
        return Ok(());
    }
    let fields = ForbiddenFields::new(&descriptor.forbidden_fields);
    if let Some(breach) = first_breach(&fields, &answer.text) {
        report.failure = Some(CallFailure::Forbidden(breach.pointer));
        return Ok(());
    }
    let exchange = Exchange { tool, arguments: report.arguments.get(), payload: &answer.text, quoted: None };
    match contract.check_response(context, exchange).await {
        Ok(CheckedResponse { findings, .. }) => report.notes = findings,
        Err(ContractError::Refused(refusal)) => report.refused = Some(refusal),
        Err(ContractError::Fault(fault)) => return Err(TrialError::Contract(fault)),
    }
    Ok(())
}

/// A partner that is never called: only its name is needed.
fn nobody(id: &PartnerId) -> Arc<Partner> {
    Arc::new(Partner {
        id: id.clone(),
        name: id.to_string(),
        endpoint: Endpoint::mcp(""),
        mappings: Mappings::new(),
        listings: Vec::new(),
        token: None,
    })
}
