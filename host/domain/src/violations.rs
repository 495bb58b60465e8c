//! What the checks of documents share: a bounded list of violations, the type of a JSON value in words, quoting.
//!
//! Not here: any rule. The documents are manifests, tool descriptors and compliance profiles.

use serde_json::Value;

use crate::contract::Violation;

/// Violations listed for one document; the rest are counted.
pub const VIOLATIONS_LISTED_MAX: usize = 200;
/// Characters of a partner's text that a message repeats.
const QUOTED_MAX_CHARS: usize = 80;

/// Codes that several checks use; the meaning is that of the contracts' own (`contract_sdk::code`).
pub mod code {
    pub const REQUIRED: &str = "REQUIRED";
    pub const WRONG_TYPE: &str = "WRONG_TYPE";
    pub const EMPTY: &str = "EMPTY";
    pub const TOO_LONG: &str = "TOO_LONG";
    pub const TOO_FEW_ITEMS: &str = "TOO_FEW_ITEMS";
    pub const TOO_MANY_ITEMS: &str = "TOO_MANY_ITEMS";
    pub const OUT_OF_RANGE: &str = "OUT_OF_RANGE";
    pub const BAD_FORMAT: &str = "BAD_FORMAT";
    pub const NOT_IN_VOCABULARY: &str = "NOT_IN_VOCABULARY";
    pub const UNEXPECTED_VALUE: &str = "UNEXPECTED_VALUE";
    pub const UNKNOWN_MEMBER: &str = "UNKNOWN_MEMBER";
    pub const CONTROL_CHARACTER: &str = "CONTROL_CHARACTER";
    pub(crate) const NOT_LISTED: &str = "MORE_VIOLATIONS";
}

/// Violations in the order found, up to a bound.
#[derive(Debug)]
pub struct Violations {
    listed: Vec<Violation>,
    unlisted: usize,
    max: usize,
}

impl Default for Violations {
    fn default() -> Self {
        Self::at_most(VIOLATIONS_LISTED_MAX)
    }
}

impl Violations {
    /// An empty list that takes so many.
    pub fn at_most(max: usize) -> Self {
        Self { listed: Vec::new(), unlisted: 0, max }
    }

    pub fn push(&mut self, pointer: impl Into<String>, code: &str, message: impl Into<String>) {
        if self.listed.len() < self.max {
            self.listed.push(Violation { pointer: pointer.into(), code: code.to_owned(), message: message.into() });
        } else {
            self.unlisted += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The list; where it was cut, its last entry says by how much.
    pub fn into_vec(mut self) -> Vec<Violation> {
        if self.unlisted > 0 {
            self.listed.push(Violation {
                pointer: String::new(),
                code: code::NOT_LISTED.to_owned(),
                message: format!("{} more problems are not listed.", self.unlisted),
            });
        }
        self.listed
    }
}

/// The JSON type of a value, with its article.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A partner's text for a message: quoted, escaped, cut.
pub fn quote(text: &str) -> String {
    let mut characters = text.chars();
    let shown: String = characters.by_ref().take(QUOTED_MAX_CHARS).collect();
    let rest = if characters.next().is_some() { "…" } else { "" };
    format!("{shown:?}{rest}")
}

/// Whether a text is longer than so many characters, without counting all of a huge one.
pub fn longer_than(text: &str, max_chars: usize) -> bool {
    text.chars().nth(max_chars).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let mut violations = Violations::default();
        for number in 0..VIOLATIONS_LISTED_MAX + 3 {
            violations.push(format!("/{number}"), "X", "x");
        }
        let listed = violations.into_vec();
        assert_eq!(listed.len(), VIOLATIONS_LISTED_MAX + 1);
        assert_eq!(listed[VIOLATIONS_LISTED_MAX].message, "3 more problems are not listed.");
    }

    #[test]
    fn a_quoted_text_is_short_and_harmless() {
        assert_eq!(quote("a\nb\u{1b}"), r#""a\nb\u{1b}""#);
        assert_eq!(quote(&"x".repeat(81)), format!("\"{}\"…", "x".repeat(80)));
        assert!(!longer_than(&"ü".repeat(3), 3) && longer_than(&"ü".repeat(4), 3));
    }
}
