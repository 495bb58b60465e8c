//! Where two JSON documents differ, member by member.

use std::collections::BTreeSet;

use serde_json::Value;

type Members = serde_json::Map<String, Value>;

/// Members that are shown.
const SHOWN_MAX: usize = 60;
/// Characters of a value that are shown.
const VALUE_MAX_CHARS: usize = 200;

/// A member that is not the same in both.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Differing {
    /// JSON Pointer; empty is the document itself.
    pub(super) pointer: String,
    /// None where the first has no such member.
    pub(super) first: Option<String>,
    pub(super) second: Option<String>,
}

/// The members that differ, and how many more there are than are shown.
pub(super) fn find_differing(first: &Value, second: &Value) -> (Vec<Differing>, usize) {
    let mut found = Found { members: Vec::new(), unshown: 0 };
    found.compare(String::new(), Some(first), Some(second));
    (found.members, found.unshown)
}

struct Found {
    members: Vec<Differing>,
    unshown: usize,
}

impl Found {
    fn compare(&mut self, at: String, first: Option<&Value>, second: Option<&Value>) {
        if first == second {
            return;
        }
        match (first.and_then(parts), second.and_then(parts)) {
            // What one has and the other has not is told member by member as well.
            (Some(Parts::Object(one)), Some(Parts::Object(other))) => self.compare_objects(&at, Some(one), Some(other)),
            (Some(Parts::Object(one)), None) if second.is_none() => self.compare_objects(&at, Some(one), None),
            (None, Some(Parts::Object(other))) if first.is_none() => self.compare_objects(&at, None, Some(other)),
            (Some(Parts::Array(one)), Some(Parts::Array(other))) => self.compare_arrays(&at, one, other),
            (Some(Parts::Array(one)), None) if second.is_none() => self.compare_arrays(&at, one, &[]),
            (None, Some(Parts::Array(other))) if first.is_none() => self.compare_arrays(&at, &[], other),
            _ => self.note(at, first.map(cut), second.map(cut)),
        }
    }

    fn compare_objects(&mut self, at: &str, first: Option<&Members>, second: Option<&Members>) {
        let names: BTreeSet<&String> = first.into_iter().chain(second).flat_map(Members::keys).collect();
        for name in names {
            let (one, other) =
                (first.and_then(|members| members.get(name)), second.and_then(|members| members.get(name)));
            self.compare(child(at, name), one, other);
        }
    }

    fn compare_arrays(&mut self, at: &str, first: &[Value], second: &[Value]) {
        for place in 0..first.len().max(second.len()) {
            self.compare(child(at, &place.to_string()), first.get(place), second.get(place));
        }
    }

    fn note(&mut self, pointer: String, first: Option<String>, second: Option<String>) {
        if self.members.len() < SHOWN_MAX {
            self.members.push(Differing { pointer, first, second });
        } else {
            self.unshown += 1;
        }
    }
}

/// What a value is made of.
enum Parts<'a> {
    Object(&'a Members),
    Array(&'a [Value]),
}

/// None of a single value. An object or a list without members is one.
fn parts(value: &Value) -> Option<Parts<'_>> {
    match value {
        Value::Object(members) if !members.is_empty() => Some(Parts::Object(members)),
        Value::Array(items) if !items.is_empty() => Some(Parts::Array(items)),
        _ => None,
    }
}

fn child(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A value as JSON, cut where it is long.
fn cut(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(first: &Value, second: &Value) -> Vec<(String, Option<String>, Option<String>)> {
        let (members, _) = find_differing(first, second);
        members.into_iter().map(|Differing { pointer, first, second }| (pointer, first, second)).collect()
    }

    fn one(pointer: &str, first: Option<&str>, second: Option<&str>) -> (String, Option<String>, Option<String>) {
        (pointer.to_owned(), first.map(str::to_owned), second.map(str::to_owned))
    }

    #[test]
    fn what_differs_is_named_by_its_pointer() {
        let first =
            json!({"same": [1, {"a": 2}], "price": {"fee_inr": 100, "gst/rate": 18}, "slots": ["10:00", "11:00"]});
        let second =
            json!({"same": [1, {"a": 2}], "price": {"fee_inr": 120, "gst/rate": 18}, "slots": ["10:00"], "~": null});
        assert_eq!(
            found(&first, &second),
            [
                one("/price/fee_inr", Some("100"), Some("120")),
                one("/slots/1", Some("\"11:00\""), None),
                one("/~0", None, Some("null")),
            ]
        );
        assert_eq!(found(&first, &first), []);
    }

    #[test]
    fn what_only_one_has_is_told_member_by_member() {
        let first = json!({"a": {"b": [1, {"c/d": true}], "e": {}}});
        assert_eq!(
            found(&first, &json!({})),
            [one("", Some(&first.to_string()), Some("{}"))],
            "an empty object is a value of its own"
        );
        assert_eq!(
            found(&first, &json!({"x": []})),
            [
                one("/a/b/0", Some("1"), None),
                one("/a/b/1/c~1d", Some("true"), None),
                one("/a/e", Some("{}"), None),
                one("/x", None, Some("[]")),
            ]
        );
        assert_eq!(found(&json!({"a": [1]}), &json!({"a": {"b": 1}})), [one("/a", Some("[1]"), Some("{\"b\":1}"))]);
    }

    #[test]
    fn a_page_holds_only_so_much() {
        let many: Vec<u32> = (0..100).collect();
        let (members, unshown) = find_differing(&json!({"a": many, "b": 1}), &json!({"b": 1, "c": "é".repeat(500)}));
        assert_eq!((members.len(), unshown), (SHOWN_MAX, 100 + 1 - SHOWN_MAX));
        let (members, _) = find_differing(&json!("é".repeat(500)), &json!(1));
        assert_eq!(members[0].first.as_ref().map(|text| text.chars().count()), Some(VALUE_MAX_CHARS + 1));
    }
}
