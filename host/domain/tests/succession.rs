//! Which version of a contract may follow which.

use intent_gateway_domain::contract::{Descriptor, Vocabulary};
use intent_gateway_domain::succession::{self, *};
use intent_gateway_testing::contract::descriptor;

/// Where nobody has allowed that values go.
fn check(live: &Descriptor, next: &Descriptor) -> Result<(), SuccessionError> {
    succession::check(live, next, Removal::Refused)
}

fn with(version: &str, values: &[&str]) -> Descriptor {
    let mut descriptor = descriptor(version);
    descriptor.vocabularies =
        vec![Vocabulary { name: "scope".to_owned(), values: values.iter().map(ToString::to_string).collect() }];
    descriptor
}

#[test]
fn a_patch_keeps_vocabularies() {
    let live = with("1.0.0", &["a", "b"]);
    assert_eq!(check(&live, &with("1.0.1", &["b", "a"])), Ok(()));
    assert_eq!(check(&live, &with("1.0.1", &["a"])).map_err(|e| e.code()), Err("VOCABULARY_CHANGED"));
    assert_eq!(check(&live, &with("1.0.1", &["a", "b", "c"])).map_err(|e| e.code()), Err("VOCABULARY_CHANGED"));
    assert_eq!(check(&live, &with("1.1.0", &["a", "b", "c"])), Ok(()));
}

#[test]
fn a_refusal_names_what_differs_and_what_to_do() {
    let told = |live: &Descriptor, next: &Descriptor| check(live, next).expect_err("it is refused").to_string();
    let live = with("1.4.2", &["a", "b"]);
    assert_eq!(
        told(&live, &with("1.4.3", &["b", "c", "d"])),
        "vocabulary `scope` changed from 1.4.2 to 1.4.3 (gone: `a`; new: `c`, `d`); raise the version to 1.5.0 at least, or \
         leave the vocabulary as it is"
    );
    let many: Vec<String> = (10..32).map(|number| format!("v{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let more = told(&with("1.4.2", &[]), &with("1.4.3", &many));
    assert!(more.contains("(new: `v10`, ") && more.contains("`v29`, and 2 more); raise"), "{more}");
    assert!(told(&live, &with("1.4.1", &["a", "b"])).contains("not above the live version 1.4.2; raise it"));
    assert!(told(&live, &with("1.4.2", &["a", "b"])).contains("raise the version"));
}

#[test]
fn values_are_removed_only_on_purpose() {
    let live = with("1.0.0", &["a", "b", "c"]);
    let next = with("1.1.0", &["b", "d"]);
    let refused = check(&live, &next).expect_err("values go");
    assert_eq!(refused.code(), "VOCABULARY_VALUES_REMOVED");
    let removed = |value: &str| RemovedValue { vocabulary: "scope".to_owned(), value: value.to_owned() };
    assert_eq!(refused.removed(), [removed("a"), removed("c")]);
    assert!(refused.to_string().contains("`a` of `scope`, `c` of `scope`; if that is meant"), "{refused}");
    assert!(refused.to_string().contains("`allow_removed_values=true`"), "{refused}");
    assert_eq!(succession::check(&live, &next, Removal::Allowed), Ok(()));
    assert_eq!(removed_values(&live, &next), [removed("a"), removed("c")]);
    // The flag lifts this one rule and no other.
    let patch = succession::check(&live, &with("1.0.1", &["a"]), Removal::Allowed);
    assert_eq!(patch.map_err(|e| e.code()), Err("VOCABULARY_CHANGED"));
    // A vocabulary that goes takes all its values along, in a major version as well.
    let mut none = with("2.0.0", &[]);
    none.vocabularies.clear();
    assert_eq!(check(&live, &none).expect_err("values go").removed().len(), 3);
    assert_eq!(name_removed(&vec![removed("a"); 22]).matches("`a` of `scope`").count(), 20);
    assert!(name_removed(&vec![removed("a"); 22]).ends_with(", and 2 more"));
}

#[test]
fn a_version_names_one_content_and_only_rises() {
    let live = with("1.1.0", &["a"]);
    assert_eq!(check(&live, &with("1.1.0", &["a"])).map_err(|e| e.code()), Err("VERSION_REUSED"));
    assert_eq!(check(&live, &with("1.0.9", &["a"])).map_err(|e| e.code()), Err("VERSION_NOT_ABOVE"));
    assert_eq!(check(&live, &with("1.1.1-rc.1", &["a"])), Ok(()));
}
