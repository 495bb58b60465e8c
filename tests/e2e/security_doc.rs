//! `docs/security.md`: every test that it names is where its link says, and every attack that is tried is on the page.
//!
//! Not here: whether a test holds the attack off that its row speaks of. That takes a reader.

use std::collections::BTreeSet;
use std::fs;

use crate::harness::root;
use crate::spec_coverage::{has_function, links, names_function};

/// The page.
const PAGE: &str = "docs/security.md";
/// One file for each attack.
const ATTACKS: &str = "tests/attacks";

fn page() -> String {
    fs::read_to_string(root().join(PAGE)).expect("the page is there")
}

/// The files of the attacks, but for the list of them.
fn attacks() -> BTreeSet<String> {
    let files = fs::read_dir(root().join(ATTACKS)).expect("the folder is there");
    let names = files.map(|file| file.expect("listed").file_name().into_string().expect("a text"));
    names.filter(|name| name != "mod.rs").collect()
}

#[test]
fn every_attack_is_on_the_page() {
    let page = page();
    let linked: BTreeSet<String> = links(&page)
        .filter_map(|link| link.target.strip_prefix("../")?.strip_prefix(ATTACKS)?.strip_prefix('/'))
        .map(str::to_owned)
        .collect();
    assert_eq!(linked, attacks());
}

#[test]
fn every_test_on_the_page_is_where_its_link_says() {
    let (page, folder) = (page(), root().join("docs"));
    let mut tests = 0;
    for link in links(&page) {
        let file = link.target.split('#').next().unwrap_or_default();
        let source = fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        if names_function(link.label) {
            assert!(has_function(&source, link.label), "{file} has no `{}`", link.label);
            tests += 1;
        }
    }
    assert!(tests >= attacks().len(), "{tests} tests");
}
