//! Reads the members of small request bodies and collects everything that is wrong with them.
//!
//! Not here: what a member means; that is judged in the domain. Members that no route reads are passed over.

use intent_gateway_domain::contract::Violation;
use serde_json::{Map, Value};

use crate::error::{Code, Refusal};

/// Longest text that a member may be, characters, where the domain sets no other bound.
pub(crate) const TEXT_MAX_CHARS: usize = 4_096;
/// Longest array that a member may be.
pub(crate) const ITEMS_MAX: usize = 200;

/// The members of a body, and what is wrong with those that were read.
pub(crate) struct Fields {
    members: Map<String, Value>,
    violations: Vec<Violation>,
}

/// Which characters a text may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Characters {
    /// No control characters.
    Line,
    /// Control characters only of white space.
    Prose,
}

impl Fields {
    /// Takes a body that is known to be JSON.
    pub(crate) fn of(json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(Value::Object(members)) => Self { members, violations: Vec::new() },
            Ok(_) | Err(_) => {
                let mut fields = Self { members: Map::new(), violations: Vec::new() };
                fields.breach("", "WRONG_TYPE", "expected an object".to_owned());
                fields
            }
        }
    }

    /// A text that must be there.
    pub(crate) fn text(&mut self, name: &str) -> String {
        self.required(name, Characters::Line)
    }

    /// A text of several lines that must be there.
    pub(crate) fn prose(&mut self, name: &str) -> String {
        self.required(name, Characters::Prose)
    }

    /// A text that may be absent or null.
    pub(crate) fn optional_text(&mut self, name: &str) -> Option<String> {
        self.string(name, Characters::Line)
    }

    /// A text of several lines that may be absent or null.
    pub(crate) fn optional_prose(&mut self, name: &str) -> Option<String> {
        self.string(name, Characters::Prose)
    }

    /// A boolean; false when absent or null.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        match self.members.remove(name) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(value)) => value,
            Some(_) => {
                self.breach(&pointer(name), "WRONG_TYPE", "expected true or false".to_owned());
                false
            }
        }
    }

    /// An array; empty when absent or null.
    pub(crate) fn items(&mut self, name: &str) -> Vec<Value> {
        match self.members.remove(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) if items.len() > ITEMS_MAX => {
                self.breach(&pointer(name), "TOO_MANY_ITEMS", format!("expected at most {ITEMS_MAX} items"));
                Vec::new()
            }
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.breach(&pointer(name), "WRONG_TYPE", "expected an array".to_owned());
                Vec::new()
            }
        }
    }

    /// An array of texts; empty when absent or null.
    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        let items = self.items(name);
        let read = |(index, item): (usize, Value)| match item {
            Value::String(text) => Some(text),
            _ => {
                self.breach(&format!("/{name}/{index}"), "WRONG_TYPE", "expected a string".to_owned());
                None
            }
        };
        items.into_iter().enumerate().filter_map(read).collect()
    }

    /// Says that something is wrong at a place.
    pub(crate) fn breach(&mut self, pointer: &str, code: &str, message: String) {
        self.violations.push(Violation { pointer: pointer.to_owned(), code: code.to_owned(), message });
    }

    /// Refuses the body if anything is wrong with what was read.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        if self.violations.is_empty() {
            return Ok(());
        }
        Err(Refusal::new(Code::InvalidRequest).violations(self.violations))
    }

    fn required(&mut self, name: &str, characters: Characters) -> String {
        if self.members.get(name).is_none_or(Value::is_null) {
            self.breach(&pointer(name), "REQUIRED", "is missing".to_owned());
            return String::new();
        }
        self.string(name, characters).unwrap_or_default()
    }

    fn string(&mut self, name: &str, characters: Characters) -> Option<String> {
        let at = pointer(name);
        let text = match self.members.remove(name) {
            None | Some(Value::Null) => return None,
            Some(Value::String(text)) => text,
            Some(_) => {
                self.breach(&at, "WRONG_TYPE", "expected a string".to_owned());
                return None;
            }
        };
        if text.chars().count() > TEXT_MAX_CHARS {
            self.breach(&at, "TOO_LONG", format!("expected at most {TEXT_MAX_CHARS} characters"));
            return None;
        }
        let space = |character: char| characters == Characters::Prose && matches!(character, '\n' | '\r' | '\t');
        if text.chars().any(|character| character.is_control() && !space(character)) {
            self.breach(&at, "CONTROL_CHARACTER", "expected no control characters".to_owned());
            return None;
        }
        Some(text)
    }
}

/// The names read here need no escapes.
fn pointer(name: &str) -> String {
    format!("/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(read: impl FnOnce(&mut Fields), json: &str) -> Vec<(String, String)> {
        let mut fields = Fields::of(json);
        read(&mut fields);
        fields.violations.into_iter().map(|violation| (violation.pointer, violation.code)).collect()
    }

    fn one(pointer: &str, code: &str) -> Vec<(String, String)> {
        vec![(pointer.to_owned(), code.to_owned())]
    }

    #[test]
    fn everything_wrong_is_told() {
        let text = |fields: &mut Fields| drop(fields.text("a"));
        assert_eq!(told(text, r#"{"a":"x","b":1}"#), []);
        assert_eq!(told(text, "{}"), one("/a", "REQUIRED"));
        assert_eq!(told(text, r#"{"a":null}"#), one("/a", "REQUIRED"));
        assert_eq!(told(text, r#"{"a":1}"#), one("/a", "WRONG_TYPE"));
        assert_eq!(told(text, r#"{"a":"x\u0000"}"#), one("/a", "CONTROL_CHARACTER"));
        assert_eq!(told(text, r#"{"a":"x\n"}"#), one("/a", "CONTROL_CHARACTER"));
        assert_eq!(told(text, &format!(r#"{{"a":"{}"}}"#, "x".repeat(4_097))), one("/a", "TOO_LONG"));
        let prose = |fields: &mut Fields| drop(fields.prose("a"));
        assert_eq!(told(prose, r#"{"a":"x\n\ty\r\n"}"#), []);
        assert_eq!(told(prose, r#"{"a":"x\u0000"}"#), one("/a", "CONTROL_CHARACTER"));
        let optional = |fields: &mut Fields| drop((fields.optional_text("a"), fields.flag("b"), fields.texts("c")));
        assert_eq!(told(optional, "{}"), []);
        assert_eq!(told(optional, r#"{"a":null,"b":null,"c":null}"#), []);
        assert_eq!(told(optional, r#"{"c":["x",2]}"#), one("/c/1", "WRONG_TYPE"));
        let wrong = told(optional, r#"{"a":1,"b":"yes","c":{}}"#);
        assert_eq!(wrong.iter().map(|(pointer, _)| pointer.as_str()).collect::<Vec<_>>(), ["/a", "/b", "/c"]);
        assert_eq!(told(text, "[]"), [one("", "WRONG_TYPE"), one("/a", "REQUIRED")].concat());
        let many = format!(r#"{{"c":[{}0]}}"#, "0,".repeat(200));
        assert_eq!(told(|fields| drop(fields.items("c")), &many), one("/c", "TOO_MANY_ITEMS"));
    }
}
