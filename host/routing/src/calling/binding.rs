//! Binds the arguments of a call to what its reference is about, so that a reference to one option or booking opens no
//! other.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::CallError;
use intent_gateway_domain::contract::{Refusal, Tool, Violation};
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::quote;

/// The arguments name something else than the reference.
const NOT_THE_REFERENCE: &str = "NOT_THE_REFERENCE";
/// What a reference binds a call to.
pub(super) struct Binding {
    pub(super) partner: String,
    /// The identifier that the arguments must name.
    pub(super) identifier: String,
    /// The member that it stands in, where the tool takes that.
    pub(super) member: Option<String>,
    /// Receipt and number of the option that was quoted.
    pub(super) option: Option<(String, u32)>,
    /// Whether it is about an option, and not about what was made of one.
    pub(super) is_option: bool,
}

/// The arguments, with the identifiers filled in that the tool takes and the caller left out: those of the order, or that of the
/// reference.
pub(super) fn arguments(
    arguments: &str,
    tool: &Tool,
    binding: &Binding,
    identifiers: &BTreeMap<String, String>,
) -> Result<String, CallError> {
    let mut object = match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => object,
        Ok(_) | Err(_) => return Err(refusal("", "WRONG_TYPE", "expected an object with the tool's arguments")),
    };
    let (mut is_of_the_order, mut is_filled_in) = (false, false);
    for (member, identifier) in identifiers.iter().filter(|(member, _)| has_property(tool, member)) {
        is_of_the_order = true;
        match object.get(member) {
            None => {
                object.insert(member.clone(), Value::String(identifier.clone()));
                is_filled_in = true;
            }
            Some(named) if named.as_str() == Some(identifier) => {}
            Some(_) => return Err(other_than(&child("", member), identifier)),
        }
    }
    match (is_of_the_order, is_filled_in) {
        (true, true) => return Ok(Value::Object(object).to_string()),
        (true, false) => return Ok(arguments.to_owned()),
        (false, _) => {}
    }
    let is_named = match binding.member.as_deref().filter(|member| has_property(tool, member)) {
        Some(member) if !object.contains_key(member) => {
            object.insert(member.to_owned(), Value::String(binding.identifier.clone()));
            return Ok(Value::Object(object).to_string());
        }
        Some(member) => object[member].as_str() == Some(&binding.identifier),
        None => mentions(&object, &binding.identifier),
    };
    if !is_named {
        let pointer = binding.member.as_deref().filter(|member| object.contains_key(*member));
        let pointer = pointer.map_or_else(String::new, |member| child("", member));
        return Err(other_than(&pointer, &binding.identifier));
    }
    // As the caller wrote them: numbers keep their digits.
    Ok(arguments.to_owned())
}

fn other_than(pointer: &str, identifier: &str) -> CallError {
    let message = format!("the arguments must name what the reference is about, {}", quote(identifier));
    refusal(pointer, NOT_THE_REFERENCE, &message)
}

/// The member of an answer that holds an identifier.
pub(super) fn member_of(payload: &str, identifier: &str) -> Option<String> {
    let payload: Map<String, Value> = serde_json::from_str(payload).ok()?;
    let found = payload.into_iter().find(|(_, value)| value.as_str() == Some(identifier));
    found.map(|(name, _)| name)
}

/// Whether one of the members is this identifier.
fn mentions(arguments: &Map<String, Value>, identifier: &str) -> bool {
    arguments.iter().any(|(name, value)| name != "request_id" && value.as_str() == Some(identifier))
}

/// Whether the tool's arguments have a member of this name.
fn has_property(tool: &Tool, name: &str) -> bool {
    /// Of a schema that may be large, the names alone.
    #[derive(Deserialize)]
    struct Schema {
        properties: BTreeMap<String, IgnoredAny>,
    }
    serde_json::from_str::<Schema>(tool.request_schema.get()).is_ok_and(|schema| schema.properties.contains_key(name))
}

/// The request identifier of prepared arguments, where the tool takes one and it is not empty.
pub(super) fn request_id(arguments: &str) -> Result<Option<String>, CallError> {
    let arguments: Value = serde_json::from_str(arguments).map_err(|_| {
        CallError::Contract(ContractFault::InvalidOutput("prepared arguments that are no JSON".to_owned()))
    })?;
    let request_id = arguments["request_id"].as_str().unwrap_or_default();
    if request_id.chars().count() > REQUEST_ID_MAX_CHARS {
        let message = format!("expected at most {REQUEST_ID_MAX_CHARS} characters");
        return Err(refusal("/request_id", "TOO_LONG", &message));
    }
    Ok(Some(request_id).filter(|id| !id.is_empty()).map(str::to_owned))
}

fn refusal(pointer: &str, code: &str, message: &str) -> CallError {
    let violation = Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: message.to_owned() };
    CallError::Refused(Refusal::invalid_request(vec![violation]))
}
