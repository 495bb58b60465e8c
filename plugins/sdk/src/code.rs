//! The stable codes of violations that the SDK itself finds.
//!
//! Codes of an intent's own rules are named where the rule is. Tests and partners rely on codes, so a
//! code is never renamed and never changes its meaning.

/// A member that must be there is absent.
pub const REQUIRED: &str = "REQUIRED";
/// The value has another JSON type than declared, `null` included.
pub const WRONG_TYPE: &str = "WRONG_TYPE";
/// A number lies outside its bounds.
pub const OUT_OF_RANGE: &str = "OUT_OF_RANGE";
/// A value is none of those that the vocabulary lists.
pub const NOT_IN_VOCABULARY: &str = "NOT_IN_VOCABULARY";
/// A text is not written as its format asks: a datetime, a date, a URL, a phone number and so on.
pub const BAD_FORMAT: &str = "BAD_FORMAT";
/// A text that must say something is empty or blank.
pub const EMPTY: &str = "EMPTY";
/// A text has fewer characters than allowed.
pub const TOO_SHORT: &str = "TOO_SHORT";
/// A text has more characters than allowed.
pub const TOO_LONG: &str = "TOO_LONG";
/// A text or an array has not exactly the length that it must have.
pub const WRONG_LENGTH: &str = "WRONG_LENGTH";
/// An array has fewer entries than allowed.
pub const TOO_FEW_ITEMS: &str = "TOO_FEW_ITEMS";
/// An array has more entries than allowed.
pub const TOO_MANY_ITEMS: &str = "TOO_MANY_ITEMS";
/// A declared member occurs twice in one object.
pub const DUPLICATE_KEY: &str = "DUPLICATE_KEY";
/// The document is not JSON.
pub const INVALID_JSON: &str = "INVALID_JSON";
/// The value has to be one certain value and is another.
pub const UNEXPECTED_VALUE: &str = "UNEXPECTED_VALUE";
/// An option carries the identifier of an earlier option of the same answer.
pub const DUPLICATE_OPTION: &str = "DUPLICATE_OPTION";
/// The intent has no tool of this name.
pub const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";
/// A band value that the contract does not know; it counts as neutral. A note, never a refusal.
pub const UNKNOWN_BAND: &str = "UNKNOWN_BAND";
/// The quoted option that the host handed over cannot be read, so nothing was compared with it.
pub const QUOTE_UNREADABLE: &str = "QUOTE_UNREADABLE";

/// Refusal code for a request or a report that breaks its contract (spec 1, "Errors").
pub const INVALID_REQUEST: &str = "INVALID_REQUEST";
/// Refusal code for a partner's answer that breaks its contract: a partner failure (spec 1, "Errors").
pub const INTERNAL_ERROR: &str = "INTERNAL_ERROR";
