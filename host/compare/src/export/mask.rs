//! Takes the person out of a receipt: what few people have given is replaced, in the request and wherever an option repeats it.
//!
//! A text gives way to another of the same shape, the same for the same text within one export. So rules that compare what was asked
//! with what is offered find the same as before. A number is rounded.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hmac::{Hmac, Mac as _};
use intent_gateway_domain::contract::PastOrder;
use intent_gateway_domain::receipt::{Receipt, ReceiptPayload};
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use sha2::Sha256;

use super::commons::{Commons, Place};

/// A text of so many bytes is looked for within others as well. Shorter ones would be found by chance.
const ECHO_MIN_BYTES: usize = 5;
/// What formats of texts are told: what is judged depends on days and hours, and no other text could stand for them.
const KEPT_FORMATS: [&str; 3] = ["date", "date-time", "time"];
/// How deep a schema is followed.
const DEPTH_MAX: usize = 64;

/// Replaces what few people have given.
pub(super) struct Mask<'a> {
    key: &'a [u8; 32],
    commons: &'a Commons,
    /// The schema of the arguments.
    schema: &'a Value,
    /// What was replaced, in lower case.
    replaced: BTreeSet<String>,
}

impl<'a> Mask<'a> {
    pub(super) fn new(key: &'a [u8; 32], commons: &'a Commons, schema: &'a Value) -> Self {
        Self { key, commons, schema, replaced: BTreeSet::new() }
    }

    /// A receipt of the same ranking in which nothing says whose it was. Its outcome is still that of before.
    ///
    /// # Errors
    /// When arguments or options are no JSON, which does not happen.
    pub(super) fn apply(mut self, receipt: &Receipt) -> Result<Receipt, serde_json::Error> {
        let request_id = self.replace(&receipt.request_id);
        let arguments: Value = serde_json::from_str(receipt.arguments.get())?;
        let arguments = self.mask(&Place::ARGUMENTS, Some(self.schema), arguments, 0);
        let history = receipt.history.iter().map(|past| self.mask_past(past)).collect();
        let mut payloads = receipt.payloads.clone();
        for candidate in payloads.iter_mut().flat_map(|ReceiptPayload { candidates, .. }| candidates) {
            if let Cow::Owned(text) = self.replace_in_json(candidate.json.get())? {
                candidate.json = RawValue::from_string(text)?;
            }
        }
        let arguments = serde_json::value::to_raw_value(&arguments)?;
        Ok(Receipt { request_id, arguments, history, payloads, bookable_until_ms: None, ..receipt.clone() })
    }

    fn mask_past(&mut self, past: &PastOrder) -> PastOrder {
        let attributes = past.attributes.iter();
        let attributes = attributes
            .map(|(name, value)| (name.clone(), self.mask(&Place::HISTORY.member(name), None, value.clone(), 0)));
        PastOrder { attributes: attributes.collect(), ..past.clone() }
    }

    /// Members that no schema names go: nobody knows what they say.
    fn mask(&mut self, place: &Place<'_>, schema: Option<&Value>, value: Value, depth: usize) -> Value {
        let is_kept =
            |value: &Value| self.commons.has(place, value) || schema.is_some_and(|schema| is_closed(schema, value, 0));
        match value {
            Value::Object(members) if depth < DEPTH_MAX => {
                let named = schema.and_then(|schema| schema.get("properties"));
                let kept = members.into_iter().filter_map(|(name, value)| {
                    let schema = match named {
                        Some(named) => Some(named.get(&name)?),
                        None => None,
                    };
                    let value = self.mask(&place.member(&name), schema, value, depth + 1);
                    Some((name, value))
                });
                Value::Object(kept.collect())
            }
            Value::Array(items) if depth < DEPTH_MAX => {
                let schema = schema.and_then(|schema| schema.get("items"));
                items.into_iter().map(|item| self.mask(&place.item(), schema, item, depth + 1)).collect()
            }
            Value::Object(_) | Value::Array(_) => Value::Null,
            Value::String(_) | Value::Number(_) if is_kept(&value) => value,
            Value::String(text) => Value::String(self.replace(&text)),
            Value::Number(number) => Value::Number(round(&number)),
            Value::Bool(_) | Value::Null => value,
        }
    }

    fn replace(&mut self, text: &str) -> String {
        self.replaced.insert(text.to_ascii_lowercase());
        self.substitute(text)
    }

    /// Another text of the same shape: letters for letters, digits for digits, and everything else as it is. Texts that differ in
    /// case alone give texts that differ in case alone.
    fn substitute(&self, text: &str) -> String {
        let lower = text.to_ascii_lowercase();
        // What may be hexadecimal stays so.
        let is_hex = lower.bytes().any(|byte| byte.is_ascii_digit())
            && lower.bytes().all(|byte| byte.is_ascii_hexdigit() || !byte.is_ascii_alphanumeric());
        let letters = if is_hex { 6 } else { 26 };
        let mut drawn = Drawn { key: self.key, text: lower.as_bytes(), block: 0, left: Vec::new() };
        let mut other = |from: u8, count: u8| char::from(from + drawn.next() % count);
        let replace = |letter: char| match letter {
            'a'..='z' => other(b'a', letters),
            'A'..='Z' => other(b'A', letters),
            '0'..='9' => other(b'0', 10),
            _ if letter.is_alphanumeric() => other(b'a', letters),
            _ => letter,
        };
        text.chars().map(replace).collect()
    }

    /// JSON text in which nothing else is changed than the texts that repeat what was replaced; names of members stay.
    fn replace_in_json<'t>(&self, json: &'t str) -> Result<Cow<'t, str>, serde_json::Error> {
        let mut rewritten: Option<String> = None;
        let mut copied = 0;
        for (start, end) in texts_of(json) {
            let text: Cow<'_, str> = match json.get(start + 1..end - 1) {
                Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
                _ => Cow::Owned(serde_json::from_str(json.get(start..end).unwrap_or_default())?),
            };
            if let Some(replaced) = self.replace_echoes(&text) {
                let out = rewritten.get_or_insert_with(|| String::with_capacity(json.len()));
                out.push_str(json.get(copied..start).unwrap_or_default());
                out.push_str(&serde_json::to_string(&replaced)?);
                copied = end;
            }
        }
        Ok(match rewritten {
            Some(mut out) => {
                out.push_str(json.get(copied..).unwrap_or_default());
                Cow::Owned(out)
            }
            None => Cow::Borrowed(json),
        })
    }

    /// A text without what was replaced; none where it has nothing of it.
    fn replace_echoes(&self, text: &str) -> Option<String> {
        let lower = text.to_ascii_lowercase();
        if self.replaced.contains(&lower) {
            return Some(self.substitute(text));
        }
        let mut found: Vec<(usize, usize)> = Vec::new();
        for echo in self.replaced.iter().filter(|echo| echo.len() >= ECHO_MIN_BYTES) {
            found.extend(lower.match_indices(echo.as_str()).map(|(start, echo)| (start, start + echo.len())));
        }
        if found.is_empty() {
            return None;
        }
        found.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
        // Lower case of ASCII alone leaves every character where it is.
        for (start, end) in found {
            if start >= copied {
                out.push_str(text.get(copied..start).unwrap_or_default());
                out.push_str(&self.substitute(text.get(start..end).unwrap_or_default()));
                copied = end;
            }
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Some(out)
    }
}

/// Bytes that follow from a key and a text.
struct Drawn<'a> {
    key: &'a [u8; 32],
    text: &'a [u8],
    block: u64,
    left: Vec<u8>,
}

impl Drawn<'_> {
    fn next(&mut self) -> u8 {
        if self.left.is_empty() {
            let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new(&intent_gateway_domain::vault::padded(*self.key));
            mac.update(&self.block.to_be_bytes());
            mac.update(self.text);
            self.block += 1;
            self.left = mac.finalize().into_bytes().to_vec();
        }
        self.left.pop().unwrap_or_default()
    }
}

/// Whether a schema leaves no room for what only one person would say: one value of a list, or a day.
fn is_closed(schema: &Value, value: &Value, depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return false;
    }
    let is_listed = schema.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(value));
    let is_constant = schema.get("const") == Some(value);
    let format = schema.get("format").and_then(Value::as_str);
    let is_time = value.is_string() && format.is_some_and(|format| KEPT_FORMATS.contains(&format));
    let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
    is_listed || is_constant || is_time || alternatives.flatten().any(|schema| is_closed(schema, value, depth + 1))
}

/// A number by its first two digits.
fn round(number: &Number) -> Number {
    let Some(value) = number.as_f64() else { return Number::from(0) };
    let rounded: f64 = format!("{value:.1e}").parse().unwrap_or_default();
    if number.is_f64() {
        return Number::from_f64(rounded).unwrap_or_else(|| Number::from(0));
    }
    // Beyond 2^53 a whole number says nothing that a contract judges.
    Number::from(rounded as i64)
}

/// Where the texts of JSON text are, quotes included; names of members are none.
fn texts_of(json: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + bytes.get(at..)?.iter().position(|byte| *byte == b'"')?;
            let mut end = start + 1;
            while *bytes.get(end)? != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            at = end + 1;
            let next = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
            if next != Some(&b':') {
                return Some((start, at));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn mask<'a>(commons: &'a Commons, schema: &'a Value) -> Mask<'a> {
        Mask::new(&KEY, commons, schema)
    }

    fn masked(arguments: Value, schema: &Value) -> Value {
        let commons = Commons::default();
        mask(&commons, schema).mask(&Place::ARGUMENTS, Some(schema), arguments, 0)
    }

    #[test]
    fn texts_keep_their_shape_and_hide_what_they_said() {
        let (commons, schema) = (Commons::default(), Value::Null);
        let mask = mask(&commons, &schema);
        let plate = mask.substitute("MH12 ab-3456");
        let shape = |text: &str| {
            let class = |letter: char| match letter {
                'a'..='z' => 'a',
                'A'..='Z' => 'A',
                '0'..='9' => '0',
                other => other,
            };
            text.chars().map(class).collect::<String>()
        };
        assert_eq!(shape(&plate), "AA00 aa-0000");
        assert_ne!(plate, "MH12 ab-3456");
        assert_eq!(plate, mask.substitute("MH12 ab-3456"));
        assert_eq!(plate.to_ascii_lowercase(), mask.substitute("mh12 AB-3456").to_ascii_lowercase());
        let id = mask.substitute("01890a5d-ac96-774b-bcce-b302099a8057");
        assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'), "{id}");
        let other_key = [8; 32];
        let other = Mask::new(&other_key, &commons, &schema);
        assert_ne!(other.substitute("MH12 ab-3456"), plate, "another export");
        assert!(!mask.substitute("Śrī Åsa").contains(['Ś', 'ī', 'Å']));
    }

    #[test]
    fn what_a_schema_closes_stays_and_what_it_does_not_name_goes() {
        let schema = json!({"properties": {
            "kind": {"type": "string", "enum": ["a", "b"]},
            "fixed": {"const": "INR"},
            "day": {"type": ["string", "null"], "format": "date"},
            "either": {"anyOf": [{"type": "null"}, {"enum": ["x", 3]}]},
            "years": {"type": "integer", "enum": [1, 3]},
            "name": {"type": "string"},
            "km": {"type": "integer"},
            "lat": {"type": "number"},
            "list": {"items": {"properties": {"name": {"type": "string"}}}},
            "map": {"type": "object"},
            "flag": {"type": "boolean"},
        }});
        let arguments = json!({
            "kind": "b", "fixed": "INR", "day": "2026-01-31", "either": "x", "years": 3, "name": "Asha", "km": 48_213,
            "lat": 19.0761, "list": [{"name": "Asha", "secret": "x"}], "map": {"any": "Asha"}, "flag": true, "more": "Asha",
        });
        let masked = masked(arguments, &schema);
        assert!(!masked.to_string().contains("Asha"), "{masked}");
        for (member, kept) in
            [("kind", json!("b")), ("fixed", json!("INR")), ("day", json!("2026-01-31")), ("either", json!("x"))]
        {
            assert_eq!(masked[member], kept);
        }
        assert_eq!((&masked["years"], &masked["flag"]), (&json!(3), &json!(true)));
        assert_eq!((&masked["km"], &masked["lat"]), (&json!(48_000), &json!(19.0)));
        assert_eq!(masked["name"], masked["list"][0]["name"], "the same text, wherever it stands");
        assert_eq!(masked["map"]["any"], masked["name"]);
        assert_eq!((masked.get("more"), masked["list"][0].get("secret")), (None, None));
    }

    #[test]
    fn numbers_are_rounded_to_two_digits() {
        for (number, rounded) in [
            (json!(0), json!(0)),
            (json!(7), json!(7)),
            (json!(1_997), json!(2_000)),
            (json!(-4_449), json!(-4_400)),
            (json!(72.8777), json!(73.0)),
            (json!(0.012_345), json!(0.012)),
        ] {
            let Value::Number(number) = number else { panic!("a number") };
            assert_eq!(Value::Number(round(&number)), rounded);
        }
    }

    #[test]
    fn options_repeat_nothing_that_was_replaced() {
        let (commons, schema) = (Commons::default(), json!({"properties": {"plate": {}, "last4": {}}}));
        let mut mask = mask(&commons, &schema);
        mask.mask(&Place::ARGUMENTS, Some(&schema), json!({"plate": "MH12AB3456", "last4": "3456"}), 0);
        let option = "{ \"plate\" : \"mh12ab3456\",\"price\":1.50, \"note\":\"for \\u004dH12AB3456, at 3456 rupees\", \
                      \"last4\":\"3456\",\"MH12AB3456\":[\"x\\\"y\", {}] }";
        let replaced = mask.replace_in_json(option).expect("JSON");
        let read: Value = serde_json::from_str(&replaced).expect("JSON");
        let plate = mask.substitute("MH12AB3456");
        assert_eq!(read["plate"], json!(plate.to_ascii_lowercase()));
        assert_eq!(read["note"], json!(format!("for {plate}, at 3456 rupees")), "four digits may be anything");
        assert_eq!(read["last4"], json!(mask.substitute("3456")));
        assert!(replaced.contains("\"price\":1.50, ") && replaced.starts_with("{ \"plate\" : "), "{replaced}");
        assert!(replaced.contains("\"MH12AB3456\":[\"x\\\"y\", {}] }"), "names stay: {replaced}");
        assert!(matches!(mask.replace_in_json("[\"else\", 1.0]"), Ok(Cow::Borrowed("[\"else\", 1.0]"))));
    }

    proptest! {
        #[test]
        fn nothing_is_changed_where_nothing_was_replaced(json in "[\"\\\\a-c:{}\\[\\],0-9 é]{0,40}") {
            let (commons, schema) = (Commons::default(), Value::Null);
            let mask = mask(&commons, &schema);
            if let Ok(read) = mask.replace_in_json(&json) {
                prop_assert_eq!(&*read, json.as_str());
            }
        }

        #[test]
        fn what_was_replaced_is_in_no_option(secret in "[a-zA-Z0-9é -]{5,20}", before in ".{0,8}", after in ".{0,8}") {
            prop_assume!(secret.bytes().filter(u8::is_ascii_alphanumeric).count() >= 5);
            let (commons, schema) = (Commons::default(), Value::Null);
            let mut mask = mask(&commons, &schema);
            let other = mask.replace(&secret);
            prop_assume!(!other.eq_ignore_ascii_case(&secret));
            let option = json!({"a": format!("{before}{secret}{after}"), "b": [secret.to_ascii_uppercase()]}).to_string();
            let replaced = mask.replace_in_json(&option).expect("JSON").to_ascii_lowercase();
            let read: Value = serde_json::from_str(&replaced).expect("JSON");
            prop_assert!(!read["b"][0].as_str().expect("a text").contains(&secret.to_ascii_lowercase()));
            let whole = format!("{before}{secret}{after}").to_ascii_lowercase();
            prop_assert_ne!(read["a"].as_str().expect("a text"), whole);
        }
    }
}
