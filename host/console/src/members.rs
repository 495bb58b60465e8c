//! Where two JSON documents differ, member by member.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

type Members = serde_json::Map<String, Value>;

/// Members that are shown.
const SHOWN_MAX: usize = 60;
/// Characters of a value that are shown.
const VALUE_MAX_CHARS: usize = 200;

/// Members by which the things of a list are told apart, the first that all of them have.
const IDENTITIES: [&str; 5] = ["intent", "id", "code", "name", "tool"];

/// A member that is not the same in both.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Differing {
    /// JSON Pointer; empty is the document itself. Where things of a list are told apart by what they are, that stands in the place
    /// of their number.
    pub(crate) pointer: String,
    /// None where the first has no such member.
    pub(crate) first: Option<String>,
    pub(crate) second: Option<String>,
}

impl Differing {
    /// What has become of it, in a word.
    pub(crate) fn word(&self) -> &'static str {
        match (&self.first, &self.second) {
            (None, _) => "added",
            (_, None) => "removed",
            (Some(_), Some(_)) => "changed",
        }
    }
}

/// How the lists of two documents are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    /// Place by place.
    ByPlace,
    /// Things with an identity by that, single values as a set: one more at the front makes no difference of all behind it. What
    /// has neither goes by place.
    ByIdentity,
}

/// The members that differ, and how many more there are than are shown. Lists are compared place by place.
pub(crate) fn find_differing(first: &Value, second: &Value) -> (Vec<Differing>, usize) {
    find(first, second, Lists::ByPlace)
}

/// The same of documents that somebody has edited: what stands in a list is found again by what it is, wherever it stands.
pub(crate) fn find_edits(before: &Value, after: &Value) -> (Vec<Differing>, usize) {
    find(before, after, Lists::ByIdentity)
}

fn find(first: &Value, second: &Value, lists: Lists) -> (Vec<Differing>, usize) {
    let mut found = Found { members: Vec::new(), unshown: 0, lists };
    found.compare(String::new(), Some(first), Some(second));
    (found.members, found.unshown)
}

struct Found {
    members: Vec<Differing>,
    unshown: usize,
    lists: Lists,
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
        if self.lists == Lists::ByIdentity {
            let is_single = |value: &Value| parts(value).is_none();
            if first.iter().chain(second).all(is_single) && self.compare_sets(at, first, second) {
                return;
            }
            if let Some((one, other)) = by_identity(first, second) {
                let names: BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
                for name in names {
                    self.compare(child(at, name), one.get(name).copied(), other.get(name).copied());
                }
                return;
            }
        }
        for place in 0..first.len().max(second.len()) {
            self.compare(child(at, &place.to_string()), first.get(place), second.get(place));
        }
    }

    /// Single values as a set. False where only their order or their number differs, which places tell.
    fn compare_sets(&mut self, at: &str, first: &[Value], second: &[Value]) -> bool {
        let write = |values: &[Value]| values.iter().map(Value::to_string).collect::<BTreeSet<String>>();
        let (one, other) = (write(first), write(second));
        for gone in first.iter().filter(|value| !other.contains(&value.to_string())) {
            self.note(child(at, "-"), Some(cut(gone)), None);
        }
        for new in second.iter().filter(|value| !one.contains(&value.to_string())) {
            self.note(child(at, "-"), None, Some(cut(new)));
        }
        one != other
    }

    fn note(&mut self, pointer: String, first: Option<String>, second: Option<String>) {
        if self.members.len() < SHOWN_MAX {
            self.members.push(Differing { pointer, first, second });
        } else {
            self.unshown += 1;
        }
    }
}

/// Things of a list, by what they are.
type Named<'a> = BTreeMap<&'a str, &'a Value>;

/// The things of two lists by what they are; none where a member that all of them have does not tell them apart.
fn by_identity<'a>(first: &'a [Value], second: &'a [Value]) -> Option<(Named<'a>, Named<'a>)> {
    let of = |values: &'a [Value], key: &str| -> Option<Named<'a>> {
        let found: BTreeMap<_, _> =
            values.iter().map(|value| Some((value.get(key)?.as_str()?, value))).collect::<Option<_>>()?;
        (found.len() == values.len()).then_some(found)
    };
    IDENTITIES.iter().find_map(|key| Some((of(first, key)?, of(second, key)?)))
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
    fn what_stands_in_a_list_is_found_again_by_what_it_is() {
        let before = json!({"intents": [
            {"intent": "auto.fix", "pricing": {"min": 1, "max": 9}, "service_area": ["Pune", "Goa"]},
            {"intent": "auto.wash", "pricing": {"min": 5}},
        ]});
        let after = json!({"intents": [
            {"intent": "auto.paint", "pricing": {"min": 7}},
            {"intent": "auto.fix", "pricing": {"min": 2, "max": 9}, "service_area": ["Surat", "Pune", "Goa"]},
        ]});
        let (found, unshown) = find_edits(&before, &after);
        let told: Vec<_> = found.iter().map(|one| (one.pointer.as_str(), one.word())).collect();
        assert_eq!(
            told,
            [
                ("/intents/auto.fix/pricing/min", "changed"),
                ("/intents/auto.fix/service_area/-", "added"),
                ("/intents/auto.paint/intent", "added"),
                ("/intents/auto.paint/pricing/min", "added"),
                ("/intents/auto.wash/intent", "removed"),
                ("/intents/auto.wash/pricing/min", "removed"),
            ]
        );
        assert_eq!(unshown, 0);
        let [first, .., last] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((first.first.as_deref(), first.second.as_deref()), (Some("1"), Some("2")));
        assert_eq!((last.first.as_deref(), last.second.as_deref()), (Some("5"), None));
    }

    #[test]
    fn a_list_without_identities_goes_by_place() {
        let pointers = |before: &Value, after: &Value| -> Vec<String> {
            find_edits(before, after).0.into_iter().map(|one| one.pointer).collect()
        };
        assert_eq!(pointers(&json!([1, 2]), &json!([2, 1])), ["/0", "/1"], "the order alone is another");
        assert_eq!(pointers(&json!([1]), &json!([1, 1])), ["/1"], "one more of the same");
        assert_eq!(pointers(&json!([{"id": "a"}, {"id": "a"}]), &json!([{"id": "a"}])), ["/1/id"], "two of one name");
        assert_eq!(pointers(&json!([{"id": 1}]), &json!([{"id": 2}])), ["/0/id"]);
        assert_eq!(pointers(&json!([{"a": 1}]), &json!([3])), ["/0"]);
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
