//! Documents that break one field in one way, made from the field's description.

use crate::code;
use crate::pointer::MemberStep;
use crate::schema::number;
use crate::shape::{Bounds, FieldDesc, Kind, TextFormat, ValueDesc};
use serde_json::{Value, json};

/// A document that must be refused.
#[derive(Debug, Clone)]
pub struct Breakage {
    /// The broken place.
    pub pointer: String,
    /// What was done to it.
    pub what: String,
    /// The code that it must be refused with.
    pub code: &'static str,
    /// The document, JSON.
    pub document: String,
}

/// A document that must be accepted.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// The changed place.
    pub pointer: String,
    /// What was done to it.
    pub what: String,
    /// The document, JSON.
    pub document: String,
}

/// Key that stands for a second occurrence of another until the document is text.
const TWICE: &str = "\u{1}twice";

/// Every way to break every field of a sound document, one at a time.
pub fn list_breakages(desc: &ValueDesc, sound: &Value) -> Vec<Breakage> {
    let mut walk = Walk { sound, broken: Vec::new(), accepted: Vec::new() };
    walk.value(desc, &Bounds::NONE, "");
    walk.broken
}

/// Every field of a sound document at the edges of its bounds, one at a time.
pub fn list_accepted(desc: &ValueDesc, sound: &Value) -> Vec<Accepted> {
    let mut walk = Walk { sound, broken: Vec::new(), accepted: Vec::new() };
    walk.value(desc, &Bounds::NONE, "");
    walk.accepted
}

struct Walk<'s> {
    sound: &'s Value,
    broken: Vec<Breakage>,
    accepted: Vec<Accepted>,
}

impl Walk<'_> {
    /// The sound document with another value at a place.
    fn with(&self, pointer: &str, value: Value) -> String {
        let mut document = self.sound.clone();
        *at(&mut document, pointer) = value;
        document.to_string()
    }

    fn breaks(&mut self, pointer: &str, what: &str, code: &'static str, value: Value) {
        let what = format!("{what} ({value})");
        let document = self.with(pointer, value);
        self.broken.push(Breakage { pointer: pointer.to_owned(), what, code, document });
    }

    fn passes(&mut self, pointer: &str, what: &str, value: Value) {
        let what = format!("{what} ({value})");
        let document = self.with(pointer, value);
        self.accepted.push(Accepted { pointer: pointer.to_owned(), what, document });
    }

    fn member(&mut self, field: &FieldDesc, object: &str) {
        let pointer = format!("{object}{}", MemberStep(field.name));
        let mut without = self.sound.clone();
        let removed = at(&mut without, object).as_object_mut().and_then(|members| members.remove(field.name));
        let Some(value) = removed else {
            panic!("the document to start from lacks {pointer}");
        };
        let document = without.to_string();
        if field.required && !field.absence_ruled {
            let what = String::from("a missing member");
            self.broken.push(Breakage { pointer: pointer.clone(), what, code: code::REQUIRED, document });
        } else {
            self.accepted.push(Accepted { pointer: pointer.clone(), what: String::from("absence"), document });
        }
        let mut twice = self.sound.clone();
        at(&mut twice, object)[TWICE] = value;
        let key = |name: &str| Value::from(name).to_string();
        let document = twice.to_string().replace(&key(TWICE), &key(field.name));
        let what = String::from("a second occurrence");
        self.broken.push(Breakage { pointer: pointer.clone(), what, code: code::DUPLICATE_KEY, document });
        self.value(&field.value, &field.bounds, &pointer);
    }

    fn value(&mut self, desc: &ValueDesc, bounds: &Bounds, at: &str) {
        if desc.nullable {
            self.passes(at, "null", Value::Null);
        } else {
            self.breaks(at, "null", code::WRONG_TYPE, Value::Null);
        }
        if !matches!(desc.kind, Kind::Any) {
            for wrong in [json!({"a": [1]}), json!([[], {}]), json!("text"), json!(17), json!(true), json!("3")] {
                if !is_of(desc.kind, &wrong) {
                    self.breaks(at, "another type", code::WRONG_TYPE, wrong);
                }
            }
        }
        match desc.kind {
            Kind::False => self.breaks(at, "true", code::UNEXPECTED_VALUE, json!(true)),
            Kind::Integer => self.integer(bounds, at),
            Kind::Number => self.range(bounds, at, 0.25),
            Kind::Amount => self.amount(at),
            Kind::Text(format) => self.text(format, bounds, at),
            Kind::Vocabulary(vocabulary) => {
                for value in vocabulary.values {
                    self.passes(at, "a value of the vocabulary", json!(value));
                    let upper = value.to_uppercase();
                    let other = if upper == *value { value.to_lowercase() } else { upper };
                    self.breaks(at, "another case", code::NOT_IN_VOCABULARY, json!(other));
                }
                self.breaks(at, "an unknown value", code::NOT_IN_VOCABULARY, json!("no_such_value"));
                self.breaks(at, "an empty value", code::NOT_IN_VOCABULARY, json!(""));
            }
            Kind::Object(parts) => parts.iter().copied().flatten().for_each(|field| self.member(field, at)),
            Kind::Array(entry) => self.array(entry, bounds, at),
            Kind::Boolean => {
                self.passes(at, "true", json!(true));
                self.passes(at, "false", json!(false));
            }
            Kind::Any => {}
        }
    }

    fn integer(&mut self, bounds: &Bounds, at: &str) {
        self.breaks(at, "a fraction", code::WRONG_TYPE, json!(2.5));
        self.breaks(at, "more than 64 bits", code::OUT_OF_RANGE, json!(1e300));
        if let Some(allowed) = bounds.one_of {
            for value in allowed {
                self.passes(at, "an allowed value", json!(value));
            }
            let other = (0..).find(|value| !allowed.contains(value)).unwrap_or(-1);
            self.breaks(at, "another value", code::NOT_IN_VOCABULARY, json!(other));
        } else {
            self.range(bounds, at, 1.0);
            let whole = bounds.min.or(bounds.max).unwrap_or(3.0);
            self.passes(at, "an integer written as a float", json!(whole));
        }
    }

    fn range(&mut self, bounds: &Bounds, at: &str, step: f64) {
        if let Some(min) = bounds.min {
            self.passes(at, "the least value", number(min));
            self.breaks(at, "less than the least value", code::OUT_OF_RANGE, number(min - step));
        }
        if let Some(max) = bounds.max {
            self.passes(at, "the greatest value", number(max));
            self.breaks(at, "more than the greatest value", code::OUT_OF_RANGE, number(max + step));
        }
    }

    fn amount(&mut self, at: &str) {
        self.passes(at, "two decimals", json!(12.34));
        self.passes(at, "nothing", json!(0));
        self.breaks(at, "less than nothing", code::OUT_OF_RANGE, json!(-0.01));
        self.breaks(at, "three decimals", code::BAD_FORMAT, json!(12.345));
        self.breaks(at, "more than any order", code::OUT_OF_RANGE, json!(1e300));
    }

    fn text(&mut self, format: TextFormat, bounds: &Bounds, at: &str) {
        if bounds.equals.is_some() {
            return self.breaks(at, "another text", code::UNEXPECTED_VALUE, json!("another text"));
        }
        // The place of each character is one, however many bytes it takes.
        let letters = |count: usize| json!("é".repeat(count));
        if let Some(exact) = bounds.len {
            self.passes(at, "the right length", letters(exact));
            self.breaks(at, "one character more", code::WRONG_LENGTH, letters(exact + 1));
            self.breaks(at, "one character less", code::WRONG_LENGTH, letters(exact - 1));
            return;
        }
        if let Some(max) = bounds.max_len {
            self.passes(at, "the greatest length", letters(max));
            self.breaks(at, "one character more", code::TOO_LONG, letters(max + 1));
        }
        if let Some(min) = bounds.min_len {
            self.passes(at, "the least length", letters(min));
            let code = if min == 1 { code::EMPTY } else { code::TOO_SHORT };
            self.breaks(at, "one character less", code, letters(min - 1));
            return;
        }
        if format == TextFormat::Any {
            return self.passes(at, "an empty text", json!(""));
        }
        let empty =
            if matches!(format, TextFormat::DateTime | TextFormat::Date) { code::BAD_FORMAT } else { code::EMPTY };
        self.breaks(at, "an empty text", empty, json!(""));
        self.breaks(at, "a blank text", empty, json!(" \t"));
        for bad in malformed_texts(format) {
            self.breaks(at, "a text that is written otherwise", code::BAD_FORMAT, json!(bad));
        }
    }

    fn array(&mut self, entry: &ValueDesc, bounds: &Bounds, at: &str) {
        let first = self.sound.pointer(at).and_then(|list| list.get(0)).cloned();
        let Some(first) = first else {
            panic!("the document to start from has nothing in {at}");
        };
        let of = |count: usize| Value::from(vec![first.clone(); count]);
        if let Some(exact) = bounds.items {
            self.breaks(at, "one entry more", code::WRONG_LENGTH, of(exact + 1));
            self.breaks(at, "one entry less", code::WRONG_LENGTH, of(exact - 1));
        }
        if let Some(max) = bounds.max_items {
            self.passes(at, "the greatest number of entries", of(max));
            self.breaks(at, "one entry more", code::TOO_MANY_ITEMS, of(max + 1));
        }
        if let Some(min) = bounds.min_items {
            self.passes(at, "the least number of entries", of(min));
            self.breaks(at, "one entry less", code::TOO_FEW_ITEMS, of(min - 1));
        } else if bounds.items.is_none() {
            self.passes(at, "no entry", of(0));
        }
        self.value(entry, bounds, &format!("{at}/0"));
    }
}

/// The place of a document that the walk has seen to exist.
fn at<'d>(document: &'d mut Value, pointer: &str) -> &'d mut Value {
    match document.pointer_mut(pointer) {
        Some(place) => place,
        None => panic!("the document to start from lacks {pointer}"),
    }
}

/// Whether a value has the JSON type of a kind.
fn is_of(kind: Kind, value: &Value) -> bool {
    match kind {
        Kind::Boolean | Kind::False => value.is_boolean(),
        Kind::Integer | Kind::Number | Kind::Amount => value.is_number(),
        Kind::Text(_) | Kind::Vocabulary(_) => value.is_string(),
        Kind::Object(_) => value.is_object(),
        Kind::Array(_) => value.is_array(),
        Kind::Any => true,
    }
}

fn malformed_texts(format: TextFormat) -> &'static [&'static str] {
    match format {
        TextFormat::Any | TextFormat::NonBlank => &[],
        TextFormat::DateTime => &[
            "2026-05-04",
            "2026-05-04T10:00:00",
            "2026-05-04 10:00:00+05:30",
            "2026-05-04t10:00:00+05:30",
            "2026-02-30T10:00:00Z",
            "2026-05-04T10:00:00Z[Asia/Kolkata]",
            "tomorrow",
        ],
        TextFormat::Date => &["2026-05-04T10:00:00Z", "2026-02-30", "04-05-2026", "2026-5-4"],
        TextFormat::HttpsUrl => &["http://partner.example/", "partner.example", "https://", "https://a b.example/"],
        TextFormat::WebUrl => &["ftp://partner.example/", "partner.example", "https://"],
        TextFormat::Phone => &["9812345678", "+0812345678", "+91 98123 45678", "+1234567890123456"],
        TextFormat::Locale => &["en_IN", "e", "en-"],
        TextFormat::Semver => &["1.0", "v1.0.0", "1.0.0.0"],
    }
}
