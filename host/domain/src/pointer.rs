//! JSON Pointers (RFC 6901): how a member's name is written as a step of one and read back, and what a pointer leads to.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The pointer to a member of what `at` points to.
#[must_use]
pub fn child(at: &str, key: &str) -> String {
    format!("{at}/{}", escape(key))
}

/// A member's name as a step.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The member's name that a step stands for.
#[must_use]
pub fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The names that a pointer leads through, outermost first.
pub fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(unescape)
}

/// What stands at a pointer of a JSON text, as it is written there; the whole for the empty pointer. None where nothing
/// stands there, or the text is no JSON. What lies beside the way is passed over and not kept.
#[must_use]
pub fn find<'d>(document: &'d str, pointer: &str) -> Option<&'d RawValue> {
    find_in(serde_json::from_str(document).ok()?, pointer)
}

/// The same of what is known to be JSON, which is not looked through once more as a whole.
#[must_use]
pub fn find_in<'d>(document: &'d RawValue, pointer: &str) -> Option<&'d RawValue> {
    let mut here = document;
    for step in steps(pointer) {
        let mut text = serde_json::Deserializer::from_str(here.get());
        here = Step(&step).deserialize(&mut text).ok()??;
    }
    Some(here)
}

/// Finds one member of an object, or one entry of an array. Of members with one name the last counts.
struct Step<'s>(&'s str);

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = map.next_key_seed(IsNamed(self.0))? {
            if is_it {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let Ok(index) = self.0.parse::<usize>() else {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(None);
        };
        let (mut found, mut place) = (None, 0);
        while let Some(item) = items.next_element()? {
            if place == index {
                found = Some(item);
            }
            place += 1;
        }
        Ok(found)
    }
}

/// Whether the next key is this one.
struct IsNamed<'s>(&'s str);

impl<'de> DeserializeSeed<'de> for IsNamed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for IsNamed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{child, find, steps, unescape};
    use serde_json::json;

    #[test]
    fn a_value_is_found_as_it_is_written() {
        let document =
            r#" {"a/b": {"price": 1.50}, "parts": [{"n": 1}, [2, 3]], "none": null, "x\u0041": [], "a": 1, "a": 2} "#;
        let at = |pointer: &str| find(document, pointer).map(|found| found.get());
        assert_eq!(
            [at("/a~1b/price"), at("/parts/0"), at("/parts/1/1")],
            [Some("1.50"), Some(r#"{"n": 1}"#), Some("3")]
        );
        assert_eq!([at("/none"), at("/xA"), at("/a")], [Some("null"), Some("[]"), Some("2")]);
        assert_eq!(at(""), Some(document.trim()));
        for nothing in ["/missing", "/parts/2", "/parts/x", "/parts/-1", "/a/deeper", "/none/x", "/a~1b/price/0"] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
        assert!(find("no JSON", "/a").is_none() && find("{", "").is_none());
    }

    #[test]
    fn a_step_leads_to_its_member_and_is_read_back() {
        for name in ["plain", "", "a/b", "m~n", "~1", "~/", "~01", "é"] {
            let document = json!({ name: {"within": 1}, "other": 2 });
            let pointer = child(&child("", name), "within");
            assert_eq!(document.pointer(&pointer), Some(&json!(1)), "{name}");
            assert_eq!(steps(&pointer).collect::<Vec<_>>(), [name, "within"]);
        }
        assert_eq!(unescape("~01"), "~1");
        assert_eq!(steps("").count(), 0);
    }
}
