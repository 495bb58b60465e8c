//! Reads JSON-RPC messages, and tool results among them, without building a tree of what they carry.
//!
//! The payload of a tool call is JSON text inside JSON. It is unescaped once, straight from the body into a
//! `String`; nobody here looks into it. Judging the payload is the business of the core and of the contract.

use std::borrow::Cow;
use std::fmt;

use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner_error::{PlatformDetail, failure, protocol};
use intent_gateway_domain::platform_code::PlatformCode;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::lift::{LiftedText, STAND_IN, lift};

/// The code of JSON-RPC for a method, here a tool, that there is not.
const METHOD_NOT_FOUND_CODE: i64 = -32_601;
/// The notification that tells of a call's progress (MCP, Progress).
const PROGRESS: &str = "notifications/progress";

/// A JSON-RPC message from a partner; `R` is what is read of a result.
#[derive(Debug)]
pub(crate) enum Message<R> {
    /// The outcome of a request.
    Answer(Answer<R>),
    /// A request of the partner's own.
    Request {
        /// The identifier as the partner wrote it.
        id: Box<RawValue>,
        method: String,
    },
    /// What the partner tells of a call's progress: the `params` as it wrote them.
    Progress(Box<RawValue>),
    /// A log line, or another notification.
    Notification,
}

/// The outcome of a request.
#[derive(Debug)]
pub(crate) struct Answer<R> {
    /// The identifier as the partner wrote it; absent in errors about a request that it could not read.
    pub(crate) id: Option<Box<RawValue>>,
    pub(crate) outcome: Result<R, RpcError>,
}

/// The error object of JSON-RPC.
#[derive(Debug, Deserialize)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) data: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "R: DeserializeOwned"))]
struct Envelope<'a, R> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(default)]
    id: Option<Box<RawValue>>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(default = "none")]
    result: Option<R>,
    #[serde(default)]
    error: Option<RpcError>,
}

fn none<R>() -> Option<R> {
    None
}

impl<R: DeserializeOwned> Message<R> {
    /// Reads one message.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, CallFailure> {
        let envelope: Envelope<'_, R> =
            serde_json::from_slice(bytes).map_err(|error| protocol(&format!("no JSON-RPC message: {error}")))?;
        if envelope.jsonrpc != "2.0" {
            return Err(protocol("no JSON-RPC 2.0 message"));
        }
        match envelope {
            Envelope { method: Some(method), id: Some(id), .. } => {
                Ok(Self::Request { id, method: method.into_owned() })
            }
            Envelope { method: Some(method), params: Some(params), .. } if method == PROGRESS => {
                Ok(Self::Progress(params.to_owned()))
            }
            Envelope { method: Some(_), .. } => Ok(Self::Notification),
            Envelope { result: Some(result), error: None, id, .. } => {
                Ok(Self::Answer(Answer { id, outcome: Ok(result) }))
            }
            Envelope { error: Some(error), result: None, id, .. } => {
                Ok(Self::Answer(Answer { id, outcome: Err(error) }))
            }
            _ => Err(protocol("a JSON-RPC message with neither method, nor result, nor error")),
        }
    }
}

impl<R> Answer<R> {
    /// Whether this answers the request of that number. An error may come without an identifier.
    pub(crate) fn answers(&self, number: &str) -> bool {
        match &self.id {
            Some(id) => id.get().trim_matches('"') == number,
            None => self.outcome.is_err(),
        }
    }
}

/// Reads the answer to a tool call: as [`Message::parse`] does, by the faster way where that is safe.
pub(crate) fn parse_tool_answer(bytes: &[u8]) -> Result<Message<ToolResult>, CallFailure> {
    if let Some(LiftedText { rest, text }) = lift(bytes)
        && let Ok(Message::Answer(mut answer)) = Message::<ToolResult>::parse(&rest)
        && let Ok(result) = &mut answer.outcome
        && result.text.as_deref() == Some(STAND_IN)
    {
        result.text = Some(text);
        return Ok(Message::Answer(answer));
    }
    Message::parse(bytes)
}

/// What is read of a `tools/call` result.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolResult {
    #[serde(default, rename = "content", deserialize_with = "first_text")]
    text: Option<String>,
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default, rename = "_meta")]
    meta: Option<Box<RawValue>>,
    /// Whether the call is done, since revision 2026-07-28.
    #[serde(default)]
    result_type: Option<String>,
}

/// What [`ToolResult::result_type`] says of a call that is done, and by its absence means.
const COMPLETE: &str = "complete";

impl Answer<ToolResult> {
    /// What the partner wrote, as it wrote it, where the answer is an error.
    pub(crate) fn error_text(&self) -> Option<String> {
        match &self.outcome {
            Ok(result) => result.error_text().map(str::to_owned),
            Err(RpcError { code, message, data }) => {
                let data = data.as_deref().map_or_else(String::new, |data| format!(", \"data\": {data}"));
                Some(format!("{{\"code\": {code}, \"message\": {}{data}}}", Value::from(message.as_str())))
            }
        }
    }
}

impl ToolResult {
    /// The text of a result that reports an error, or what else it says.
    fn error_text(&self) -> Option<&str> {
        let text = self.text.as_deref().filter(|text| !text.trim().is_empty());
        let other = || self.structured_content.as_deref().or(self.meta.as_deref()).map(RawValue::get);
        text.or_else(other).filter(|_| self.is_error == Some(true))
    }

    /// The payload: the first text of the content (spec 1, JSON-RPC messages), or the structured content of a server
    /// that gives no text.
    pub(crate) fn payload(self, retry_after_ms: Option<u64>) -> Result<String, CallFailure> {
        if self.is_error == Some(true) {
            return Err(self.failure(retry_after_ms));
        }
        if self.result_type.as_deref().is_some_and(|kind| kind != COMPLETE) {
            return Err(protocol("a result that asks for more, which this client does not offer"));
        }
        let structured =
            || self.structured_content.filter(|raw| raw.get().starts_with('{')).map(|raw| raw.get().to_owned());
        self.text.or_else(structured).ok_or_else(|| protocol("a tool result without text"))
    }

    /// The failure that an `isError` result reports. Some SDKs lose the error object that a tool throws and leave
    /// its details in one of these three places.
    fn failure(&self, retry_after_ms: Option<u64>) -> CallFailure {
        let text = self.text.as_deref();
        let places =
            [self.structured_content.as_deref().map(RawValue::get), self.meta.as_deref().map(RawValue::get), text];
        let detail = places.into_iter().flatten().find_map(PlatformDetail::find).unwrap_or_default();
        let message = detail.message.as_deref().or(text).unwrap_or_default();
        failure(detail.code.as_deref(), message, detail.field.as_deref(), retry_after_ms)
    }
}

impl RpcError {
    /// Whether the error says more than the HTTP status that it came with: its code is one of JSON-RPC's own, it names a
    /// platform code, or its number and the status are those of one row of the platform's table (spec 1, Errors).
    pub(crate) fn is_specific(&self, status: u16) -> bool {
        (-32_768..=-32_600).contains(&self.code)
            || PlatformCode::of_json_rpc(self.code).is_some_and(|code| code.http_status() == status)
            || self.names_code()
    }

    /// Whether the error answers the call, and not the session that it came in: that status 404 says of either.
    pub(crate) fn answers_call(&self) -> bool {
        self.code == METHOD_NOT_FOUND_CODE || self.names_code()
    }

    fn names_code(&self) -> bool {
        self.detail().code.is_some()
    }

    /// Whether the code is one that MCP itself defines (MCP 2026-07-28, Error Codes).
    pub(crate) fn is_of_mcp(&self) -> bool {
        (-32_099..=-32_020).contains(&self.code)
    }

    /// Whether a server that was called without a session wants one: it handed none out when it was opened, and has been
    /// restarted with sessions since. There is no code for that. The official SDKs and servers built on them answer 400 with
    /// one of these two codes, and name the session or the initialization.
    pub(crate) fn asks_for_session(&self) -> bool {
        let message = self.message.to_lowercase();
        matches!(self.code, -32_600 | -32_000)
            && !self.names_code()
            && ["session", "initiali"].iter().any(|word| message.contains(word))
    }

    /// The failure that the error stands for (spec 1, Errors).
    pub(crate) fn failure(&self, retry_after_ms: Option<u64>) -> CallFailure {
        let detail = self.detail();
        let code = detail.code.as_deref().or_else(|| PlatformCode::of_json_rpc(self.code).map(PlatformCode::as_str));
        failure(code, &self.message, detail.field.as_deref(), retry_after_ms)
    }

    fn detail(&self) -> PlatformDetail {
        self.data.as_deref().and_then(|data| PlatformDetail::find(data.get())).unwrap_or_default()
    }
}

/// The text of the first item of `type: text`. Other items are skipped, however many there are.
fn first_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    struct Item<'a> {
        #[serde(borrow, default)]
        r#type: Cow<'a, str>,
        #[serde(default)]
        text: Option<String>,
    }

    struct FirstText;

    impl<'de> Visitor<'de> for FirstText {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of content items")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while let Some(item) = items.next_element::<Item<'de>>()? {
                if item.r#type == "text" && item.text.is_some() {
                    while items.next_element::<IgnoredAny>()?.is_some() {}
                    return Ok(item.text);
                }
            }
            Ok(None)
        }
    }

    deserializer.deserialize_seq(FirstText)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(body: &str) -> Option<String> {
        match parse_tool_answer(body.as_bytes()).ok()? {
            Message::Answer(answer) => answer.outcome.ok()?.payload(None).ok(),
            _ => None,
        }
    }

    /// A text somewhere else than in the content must neither be taken for the payload nor go missing from it.
    #[test]
    fn only_the_contents_text_is_the_payload() {
        let cases = [
            (r#"{"content":[{"type":"text","text":"{\"a\":1}"}]}"#, Some(r#"{"a":1}"#)),
            (r#"{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}]}"#, Some("a")),
            (r#"{"content":[{"type":"resource","resource":{"text":"a"}},{"type":"text","text":"b"}]}"#, Some("b")),
            (r#"{"content":[{"type":"other","text":"a"},{"type":"text","text":"b"}]}"#, Some("b")),
            (r#"{"structuredContent":{"text":"a"},"content":[{"type":"text","text":"b"}]}"#, Some("b")),
            (r#"{"structuredContent":{"text":"a\"b"},"content":[]}"#, Some(r#"{"text":"a\"b"}"#)),
            (r#"{"content":[{"type":"text","text":"\u0041"}]}"#, Some("A")),
            (r#"{"content":[{"type":"text","text":"a"}],"isError":true}"#, None),
            (r#"{"content":[{"type":"text","text":"a"}"#, None),
        ];
        for (result, expected) in cases {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
            assert_eq!(payload(&body).as_deref(), expected, "{result}");
        }
    }

    #[test]
    fn a_lifted_text_still_reports_its_failure() {
        let body =
            br#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"it broke"}]}}"#;
        let Ok(Message::Answer(Answer { outcome: Ok(result), .. })) = parse_tool_answer(body) else {
            panic!("no result");
        };
        let expected = CallFailure::UnknownCode { sent: None, message: "it broke".to_owned() };
        assert_eq!(result.payload(None), Err(expected));
    }
}
