//! Every code that a refused load can carry has its row in `docs/errors.md`, and no row is left over.

use std::collections::BTreeSet;

use crate::harness::root;

/// The quoted texts of a source file that are written as codes.
fn codes(source: &str) -> BTreeSet<String> {
    let is_code = |text: &&str| {
        text.len() > 3 && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
    };
    source.split('"').skip(1).step_by(2).filter(is_code).map(str::to_owned).collect()
}

#[test]
fn codes_of_refused_loads() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("the file is there");
    let mut carried = codes(&read("host/sandbox/src/failure.rs"));
    carried.extend(codes(&read("host/core/src/succession.rs")));
    // Not a refusal of a load: the log has it, and callers see it as any defect of the gateway.
    assert!(carried.remove("INTERNAL_ERROR"));

    let docs = read("docs/errors.md");
    let section = docs.split("\n## ").find(|section| section.contains("`NOT_A_COMPONENT`")).expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned));
    let mut documented: BTreeSet<String> = rows.collect();
    assert!(documented.remove("TAKEN_OUT"), "documented there, carried by a failure of another kind");
    assert_eq!(documented, carried);
}
