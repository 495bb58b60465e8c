//! A dry run of a mapping: what would be sent to a partner's API for some arguments, what the mapping makes of an answer that
//! somebody has pasted, and what the contract says of it. Nobody is called, and nothing is recorded.
//!
//! Not here: the mapping's own soundness (`domain::endpoint`), and what the API says of itself (a probe).

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::scan::scan;
use crate::search::{DroppedChoice, JudgedSearch, judge_answer};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    About, CallContext, CheckedResponse, Descriptor, Exchange, RankedOption, Refusal, Violation,
};
use intent_gateway_domain::endpoint::{
    ApiAnswer, ApiMapping, Endpoint, Mappings, RequestError, RestRequest, ToolMapping,
};
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::forbidden::ForbiddenFields;
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
    let arguments = contract.check_request(&context, trial.tool, trial.arguments, About::default()).await?.arguments;
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
    let body: Value = serde_json::from_str(trial.answer)
        .map_err(|error| CallFailure::Protocol(not_json::describe(not_json::kind(trial.answer), &error)))?;
    let answer = ApiAnswer { status: trial.status, body: Some(body), retry_after_ms: None, sign_in: None };
    match tool.failure(&answer) {
        Some(failure) => Err(failure.under(descriptor)),
        None => Ok(tool.payload(arguments, &answer)?.into()),
    }
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
    let flaws = match scan(&answer.text, None, &fields) {
        Ok(scanned) => scanned.outside,
        Err(deep) => {
            report.failure = Some(CallFailure::Payload(deep.to_string()));
            return Ok(());
        }
    };
    if let Some(breach) = flaws.forbidden.into_iter().next() {
        report.failure = Some(CallFailure::Forbidden(breach.pointer));
        return Ok(());
    }
    if !flaws.malformed.is_empty() {
        report.refused = Some(Refusal::invalid_answer(flaws.malformed));
        return Ok(());
    }
    let exchange = Exchange { tool, arguments: report.arguments.get(), payload: &answer.text, about: About::default() };
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
        sign_in: None,
    })
}
