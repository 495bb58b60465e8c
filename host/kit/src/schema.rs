//! Looking up members in the JSON Schemas that a contract declares. It judges no document: it only says what a schema
//! names, and says nothing where a schema leaves open what there may be.

use intent_gateway_domain::pointer::child;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Keywords beside `properties` by which a schema may have members that it does not list.
const OPENING: [&str; 8] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"];
/// Bounds of which the first may not lie above the second: no value would ever pass.
const RANGES: [(&str, &str); 4] =
    [("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties")];

/// A schema of a descriptor.
pub(crate) struct Schema(Value);

/// What a schema says of a place.
#[derive(Debug, PartialEq)]
pub(crate) enum Place<'s> {
    /// There it is, with the schema of its own.
    Found(&'s Value),
    /// There is no such member; these are at the last object on the way.
    Missing(Vec<&'s str>),
    /// The schema does not say.
    Open,
}

/// A member that a schema names, at any depth.
#[derive(Debug)]
pub(crate) struct Member<'s> {
    pub(crate) name: &'s str,
    /// JSON Pointer to it; an entry of an array is `*`.
    pub(crate) pointer: String,
    pub(crate) schema: &'s Value,
}

impl Schema {
    pub(crate) fn read(text: &RawValue) -> Self {
        // A descriptor holds objects alone; what could not be read would name nothing.
        Self(serde_json::from_str(text.get()).unwrap_or_default())
    }

    /// Names of the members of the document itself; none where the schema leaves them open.
    pub(crate) fn names(&self) -> Option<Vec<&str>> {
        properties(&self.0).map(names)
    }

    /// Follows names from the document down. Arrays are passed through, with or without the index of an entry.
    pub(crate) fn find(&self, steps: impl Iterator<Item = String>) -> Place<'_> {
        let mut here = &self.0;
        for step in steps {
            while let Some(entry) = here.get("items").filter(|_| here.get("properties").is_none()) {
                here = entry;
                if step.parse::<usize>().is_ok() {
                    break;
                }
            }
            if step.parse::<usize>().is_ok() {
                continue;
            }
            let Some(members) = properties(here) else {
                return if is_plain(here) { Place::Missing(Vec::new()) } else { Place::Open };
            };
            match members.get(&step) {
                Some(member) => here = member,
                None => return Place::Missing(names(members)),
            }
        }
        Place::Found(here)
    }

    /// Every member that is named, outer ones first.
    pub(crate) fn members(&self) -> Vec<Member<'_>> {
        let mut found = Vec::new();
        gather(&self.0, "", &mut found);
        found
    }

    /// Sentences on the places that no value could ever satisfy.
    pub(crate) fn list_impossible(&self) -> Vec<String> {
        let whole = Member { name: "", pointer: String::new(), schema: &self.0 };
        let all = std::iter::once(whole).chain(self.members());
        all.flat_map(|member| {
            let schema = member.schema;
            let number = move |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
            RANGES.iter().filter_map(move |(lower, upper)| {
                let (least, most) = (number(lower)?, number(upper)?);
                (least > most).then(|| {
                    format!(
                        "`{}` has the {lower} {least} above the {upper} {most}, so no value would pass; change one of \
                         the two",
                        member.pointer
                    )
                })
            })
        })
        .collect()
    }
}

/// The members of an object, where the schema lists all of them.
fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    let is_open = OPENING.iter().any(|keyword| schema.get(keyword).is_some())
        || schema.get("additionalProperties").is_some_and(Value::is_object);
    schema.get("properties").and_then(Value::as_object).filter(|_| !is_open)
}

/// Whether a schema is of values that have no members at all.
fn is_plain(schema: &Value) -> bool {
    let is_scalar = |name: &Value| name.as_str().is_some_and(|name| !matches!(name, "object" | "array"));
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().all(is_scalar),
        Some(one) => is_scalar(one),
        None => false,
    }
}

fn names(members: &Map<String, Value>) -> Vec<&str> {
    members.keys().map(String::as_str).collect()
}

fn gather<'s>(schema: &'s Value, at: &str, found: &mut Vec<Member<'s>>) {
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let pointer = child(at, name);
        found.push(Member { name, pointer: pointer.clone(), schema: member });
        gather(member, &pointer, found);
    }
    if let Some(entry) = schema.get("items") {
        let pointer = child(at, "*");
        found.push(Member { name: "*", pointer: pointer.clone(), schema: entry });
        gather(entry, &pointer, found);
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::pointer::steps;
    use serde_json::json;

    use super::*;

    fn schema(value: &Value) -> Schema {
        Schema(value.clone())
    }

    fn tea() -> Schema {
        schema(&json!({"type": "object", "properties": {
            "pot": {"type": "object", "properties": {"ml": {"type": "integer"}, "lid": {"type": ["boolean", "null"]}}},
            "cups": {"type": "array", "items": {"type": "object", "properties": {"ml": {"type": "integer"}}}},
            "free": {"type": "object"},
            "named": {"$ref": "#/$defs/named", "properties": {"a": {}}},
        }}))
    }

    #[test]
    fn places_are_found_through_objects_and_arrays() {
        let tea = tea();
        let find = |pointer: &str| tea.find(steps(pointer));
        for there in ["", "/pot", "/pot/ml", "/cups", "/cups/0", "/cups/0/ml", "/cups/ml"] {
            assert!(matches!(find(there), Place::Found(_)), "{there}");
        }
        assert_eq!(find("/pan"), Place::Missing(vec!["cups", "free", "named", "pot"]));
        assert_eq!(find("/cups/0/size"), Place::Missing(vec!["ml"]));
        assert_eq!(find("/pot/lid/handle"), Place::Missing(vec![]));
        for open in ["/free/what", "/named/b"] {
            assert_eq!(find(open), Place::Open, "{open}");
        }
    }

    #[test]
    fn members_of_every_depth_are_listed() {
        let tea = tea();
        let pointers: Vec<_> = tea.members().into_iter().map(|member| member.pointer).collect();
        assert_eq!(
            pointers,
            ["/cups", "/cups/*", "/cups/*/ml", "/free", "/named", "/named/a", "/pot", "/pot/lid", "/pot/ml"]
        );
    }

    #[test]
    fn bounds_that_no_value_keeps_are_told_with_their_place() {
        let told = |member: Value| schema(&json!({"properties": {"ml": member}})).list_impossible();
        assert_eq!(
            told(json!({"minimum": 5, "maximum": 3.5})),
            ["`/ml` has the minimum 5 above the maximum 3.5, so no value would pass; change one of the two"]
        );
        assert!(told(json!({"minLength": 2, "maxLength": 1}))[0].contains("the minLength 2 above the maxLength 1"));
        assert!(told(json!({"items": {"minItems": 2, "maxItems": 1}}))[0].starts_with("`/ml/*` has the minItems 2"));
        for sound in [json!({"minimum": 3, "maximum": 3}), json!({"minimum": 5}), json!({"maximum": 3})] {
            assert_eq!(told(sound), [] as [String; 0]);
        }
    }
}
