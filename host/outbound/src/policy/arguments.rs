//! The arguments of a tool as one JSON value: a digest that is the same for every way to write them.
//!
//! Not for completion reports, whose amounts must not go through floats (see `completion`): a partner
//! reads arguments with an ordinary JSON parser, so numbers that no float tells apart are the same to it.

use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

use intent_gateway_domain::canonical::canonical_json;
use intent_gateway_domain::digest::Digest;

/// The text does not stand for one JSON object.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentsError {
    /// It is no JSON, or a member occurs twice in one object, which readers understand differently.
    #[error("the arguments are not one JSON value")]
    Json(#[source] serde_json::Error),
    /// It is another value than an object.
    #[error("the arguments are no JSON object")]
    NotAnObject,
}

/// Arguments that were read.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads a JSON object in which no member occurs twice.
    ///
    /// # Errors
    /// [`ArgumentsError`] for any other text.
    pub fn read(text: &str) -> Result<Self, ArgumentsError> {
        match serde_json::from_str(text).map_err(ArgumentsError::Json)? {
            Unique(Value::Object(members)) => Ok(Self(members)),
            Unique(_) => Err(ArgumentsError::NotAnObject),
        }
    }

    /// A member of the object itself.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Without one member of the object itself.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// The digest of the value: independent of blanks, escapes, the order of members and the form of numbers.
    #[must_use]
    pub fn digest(self) -> Digest {
        Digest::of(canonical_json(&Value::Object(self.0)).as_bytes())
    }
}

/// A value in no object of which a name occurs twice. As deep as serde_json reads: 128 levels.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some((name, Unique(value))) = members.next_entry::<String, _>()? {
            if values.insert(name, value).is_some() {
                return Err(A::Error::custom("a member occurs twice"));
            }
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest(text: &str) -> Digest {
        Arguments::read(text).expect("an object").digest()
    }

    #[test]
    fn one_digest_for_one_value() {
        let plain = digest(r#"{"a":[1,2.5,-3,null,true,"x"],"b":{"c":"é"}}"#);
        assert_eq!(digest(r#" { "b" : {"c":"\u00e9"}, "a":[1.0, 25e-1, -3, null, true, "x"] } "#), plain);
        for other in [
            r#"{"a":[2.5,1,-3,null,true,"x"],"b":{"c":"é"}}"#,
            r#"{"a":["1",2.5,-3,null,true,"x"],"b":{"c":"é"}}"#,
            r#"{"a":[1,2.5,-3,null,true,"x"],"b":{"c":"é","d":null}}"#,
            r#"{"a":[1,2.5,-3,null,true,"x"]}"#,
        ] {
            assert_ne!(digest(other), plain, "{other}");
        }
    }

    #[test]
    fn one_member_can_be_left_out() {
        let without = |text: &str| Arguments::read(text).expect("an object").without("request_id").digest();
        assert_eq!(without(r#"{"request_id":"r1","a":1}"#), without(r#"{"a":1,"request_id":"r2"}"#));
        // Only of the object itself, not of what lies in it.
        assert_ne!(without(r#"{"a":{"request_id":"r1"}}"#), without(r#"{"a":{"request_id":"r2"}}"#));
    }

    #[test]
    fn what_is_not_one_object_is_refused() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"a":{"b":1,"\u0062":1}}"#, r#"[{"a":1,"a":1}]"#, "{", "", r#"{"a":1e999}"#]
        {
            assert!(matches!(Arguments::read(text), Err(ArgumentsError::Json(_))), "{text}");
        }
        for text in ["[]", "1", "null", r#""a""#] {
            assert!(matches!(Arguments::read(text), Err(ArgumentsError::NotAnObject)), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(Arguments::read(&deep), Err(ArgumentsError::Json(_))));
    }

    proptest! {
        #[test]
        fn it_reads_as_any_other_reader(value in intent_gateway_testing::json::json_value()) {
            let text = Value::Object(Map::from_iter([("a".to_owned(), value)])).to_string();
            let Arguments(members) = Arguments::read(&text).expect("an object");
            prop_assert_eq!(Value::Object(members), serde_json::from_str::<Value>(&text).expect("valid JSON"));
        }
    }
}
