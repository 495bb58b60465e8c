//! Reads request bodies: everything that is wrong with one is found at once, each at its place.
//!
//! Where a member is missing in an object inside a body, the place is that object.
//!
//! Not here: what a member means. That is judged in the domain.

use std::fmt;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::datetime;
use intent_gateway_domain::money::{AMOUNT_MAX, InvalidAmount, Paise};
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{code, quote};
use serde::de::value::{self, StrDeserializer};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Longest text that a member may be, characters, where the domain sets no other bound.
const TEXT_MAX_CHARS: usize = 4_096;
/// Longest array that a member may be.
const ITEMS_MAX: usize = 200;
/// Code of a member that is there twice where it may not be.
const DUPLICATE_KEY: &str = "DUPLICATE_KEY";

/// A body that is an object, or an object inside one.
pub trait Body: Sized {
    /// Whether members that nothing reads, or that are there twice, are refused. Otherwise they are passed over, and of two
    /// the last counts.
    const CLOSED: bool = false;

    /// Takes what belongs to it out of the members; `None` only where a violation was recorded.
    fn read(members: &mut Members<'_>) -> Option<Self>;
}

/// Reads a body.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read<T: Body>(json: &str) -> Result<T, Vec<Violation>> {
    let (read, violations) = read_object(String::new(), json);
    read.filter(|_| violations.is_empty()).ok_or(violations)
}

fn read_object<T: Body>(at: String, json: &str) -> (Option<T>, Vec<Violation>) {
    let mut members = Members { at, unread: Vec::new(), violations: Vec::new() };
    match serde_json::from_str(json) {
        Ok(InOrder(unread)) => members.unread = unread,
        Err(_) => members.violate(String::new(), code::WRONG_TYPE, "expected an object"),
    }
    if T::CLOSED {
        members.refuse_repeated();
    }
    let read = T::read(&mut members);
    if T::CLOSED {
        members.refuse_unread();
    }
    (read, members.violations)
}

/// The members of an object that were not read yet, and all that is wrong so far.
pub struct Members<'a> {
    /// Pointer to the object.
    at: String,
    unread: Vec<(String, &'a RawValue)>,
    violations: Vec<Violation>,
}

/// Which characters a text may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Characters {
    /// No control characters.
    Line,
    /// Control characters only of white space.
    Prose,
}

impl<'a> Members<'a> {
    /// A text on one line.
    pub fn text(&mut self, name: &str) -> Option<String> {
        self.require(name).and_then(|json| self.read_bounded(name, json, Characters::Line))
    }

    /// A text that may have several lines.
    pub(crate) fn prose(&mut self, name: &str) -> Option<String> {
        self.require(name).and_then(|json| self.read_bounded(name, json, Characters::Prose))
    }

    /// A text on one line that may be absent or null.
    pub fn optional_text(&mut self, name: &str) -> Option<String> {
        self.optional(name).and_then(|json| self.read_bounded(name, json, Characters::Line))
    }

    /// A text that may have several lines, and may be absent or null.
    pub(crate) fn optional_prose(&mut self, name: &str) -> Option<String> {
        self.optional(name).and_then(|json| self.read_bounded(name, json, Characters::Prose))
    }

    /// A text whatever its characters and length: the domain bounds it.
    pub fn text_of_any_length(&mut self, name: &str) -> Option<String> {
        self.require(name).and_then(|json| self.string(name, json))
    }

    /// The same; it may be absent or null.
    pub(crate) fn optional_unbounded(&mut self, name: &str) -> Option<String> {
        self.optional(name).and_then(|json| self.string(name, json))
    }

    /// A text out of a vocabulary, as what it stands for.
    pub fn word<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let text = self.text_of_any_length(name)?;
        let read = T::deserialize(StrDeserializer::<value::Error>::new(&text));
        read.map_err(|error| self.refuse(name, code::NOT_IN_VOCABULARY, say_unknown(name, &text, &error))).ok()
    }

    /// The same; it may be absent or null.
    pub(crate) fn optional_word<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        if self.unread.iter().any(|(member, json)| member == name && json.get() != "null") {
            self.word(name)
        } else {
            None
        }
    }

    /// A moment, as ISO 8601 with an offset.
    pub(crate) fn moment(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.text(name)?;
        let at = datetime::instant_ms(&text).and_then(|ms| u64::try_from(ms).ok()).map(Timestamp::from_ms);
        if at.is_none() {
            self.refuse(name, code::BAD_FORMAT, "expected a time with its offset, as 2027-03-01T00:00:00Z");
        }
        at
    }

    /// A boolean; false when absent or null.
    pub fn flag(&mut self, name: &str) -> bool {
        let Some(json) = self.optional(name) else { return false };
        serde_json::from_str(json.get()).unwrap_or_else(|_| {
            self.refuse(name, code::WRONG_TYPE, "expected true or false");
            false
        })
    }

    /// A value as it is written.
    pub fn raw(&mut self, name: &str) -> Option<Box<RawValue>> {
        let json = self.take(name);
        if json.is_none() {
            self.miss(name);
        }
        json.map(ToOwned::to_owned)
    }

    /// A value as it is written, which may be absent or null.
    pub(crate) fn optional_raw(&mut self, name: &str) -> Option<&'a RawValue> {
        self.optional(name)
    }

    /// An amount in INR as it is written, for it is not to pass through a float; it may be absent or null.
    pub(crate) fn optional_amount(&mut self, name: &str) -> Option<Paise> {
        if self.unread.iter().filter(|(member, _)| member == name).count() > 1 {
            self.refuse(name, DUPLICATE_KEY, "the member occurs twice in its object; once is expected");
            return None;
        }
        let read = Paise::from_inr(self.optional(name)?.get());
        let (code, message) = match read {
            Ok(amount) => return Some(amount),
            Err(InvalidAmount::NotANumber) => (code::WRONG_TYPE, "expected a number".to_owned()),
            Err(InvalidAmount::TooFine) => (code::BAD_FORMAT, "expected at most two decimals".to_owned()),
            Err(InvalidAmount::TooLarge) => (code::OUT_OF_RANGE, format!("expected at most {AMOUNT_MAX}")),
        };
        self.refuse(name, code, message);
        None
    }

    /// An array of texts; empty when absent or null.
    pub fn texts(&mut self, name: &str) -> Vec<String> {
        self.items(name, |members, place, json| members.string(place, json))
    }

    /// An array of objects of whatever members; empty when absent or null.
    pub fn values(&mut self, name: &str) -> Vec<Value> {
        self.items(name, |members, place, json| {
            let value: Option<Value> = serde_json::from_str(json.get()).ok().filter(Value::is_object);
            if value.is_none() {
                members.refuse(place, code::WRONG_TYPE, "expected an object");
            }
            value
        })
    }

    /// An array of objects; empty when absent or null.
    pub fn objects<T: Body>(&mut self, name: &str) -> Vec<T> {
        self.items(name, |members, place, json| members.inner(place, json))
    }

    /// An object that may be absent or null.
    pub(crate) fn optional_object<T: Body>(&mut self, name: &str) -> Option<T> {
        let json = self.optional(name)?;
        self.inner(name, json)
    }

    /// Records that something is wrong with a member.
    pub fn refuse(&mut self, name: &str, code: &str, message: impl Into<String>) {
        let within: String = name.split('/').map(|part| child("", part)).collect();
        self.violate(within, code, message);
    }

    /// Records what the domain has found wrong with what could be read; pointers into this object.
    pub(crate) fn judge(&mut self, found: Vec<Violation>) {
        for Violation { pointer, code, message } in found {
            self.violate(pointer, &code, message);
        }
    }

    fn violate(&mut self, within: String, code: &str, message: impl Into<String>) {
        let pointer = format!("{}{within}", self.at);
        self.violations.push(Violation { pointer, code: code.to_owned(), message: message.into() });
    }

    fn miss(&mut self, name: &str) {
        if self.at.is_empty() {
            self.refuse(name, code::REQUIRED, format!("`{name}` is missing"));
        } else {
            self.violate(String::new(), code::REQUIRED, format!("`{name}` is missing"));
        }
    }

    /// The last member of a name.
    fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let last = self.unread.iter().rposition(|(member, _)| member == name)?;
        let (_, json) = self.unread.remove(last);
        self.unread.retain(|(member, _)| member != name);
        Some(json)
    }

    fn optional(&mut self, name: &str) -> Option<&'a RawValue> {
        self.take(name).filter(|json| json.get() != "null")
    }

    fn require(&mut self, name: &str) -> Option<&'a RawValue> {
        let json = self.optional(name);
        if json.is_none() {
            self.miss(name);
        }
        json
    }

    fn string(&mut self, name: &str, json: &RawValue) -> Option<String> {
        let text = serde_json::from_str(json.get()).ok();
        if text.is_none() {
            self.refuse(name, code::WRONG_TYPE, "expected a string");
        }
        text
    }

    fn read_bounded(&mut self, name: &str, json: &RawValue, characters: Characters) -> Option<String> {
        let text = self.string(name, json)?;
        let space = |character: char| characters == Characters::Prose && matches!(character, '\n' | '\r' | '\t');
        if text.chars().count() > TEXT_MAX_CHARS {
            self.refuse(name, code::TOO_LONG, format!("expected at most {TEXT_MAX_CHARS} characters"));
            return None;
        }
        if text.chars().any(|character| character.is_control() && !space(character)) {
            self.refuse(name, code::CONTROL_CHARACTER, "expected no control characters");
            return None;
        }
        Some(text)
    }

    fn items<T>(&mut self, name: &str, mut read: impl FnMut(&mut Self, &str, &'a RawValue) -> Option<T>) -> Vec<T> {
        let Some(json) = self.optional(name) else { return Vec::new() };
        let Ok(items) = serde_json::from_str::<Vec<&'a RawValue>>(json.get()) else {
            self.refuse(name, code::WRONG_TYPE, "expected an array");
            return Vec::new();
        };
        if items.len() > ITEMS_MAX {
            self.refuse(name, code::TOO_MANY_ITEMS, format!("expected at most {ITEMS_MAX} items"));
            return Vec::new();
        }
        let items = items.into_iter().enumerate();
        items.filter_map(|(index, json)| read(self, &format!("{name}/{index}"), json)).collect()
    }

    fn inner<T: Body>(&mut self, place: &str, json: &RawValue) -> Option<T> {
        let (read, violations) = read_object(format!("{}/{place}", self.at), json.get());
        let is_sound = violations.is_empty();
        self.violations.extend(violations);
        read.filter(|_| is_sound)
    }

    fn refuse_repeated(&mut self) {
        let names: Vec<String> = self.unread.iter().map(|(name, _)| name.clone()).collect();
        for (index, name) in names.iter().enumerate() {
            // At its second occurrence, however many there are.
            if names[..index].iter().filter(|earlier| *earlier == name).count() == 1 {
                self.violate(child("", name), DUPLICATE_KEY, "the member occurs twice in its object; once is expected");
            }
        }
    }

    fn refuse_unread(&mut self) {
        for (name, _) in std::mem::take(&mut self.unread) {
            self.violate(child("", &name), code::UNKNOWN_MEMBER, format!("there is no member {}", quote(&name)));
        }
    }
}

/// Which words a member may be: the reader knows them, and says so after naming the one that is none of them in its own
/// terms, which are not the caller's.
fn say_unknown(name: &str, written: &str, error: &value::Error) -> String {
    let said = error.to_string();
    let known = said.split_once("expected ").map_or("", |(_, known)| known.trim_start_matches("one of "));
    format!("{name} is one of {known}; found {}", quote(written))
}

/// The members of an object in their order; of two with one name, both.
struct InOrder<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for InOrder<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = InOrder<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(InOrder(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::contract::Axis;

    use super::*;

    /// Pointers and codes of all that is wrong with an object, read so.
    fn found(read: impl FnOnce(&mut Members<'_>), json: &str) -> Vec<(String, String)> {
        let InOrder(unread) = serde_json::from_str(json).expect("an object");
        let mut members = Members { at: String::new(), unread, violations: Vec::new() };
        read(&mut members);
        members.violations.into_iter().map(|violation| (violation.pointer, violation.code)).collect()
    }

    fn codes<T: Body>(json: &str) -> Vec<(String, String)> {
        let violations = read::<T>(json).err().unwrap_or_default();
        violations.into_iter().map(|violation| (violation.pointer, violation.code)).collect()
    }

    fn one(pointer: &str, code: &str) -> Vec<(String, String)> {
        vec![(pointer.to_owned(), code.to_owned())]
    }

    #[test]
    fn everything_wrong_is_found() {
        let text = |members: &mut Members<'_>| drop(members.text("a"));
        assert_eq!(found(text, r#"{"a":"x","b":1}"#), []);
        assert_eq!(found(text, "{}"), one("/a", "REQUIRED"));
        assert_eq!(found(text, r#"{"a":null}"#), one("/a", "REQUIRED"));
        assert_eq!(found(text, r#"{"a":1}"#), one("/a", "WRONG_TYPE"));
        assert_eq!(found(text, r#"{"a":1,"a":"x"}"#), [], "of two the last counts");
        assert_eq!(found(text, r#"{"a":"x\u0000"}"#), one("/a", "CONTROL_CHARACTER"));
        assert_eq!(found(text, r#"{"a":"x\n"}"#), one("/a", "CONTROL_CHARACTER"));
        assert_eq!(found(text, &format!(r#"{{"a":"{}"}}"#, "x".repeat(4_097))), one("/a", "TOO_LONG"));
        let prose = |members: &mut Members<'_>| drop(members.prose("a"));
        assert_eq!(found(prose, r#"{"a":"x\n\ty\r\n"}"#), []);
        assert_eq!(found(prose, r#"{"a":"x\u0000"}"#), one("/a", "CONTROL_CHARACTER"));
        let optional =
            |members: &mut Members<'_>| drop((members.optional_text("a"), members.flag("b"), members.texts("c")));
        assert_eq!(found(optional, "{}"), []);
        assert_eq!(found(optional, r#"{"a":null,"b":null,"c":null}"#), []);
        assert_eq!(found(optional, r#"{"c":["x",2]}"#), one("/c/1", "WRONG_TYPE"));
        let wrong = found(optional, r#"{"a":1,"b":"yes","c":{}}"#);
        assert_eq!(wrong.iter().map(|(pointer, _)| pointer.as_str()).collect::<Vec<_>>(), ["/a", "/b", "/c"]);
        let many = format!(r#"{{"c":[{}0]}}"#, "0,".repeat(200));
        assert_eq!(found(|members| drop(members.texts("c")), &many), one("/c", "TOO_MANY_ITEMS"));
        let word = |members: &mut Members<'_>| {
            let _ = members.word::<Axis>("a");
        };
        assert_eq!(found(word, r#"{"a":"taste"}"#), []);
        assert_eq!(found(word, r#"{"a":"z"}"#), one("/a", "NOT_IN_VOCABULARY"));
        assert_eq!(found(word, r#"{"a":1}"#), one("/a", "WRONG_TYPE"));
    }

    struct Inner;

    impl Body for Inner {
        const CLOSED: bool = true;

        fn read(members: &mut Members<'_>) -> Option<Self> {
            let (a, b) = (members.text("a"), members.text("b"));
            a.and(b).map(|_| Self)
        }
    }

    struct Outer;

    impl Body for Outer {
        fn read(members: &mut Members<'_>) -> Option<Self> {
            members.objects::<Inner>("inner");
            members.optional_object::<Inner>("one");
            Some(Self)
        }
    }

    #[test]
    fn objects_inside_are_read_alike() {
        assert_eq!(codes::<Outer>("[]"), one("", "WRONG_TYPE"));
        assert_eq!(codes::<Outer>(r#"{"inner":[{"a":"","b":""}],"other":1}"#), []);
        assert_eq!(codes::<Outer>(r#"{"one":{"a":""}}"#), one("/one", "REQUIRED"));
        assert_eq!(
            codes::<Outer>(r#"{"inner":[7,{"a":1,"b":2,"c/d":3}]}"#),
            [
                one("/inner/0", "WRONG_TYPE"),
                one("/inner/0", "REQUIRED"),
                one("/inner/0", "REQUIRED"),
                one("/inner/1/a", "WRONG_TYPE"),
                one("/inner/1/b", "WRONG_TYPE"),
                one("/inner/1/c~1d", "UNKNOWN_MEMBER"),
            ]
            .concat()
        );
    }

    #[test]
    fn closed_bodies_take_each_member_once_and_no_other() {
        assert_eq!(codes::<Inner>(r#"{"a":"","b":""}"#), []);
        assert_eq!(codes::<Inner>(r#"{"a":"","b":"","a":"x","a":"y"}"#), one("/a", "DUPLICATE_KEY"));
        assert_eq!(codes::<Inner>(r#"{"a":"","b":"","c":1}"#), one("/c", "UNKNOWN_MEMBER"));
    }

    #[test]
    fn amounts_are_read_as_they_are_written() {
        let amount = |json: &str| {
            found(
                |members| {
                    let _ = members.optional_amount("a");
                },
                json,
            )
        };
        for good in [r#"{"a":999999999999.99}"#, r#"{"a":null}"#, "{}", r#"{"a":1.500}"#] {
            assert_eq!(amount(good), [], "{good}");
        }
        for (bad, code) in [
            (r#"{"a":"12"}"#, "WRONG_TYPE"),
            (r#"{"a":12.345}"#, "BAD_FORMAT"),
            (r#"{"a":1e30}"#, "OUT_OF_RANGE"),
            (r#"{"a":1,"a":2}"#, "DUPLICATE_KEY"),
        ] {
            assert_eq!(amount(bad), one("/a", code), "{bad}");
        }
    }
}
