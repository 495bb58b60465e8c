//! What an error means that a partner answers with, whatever carries it: a tool result, a JSON-RPC error, or an API of the
//! partner's own (spec 1, Errors).
//!
//! Not here: where each protocol has its errors (`host/partners`, [`crate::endpoint`]), and whether a code is one of the
//! intent's ([`CallFailure::under`]).

use serde_json::Value;

use crate::error::CallFailure;
use crate::plain_text::misleads;
use crate::platform_code::PlatformCode;

/// Characters kept of any text that a partner wrote and that ends up in a log or in an answer.
const PARTNER_TEXT_MAX_CHARS: usize = 300;
/// Bytes of an error's details that are looked through for a platform code.
const ERROR_DETAIL_MAX_BYTES: usize = 64 * 1024;
/// How deep a platform code may sit in an error's details, objects.
const ERROR_DETAIL_MAX_DEPTH: u8 = 3;
/// Characters kept of what stands in the place of a platform code.
const PLATFORM_CODE_MAX_CHARS: usize = 64;

/// The failure that a partner's own error stands for; without a code it is text alone.
#[must_use]
pub fn failure(code: Option<&str>, message: &str, field: Option<&str>, retry_after_ms: Option<u64>) -> CallFailure {
    let Some(code) = code else { return unknown_code(None, message) };
    match PlatformCode::parse(code) {
        Some(PlatformCode::RateLimited) => CallFailure::RateLimited { retry_after_ms },
        Some(PlatformCode::InvalidAuth) => CallFailure::Unauthorized,
        _ => CallFailure::Platform { code: code.to_owned(), message: clean(message), field: field.map(clean) },
    }
}

/// An error that names no code of the platform's form, or none at all.
#[must_use]
pub fn unknown_code(sent: Option<&str>, message: &str) -> CallFailure {
    CallFailure::UnknownCode { sent: sent.map(clean_code), message: clean(message) }
}

/// A text that stands where a code should, safe to log and to pass on.
fn clean_code(text: &str) -> String {
    text.chars().filter(|c| !misleads(*c)).take(PLATFORM_CODE_MAX_CHARS).collect()
}

/// The platform's part of an error's details.
#[derive(Debug, Default)]
pub struct PlatformDetail {
    /// `platform_error_code`, or what stands in its place.
    pub code: Option<String>,
    /// `platform_field`.
    pub field: Option<String>,
    /// The text beside them.
    pub message: Option<String>,
}

impl PlatformDetail {
    /// Looks through an answer that is no JSON-RPC message, as [`PlatformDetail::find`] does.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        Self::find_in(value, ERROR_DETAIL_MAX_DEPTH)
    }

    /// The failure that it stands for; `message` where it has no text of its own.
    #[must_use]
    pub fn failure(self, message: &str, retry_after_ms: Option<u64>) -> Option<CallFailure> {
        let message = self.message.as_deref().unwrap_or(message);
        Some(failure(Some(self.code.as_deref()?), message, self.field.as_deref(), retry_after_ms))
    }

    /// Looks for an object with a `platform_error_code`, at the top or under the keys that error objects are
    /// commonly wrapped in.
    #[must_use]
    pub fn find(json: &str) -> Option<Self> {
        if json.len() > ERROR_DETAIL_MAX_BYTES || !json.trim_start().starts_with('{') {
            return None;
        }
        Self::find_in(&serde_json::from_str(json).ok()?, ERROR_DETAIL_MAX_DEPTH)
    }

    fn find_in(value: &Value, depth: u8) -> Option<Self> {
        let object = value.as_object()?;
        let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(code) = object.get("platform_error_code").filter(|code| !code.is_null()) {
            // Whatever it is, it stands where the code belongs: whether it is one, the intent's table says.
            let code = code.as_str().map_or_else(|| clean_code(&code.to_string()), clean_code);
            return Some(Self { code: Some(code), field: text("platform_field"), message: text("message") });
        }
        let depth = depth.checked_sub(1)?;
        let mut found =
            ["error", "data", "platform"].into_iter().find_map(|key| Self::find_in(object.get(key)?, depth))?;
        found.message = found.message.or_else(|| text("message"));
        Some(found)
    }
}

/// A partner's text, safe to log and to pass on: without what misleads a reader, and of bounded length.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars().filter(|c| !misleads(*c)).take(PARTNER_TEXT_MAX_CHARS).collect()
}

/// The answer breaks the protocol.
#[must_use]
pub fn protocol(reason: &str) -> CallFailure {
    CallFailure::Protocol(clean(reason))
}
