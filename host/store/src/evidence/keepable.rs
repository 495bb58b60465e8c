//! What must be kept, whatever it holds: texts and numbers that no engine takes are made into some that both do.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;

use crate::value::Value;

/// Text that both engines keep, cut to a length. A NUL character, which PostgreSQL cannot keep, is replaced.
pub(super) fn keepable(text: &str, max_bytes: usize) -> String {
    text[..text.floor_char_boundary(max_bytes)].replace('\0', "\u{fffd}")
}

/// A request's identifier as it is kept and looked for.
pub(crate) fn keepable_name(name: &str) -> String {
    // Of up to four bytes a character.
    keepable(name, 4 * REQUEST_ID_MAX_CHARS)
}

/// A time, for what must not fail for it: later than any clock tells is the latest that is kept.
pub(super) fn time(time: Timestamp) -> Value {
    number(time.as_ms())
}

/// A number, likewise.
pub(super) fn number(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}
