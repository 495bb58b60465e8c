//! Values that several commands take, as they are read.

use std::time::{Duration, SystemTime};

use intent_gateway_domain::id::IntentId;

pub(crate) fn parse_intent(text: &str) -> Result<IntentId, String> {
    IntentId::parse(text).map_err(|error| error.to_string())
}

/// Longest identifier of a record, characters.
const ID_MAX_CHARS: usize = 64;

/// An identifier of a record, which goes into a path; `expected` says how it is written and what tells it.
pub(crate) fn parse_id(text: &str, expected: &str) -> Result<String, String> {
    let fits = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits && (1..=ID_MAX_CHARS).contains(&text.len()) { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

/// A time back from now, in days, hours, minutes or seconds.
pub(crate) fn parse_span(text: &str) -> Result<Duration, String> {
    let expected = || format!("`{text}` is no time such as `7d` or `12h`");
    let span: jiff::Span = text.parse().map_err(|_| expected())?;
    let time = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| expected())?;
    Duration::try_from(time).map_err(|_| expected())
}

/// A time back from now, as gateways take it: milliseconds since the epoch.
pub(crate) fn ms_before_now(span: Duration) -> u128 {
    let then = SystemTime::now().checked_sub(span).unwrap_or(SystemTime::UNIX_EPOCH);
    then.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis()
}
