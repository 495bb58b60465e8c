//! `intent-gateway plugin test`: finds the cases and the component that belong together, and prints what came out.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use contract_toolchain::{Package, ToolchainError};
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_kit::cases::{self, Gap, Report, Suite};
use intent_gateway_kit::{build, subject::Subject};
use serde::Serialize;

use super::arguments::TestArgs;
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::{compiler, print};

/// Folder of the cases in that of a contract.
const CASES: &str = "cases";

/// What came out, as a script reads it.
#[derive(Serialize)]
struct Tested {
    #[serde(flatten)]
    report: Report,
    /// Absent where coverage was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<Vec<Gap>>,
}

pub(super) fn run(arguments: &TestArgs) -> Result<Verdict, CommandError> {
    let (folder, component) = places(arguments)?;
    let suite = Suite::read(&folder).map_err(usage)?;
    let subject = Subject::open(&component, compiler())
        .context("build the contract first, or name its component")
        .map_err(usage)?;
    let contract = subject.load().map_err(fail)?;
    let report = subject.wait(cases::run(&contract, &suite));
    let gaps = arguments.coverage.then(|| cases::gaps(contract.descriptor(), &suite));
    let well = report.failures.is_empty() && gaps.as_ref().is_none_or(Vec::is_empty);
    let tested = Tested { report, gaps };
    if arguments.json {
        print_json(&tested)?;
    } else {
        tell(&tested, well);
    }
    Ok(Verdict::of(well))
}

/// Where the cases are, and where the component is.
fn places(arguments: &TestArgs) -> Result<(PathBuf, PathBuf), CommandError> {
    let given = &arguments.dir;
    if given.is_file() {
        let component = arguments.component.clone().unwrap_or_else(|| given.clone());
        return Ok((PathBuf::from(CASES), component));
    }
    let inner = given.join(CASES);
    let folder = if inner.is_dir() { inner } else { given.clone() };
    let component = match &arguments.component {
        Some(component) => component.clone(),
        None => find_built(given)?,
    };
    Ok((folder, component))
}

/// What `plugin build` wrote for the crate in this folder, or around it.
fn find_built(folder: &Path) -> Result<PathBuf, CommandError> {
    let crate_folder = if folder.ends_with(CASES) { folder.join("..") } else { folder.to_owned() };
    component_of(&crate_folder).context("name the component with --component").map_err(usage)
}

/// What `plugin build` writes for a crate.
pub(super) fn component_of(crate_folder: &Path) -> Result<PathBuf, ToolchainError> {
    Package::of(crate_folder).map(|package| build::component_path(&package))
}

fn tell(tested: &Tested, well: bool) {
    for failure in &tested.report.failures {
        print(&format!("✘ {}: {}", failure.file, failure.case));
        print(&format!("    expected {}", failure.expected));
        print(&format!("    found    {}", failure.found));
    }
    for gap in tested.gaps.iter().flatten() {
        print(&format!("✘ no case: {} {}: {}", gap.document, gap.place, gap.missing));
    }
    let gaps = tested.gaps.as_ref().map_or(String::new(), |gaps| format!(", {} gaps in the coverage", gaps.len()));
    let mark = if well { '✔' } else { '✘' };
    print(&format!("{mark} {} cases, {} failed{gaps}", tested.report.cases, tested.report.failures.len()));
}
