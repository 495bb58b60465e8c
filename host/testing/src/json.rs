//! JSON for property tests: any value, put anywhere into a document.

use intent_gateway_domain::pointer::child;
use proptest::prelude::*;
use serde_json::Value;

/// A JSON value, none too large. Numbers have few digits, for the parser may miss the last bit of a long fraction.
pub fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(|eighths| (f64::from(eighths) / 8.0).into()),
        (-2..3_i32).prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        "\\PC{0,8}".prop_map(Into::into),
        "[a-z_]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec(("[a-c\"é/~]{0,2}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Puts a value in the place of one of a document's values, the whole included.
pub fn replace_somewhere(document: &mut Value, at: prop::sample::Index, value: Value) {
    let mut places = Vec::new();
    list(document, String::new(), &mut places);
    if let Some(place) = document.pointer_mut(&places[at.index(places.len())]) {
        *place = value;
    }
}

fn list(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| list(item, format!("{at}/{index}"), places));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| list(member, child(&at, name), places));
        }
        _ => {}
    }
    places.push(at);
}

/// Whether a pointer leads to a value, or to where one is missing.
pub fn points_into(document: &Value, pointer: &str) -> bool {
    let owner = pointer.rsplit_once('/').map_or("", |(owner, _)| owner);
    document.pointer(owner).is_some()
}
