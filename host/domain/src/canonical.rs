//! One text for every way to write the same JSON value.

use serde::Serialize;
use serde_json::{Number, Value};

/// Writes a value without blanks, the members of each object sorted by name, and numbers of the same value alike (`3`
/// and `3.0`). Two texts are equal exactly where the values are, so that a digest of it tells whether a value changed.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = Vec::new();
    write(value, &mut text);
    String::from_utf8(text).expect("JSON of texts is a text")
}

// As deep as the value nests; values come out of a parser that bounds its depth (serde_json: 128).
fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            text.push(b'[');
            for (index, item) in items.iter().enumerate() {
                separate(index, text);
                write(item, text);
            }
            text.push(b']');
        }
        Value::Object(members) => {
            // Sorted here, for whether a map keeps its members sorted depends on a feature that any crate may turn on.
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            text.push(b'{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                separate(index, text);
                write_plain(name, text);
                text.push(b':');
                write(member, text);
            }
            text.push(b'}');
        }
        Value::Number(number) => write_plain(&plain(number), text),
        Value::Null | Value::Bool(_) | Value::String(_) => write_plain(value, text),
    }
}

/// Writes what is neither a list nor an object, without a text of its own for it.
fn write_plain(value: &(impl Serialize + ?Sized), text: &mut Vec<u8>) {
    serde_json::to_writer(text, value).expect("texts and numbers always have a JSON form");
}

fn separate(index: usize, text: &mut Vec<u8>) {
    if index > 0 {
        text.push(b',');
    }
}

/// A whole number as an integer, where a float holds it exactly.
fn plain(number: &Number) -> Number {
    /// 2^53: below it every whole number has one float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            format!("{float:.0}").parse::<i64>().map_or_else(|_| number.clone(), Number::from)
        }
        _ => number.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn one_text_for_one_value() {
        let parse = |text: &str| serde_json::from_str::<Value>(text).expect("valid JSON");
        let written = canonical_json(&parse(r#" {"b":[1.0, -0.0 ,2.5,null],"a":{"d":"x\u0041","c":true}} "#));
        assert_eq!(written, r#"{"a":{"c":true,"d":"xA"},"b":[1,0,2.5,null]}"#);
        assert_eq!(canonical_json(&parse("[1e2,1e300,18446744073709551615]")), "[100,1e+300,18446744073709551615]");
        assert_ne!(canonical_json(&json!([1, 2])), canonical_json(&json!([2, 1])));
        assert_ne!(canonical_json(&json!("1")), canonical_json(&json!(1)));
    }

    proptest! {
        #[test]
        fn it_is_the_same_value_and_writes_itself(value in intent_gateway_testing::json::json_value()) {
            let written = canonical_json(&value);
            let read: Value = serde_json::from_str(&written).expect("valid JSON");
            prop_assert_eq!(canonical_json(&read), written);
        }
    }
}
