//! Dry runs of a mapping.

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::endpoint::{ApiMapping, RestRequest};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_routing::search::DroppedChoice;
use intent_gateway_routing::trial::{TrialReport, TriedRequest};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::read::{Body, Members};

/// Where nobody says which status an answer came with.
const STATUS_DEFAULT: u16 = 200;

/// What is to be tried. Nobody is called, and nothing is recorded.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialBody {
    /// The intent.
    #[schema(example = "auto.book_ac_service")]
    pub intent: String,
    /// How the API answers its tools, as in the manifest's entry.
    #[schema(value_type = Object)]
    pub mapping: Value,
    /// The tool to try.
    pub tool: String,
    /// Arguments of the tool.
    #[schema(value_type = Object)]
    pub arguments: Box<RawValue>,
    /// The API's answer: its body as JSON of any kind, or as a text in just the words that it came in.
    #[schema(value_type = Value)]
    pub answer: Box<RawValue>,
    /// HTTP status of the answer; 200 where it is left out.
    #[schema(value_type = Option<u16>)]
    pub status: u16,
}

impl Body for TrialBody {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (intent, tool) = (members.text("intent"), members.text("tool"));
        let mapping = members.raw("mapping").map(|raw| serde_json::from_str(raw.get()).unwrap_or_default());
        let (arguments, answer) = (members.raw("arguments"), members.raw("answer"));
        let status = members.optional_raw("status").map(|raw| serde_json::from_str::<u16>(raw.get()).ok());
        let status = match status {
            None => Some(STATUS_DEFAULT),
            Some(Some(status)) if (200..600).contains(&status) => Some(status),
            Some(_) => {
                members.refuse("status", "OUT_OF_RANGE", "expected an HTTP status from 200 to 599");
                None
            }
        };
        Some(Self {
            intent: intent?,
            mapping: mapping?,
            tool: tool?,
            arguments: arguments?,
            answer: answer?,
            status: status?,
        })
    }
}

impl TrialBody {
    /// The API's answer as it came.
    #[must_use]
    pub fn answer_text(&self) -> String {
        serde_json::from_str(self.answer.get()).unwrap_or_else(|_| self.answer.get().to_owned())
    }
}

/// What would come of a call.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TrialResult {
    /// Whether the answer would pass: of a search, whether any option would.
    pub passed: bool,
    /// What would be sent; null where the arguments make no request.
    #[schema(required)]
    pub request: Option<TriedRequestBody>,
    /// Why the arguments make no request, or the call would fail: the code that callers would be told, and what is wrong in
    /// words.
    #[schema(required)]
    pub failure: Option<TrialFailure>,
    /// The tool's payload that the mapping makes of the answer.
    #[schema(value_type = Value, required)]
    pub payload: Option<Value>,
    /// Of a search: what would become of each option, those that would be shown first.
    pub options: Vec<TriedOption>,
    /// Of other tools: why the contract refuses the answer; pointers are into the payload.
    pub refused: Vec<Violation>,
    /// What would be noted about the answer as a whole; it costs nothing.
    pub notes: Vec<Violation>,
    /// Where the mapping misses the intent's contract; pointers are into the mapping.
    pub mismatches: Vec<Violation>,
}

/// A request as it would be sent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TriedRequestBody {
    pub method: String,
    /// Path and query, which are appended to the base address; empty for a GraphQL API, which has one address.
    pub target: String,
    /// Further headers.
    #[schema(value_type = Object)]
    pub headers: Map<String, Value>,
    /// The body; null where there is none.
    #[schema(value_type = Value, required)]
    pub body: Option<Value>,
}

/// Why a call would fail.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TrialFailure {
    /// What callers would be told.
    pub code: String,
    /// What is wrong.
    pub message: String,
}

/// What would become of an option.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TriedOption {
    /// Its own identifier, where one can be read.
    #[schema(required)]
    pub option_id: Option<String>,
    /// Its position in the payload, from 0, or, where the mapping could make nothing of it, in the API's own array; null for
    /// an option that would be shown.
    #[schema(required)]
    pub position: Option<usize>,
    /// Whether it would be shown.
    pub shown: bool,
    /// Whether it would count towards the partner's suspension.
    pub strike: bool,
    /// Why it would be dropped, or what would be noted about it; pointers are into the option.
    pub violations: Vec<Violation>,
}

impl TrialResult {
    /// The outcome of a dry run.
    #[must_use]
    pub fn of(report: TrialReport, mismatches: Vec<Violation>, is_search: bool) -> Self {
        let TrialReport { request, payload, failure, ranked, dropped, refused, notes, arguments: _ } = report;
        let (request, unsendable) = match request {
            Ok(request) => (Some(TriedRequestBody::from(request)), None),
            Err(error) => (None, Some(CallFailure::Payload(error.to_string()))),
        };
        let failure = unsendable.or(failure).map(TrialFailure::from);
        let has_answer = if is_search { !ranked.is_empty() } else { refused.is_none() };
        let shown = ranked.into_iter().map(|(option, violations)| TriedOption {
            option_id: Some(option.id),
            position: None,
            shown: true,
            strike: false,
            violations,
        });
        Self {
            passed: failure.is_none() && has_answer,
            request,
            failure,
            payload,
            options: shown.chain(dropped.into_iter().map(TriedOption::from)).collect(),
            refused: refused.map(|refusal| refusal.violations).unwrap_or_default(),
            notes,
            mismatches,
        }
    }
}

impl From<TriedRequest> for TriedRequestBody {
    fn from(request: TriedRequest) -> Self {
        match request {
            TriedRequest::Rest(RestRequest { method, target, headers, body }) => Self {
                method: method.as_str().to_owned(),
                target,
                headers: headers.into_iter().map(|(name, value)| (name, json!(value))).collect(),
                body,
            },
            TriedRequest::Graphql(body) => {
                Self { method: "POST".to_owned(), target: String::new(), headers: Map::new(), body: Some(body) }
            }
        }
    }
}

impl From<CallFailure> for TrialFailure {
    fn from(failure: CallFailure) -> Self {
        Self { code: failure.code().to_owned(), message: failure.to_string() }
    }
}

impl From<DroppedChoice> for TriedOption {
    fn from(dropped: DroppedChoice) -> Self {
        let DroppedChoice { position, option_id, strike, violations, .. } = dropped;
        Self { option_id, position: Some(position), shown: false, strike, violations }
    }
}

/// Reads the mapping of a body.
///
/// # Errors
/// Every violation, with pointers into the body.
pub fn mapping(value: &Value) -> Result<ApiMapping, Vec<Violation>> {
    ApiMapping::check(value)
        .map_err(|violations| violations.into_iter().map(|violation| violation.within("/mapping")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    fn body(change: impl FnOnce(&mut Value)) -> Result<TrialBody, Vec<Violation>> {
        let mut body =
            json!({"intent": "auto.fix", "mapping": {}, "tool": "search", "arguments": {}, "answer": {"a": 1.50}});
        change(&mut body);
        read(&body.to_string())
    }

    #[test]
    fn an_answer_is_json_or_the_text_as_it_was_pasted() {
        let read = body(|_| {}).expect("sound");
        assert_eq!((read.status, read.answer_text()), (200, r#"{"a":1.5}"#.to_owned()));
        let pasted = body(|body| body["answer"] = json!("<html>")).expect("sound");
        assert_eq!(pasted.answer_text(), "<html>");
    }

    #[test]
    fn a_status_is_one_that_an_answer_can_have() {
        for (status, expected) in [(json!(404), true), (json!(null), true), (json!(99), false), (json!("404"), false)] {
            assert_eq!(body(|body| body["status"] = status.clone()).is_ok(), expected, "{status}");
        }
    }
}
