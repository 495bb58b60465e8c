//! The rows that a JSON Schema makes in a table of fields.
//!
//! Schemas of contracts are plain: objects, arrays, bounds, enumerations. A keyword that is not known here shows up
//! in no row; the schema itself is what the gateway enforces.

use intent_gateway_domain::contract::Vocabulary;
use intent_gateway_domain::pointer::child;
use serde_json::{Map, Value};

/// Values of an enumeration that are listed in the table itself where no vocabulary has them.
const INLINE_VALUES_MAX: usize = 12;
/// How deep objects and arrays are followed.
const DEPTH_MAX: usize = 64;

/// A row: pointer, type, required, bounds, meaning.
pub(super) type Row = [String; 5];

/// Makes rows of schemas.
pub(super) struct Fields<'a> {
    /// To name instead of listing the same values again.
    pub(super) vocabularies: &'a [Vocabulary],
}

impl Fields<'_> {
    /// A row for each member of the document, however deep.
    pub(super) fn of(&self, schema: &str) -> Vec<Row> {
        let mut rows = Vec::new();
        if let Ok(Value::Object(schema)) = serde_json::from_str(schema) {
            self.members("", &schema, &mut rows, 0);
        }
        rows
    }

    /// The members of an object, or of the entries of an array.
    fn members(&self, at: &str, schema: &Map<String, Value>, rows: &mut Vec<Row>, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        if let Some(Value::Object(items)) = schema.get("items") {
            self.members(&format!("{at}/*"), items, rows, depth + 1);
        }
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in properties {
            let Value::Object(property) = property else { continue };
            let pointer = child(at, name);
            let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
            let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
            rows.push([
                format!("`{pointer}`"),
                type_of(property),
                if is_required { "yes" } else { "no" }.to_owned(),
                self.bounds(property),
                description.to_owned(),
            ]);
            self.members(&pointer, property, rows, depth + 1);
        }
    }

    fn bounds(&self, schema: &Map<String, Value>) -> String {
        let mut bounds = Vec::new();
        if let Some(only) = schema.get("const") {
            bounds.push(format!("always `{only}`"));
        }
        bounds.extend(schema.get("enum").and_then(Value::as_array).map(|values| self.one_of(values)));
        bounds.extend(range(schema, ["minimum", "maximum"], ["", ""]));
        bounds.extend(range(schema, ["minLength", "maxLength"], [" character", " characters"]));
        bounds.extend(range(schema, ["minItems", "maxItems"], [" entry", " entries"]));
        bounds.extend(schema.get("format").and_then(Value::as_str).map(|format| match format {
            "date-time" => "date and time with offset".to_owned(),
            other => other.to_owned(),
        }));
        bounds.extend(schema.get("pattern").and_then(Value::as_str).map(|pattern| match pattern {
            "\\S" => "not blank".to_owned(),
            other => format!("matches `{other}`"),
        }));
        // An array's entries are bounded beside it where they are not objects, which have rows of their own.
        if let Some(Value::Object(items)) = schema.get("items") {
            let entries = self.bounds(items);
            if !entries.is_empty() {
                bounds.push(format!("each {entries}"));
            }
        }
        bounds.join(", ")
    }

    fn one_of(&self, values: &[Value]) -> String {
        let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        let same = |vocabulary: &&Vocabulary| vocabulary.values == texts;
        if let Some(vocabulary) = self.vocabularies.iter().find(same).filter(|_| !texts.is_empty()) {
            return format!("one of [{}](#vocabularies)", vocabulary.name);
        }
        let mut listed: Vec<_> = values.iter().take(INLINE_VALUES_MAX).map(|value| format!("`{value}`")).collect();
        if let Some(more) = values.len().checked_sub(INLINE_VALUES_MAX).filter(|more| *more > 0) {
            listed.push(format!("and {more} more"));
        }
        format!("one of {}", listed.join(", "))
    }
}

fn type_of(schema: &Map<String, Value>) -> String {
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => match schema.get("const").or_else(|| schema.get("enum").and_then(|values| values.get(0))) {
            Some(Value::String(_)) => "string".to_owned(),
            Some(Value::Bool(_)) => "boolean".to_owned(),
            Some(Value::Number(_)) => "number".to_owned(),
            _ => "any".to_owned(),
        },
    };
    match schema.get("items") {
        Some(Value::Object(items)) => format!("{name} of {}", type_of(items)),
        _ => name,
    }
}

/// Both ends, or the one that there is. The unit is given for one and for several.
fn range(schema: &Map<String, Value>, [least, most]: [&str; 2], [one, several]: [&str; 2]) -> Option<String> {
    let with_unit = |bound: &Value| format!("{bound}{}", if *bound == 1 { one } else { several });
    match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) if least == most => Some(format!("exactly {}", with_unit(most))),
        (Some(least), Some(most)) => Some(format!("{least} to {}", with_unit(most))),
        (Some(least), None) => Some(format!("at least {}", with_unit(least))),
        (None, Some(most)) => Some(format!("at most {}", with_unit(most))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bounds(schema: Value) -> String {
        let Value::Object(schema) = schema else { panic!("an object") };
        let values = vec!["a".to_owned(), "b".to_owned()];
        Fields { vocabularies: &[Vocabulary { name: "letters".to_owned(), values }] }.bounds(&schema)
    }

    #[test]
    fn bounds_in_words() {
        for (schema, words) in [
            (json!({"type": "integer", "minimum": 0}), "at least 0"),
            (json!({"type": "number", "minimum": 0.5, "maximum": 6}), "0.5 to 6"),
            (json!({"type": "string", "minLength": 4, "maxLength": 4}), "exactly 4 characters"),
            (json!({"type": "string", "minLength": 1}), "at least 1 character"),
            (json!({"type": "string", "pattern": "\\S"}), "not blank"),
            (json!({"type": "string", "format": "date-time"}), "date and time with offset"),
            (json!({"const": "INR"}), "always `\"INR\"`"),
            (json!({"type": "string", "enum": ["a", "b"]}), "one of [letters](#vocabularies)"),
            (json!({"type": "integer", "enum": [0, 3]}), "one of `0`, `3`"),
            (
                json!({"type": "array", "minItems": 2, "items": {"type": "string", "enum": ["a", "b"]}}),
                "at least 2 entries, each one of [letters](#vocabularies)",
            ),
            (json!({"type": "boolean"}), ""),
        ] {
            assert_eq!(bounds(schema), words);
        }
    }

    #[test]
    fn types_in_words() {
        for (schema, words) in [
            (json!({"type": ["integer", "null"]}), "integer or null"),
            (
                json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
                "array of array of string",
            ),
            (json!({"const": false}), "boolean"),
            (json!({}), "any"),
        ] {
            let Value::Object(schema) = schema else { panic!("an object") };
            assert_eq!(type_of(&schema), words);
        }
    }

    #[test]
    fn every_member_has_a_row() {
        let schema =
            r#"{"properties": {"a/b": {"type": "array", "items": {"properties": {"c": {}}}}}, "required": ["a/b"]}"#;
        let rows = Fields { vocabularies: &[] }.of(schema);
        let pointers: Vec<_> = rows.iter().map(|row| (row[0].as_str(), row[2].as_str())).collect();
        assert_eq!(pointers, [("`/a~1b`", "yes"), ("`/a~1b/*/c`", "no")]);
    }
}
