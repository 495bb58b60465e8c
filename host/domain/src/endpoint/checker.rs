//! Walks a mapping as it was submitted and collects every violation, each with its JSON Pointer.

use serde_json::{Map, Value};

use crate::contract::Violation;
use crate::pointer::child;

/// Violations reported for one mapping.
const VIOLATIONS_MAX: usize = 100;
/// Nodes of all templates of one mapping.
const NODES_MAX: usize = 10_000;
/// Bytes of one JSON Pointer in a template.
const POINTER_MAX_BYTES: usize = 512;
/// Bytes of a platform code.
const PLATFORM_CODE_MAX_BYTES: usize = 64;

/// What has been found so far.
#[derive(Debug, Default)]
pub(super) struct Checker {
    violations: Vec<Violation>,
    nodes: usize,
}

impl Checker {
    pub(super) fn wrong(&mut self, at: &str, code: &str, message: impl Into<String>) {
        if self.violations.len() < VIOLATIONS_MAX {
            self.violations.push(Violation { pointer: at.to_owned(), code: code.to_owned(), message: message.into() });
        }
    }

    /// Counts a node of a template; `false` once there are too many.
    pub(super) fn count(&mut self, at: &str) -> bool {
        self.nodes += 1;
        if self.nodes == NODES_MAX + 1 {
            self.wrong(at, "MAPPING_TOO_LARGE", format!("the templates have more than {NODES_MAX} values"));
        }
        self.nodes <= NODES_MAX
    }

    pub(super) fn finish<T>(self, checked: Option<T>) -> Result<T, Vec<Violation>> {
        match checked {
            Some(checked) if self.violations.is_empty() => Ok(checked),
            _ => Err(self.violations),
        }
    }

    pub(super) fn object<'a>(&mut self, at: &str, value: &'a Value) -> Option<&'a Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.wrong(at, "WRONG_TYPE", "expected an object");
        }
        object
    }

    /// A member that must be a text of bounded length, and not empty.
    pub(super) fn text<'a>(
        &mut self,
        at: &str,
        object: &'a Map<String, Value>,
        key: &str,
        max_bytes: usize,
    ) -> Option<&'a str> {
        let at = child(at, key);
        let Some(value) = object.get(key) else {
            self.wrong(&at, "REQUIRED", format!("`{key}` is missing"));
            return None;
        };
        let text = value.as_str().filter(|text| !text.trim().is_empty() && text.len() <= max_bytes);
        if text.is_none() {
            self.wrong(&at, "WRONG_VALUE", format!("`{key}` must be a text of 1 to {max_bytes} bytes"));
        }
        text
    }

    /// Reports members that have no meaning: a misspelt one must not be passed over.
    pub(super) fn only(&mut self, at: &str, object: &Map<String, Value>, known: &[&str]) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            self.wrong(&child(at, key), "UNKNOWN_MEMBER", format!("expected one of: {}", known.join(", ")));
        }
    }

    /// A JSON Pointer (RFC 6901).
    pub(super) fn pointer(&mut self, at: &str, value: &Value) -> Option<String> {
        let well_formed = |text: &&str| {
            let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
            (text.is_empty() || text.starts_with('/')) && text.len() <= POINTER_MAX_BYTES && escapes
        };
        let pointer = value.as_str().filter(well_formed);
        if pointer.is_none() {
            self.wrong(at, "WRONG_POINTER", "expected a JSON Pointer such as `/city/name`");
        }
        pointer.map(str::to_owned)
    }

    /// A platform code, in UPPER_SNAKE_CASE.
    pub(super) fn platform_code(&mut self, at: &str, value: &Value) -> Option<String> {
        let well_formed = |code: &&str| {
            code.len() <= PLATFORM_CODE_MAX_BYTES
                && code.starts_with(|first: char| first.is_ascii_uppercase())
                && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        };
        let code = value.as_str().filter(well_formed);
        if code.is_none() {
            self.wrong(at, "WRONG_CODE", "expected a platform code such as `SLOT_UNAVAILABLE`");
        }
        code.map(str::to_owned)
    }
}
