//! Looking up members in the JSON Schemas that a contract declares. It judges no document: it only says what a schema
//! names, and says nothing where a schema leaves open what there may be.

use intent_gateway_domain::json_schema::{self, Entries, Member, Named, find, members};
use serde_json::Value;
use serde_json::value::RawValue;

/// Bounds of which the first may not lie above the second: no value would ever pass.
const RANGES: [(&str, &str); 4] =
    [("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties")];

/// A schema of a descriptor.
pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn read(text: &RawValue) -> Self {
        // A descriptor holds objects alone; what could not be read would name nothing.
        Self(serde_json::from_str(text.get()).unwrap_or_default())
    }

    /// Names of the members of the document itself; none where the schema leaves them open.
    pub(crate) fn names(&self) -> Option<Vec<&str>> {
        json_schema::names(&self.0)
    }

    /// The names that are known where a place fails; none where it is there, or may be. Arrays are passed through, with
    /// or without the index of an entry.
    pub(crate) fn missing(&self, place: impl Iterator<Item = String>) -> Option<Vec<&str>> {
        let names: Vec<String> = place.collect();
        match find(&self.0, &names, Entries::Each) {
            Named::Somewhere(_) | Named::Open => None,
            Named::Nowhere { known, .. } => Some(known),
        }
    }

    /// Every member that is named, outer ones first.
    pub(crate) fn members(&self) -> Vec<Member<'_>> {
        members(&self.0)
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
            "named": {"$ref": "https://example.com/named", "properties": {"a": {}}},
            "spare": {"$ref": "#/properties/cups/items"},
            "lids": {"type": "array", "items": {"type": "object", "properties": {"a": {}}, "patternProperties": {}}},
        }}))
    }

    #[test]
    fn places_are_found_through_objects_and_arrays() {
        let tea = tea();
        let missing = |pointer: &str| tea.missing(steps(pointer));
        for there in ["", "/pot", "/pot/ml", "/cups", "/cups/0", "/cups/0/ml", "/cups/ml", "/spare/ml", "/lids/0"] {
            assert_eq!(missing(there), None, "{there}");
        }
        assert_eq!(missing("/pan"), Some(vec!["cups", "free", "lids", "named", "pot", "spare"]));
        assert_eq!(missing("/cups/0/size"), Some(vec!["ml"]));
        assert_eq!(missing("/spare/lid"), Some(vec!["ml"]));
        assert_eq!(missing("/pot/lid/handle"), Some(vec![]));
        for open in ["/free/what", "/named/b", "/lids/0/b"] {
            assert_eq!(missing(open), None, "{open}");
        }
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
