//! What `--version` says: which build this is, and what it runs contracts with.

use intent_gateway_sandbox::{contract_interface, engine_version};

/// Set by whoever builds what is shipped. Were it asked of Git here, each commit would compile the commands anew.
const COMMIT: Option<&str> = option_env!("INTENT_GATEWAY_COMMIT");

/// The lines of `--version`, the first of which `-V` prints as well. `features` are those that the program was built with.
pub(crate) fn describe(features: &[&str]) -> String {
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    let commit = COMMIT.unwrap_or("not known: this is no release");
    format!(
        "{}\ncommit     {commit}\nfeatures   {features}\nplatform   {}-{}\ncontracts  {}\nwasmtime   {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        contract_interface(),
        engine_version(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_says_what_it_is() {
        let text = describe(&["author", "jemalloc"]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.first(), Some(&env!("CARGO_PKG_VERSION")), "what scripts read comes first");
        for line in ["features   author, jemalloc", "contracts  intent-gateway:contract@1.0.0"] {
            assert!(lines.contains(&line), "no {line:?} in {text}");
        }
        let wasmtime = lines.iter().find_map(|line| line.strip_prefix("wasmtime   ")).expect("the engine is named");
        assert!(semver::Version::parse(wasmtime).is_ok(), "{wasmtime}");
        assert!(describe(&[]).contains("features   none"));
    }
}
