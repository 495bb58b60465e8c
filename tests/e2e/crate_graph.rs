//! Dependencies point one way (ARCHITECTURE.md, "Where things are"). Who may depend on which foreign crate stands in `deny.toml`.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::harness::root;

/// The contracts that ship.
const CONTRACTS: [&str; 3] = ["auto-book-ac-service", "finance-buy-motor-insurance", "lifestyle-book-yoga-class"];

/// Direct dependencies of a workspace member, without those for tests.
fn dependencies(metadata: &Value, package: &str) -> BTreeSet<String> {
    let packages = metadata["packages"].as_array().expect("cargo lists packages");
    let package = packages.iter().find(|one| one["name"] == package).expect("the package is a member");
    let dependencies = package["dependencies"].as_array().expect("cargo lists dependencies");
    dependencies
        .iter()
        .filter(|one| one["kind"] != "dev")
        .map(|one| one["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn dependencies_point_one_way() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let names: Vec<String> = metadata["packages"]
        .as_array()
        .expect("cargo lists packages")
        .iter()
        .map(|package| package["name"].as_str().expect("a name").to_owned())
        .collect();

    let own = |package: &str| -> BTreeSet<String> {
        dependencies(&metadata, package).into_iter().filter(|name| names.contains(name)).collect()
    };
    let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(ToString::to_string).collect() };
    let host =
        |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| format!("intent-gateway-{name}")).collect() };
    for (name, below) in [
        ("domain", &[][..]),
        ("outbound", &["domain"]),
        ("routing", &["domain", "outbound"]),
        ("onboarding", &["domain"]),
        ("ledger", &["domain"]),
        ("linking", &["domain"]),
        ("signing", &["domain"]),
        ("rollout", &["domain"]),
        ("catalogue", &["domain", "rollout", "signing"]),
        ("compare", &["domain", "rollout"]),
        ("sandbox", &["domain"]),
        ("mail", &["domain"]),
        ("registry", &["domain", "signing"]),
        // The requests to authorization servers are a port of `linking`, reports and entries one of `ledger`.
        ("partners", &["domain", "linking"]),
        ("store", &["domain", "ledger"]),
        ("api", &["compare", "domain", "outbound", "rollout", "routing", "onboarding", "ledger", "linking", "signing"]),
        (
            "http",
            &[
                "api",
                "compare",
                "domain",
                "outbound",
                "rollout",
                "routing",
                "onboarding",
                "ledger",
                "linking",
                "signing",
            ],
        ),
        ("console", &["api", "domain", "http"]),
        ("conformance", &["domain", "onboarding", "routing"]),
        ("describe", &["compare", "domain"]),
        (
            "doctor",
            &["api", "catalogue", "config", "domain", "http", "mail", "onboarding", "partners", "registry", "store"],
        ),
        ("check", &["catalogue", "domain", "ledger", "linking", "onboarding", "outbound", "store"]),
        (
            "config",
            &["domain", "onboarding", "linking", "http", "mail", "partners", "registry", "sandbox", "signing", "store"],
        ),
    ] {
        assert_eq!(own(&format!("intent-gateway-{name}")), host(below), "{name}");
    }
    assert_eq!(own("contract-sdk"), set(&["contract-sdk-derive"]));
    assert_eq!(own("contract-toolchain"), set(&[]));
    let kit = host(&["compare", "describe", "domain", "sandbox", "signing"])
        .into_iter()
        .chain(set(&["contract-toolchain"]))
        .collect();
    assert_eq!(own("intent-gateway-kit"), kit);
    for contract in CONTRACTS {
        assert_eq!(own(contract), set(&["contract-sdk"]), "{contract}");
    }

    // A contract and its SDK know no runtime and no IO, and neither do the rules of the product.
    let rules =
        host(&["domain", "outbound", "routing", "onboarding", "ledger", "linking", "catalogue", "compare", "signing"]);
    for package in CONTRACTS.into_iter().chain(["contract-sdk"]).chain(rules.iter().map(String::as_str)) {
        for runtime in ["tokio", "hyper", "axum", "rusqlite", "wasmtime", "rmcp"] {
            assert!(!dependencies(&metadata, package).contains(runtime), "{package} must not depend on {runtime}");
        }
    }
    // What tests share is never linked into the product.
    for name in &names {
        assert!(!dependencies(&metadata, name).contains("intent-gateway-testing"), "{name}");
    }
}
