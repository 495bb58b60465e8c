//! Holds a JSON value against a schema of the OpenAPI document: as much of JSON Schema as the document uses.

use serde_json::{Map, Value, json};

/// Every way in which the value differs from the schema.
pub(crate) fn differences(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(document, schema, value, "", &mut found);
    found
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let pointer = reference.strip_prefix('#').expect("references are local");
            resolve(document, document.pointer(pointer).unwrap_or_else(|| panic!("{reference} is missing")))
        }
        None => schema,
    }
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = resolve(document, schema);
    if let Some(wholes) = choices_within(document, schema) {
        if !wholes.iter().any(|whole| differences(document, whole, value).is_empty()) {
            found.push(format!("{at}: fits none of the choices in allOf"));
        }
        return;
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        // Members are looked at below, over all parts together.
        let mut part = resolve(document, part).clone();
        part.as_object_mut().expect("a schema").retain(|key, _| key == "type" || key == "enum");
        check(document, &part, value, at, found);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            let fits = choices.iter().any(|choice| differences(document, choice, value).is_empty());
            if !fits {
                found.push(format!("{at}: fits none of {key}"));
            }
        }
    }
    if let Some(types) = schema.get("type") {
        let types: Vec<_> = types.as_array().map_or(vec![types], |types| types.iter().collect());
        if !types.iter().any(|name| is_of(name.as_str().expect("a type"), value)) {
            found.push(format!("{at}: {value} is not of {types:?}"));
        }
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && !values.contains(value)
    {
        found.push(format!("{at}: {value} is not in the enumeration"));
    }
    if let (Some(items), Some(elements)) = (schema.get("items"), value.as_array()) {
        for (index, element) in elements.iter().enumerate() {
            check(document, items, element, &format!("{at}/{index}"), found);
        }
    }
    let (properties, required) = members(document, schema);
    let Some(object) = value.as_object().filter(|_| !properties.is_empty()) else { return };
    for name in required {
        if !object.contains_key(&name) {
            found.push(format!("{at}: `{name}` is missing"));
        }
    }
    for (name, member) in object {
        match properties.get(name) {
            Some(schema) => check(document, schema, member, &format!("{at}/{name}"), found),
            None => found.push(format!("{at}: `{name}` is not in the document")),
        }
    }
}

/// The schemas that an `allOf` stands for of which one part is a choice: one for each choice, together with the other parts.
fn choices_within(document: &Value, schema: &Value) -> Option<Vec<Value>> {
    let parts = schema.get("allOf")?.as_array()?;
    let (place, choices) = parts.iter().enumerate().find_map(|(place, part)| {
        let choices = resolve(document, part).get("oneOf")?.as_array()?;
        Some((place, choices))
    })?;
    let with = |choice: &Value| {
        let mut parts = parts.clone();
        parts[place] = choice.clone();
        json!({"allOf": parts})
    };
    Some(choices.iter().map(with).collect())
}

/// Properties and required names, those of `allOf` included.
fn members(document: &Value, schema: &Value) -> (Map<String, Value>, Vec<String>) {
    let schema = resolve(document, schema);
    let mut properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let names = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut required: Vec<_> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        let (more, names) = members(document, part);
        properties.extend(more);
        required.extend(names);
    }
    (properties, required)
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    }
}
