//! Checks on go-live requirements against the shapes and tables of the contract: a requirement that looks at the
//! wrong place would fail every partner.

use crate::bindings::Judged;
use crate::contract::Intent;
use crate::policy::{GoLiveCheck, Occasion, RequestTest, Requirement};
use crate::shape::{Described, Kind, TextFormat, ValueDesc};
use serde_json::Value;

/// Everything that is inconsistent, in sentences.
pub(super) fn problems<I: Intent>() -> Vec<String> {
    let mut found = Vec::new();
    for (index, requirement) in I::GO_LIVE.iter().enumerate() {
        let code = requirement.code;
        if I::GO_LIVE[..index].iter().any(|earlier| earlier.code == code) {
            found.push(format!("There are two go-live requirements {code}."));
        }
        found.extend(
            check_requirement::<I>(requirement)
                .into_iter()
                .map(|what| format!("The go-live requirement {code} {what}.")),
        );
    }
    found
}

fn check_requirement<I: Intent>(requirement: &Requirement) -> Vec<String> {
    let request = <I::Request<'static> as Described>::DESC;
    let item = <I::Item<'static> as Described>::DESC;
    match requirement.check {
        GoLiveCheck::AtLeast { minimums, within } => {
            let lost = minimums.iter().filter(|minimum| member(&item, minimum.pointer).is_none());
            let mut found: Vec<_> = lost.map(|minimum| tell_missing_member(minimum.pointer, "an option")).collect();
            let timeless = within.filter(|window| {
                !matches!(member(&item, window.pointer), Some(ValueDesc { kind: Kind::Text(TextFormat::DateTime), .. }))
            });
            found.extend(timeless.map(|window| format!("takes {:?} for an instant", window.pointer)));
            found
        }
        GoLiveCheck::Covers { pointer, vocabulary } => match member(&request, pointer).map(|value| value.kind) {
            Some(Kind::Vocabulary(there)) if there.name == vocabulary => Vec::new(),
            Some(_) => vec![format!("takes {pointer:?} for a value of {vocabulary:?}")],
            None => vec![tell_missing_member(pointer, "the request")],
        },
        GoLiveCheck::Handles { occasions, unbroken } => {
            let known = |code: &str| I::RULES.iter().any(|rule| rule.code == code && rule.judged == Judged::Option);
            let unknown = unbroken.iter().filter(|code| !known(code));
            let mut found: Vec<_> = unknown.map(|code| format!("names {code}, which is no rule for options")).collect();
            found.extend(occasions.iter().filter_map(|occasion| find_impossible(&request, occasion)));
            found
        }
        GoLiveCheck::WithinLatency(tool) => {
            let known = I::SEARCH.policy.name == tool || I::TOOLS.iter().any(|entry| entry.policy.name == tool);
            if known { Vec::new() } else { vec![format!("names the tool {tool:?}, which there is not")] }
        }
        GoLiveCheck::ByHand => Vec::new(),
    }
}

fn tell_missing_member(pointer: &str, document: &str) -> String {
    format!("looks at {pointer:?}, which {document} does not have")
}

/// The member that a JSON Pointer leads to, through objects alone.
fn member(desc: &ValueDesc, pointer: &str) -> Option<ValueDesc> {
    let Some((name, deeper)) =
        pointer.strip_prefix('/').map(|path| path.split_at(path.find('/').unwrap_or(path.len())))
    else {
        return pointer.is_empty().then_some(*desc);
    };
    let Kind::Object(parts) = desc.kind else { return None };
    let field = parts.iter().copied().flatten().find(|field| field.name == name)?;
    member(&field.value, deeper)
}

/// What is wrong with an occasion: that no request could ever be one.
fn find_impossible(request: &ValueDesc, occasion: &Occasion) -> Option<String> {
    let Some(value) = member(request, occasion.pointer) else {
        return Some(tell_missing_member(occasion.pointer, "the request"));
    };
    let possible = match (occasion.test, value.kind) {
        (RequestTest::Equals(json), kind) => takes(kind, json),
        (RequestTest::Includes(json), Kind::Array(entry)) => takes(entry.kind, json),
        (RequestTest::Includes(_), _) => false,
        (RequestTest::Above(_), kind) => matches!(kind, Kind::Integer | Kind::Number | Kind::Amount),
    };
    (!possible).then(|| format!("tests {:?} for what is never there", occasion.pointer))
}

/// Whether a value of this kind can be the one that some JSON text says.
fn takes(kind: Kind, json: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(json) else { return false };
    match kind {
        Kind::Vocabulary(vocabulary) => value.as_str().is_some_and(|value| vocabulary.values.contains(&value)),
        Kind::Integer => value.is_i64(),
        Kind::Number | Kind::Amount => value.is_number(),
        Kind::Boolean | Kind::False => value.is_boolean(),
        Kind::Text(_) => value.is_string(),
        Kind::Object(_) | Kind::Array(_) | Kind::Any => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{DateTime, Inr, Text};
    use contract_sdk_derive::{Shape, Vocabulary};

    #[derive(Shape)]
    struct Request<'a> {
        /// Where it is served.
        _place: Place<'a>,
        /// How much it may cost.
        _most: Inr,
        /// What the user likes.
        _leaves: Vec<Leaf>,
    }

    #[derive(Shape)]
    struct Place<'a> {
        /// Its name.
        _name: Text<'a>,
        /// When it opens.
        _opens: DateTime,
        /// What is served there.
        _leaf: Option<Leaf>,
    }

    #[derive(Vocabulary)]
    enum Leaf {
        Black,
        Green,
    }

    #[test]
    fn members_are_found_through_objects() {
        let request = <Request<'static> as Described>::DESC;
        let kind = |pointer| member(&request, pointer).map(|value| value.kind.label());
        assert_eq!(kind(""), Some("object"));
        assert_eq!(kind("/_place/_opens"), Some("ISO 8601 datetime with offset"));
        assert_eq!(kind("/_place/_leaf"), Some("string of a vocabulary"));
        for lost in ["_place", "/place", "/_place/_name/first", "/_leaves/0", "/_place/"] {
            assert_eq!(kind(lost), None, "{lost}");
        }
    }

    #[test]
    fn an_occasion_must_be_possible() {
        let request = <Request<'static> as Described>::DESC;
        let possible =
            |pointer, test| find_impossible(&request, &Occasion { text: "an occasion", pointer, test }).is_none();
        assert!(possible("/_place/_leaf", RequestTest::Equals("\"green\"")));
        assert!(!possible("/_place/_leaf", RequestTest::Equals("\"white\"")));
        assert!(!possible("/_place/_leaf", RequestTest::Equals("green")));
        assert!(possible("/_leaves", RequestTest::Includes("\"black\"")));
        assert!(!possible("/_leaves", RequestTest::Includes("\"white\"")));
        assert!(!possible("/_place/_leaf", RequestTest::Includes("\"black\"")));
        assert!(possible("/_most", RequestTest::Above(90.0)));
        assert!(possible("/_most", RequestTest::Equals("90")));
        assert!(!possible("/_most", RequestTest::Equals("\"90\"")));
        assert!(!possible("/_place/_name", RequestTest::Above(90.0)));
        assert!(!possible("/_least", RequestTest::Above(90.0)));
    }
}
