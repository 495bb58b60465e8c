//! JSON Schema (draft 2020-12) of a shape.
//!
//! The schema says what the reader checks, as far as JSON Schema can. Formats are annotations there, so
//! where a pattern tells the same, it is given too.

use crate::shape::{Bounds, FieldDesc, Kind, TextFormat, ValueDesc};
use serde_json::{Map, Value, json};

/// The schema of a document of this shape.
pub fn of(desc: &ValueDesc) -> Value {
    let mut schema = value(desc, &Bounds::NONE);
    if let Some(map) = schema.as_object_mut() {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    }
    schema
}

fn value(desc: &ValueDesc, bounds: &Bounds) -> Value {
    let mut schema = Map::new();
    match desc.kind {
        Kind::Boolean => set(&mut schema, "type", json!("boolean")),
        Kind::False => set(&mut schema, "const", json!(false)),
        Kind::Integer => {
            set(&mut schema, "type", json!("integer"));
            if let Some(values) = bounds.one_of {
                set(&mut schema, "enum", json!(values));
            }
            range(&mut schema, bounds);
        }
        Kind::Number => {
            set(&mut schema, "type", json!("number"));
            range(&mut schema, bounds);
        }
        Kind::Amount => {
            set(&mut schema, "type", json!("number"));
            set(&mut schema, "minimum", json!(0));
        }
        Kind::Text(format) => text(&mut schema, format, bounds),
        Kind::Vocabulary(vocabulary) => {
            set(&mut schema, "type", json!("string"));
            set(&mut schema, "enum", json!(vocabulary.values));
        }
        Kind::Object(parts) => object(&mut schema, parts),
        Kind::Array(entry) => {
            set(&mut schema, "type", json!("array"));
            set(&mut schema, "items", value(entry, bounds));
            if let Some(least) = bounds.items.or(bounds.min_items) {
                set(&mut schema, "minItems", json!(least));
            }
            if let Some(most) = bounds.items.or(bounds.max_items) {
                set(&mut schema, "maxItems", json!(most));
            }
        }
        Kind::Any => {}
    }
    if desc.nullable && !matches!(desc.kind, Kind::Any) {
        nullable(&mut schema);
    }
    Value::Object(schema)
}

fn object(schema: &mut Map<String, Value>, parts: &[&[FieldDesc]]) {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in parts.iter().copied().flatten() {
        let mut property = value(&field.value, &field.bounds);
        if let Some(map) = property.as_object_mut() {
            set(map, "description", json!(field.doc));
        }
        properties.insert(field.name.to_owned(), property);
        if field.required {
            required.push(field.name);
        }
    }
    set(schema, "type", json!("object"));
    set(schema, "properties", Value::Object(properties));
    set(schema, "required", json!(required));
}

fn text(schema: &mut Map<String, Value>, format: TextFormat, bounds: &Bounds) {
    if let Some(only) = bounds.equals {
        return set(schema, "const", json!(only));
    }
    set(schema, "type", json!("string"));
    match format {
        TextFormat::Any => {}
        TextFormat::NonBlank => set(schema, "pattern", json!("\\S")),
        TextFormat::DateTime => set(schema, "format", json!("date-time")),
        TextFormat::Date => set(schema, "format", json!("date")),
        TextFormat::HttpsUrl => {
            set(schema, "format", json!("uri"));
            set(schema, "pattern", json!("^https://"));
        }
        TextFormat::WebUrl => {
            set(schema, "format", json!("uri"));
            set(schema, "pattern", json!("^https?://"));
        }
        TextFormat::Phone => set(schema, "pattern", json!("^\\+[1-9][0-9]{1,14}$")),
        TextFormat::Locale => set(schema, "pattern", json!("^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")),
        TextFormat::Semver => {
            set(schema, "pattern", json!("^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)([-+].+)?$"))
        }
    }
    if let Some(least) = bounds.len.or(bounds.min_len) {
        set(schema, "minLength", json!(least));
    }
    if let Some(most) = bounds.len.or(bounds.max_len) {
        set(schema, "maxLength", json!(most));
    }
}

fn range(schema: &mut Map<String, Value>, bounds: &Bounds) {
    if let Some(min) = bounds.min {
        set(schema, "minimum", number(min));
    }
    if let Some(max) = bounds.max {
        set(schema, "maximum", number(max));
    }
}

/// A bound as people write it: 30 and not 30.0.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

/// Lets a schema accept `null` too.
fn nullable(schema: &mut Map<String, Value>) {
    if let Some(kind) = schema.get("type").cloned() {
        set(schema, "type", json!([kind, "null"]));
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.push(Value::Null);
        }
    } else if let Some(only) = schema.remove("const") {
        set(schema, "enum", json!([only, null]));
    }
}

fn set(schema: &mut Map<String, Value>, key: &str, value: Value) {
    schema.insert(key.to_owned(), value);
}
