//! What the checks of documents share: a bounded list of violations, the type of a JSON value in words, quoting.
//!
//! Not here: any rule. The documents are manifests, tool descriptors and compliance profiles.

use serde_json::Value;

use crate::contract::Violation;

/// Violations listed for one document; the rest are counted.
pub(crate) const VIOLATIONS_LISTED_MAX: usize = 200;
/// Characters of a partner's text that a message repeats.
const QUOTED_MAX_CHARS: usize = 80;

/// Codes that several checks use; the meaning is that of the contracts' own (`contract_sdk::code`).
pub(crate) mod code {
    pub(crate) const REQUIRED: &str = "REQUIRED";
    pub(crate) const WRONG_TYPE: &str = "WRONG_TYPE";
    pub(crate) const EMPTY: &str = "EMPTY";
    pub(crate) const TOO_LONG: &str = "TOO_LONG";
    pub(crate) const TOO_FEW_ITEMS: &str = "TOO_FEW_ITEMS";
    pub(crate) const TOO_MANY_ITEMS: &str = "TOO_MANY_ITEMS";
    pub(crate) const OUT_OF_RANGE: &str = "OUT_OF_RANGE";
    pub(crate) const BAD_FORMAT: &str = "BAD_FORMAT";
    pub(crate) const NOT_IN_VOCABULARY: &str = "NOT_IN_VOCABULARY";
    pub(crate) const UNEXPECTED_VALUE: &str = "UNEXPECTED_VALUE";
    pub(crate) const UNKNOWN_MEMBER: &str = "UNKNOWN_MEMBER";
    pub(crate) const CONTROL_CHARACTER: &str = "CONTROL_CHARACTER";
    pub(crate) const NOT_LISTED: &str = "MORE_VIOLATIONS";
}

/// Violations in the order found, up to a bound.
#[derive(Debug)]
pub(crate) struct Violations {
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
    pub(crate) fn at_most(max: usize) -> Self {
        Self { listed: Vec::new(), unlisted: 0, max }
    }

    pub(crate) fn push(&mut self, pointer: impl Into<String>, code: &str, message: impl Into<String>) {
        if self.listed.len() < self.max {
            self.listed.push(Violation { pointer: pointer.into(), code: code.to_owned(), message: message.into() });
        } else {
            self.unlisted += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The list; where it was cut, its last entry says by how much.
    pub(crate) fn into_vec(mut self) -> Vec<Violation> {
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

/// The pointer (RFC 6901) to a member of what `at` points to.
pub(crate) fn child(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The JSON type of a value, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
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
pub(crate) fn quoted(text: &str) -> String {
    let mut characters = text.chars();
    let shown: String = characters.by_ref().take(QUOTED_MAX_CHARS).collect();
    let rest = if characters.next().is_some() { "…" } else { "" };
    format!("{shown:?}{rest}")
}

/// Whether a text is longer than so many characters, without counting all of a huge one.
pub(crate) fn longer_than(text: &str, max_chars: usize) -> bool {
    text.chars().nth(max_chars).is_some()
}

/// What property tests of checks share: any JSON, anywhere in a document.
#[cfg(test)]
pub(crate) mod testing {
    use proptest::prelude::*;
    use serde_json::Value;

    /// A JSON value, none too large. Numbers have few digits, for the parser may miss the last bit of a long fraction.
    pub(crate) fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i32>().prop_map(|eighths| (f64::from(eighths) / 8.0).into()),
            (-2..3_i32).prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            "\\PC{0,8}".prop_map(Into::into),
            "[a-z_]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec(("[a-c\"é/~]{0,2}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Puts a value in the place of one of a document's values, the whole included.
    pub(crate) fn replace_somewhere(document: &mut Value, at: prop::sample::Index, value: Value) {
        let mut places = Vec::new();
        list(document, String::new(), &mut places);
        if let Some(place) = document.pointer_mut(&places[at.index(places.len())]) {
            *place = value;
        }
    }

    fn list(value: &Value, at: String, places: &mut Vec<String>) {
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| list(item, format!("{at}/{index}"), places));
            }
            Value::Object(members) => {
                members.iter().for_each(|(name, member)| list(member, super::child(&at, name), places));
            }
            _ => {}
        }
        places.push(at);
    }

    /// Whether a pointer leads to a value, or to where one is missing.
    pub(crate) fn points_into(document: &Value, pointer: &str) -> bool {
        let owner = pointer.rsplit_once('/').map_or("", |(owner, _)| owner);
        document.pointer(owner).is_some()
    }
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
        assert_eq!(quoted("a\nb\u{1b}"), r#""a\nb\u{1b}""#);
        assert_eq!(quoted(&"x".repeat(81)), format!("\"{}\"…", "x".repeat(80)));
        assert!(!longer_than(&"ü".repeat(3), 3) && longer_than(&"ü".repeat(4), 3));
        assert_eq!(child("/a", "b/c~d"), "/a/b~1c~0d");
    }
}
