//! As much of JSON Schema as a mapping is compared with: which members there are, which are required. What a schema says in
//! another way than by `properties`, `items`, `$ref` within itself and `allOf`, `anyOf`, `oneOf` leaves everything open.

use serde_json::Value;

/// References followed from one place.
const REFERENCES_MAX: usize = 16;
/// How deep combinations are looked into; they multiply.
const DEPTH_MAX: usize = 4;

/// Where names lead to in documents of a schema.
pub(super) enum Named<'a> {
    /// To something that the schema knows, or leaves open.
    Somewhere,
    /// To nothing: the step that fails, and the names that are known in its place.
    Nowhere { step: usize, known: Vec<&'a str> },
}

/// Follows names from the root of a schema.
pub(super) fn find<'a>(root: &'a Value, names: &[String]) -> Named<'a> {
    let mut schema = root;
    for (step, name) in names.iter().enumerate() {
        if let Some(items) = items(schema, root) {
            if name.parse::<usize>().is_err() {
                return Named::Nowhere { step, known: Vec::new() };
            }
            schema = items;
            continue;
        }
        let known = properties(schema, root);
        match known.iter().find(|(known, _)| known == name) {
            Some((_, found)) => schema = found,
            None if known.is_empty() && !is_scalar(schema, root) => return Named::Somewhere,
            None => return Named::Nowhere { step, known: known.into_iter().map(|(name, _)| name).collect() },
        }
    }
    Named::Somewhere
}

/// The members that objects of a schema may have, with their schemas.
pub(super) fn properties<'a>(schema: &'a Value, root: &'a Value) -> Vec<(&'a str, &'a Value)> {
    let mut found = Vec::new();
    visit(schema, root, 0, &mut |part| {
        let members = part.get("properties").and_then(Value::as_object);
        found.extend(members.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)));
    });
    found
}

/// The members that objects of a schema must have. Of alternatives, none is a must.
pub(super) fn required<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut parts = vec![(schema, 0)];
    while let Some((part, depth)) = parts.pop() {
        let part = resolve(part, root);
        let names = part.get("required").and_then(Value::as_array).into_iter().flatten();
        found.extend(names.filter_map(Value::as_str));
        if depth < DEPTH_MAX {
            let all = part.get("allOf").and_then(Value::as_array).into_iter().flatten();
            parts.extend(all.map(|part| (part, depth + 1)));
        }
    }
    found
}

/// The schema of the items of arrays of a schema.
pub(super) fn items<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    let mut found = None;
    visit(schema, root, 0, &mut |part| found = found.or_else(|| part.get("items")));
    found
}

/// Whether nothing of a schema can have members.
fn is_scalar(schema: &Value, root: &Value) -> bool {
    let schema = resolve(schema, root);
    let scalar = |kind: &Value| matches!(kind.as_str(), Some("string" | "number" | "integer" | "boolean" | "null"));
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().all(scalar),
        Some(kind) => scalar(kind),
        None => schema.get("enum").is_some() || schema.get("const").is_some(),
    }
}

/// Looks at a schema, at what it refers to, and at what it is combined of.
fn visit<'a>(schema: &'a Value, root: &'a Value, depth: usize, look: &mut impl FnMut(&'a Value)) {
    let schema = resolve(schema, root);
    look(schema);
    if depth >= DEPTH_MAX {
        return;
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for part in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            visit(part, root, depth + 1, look);
        }
    }
}

/// Follows references within the document.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..REFERENCES_MAX {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}
