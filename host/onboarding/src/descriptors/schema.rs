//! A tool's `inputSchema`: that it is a JSON Schema of an object, and that it asks for what the contract sends.
//!
//! Only what the specification asks is looked at. Whether the schema accepts every request that the contract lets
//! through cannot be decided by looking; the team's test of the connection finds out.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use intent_gateway_domain::contract::Tool;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{Violations, code, kind, quote};

/// The schema follows a draft before the seventh.
const SCHEMA_TOO_OLD: &str = "SCHEMA_TOO_OLD";
/// `required` names what `properties` does not have.
const REQUIRED_UNDECLARED: &str = "REQUIRED_UNDECLARED";
/// A property that the contract requires is not in `required`.
const REQUIRED_NOT_LISTED: &str = "REQUIRED_NOT_LISTED";
/// The tool asks for what the platform does not always send. A warning.
const REQUIRES_MORE: &str = "REQUIRES_MORE";
/// The tool refuses what the platform may send. A warning.
const REFUSES_PROPERTY: &str = "REFUSES_PROPERTY";
/// Dialects before draft 7, by the part of their address that tells them.
const OLD_DRAFTS: [&str; 5] = ["draft-00", "draft-01", "draft-03", "draft-04", "draft-06"];
/// Dialects from draft 7 on, likewise.
const KNOWN_DRAFTS: [&str; 4] = ["draft-07", "draft/2019-09", "draft/2020-12", "draft/next"];

/// Judges the schema of one tool. Breaches go to `broken`, the rest to `warnings`.
pub(super) fn judge(
    at: &str,
    label: &str,
    schema: Option<&Value>,
    contract: &Tool,
    broken: &mut Violations,
    warnings: &mut Violations,
) {
    let schema = match schema {
        None => return broken.push(at, code::REQUIRED, format!("{label}: inputSchema is missing")),
        Some(Value::Object(schema)) => schema,
        Some(other) => {
            let message = format!("{label}: inputSchema must be an object, found {}", kind(other));
            return broken.push(at, code::WRONG_TYPE, message);
        }
    };
    dialect(at, label, schema, broken, warnings);
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        let message = format!("{label}: inputSchema.type must be object");
        broken.push(child(at, "type"), code::UNEXPECTED_VALUE, message);
    }
    let Some(properties) = properties(at, label, schema, broken) else { return };
    let Some(required) = required(at, label, schema, &properties, broken) else { return };
    compare(at, label, contract, schema, &properties, &required, broken, warnings);
}

fn dialect(at: &str, label: &str, schema: &Map<String, Value>, broken: &mut Violations, warnings: &mut Violations) {
    let at = child(at, "$schema");
    match schema.get("$schema") {
        None => {}
        Some(Value::String(dialect)) if OLD_DRAFTS.iter().any(|draft| dialect.contains(draft)) => {
            let message = format!("{label}: inputSchema follows {}, older than draft 7", quote(dialect));
            broken.push(at, SCHEMA_TOO_OLD, message);
        }
        Some(Value::String(dialect)) if KNOWN_DRAFTS.iter().any(|draft| dialect.contains(draft)) => {}
        Some(Value::String(dialect)) => {
            let message = format!("{label}: inputSchema follows {}, which is not known here", quote(dialect));
            warnings.push(at, code::NOT_IN_VOCABULARY, message);
        }
        Some(other) => {
            let message = format!("{label}: inputSchema.$schema must be a string, found {}", kind(other));
            broken.push(at, code::WRONG_TYPE, message);
        }
    }
}

fn properties<'a>(
    at: &str,
    label: &str,
    schema: &'a Map<String, Value>,
    broken: &mut Violations,
) -> Option<BTreeSet<&'a str>> {
    let at = child(at, "properties");
    let properties = match schema.get("properties") {
        None => return Some(BTreeSet::new()),
        Some(Value::Object(properties)) => properties,
        Some(other) => {
            let message = format!("{label}: inputSchema.properties must be an object, found {}", kind(other));
            broken.push(at, code::WRONG_TYPE, message);
            return None;
        }
    };
    for (name, property) in properties {
        // `true` and `false` are schemas too, from draft 6 on.
        if !property.is_object() && !property.is_boolean() {
            let message = format!("{label}: property {} must be a schema, found {}", quote(name), kind(property));
            broken.push(child(&at, name), code::WRONG_TYPE, message);
        }
    }
    Some(properties.keys().map(String::as_str).collect())
}

fn required<'a>(
    at: &str,
    label: &str,
    schema: &'a Map<String, Value>,
    properties: &BTreeSet<&str>,
    broken: &mut Violations,
) -> Option<BTreeSet<&'a str>> {
    let at = child(at, "required");
    let names = match schema.get("required") {
        None => return Some(BTreeSet::new()),
        Some(Value::Array(names)) => names,
        Some(other) => {
            let message = format!("{label}: inputSchema.required must be an array of strings, found {}", kind(other));
            broken.push(at, code::WRONG_TYPE, message);
            return None;
        }
    };
    let mut required = BTreeSet::new();
    for (index, name) in names.iter().enumerate() {
        let at = format!("{at}/{index}");
        match name.as_str() {
            None => {
                let message = format!("{label}: inputSchema.required[{index}] must be a string, found {}", kind(name));
                broken.push(at, code::WRONG_TYPE, message);
            }
            Some(name) => {
                if !properties.contains(name) {
                    let message = format!("{label}: inputSchema requires {}, which is no property", quote(name));
                    broken.push(at, REQUIRED_UNDECLARED, message);
                }
                required.insert(name);
            }
        }
    }
    Some(required)
}

/// Compares with what the contract says of the tool's arguments, at the top level.
#[expect(clippy::too_many_arguments, reason = "two schemas, where they are, and two places for what is found")]
fn compare(
    at: &str,
    label: &str,
    contract: &Tool,
    schema: &Map<String, Value>,
    properties: &BTreeSet<&str>,
    required: &BTreeSet<&str>,
    broken: &mut Violations,
    warnings: &mut Violations,
) {
    // The loader has checked that the contract's schema is JSON; one that says nothing asks nothing.
    let Ok(own) = serde_json::from_str::<Value>(contract.request_schema.get()) else { return };
    let always: BTreeSet<&str> =
        own.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    for name in always.difference(required) {
        let message = format!("{label}: inputSchema.required must list `{name}`, which the contract requires");
        broken.push(child(at, "required"), REQUIRED_NOT_LISTED, message);
    }
    let Some(sent) = own.get("properties").and_then(Value::as_object) else { return };
    for name in required.difference(&always) {
        let message = format!("{label}: inputSchema requires {}, which the platform may leave out", quote(name));
        warnings.push(child(at, "required"), REQUIRES_MORE, message);
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        for name in sent.keys().filter(|name| !properties.contains(name.as_str())) {
            let message =
                format!("{label}: inputSchema refuses `{name}`, which the platform may send: such a call fails");
            warnings.push(child(at, "additionalProperties"), REFUSES_PROPERTY, message);
        }
    }
}
