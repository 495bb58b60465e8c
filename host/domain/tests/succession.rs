//! Which version of a contract may follow which.

use intent_gateway_domain::contract::{Descriptor, Vocabulary};
use intent_gateway_domain::succession::*;
use intent_gateway_testing::contract::descriptor;

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
    assert_eq!(check(&live, &with("2.0.0", &[])), Ok(()));
}

#[test]
fn a_version_names_one_content_and_only_rises() {
    let live = with("1.1.0", &["a"]);
    assert_eq!(check(&live, &with("1.1.0", &["a"])).map_err(|e| e.code()), Err("VERSION_REUSED"));
    assert_eq!(check(&live, &with("1.0.9", &["a"])).map_err(|e| e.code()), Err("VERSION_NOT_ABOVE"));
    assert_eq!(check(&live, &with("1.1.1-rc.1", &["a"])), Ok(()));
}
