//! The arguments of one call: as they are given, with the identifiers of the option or the order filled in, and with a key of their own.

use std::collections::BTreeSet;

use intent_gateway_domain::contract::{OrderWay, Tool};
use intent_gateway_domain::order::Order;
use intent_gateway_domain::pointer;
use serde_json::{Map, Value};

use crate::material::{Material, ToolMaterial, read_properties, read_required};

/// A member that no server knows.
pub(crate) const UNKNOWN_MEMBER: &str = "member_of_a_later_version";
/// The member that a key stands in where the contract names none.
const REQUEST_ID: &str = "request_id";
/// How many characters at the end of an identifier are made others.
const CHANGED_CHARS: usize = 8;

/// What a call is made with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) members: Map<String, Value>,
    /// The members that the server has given the values of.
    identifiers: BTreeSet<String>,
    /// The member that a new key stands in. What is itself the key, as a policy is of its cancellation, stays as it is.
    key: Option<String>,
}

impl Arguments {
    /// Of a tool, for an option and the order that was made of it. None where nothing shows what the tool takes.
    pub(crate) fn fill(
        material: &Material,
        tool: &Tool,
        option: &str,
        way: Option<&OrderWay>,
        order: Option<&Order>,
    ) -> Option<Self> {
        let ToolMaterial { arguments, origins } = material.of_tool(&tool.name)?;
        let mut filled = Self { members: arguments.clone(), identifiers: BTreeSet::new(), key: None };
        let option: Value = serde_json::from_str(option).unwrap_or_default();
        // The request's identifier is the platform's, also where options repeat it.
        for (member, place) in origins.iter().filter(|(member, _)| *member != REQUEST_ID) {
            if let Some(value) = option.pointer(place).filter(|value| value.is_string()) {
                filled.put(member, value);
            }
        }
        if let Some(order) = order {
            let schema = tool.request_schema.get();
            let (known, required) = (read_properties(schema), read_required(schema));
            for (name, value) in order.kept.iter().filter(|(name, _)| known.contains(*name)) {
                if filled.members.contains_key(name) || identifies(way, name) {
                    filled.put(name, value);
                }
            }
            // What the order is not known by yet is the example's, and nobody's here.
            filled
                .members
                .retain(|name, _| order.kept.contains_key(name) || required.contains(name) || !identifies(way, name));
        }
        let is_of_the_caller = |key: &&String| !filled.identifiers.contains(*key) && !identifies(way, key);
        filled.key = tool.idempotency_key.as_ref().filter(is_of_the_caller).cloned();
        Some(filled)
    }

    fn put(&mut self, member: &str, value: &Value) {
        self.members.insert(member.to_owned(), value.clone());
        self.identifiers.insert(member.to_owned());
    }

    /// The same under a key, which is the request's identifier as well where the tool takes one.
    pub(crate) fn under(mut self, tool: &Tool, key: &str) -> Self {
        let takes_one = read_properties(tool.request_schema.get()).contains(REQUEST_ID);
        let of_the_request = takes_one.then(|| REQUEST_ID.to_owned());
        for member in self.key.clone().into_iter().chain(of_the_request) {
            self.members.insert(member, Value::String(key.to_owned()));
        }
        self
    }

    /// Whether a repeated call is known by a key that the caller chooses.
    pub(crate) fn has_own_key(&self) -> bool {
        self.key.is_some()
    }

    /// The same with identifiers that the server has never given; none where there are none.
    pub(crate) fn with_unknown_identifiers(&self) -> Option<Self> {
        let mut changed = self.clone();
        for member in &self.identifiers {
            if let Some(Value::String(text)) = changed.members.get_mut(member) {
                *text = make_unknown(text);
            }
        }
        (changed != *self).then_some(changed)
    }

    /// The same without what the tool requires; none where it requires nothing but the key.
    pub(crate) fn without_required(&self, tool: &Tool) -> Option<Self> {
        let key = tool.idempotency_key.as_deref().unwrap_or(REQUEST_ID);
        let mut changed = self.clone();
        for member in read_required(tool.request_schema.get()).iter().filter(|member| *member != key) {
            changed.members.remove(member);
        }
        (changed != *self).then_some(changed)
    }

    pub(crate) fn to_json(&self) -> String {
        Value::Object(self.members.clone()).to_string()
    }
}

/// Whether the partner knows an order by a value that is kept under this name.
fn identifies(way: Option<&OrderWay>, name: &str) -> bool {
    let kept = way.into_iter().flat_map(|way| &way.steps).flat_map(|step| &step.keeps);
    kept.into_iter().any(|kept| kept.identifies && kept.name == name)
}

/// An identifier of the same form: digits become other digits, letters other letters.
fn make_unknown(text: &str) -> String {
    let unchanged = text.chars().count().saturating_sub(CHANGED_CHARS);
    let change = |(place, c): (usize, char)| match c {
        _ if place < unchanged => c,
        '0'..='9' => char::from(b'0' + (c as u8 - b'0' + 5) % 10),
        'a'..='f' => char::from(b'a' + (c as u8 - b'a' + 3) % 6),
        'A'..='F' => char::from(b'A' + (c as u8 - b'A' + 3) % 6),
        'g'..='z' => char::from(b'g' + (c as u8 - b'g' + 10) % 20),
        'G'..='Z' => char::from(b'G' + (c as u8 - b'G' + 10) % 20),
        _ => c,
    };
    text.chars().enumerate().map(change).collect()
}

/// A request with one member more.
pub(crate) fn with_unknown_member(request: &str) -> String {
    match serde_json::from_str(request) {
        Ok(Value::Object(mut members)) => {
            members.insert(UNKNOWN_MEMBER.to_owned(), Value::Bool(true));
            Value::Object(members).to_string()
        }
        _ => request.to_owned(),
    }
}

/// Where an option's own identifier stands, as text.
pub(crate) fn find_identifier(option: &str, id_pointer: &str) -> Option<String> {
    serde_json::from_str(pointer::find(option, id_pointer)?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_identifier_has_the_form_of_a_known_one() {
        for (known, unknown) in [
            ("quote_1f0e3dad99908345_01", "quote_1f0e3dad99953890_56"),
            ("s-1", "i-6"),
            ("BK-2026-0042", "BK-2571-5597"),
            ("é", "é"),
        ] {
            assert_eq!(make_unknown(known), unknown);
        }
    }
}
