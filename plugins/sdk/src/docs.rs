//! Field docs for partners: one row per field of a shape.

use crate::pointer::MemberStep;
use crate::shape::{Bounds, FieldDesc, Kind, ValueDesc};

/// One field as partners read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRow {
    /// JSON Pointer; `*` stands for each entry of an array.
    pub pointer: String,
    /// The type in words.
    pub kind: String,
    pub required: bool,
    /// Bounds in words; empty where there are none.
    pub bounds: String,
    pub doc: &'static str,
}

/// All fields of a shape, each object before its members.
pub fn rows(desc: &ValueDesc) -> Vec<FieldRow> {
    let mut rows = Vec::new();
    walk(desc, "", &mut rows);
    rows
}

/// The rows as a Markdown table.
pub fn markdown(desc: &ValueDesc) -> String {
    let mut out = String::from("| Field | Type | Required | Bounds | Meaning |\n|---|---|---|---|---|\n");
    for FieldRow { pointer, kind, required, bounds, doc } in rows(desc) {
        let required = if required { "yes" } else { "no" };
        out.push_str(&format!("| `{pointer}` | {kind} | {required} | {bounds} | {doc} |\n"));
    }
    out
}

fn walk(desc: &ValueDesc, base: &str, rows: &mut Vec<FieldRow>) {
    match desc.kind {
        Kind::Object(parts) => {
            for field in parts.iter().copied().flatten() {
                let pointer = format!("{base}{}", MemberStep(field.name));
                rows.push(row(field, pointer.clone()));
                walk(&field.value, &pointer, rows);
            }
        }
        Kind::Array(entry) => walk(entry, &format!("{base}/*"), rows),
        _ => {}
    }
}

fn row(field: &FieldDesc, pointer: String) -> FieldRow {
    let or_null = if field.value.nullable { " or null" } else { "" };
    FieldRow {
        pointer,
        kind: format!("{}{or_null}", kind_in_words(&field.value)),
        required: field.required,
        bounds: bounds_in_words(&field.bounds),
        doc: field.doc,
    }
}

fn kind_in_words(desc: &ValueDesc) -> String {
    match desc.kind {
        Kind::Vocabulary(vocabulary) => format!("one of {}", vocabulary.values.join(", ")),
        Kind::Array(entry) => format!("array of {}", kind_in_words(entry)),
        kind => kind.label().to_owned(),
    }
}

fn bounds_in_words(bounds: &Bounds) -> String {
    let mut words = Vec::new();
    let mut say = |bound: Option<String>, what: &str| words.extend(bound.map(|bound| format!("{what}{bound}")));
    say(bounds.equals.map(|only| format!("{only:?}")), "always ");
    say(bounds.one_of.map(|values| format!("{values:?}")), "one of ");
    say(bounds.min.map(|min| min.to_string()), "at least ");
    say(bounds.max.map(|max| max.to_string()), "at most ");
    say(bounds.len.map(|len| format!("{len} characters")), "exactly ");
    say(bounds.min_len.map(|len| format!("{len} characters")), "at least ");
    say(bounds.max_len.map(|len| format!("{len} characters")), "at most ");
    say(bounds.items.map(|items| format!("{items} entries")), "exactly ");
    say(bounds.min_items.map(|items| format!("{items} entries")), "at least ");
    say(bounds.max_items.map(|items| format!("{items} entries")), "at most ");
    words.join(", ")
}
