//! Every code that a refused load can carry has its row in `docs/errors.md`, and no row is left over; and the codes of
//! manifests and tools are there.

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
    // A defect of the gateway is the platform's own code, and spelt elsewhere.
    carried.extend(codes(&read("host/domain/src/succession.rs")));
    carried.extend(codes(&read("host/signing/src/trust.rs")));

    let docs = read("docs/errors.md");
    let section = docs.split("\n## ").find(|section| section.contains("`NOT_A_COMPONENT`")).expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned));
    let mut documented: BTreeSet<String> = rows.collect();
    assert!(documented.remove("BUDGET_INVALID"), "documented there, of a comparison");
    assert!(documented.remove("TAKEN_OUT"), "documented there, carried by a failure of another kind");
    assert_eq!(documented, carried);
}

#[test]
fn codes_of_account_linking() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("the file is there");
    let carried = codes(&read("host/linking/src/error.rs"));
    assert!(carried.len() > 10, "{carried:?}");
    let docs = read("docs/errors.md");
    let section = docs.split("\n## ").find(|section| section.starts_with("On the way to a linked")).expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned));
    let mut documented: BTreeSet<String> = rows.collect();
    // Those of the whole gateway have their rows elsewhere.
    documented.extend(["NOT_FOUND", "OVERLOADED"].map(str::to_owned));
    assert_eq!(documented, carried);
}

#[test]
fn codes_of_registries() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("the file is there");
    let carried = ["error", "source"].iter().flat_map(|file| codes(&read(&format!("host/registry/src/{file}.rs"))));
    let carried: BTreeSet<String> = carried.collect();
    let docs = read("docs/errors.md");
    let section =
        docs.split("\n## ").find(|section| section.starts_with("A contract of a registry")).expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned));
    assert_eq!(rows.collect::<BTreeSet<String>>(), carried);
}

#[test]
fn codes_of_manifests_and_tools() {
    let docs = std::fs::read_to_string(root().join("docs/errors.md")).expect("the file is there");
    let mut found = 0;
    for folder in ["host/onboarding/src/manifest", "host/onboarding/src/descriptors"] {
        for file in std::fs::read_dir(root().join(folder)).expect("the folder is there") {
            let path = file.expect("listed").path();
            // The tests of a folder name codes, and define none.
            if path.is_dir() {
                continue;
            }
            let source = std::fs::read_to_string(path).expect("readable");
            // A code is a constant whose name is its value.
            for line in source.lines().filter(|line| line.contains("const ") && line.contains(": &str = \"")) {
                let name = line.split("const ").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or_default();
                if codes(line).contains(name) {
                    found += 1;
                    assert!(docs.contains(&format!("`{name}`")), "{name} is not in docs/errors.md");
                }
            }
        }
    }
    assert!(found >= 20, "only {found} codes were found: are they written differently now?");
}
