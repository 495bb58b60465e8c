//! Arguments that a tool wants repeated in headers, so that whatever stands before a partner's server can route a call
//! without reading its body (MCP 2026-07-28, Streamable HTTP: Custom Headers from Tool Parameters).
//!
//! A tool marks them in its input schema. A tool that marks them wrongly is not called at all, as the protocol has it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// The mark in a property's schema; its value names the header.
const MARK: &str = "x-mcp-header";
/// What the name of every such header starts with.
const HEADER_PREFIX: &str = "mcp-param-";
/// Arguments that one tool may want repeated.
const FIELDS_MAX: usize = 64;
/// Around a value that is not a plain header text.
const BASE64_PREFIX: &str = "=?base64?";
const BASE64_SUFFIX: &str = "?=";

/// A tool marks its arguments in a way that the protocol forbids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MarkError {
    #[error("`{MARK}` of `{0}` is no header name")]
    Name(String),
    #[error("`{MARK}` of `{0}` names a header for the second time")]
    Duplicate(String),
    #[error("`{MARK}` of `{0}` marks no string, integer or boolean")]
    Type(String),
    #[error("`{MARK}` stands where no single argument is meant")]
    Place,
    #[error("`{MARK}` marks more than {FIELDS_MAX} arguments")]
    TooMany,
}

/// The arguments of one tool that are repeated in headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mirror {
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    /// Names from the arguments down to the value.
    path: Vec<String>,
    header: HeaderName,
}

impl Mirror {
    /// Reads the marks of a tool's input schema.
    pub(crate) fn of(input_schema: &Value) -> Result<Self, MarkError> {
        let mut mirror = Self::default();
        if let Value::Object(schema) = input_schema {
            mirror.read(schema, Some(&mut Vec::new()))?;
        }
        Ok(mirror)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Reads a schema and all below it. `path` is where its values are in the arguments, for as long as that is one
    /// place: the way there leads through `properties` alone.
    fn read(&mut self, schema: &Map<String, Value>, mut path: Option<&mut Vec<String>>) -> Result<(), MarkError> {
        if let Some(mark) = schema.get(MARK) {
            let path = path.as_deref().filter(|path| !path.is_empty()).ok_or(MarkError::Place)?;
            self.add(path, mark, schema)?;
        }
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, schema) in properties {
                        let Value::Object(schema) = schema else { continue };
                        match path.as_deref_mut() {
                            Some(path) => {
                                path.push(name.clone());
                                self.read(schema, Some(path))?;
                                path.pop();
                            }
                            None => self.read(schema, None)?,
                        }
                    }
                }
                // Values, not schemas.
                (MARK | "default" | "const" | "enum" | "examples", _) => {}
                // Their keys are names, not keywords.
                ("$defs" | "definitions" | "dependentSchemas" | "patternProperties", Value::Object(named)) => {
                    self.read_elsewhere(named.values())?;
                }
                (_, Value::Object(schema)) => self.read(schema, None)?,
                (_, Value::Array(schemas)) => self.read_elsewhere(schemas.iter())?,
                _ => {}
            }
        }
        Ok(())
    }

    fn read_elsewhere<'a>(&mut self, schemas: impl Iterator<Item = &'a Value>) -> Result<(), MarkError> {
        for schema in schemas {
            match schema {
                Value::Object(schema) => self.read(schema, None)?,
                Value::Array(schemas) => self.read_elsewhere(schemas.iter())?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &[String], mark: &Value, schema: &Map<String, Value>) -> Result<(), MarkError> {
        let named = || path.join(".");
        let name = mark.as_str().filter(|name| !name.is_empty()).ok_or_else(|| MarkError::Name(named()))?;
        let header = HeaderName::try_from(format!("{HEADER_PREFIX}{name}")).map_err(|_| MarkError::Name(named()))?;
        if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
            return Err(MarkError::Type(named()));
        }
        if self.fields.iter().any(|field| field.header == header) {
            return Err(MarkError::Duplicate(named()));
        }
        if self.fields.len() >= FIELDS_MAX {
            return Err(MarkError::TooMany);
        }
        self.fields.push(Field { path: path.to_vec(), header });
        Ok(())
    }

    /// The headers of a call with these arguments. What is absent or null is not repeated.
    pub(crate) fn headers<'a>(&'a self, arguments: &'a Value) -> impl Iterator<Item = (HeaderName, HeaderValue)> + 'a {
        self.fields.iter().filter_map(move |Field { path, header }| {
            let value = path.iter().try_fold(arguments, |value, name| value.get(name))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(flag) => flag.to_string(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            Some((header.clone(), HeaderValue::from_str(&encode(text)).ok()?))
        })
    }
}

/// A value as header text: as it is, or in Base64 where a header would not bring it over unchanged.
pub(crate) fn encode(text: String) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim_matches(' ').len() == text.len()
        && !(text.starts_with(BASE64_PREFIX) && text.ends_with(BASE64_SUFFIX));
    if is_plain { text } else { format!("{BASE64_PREFIX}{}{BASE64_SUFFIX}", BASE64_STANDARD.encode(text)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(properties: &Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn marked_arguments_are_repeated() {
        let marked = schema(&json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "express": {"type": "boolean", "x-mcp-header": "Express"},
            "gone": {"type": "string", "x-mcp-header": "Gone"},
            "none": {"type": "string", "x-mcp-header": "None"},
            "plain": {"type": "string"},
            "car": schema(&json!({"year": {"type": "integer", "x-mcp-header": "Year"}})),
        }));
        let mirror = Mirror::of(&marked).expect("good marks");
        let arguments = json!({"region": "us west", "count": -7, "express": false, "none": null, "plain": "x", "car": {"year": 2017}});
        let mut headers: Vec<_> = mirror
            .headers(&arguments)
            .map(|(name, value)| format!("{name}: {}", value.to_str().expect("a text")))
            .collect();
        headers.sort();
        let expected = ["count: -7", "express: false", "region: us west", "year: 2017"];
        assert_eq!(headers, expected.map(|header| format!("mcp-param-{header}")));
    }

    #[test]
    fn what_is_no_header_text_travels_in_base64() {
        // The examples of the protocol's text.
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode(value.to_owned()), header);
        }
        assert!(encode("a\tb".to_owned()).starts_with(BASE64_PREFIX));
    }

    #[test]
    fn wrong_marks_are_refused() {
        let name = |name: &str| MarkError::Name(name.to_owned());
        let marked = |kind: &str, mark: &str| schema(&json!({"a": {"type": kind, "x-mcp-header": mark}}));
        let inner = json!({"type": "string", "x-mcp-header": "A"});
        let cases = [
            (marked("string", ""), name("a")),
            (marked("string", "My Region"), name("a")),
            (marked("string", "Région"), name("a")),
            (marked("string", "R:1"), name("a")),
            (schema(&json!({"a": {"type": "string", "x-mcp-header": 5}})), name("a")),
            (marked("number", "A"), MarkError::Type("a".to_owned())),
            (marked("object", "A"), MarkError::Type("a".to_owned())),
            (
                schema(
                    &json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
                ),
                MarkError::Duplicate("b".to_owned()),
            ),
            (schema(&json!({"a": {"type": "array", "items": inner}})), MarkError::Place),
            (schema(&json!({"a": {"oneOf": [schema(&json!({"b": inner}))]}})), MarkError::Place),
            (json!({"$defs": {"properties": inner}}), MarkError::Place),
            (json!({"type": "object", "x-mcp-header": "A"}), MarkError::Place),
        ];
        for (schema, error) in cases {
            assert_eq!(Mirror::of(&schema), Err(error), "{schema}");
        }
        let many: Map<_, _> = (0..=FIELDS_MAX)
            .map(|n| (format!("p{n}"), json!({"type": "string", "x-mcp-header": format!("H{n}")})))
            .collect();
        assert_eq!(Mirror::of(&schema(&Value::Object(many))), Err(MarkError::TooMany));
    }

    #[test]
    fn what_only_looks_like_a_mark_is_none() {
        for schema in [
            json!(true),
            schema(&json!({"x-mcp-header": {"type": "string"}})),
            schema(&json!({"a": {"type": "object", "default": {"x-mcp-header": "A"}}})),
        ] {
            assert_eq!(Mirror::of(&schema), Ok(Mirror::default()), "{schema}");
        }
    }
}
