//! What is handed out is made of, under which licences, how it was made, and how whoever takes it checks that.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::archive::{digest, list_files};
use super::build::SOURCES;
use super::source::Source;
use crate::command::{output, own_command, root, run, step};
use crate::tools::RustProgram;

const BILL_TOOL: RustProgram<'_> = RustProgram::new("cargo-cyclonedx", "0.5.9");
/// Compares texts for minutes, and is a library alone without its feature.
const LICENCE_TOOL: RustProgram<'_> =
    RustProgram { name: "cargo-about", version: "0.9.3", features: &["cli"], is_optimised: true };
/// The bill of materials, as CycloneDX has it.
const BILL: &str = "sbom.cdx.json";
const LICENCES: &str = "THIRD-PARTY-LICENSES.html";
/// How it was made, as in-toto and SLSA have it.
pub(crate) const PROVENANCE: &str = "provenance.intoto.json";
const SUMS: &str = "SHA256SUMS";
const SIGNATURE: &str = "SHA256SUMS.sig";
/// What a signature is for, so that it cannot pass for one of something else.
const NAMESPACE: &str = "intent-gateway-release";

/// Where the papers are that packages hold.
pub(crate) struct Papers {
    pub(crate) licences: PathBuf,
    pub(crate) bill: PathBuf,
}

/// Writes the bill of materials and the licences of everything that the gateway is built of.
pub(crate) fn write(source: &Source, work: &Path, out: &Path) -> anyhow::Result<Papers> {
    let papers = Papers { licences: out.join(LICENCES), bill: out.join(BILL) };
    let features = ["--no-default-features", "--features", "jemalloc"];
    let licence_tool = LICENCE_TOOL.install()?;
    let bill_tool = BILL_TOOL.install()?;

    step("Licences");
    let mut about = own_command(licence_tool);
    about.current_dir(root().join("deploy/package")).args(["generate", "--locked", "--fail", "--manifest-path"]);
    about.arg(root().join("host/gateway/Cargo.toml")).args(features).arg("--output-file").arg(&papers.licences);
    run(about.args(["--config", "about.toml", "licences.hbs"]))?;

    step("Bill of materials");
    // The tool writes beside each manifest, so it gets a checkout of its own.
    let checkout = work.join("checkout");
    let git = || {
        let mut git = Command::new("git");
        git.current_dir(root());
        git
    };
    if checkout.exists() {
        run(git().args(["worktree", "remove", "--force"]).arg(&checkout))?;
    }
    run(git().args(["worktree", "add", "--quiet", "--detach"]).arg(&checkout).arg(&source.commit))?;
    let mut bill = own_command(bill_tool);
    bill.current_dir(checkout.join("host/gateway")).args(["cyclonedx", "--format", "json", "--spec-version", "1.5"]);
    bill.args(["--override-filename", "sbom.cdx"]).args(features).env("SOURCE_DATE_EPOCH", source.time.to_string());
    run(&mut bill)?;
    let made = checkout.join("host/gateway").join(BILL);
    let bill = std::fs::read_to_string(&made).with_context(|| format!("{} is not there", made.display()))?;
    // It names packages by where they lay on this machine.
    let bill = bill.replace(&checkout.display().to_string(), SOURCES);
    std::fs::write(&papers.bill, bill).with_context(|| format!("cannot write {}", papers.bill.display()))?;
    run(git().args(["worktree", "remove", "--force"]).arg(&checkout))?;
    Ok(papers)
}

/// Says of which commit, by which compiler and how everything in the folder was made.
pub(crate) fn write_provenance(source: &Source, out: &Path) -> anyhow::Result<()> {
    let subjects = list_files(out)?
        .into_iter()
        .map(|(name, _)| Ok(json!({ "name": name, "digest": { "sha256": digest(&out.join(&name))? } })))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let statement = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://docs.gateway.example/releasing",
                "externalParameters": { "version": source.version, "command": "cargo xtask release" },
                "resolvedDependencies": [
                    { "name": "source", "digest": { "gitCommit": source.commit } },
                    { "name": "Cargo.lock", "digest": { "sha256": digest(&root().join("Cargo.lock"))? } },
                    { "name": "compiler", "annotations": { "rustc": output(Command::new("rustc").current_dir(root()).arg("--version"))? } },
                ],
            },
            "runDetails": {
                "builder": { "id": "https://docs.gateway.example/releasing#by-hand" },
                "metadata": { "finishedOn": jiff::Timestamp::now().to_string() },
            },
        },
    });
    let text = serde_json::to_string_pretty(&statement).context("the provenance is no JSON")?;
    std::fs::write(out.join(PROVENANCE), text).with_context(|| format!("cannot write {PROVENANCE}"))
}

/// Whether a file says when or by whom the others were made, so that it differs each time.
pub(crate) fn is_of_one_making(name: &str) -> bool {
    [PROVENANCE, SUMS, SIGNATURE].contains(&name)
}

/// Requires that a release says of itself that it is of a commit.
pub(crate) fn require_commit(released: &Path, commit: &str) -> anyhow::Result<()> {
    let path = released.join(PROVENANCE);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let statement: Value = serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
    let of = &statement["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"]["gitCommit"];
    let of = of.as_str().with_context(|| format!("{} names no commit", path.display()))?;
    ensure!(of == commit, "the release is of commit {of}, and {commit} is checked out; run `git checkout {of}`");
    Ok(())
}

/// Writes the digests of everything in the folder, in the form that `sha256sum --check` reads.
pub(crate) fn write_checksums(out: &Path) -> anyhow::Result<()> {
    let mut sums = String::new();
    for (name, _) in list_files(out)? {
        sums.push_str(&format!("{}  {name}\n", digest(&out.join(&name))?));
    }
    std::fs::write(out.join(SUMS), sums).with_context(|| format!("cannot write {SUMS}"))
}

/// Signs the checksums, and with them everything that they are of.
pub(crate) fn sign(out: &Path, key: &Path) -> anyhow::Result<()> {
    let sums = out.join(SUMS);
    run(Command::new("ssh-keygen").args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(key).arg(&sums))?;
    ensure!(out.join(SIGNATURE).is_file(), "ssh-keygen has written no signature");
    Ok(())
}
