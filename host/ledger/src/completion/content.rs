//! A report as a JSON value: its members as they are written, and one digest for every way to write the same value.
//!
//! `canonical_json` is not used here, for it goes through floats: two reports
//! whose numbers differ beyond a float's precision would be one, and an amount is not to be lost that way.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::INVALID_JSON;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
use intent_gateway_domain::money::Decimal;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::Violations;

/// A member name occurs twice in one object.
const DUPLICATE_KEY: &str = "DUPLICATE_KEY";
/// The report nests deeper than [`PAYLOAD_MAX_DEPTH`].
const TOO_DEEP: &str = "TOO_DEEP";
/// Half a surrogate pair, for example.
pub(super) const NAME_IS_NO_TEXT: &str = "the name of a member is no text";

/// The members of an object, sorted by name; one that occurs twice is there twice.
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// `None` when the value is not an object, or a name in it is not text.
    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        let mut members: Self = serde_json::from_str(raw.get()).ok()?;
        members.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        Some(members)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.binary_search_by(|(key, _)| (**key).cmp(name)).ok()?;
        Some(self.0[at].1)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Text(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// A text that is borrowed where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A string; `None` for any other value, and for escapes that stand for no text.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw.get()).ok().map(|Text(text)| text)
}

/// The JSON type of a value, with its article.
pub(super) fn kind(raw: &RawValue) -> &'static str {
    match raw.get().bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The digest of an object. What has no single value is noted, and the digest then stands for nothing.
pub(super) fn digest(members: &Members<'_>, found: &mut Violations) -> Digest {
    let mut canonical = Canonical { text: String::new(), found };
    canonical.object(members, &Location::Root, 0);
    Digest::of(canonical.text.as_bytes())
}

/// Where in the report: made into a pointer only when there is something to point at.
enum Location<'p> {
    Root,
    Member(&'p Location<'p>, &'p str),
    Item(&'p Location<'p>, usize),
}

impl Location<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(owner, name) => child(&owner.pointer(), name),
            Self::Item(owner, index) => format!("{}/{index}", owner.pointer()),
        }
    }
}

/// Writes a value without blanks, members sorted by name, numbers by their digits and exponent.
struct Canonical<'f> {
    text: String,
    found: &'f mut Violations,
}

impl Canonical<'_> {
    fn refuse(&mut self, place: &Location<'_>, code: &str, message: impl Into<String>) {
        self.found.push(place.pointer(), code, message);
    }

    // Each level reads its text once more, so a report costs at most PAYLOAD_MAX_DEPTH times its size.
    fn value(&mut self, raw: &RawValue, place: &Location<'_>, depth: usize) {
        let written = raw.get();
        match written.bytes().next() {
            Some(b'{' | b'[') if depth >= PAYLOAD_MAX_DEPTH => {
                self.refuse(place, TOO_DEEP, format!("the report nests more than {PAYLOAD_MAX_DEPTH} levels"));
            }
            Some(b'{') => match Members::read(raw) {
                Some(members) => self.object(&members, place, depth),
                None => self.refuse(place, INVALID_JSON, NAME_IS_NO_TEXT),
            },
            Some(b'[') => self.array(raw, place, depth),
            Some(b'"') => match text(raw) {
                Some(text) => self.string(&text),
                None => self.refuse(place, INVALID_JSON, "the string is no text"),
            },
            _ => match Decimal::read(written) {
                Some(number) => self.number(number),
                None => self.text.push_str(written),
            },
        }
    }

    fn object(&mut self, members: &Members<'_>, place: &Location<'_>, depth: usize) {
        self.text.push('{');
        let mut last = None;
        for (name, value) in &members.0 {
            let place = Location::Member(place, name);
            if last == Some(name) {
                self.refuse(&place, DUPLICATE_KEY, "the member occurs twice in its object; once is expected");
            }
            last = Some(name);
            self.string(name);
            self.text.push(':');
            self.value(value, &place, depth + 1);
            self.text.push(',');
        }
        self.text.push('}');
    }

    fn array(&mut self, raw: &RawValue, place: &Location<'_>, depth: usize) {
        // The text was read as JSON before, so this gives every item.
        let items: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        self.text.push('[');
        for (index, item) in items.into_iter().enumerate() {
            self.value(item, &Location::Item(place, index), depth + 1);
            self.text.push(',');
        }
        self.text.push(']');
    }

    /// With its length before it, so that nothing in it needs an escape.
    fn string(&mut self, text: &str) {
        self.text.push_str(&text.len().to_string());
        self.text.push('"');
        self.text.push_str(text);
    }

    /// `3`, `3.0` and `30e-1` alike.
    fn number(&mut self, number: Decimal<'_>) {
        if number.is_zero() {
            self.text.push('0');
            return;
        }
        if number.negative {
            self.text.push('-');
        }
        self.text.extend(number.digits().filter_map(|digit| char::from_digit(u32::try_from(digit).ok()?, 10)));
        self.text.push('e');
        self.text.push_str(&number.exponent().to_string());
    }
}
