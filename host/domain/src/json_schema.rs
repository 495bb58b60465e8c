//! What a JSON Schema names: which members there are, which are required. It judges no document. What a schema says in
//! another way than by `properties`, `items`, `$ref` within itself and `allOf`, `anyOf`, `oneOf` leaves everything open.

use serde_json::Value;

use crate::pointer::child;

/// References followed from one place.
const REFERENCES_MAX: usize = 16;
/// How deep combinations are looked into; they multiply.
const DEPTH_MAX: usize = 4;
/// Members that are listed of one schema, at most, and how deep; one that refers to itself would have no end.
const MEMBERS_MAX: usize = 4_096;
const MEMBERS_MAX_DEPTH: usize = 16;

/// Keywords by which objects may have members that are not listed.
const OPENING: [&str; 4] = ["$dynamicRef", "if", "patternProperties", "dependentSchemas"];

/// Where names lead to in documents of a schema.
#[derive(Debug, PartialEq)]
pub enum Named<'a> {
    /// To a value, which has this schema.
    Somewhere(&'a Value),
    /// The schema does not say.
    Open,
    /// To nothing: the step that fails, and the names that are known in its place.
    Nowhere {
        /// Its number, from 0.
        step: usize,
        /// None where values of this place have no members.
        known: Vec<&'a str>,
    },
}

/// How names lead through arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// By the index of an entry.
    ByIndex,
    /// An index may be there or not: `/cups/ml` is the member of each of the cups.
    Each,
}

/// Follows names from the root of a schema.
#[must_use]
pub fn find<'a>(root: &'a Value, names: &[String], entries: Entries) -> Named<'a> {
    let mut schema = root;
    for (step, name) in names.iter().enumerate() {
        let is_index = name.parse::<usize>().is_ok();
        if is_index && let Some(items) = items(schema, root) {
            schema = items;
            continue;
        }
        while let Some(items) = items(schema, root) {
            if entries == Entries::ByIndex {
                return Named::Nowhere { step, known: Vec::new() };
            }
            schema = items;
        }
        let known = properties(schema, root);
        match known.iter().find(|(known, _)| known == name) {
            Some((_, found)) => schema = found,
            None if is_open(schema, root) => return Named::Open,
            None => return Named::Nowhere { step, known: known.into_iter().map(|(name, _)| name).collect() },
        }
    }
    Named::Somewhere(schema)
}

/// Whether values of a schema may have members that it does not list.
fn is_open(schema: &Value, root: &Value) -> bool {
    let (mut has_opening, mut has_members) = (false, false);
    visit(schema, root, 0, &mut |part| {
        has_members |= part.get("properties").is_some();
        has_opening |= OPENING.iter().any(|keyword| part.get(keyword).is_some())
            || part.get("additionalProperties").is_some_and(Value::is_object)
            // One that leads out of the document.
            || part.get("$ref").is_some();
    });
    has_opening || !has_members && !is_scalar(schema, root)
}

/// The names of the members that documents of a schema may have; none where it leaves them open.
#[must_use]
pub fn names(root: &Value) -> Option<Vec<&str>> {
    (!is_open(root, root)).then(|| properties(root, root).into_iter().map(|(name, _)| name).collect())
}

/// The members that objects of a schema may have, with their schemas.
#[must_use]
pub fn properties<'a>(schema: &'a Value, root: &'a Value) -> Vec<(&'a str, &'a Value)> {
    let mut found = Vec::new();
    visit(schema, root, 0, &mut |part| {
        let members = part.get("properties").and_then(Value::as_object);
        found.extend(members.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)));
    });
    found
}

/// The members that objects of a schema must have. Of alternatives, none is a must.
#[must_use]
pub fn required<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a str> {
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
#[must_use]
pub fn items<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    let mut found = None;
    visit(schema, root, 0, &mut |part| found = found.or_else(|| part.get("items")));
    found
}

/// A member that a schema names, at any depth.
#[derive(Debug)]
pub struct Member<'a> {
    pub name: &'a str,
    /// JSON Pointer to it; an entry of an array is `*`.
    pub pointer: String,
    pub schema: &'a Value,
}

/// Every member that a schema names, outer ones first.
#[must_use]
pub fn members(root: &Value) -> Vec<Member<'_>> {
    let mut found = Vec::new();
    gather(root, root, "", 0, &mut found);
    found
}

fn gather<'a>(schema: &'a Value, root: &'a Value, at: &str, depth: usize, found: &mut Vec<Member<'a>>) {
    let members = properties(schema, root).into_iter().chain(items(schema, root).map(|entry| ("*", entry)));
    for (name, member) in members {
        if depth >= MEMBERS_MAX_DEPTH || found.len() >= MEMBERS_MAX {
            return;
        }
        let pointer = child(at, name);
        found.push(Member { name, pointer: pointer.clone(), schema: member });
        gather(member, root, &pointer, depth + 1, found);
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_of_every_depth_are_listed() {
        let tea = json!({"type": "object", "properties": {
            "pot": {"type": "object", "properties": {"ml": {"type": "integer"}, "lid": {"type": ["boolean", "null"]}}},
            "cups": {"type": "array", "items": {"type": "object", "properties": {"ml": {"type": "integer"}}}},
            "free": {"type": "object"},
            "named": {"$ref": "https://example.com/named", "properties": {"a": {}}},
            "spare": {"$ref": "#/properties/cups/items"},
        }});
        let pointers: Vec<_> = members(&tea).into_iter().map(|member| member.pointer).collect();
        let expected = [
            "/cups",
            "/cups/*",
            "/cups/*/ml",
            "/free",
            "/named",
            "/named/a",
            "/pot",
            "/pot/lid",
            "/pot/ml",
            "/spare",
            "/spare/ml",
        ];
        assert_eq!(pointers, expected);
        // One that holds itself ends all the same.
        let endless = json!({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}});
        assert_eq!(members(&endless).len(), MEMBERS_MAX);
    }
}
