//! Runs the client scenarios of MCP's conformance suite against the partner client, and holds the outcome against
//! `tests/conformance/scenarios.toml`.
//!
//! The suite judges each scenario. Here its list of scenarios is compared with ours, so that none is passed over in
//! silence, and ours is turned into the form in which the suite takes what is expected to fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use test_servers::tools::{MCP_NODE_PROJECT, mcp_node};

use crate::command::{output, root, run, step};
use crate::gateway::{self, binary};
use crate::tools;

/// What is expected, from the project's root.
const EXPECTED: &str = "tests/conformance/scenarios.toml";
/// Folder of the expectations in the suite's own form, and of what it saw.
const FOLDER: &str = "target/conformance";
/// The program of the suite, in its package.
const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// The client that is tested: a package of the workspace and its program.
const CLIENT: &str = "conformance-client";
/// How long one scenario may take, milliseconds.
const SCENARIO_TIMEOUT_MS: &str = "30000";
/// Above the client scenarios in what the suite lists.
const CLIENT_SCENARIOS: &str = "Client scenarios";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectations {
    revisions: Vec<String>,
    scenario: Vec<Scenario>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    name: String,
    revisions: Vec<String>,
    outcome: Outcome,
    reason: Option<String>,
    /// The checks that fail, where the others pass.
    #[serde(default)]
    checks: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Passes,
    NotApplicable,
    NotYet,
    NotRun,
}

/// Installs the suite, builds the client, and runs every scenario in every revision.
pub(crate) fn run_all() -> anyhow::Result<()> {
    tools::install_mcp_node()?;
    step("MCP conformance");
    run(gateway::build_command("debug").arg("--quiet"))?;
    let text = std::fs::read_to_string(root().join(EXPECTED)).with_context(|| format!("cannot read {EXPECTED}"))?;
    let expected: Expectations = toml::from_str(&text).with_context(|| format!("{EXPECTED} is not as it should be"))?;
    expected.check()?;
    let suite = Suite { node: mcp_node()?, home: root().join(MCP_NODE_PROJECT) };
    expected.compare(&suite.scenarios()?)?;
    let folder = root().join(FOLDER);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {FOLDER}"))?;
    }
    std::fs::create_dir_all(&folder)?;
    // Beside each other: the suite mostly waits.
    let run_one = |revision: &str| suite.run(revision, &expected.list_failing(revision), &folder);
    let ended = std::thread::scope(|scope| {
        let runs: Vec<_> = expected.revisions.iter().map(|revision| scope.spawn(|| run_one(revision))).collect();
        runs.into_iter().map(|run| run.join().expect("no run panics")).collect::<Vec<_>>()
    });
    for (revision, ended) in expected.revisions.iter().zip(ended) {
        ended?;
        let count = |outcomes: &[Outcome]| expected.of(revision).filter(|one| outcomes.contains(&one.outcome)).count();
        let (passed, failed) = (count(&[Outcome::Passes]), count(&[Outcome::NotApplicable, Outcome::NotYet]));
        eprintln!("   {revision}: {passed} scenarios pass, {failed} fail as expected");
    }
    Ok(())
}

/// The suite's program, and the Node that runs it.
struct Suite {
    node: PathBuf,
    home: PathBuf,
}

impl Suite {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(self.home.join(SUITE));
        command
    }

    /// Its client scenarios, each with what it says of where the scenario belongs: revisions, or `extension`.
    fn scenarios(&self) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
        let listed = output(self.command().arg("list"))?;
        let section = listed.lines().skip_while(|line| !line.starts_with(CLIENT_SCENARIOS)).skip(1);
        let mut scenarios = BTreeMap::new();
        for line in section.take_while(|line| !line.trim().is_empty()) {
            let parsed = line.trim().strip_prefix("- ").and_then(|line| line.strip_suffix(']')?.split_once(" ["));
            let (name, places) = parsed.with_context(|| format!("the suite lists `{line}`, which nobody can read"))?;
            scenarios.insert(name.to_owned(), places.split(',').map(str::to_owned).collect());
        }
        ensure!(!scenarios.is_empty(), "the suite lists no client scenarios");
        Ok(scenarios)
    }

    /// Runs all scenarios of a revision; the suite fails when one does not end as expected.
    fn run(&self, revision: &str, failing: &[String], folder: &Path) -> anyhow::Result<()> {
        let baseline = folder.join(format!("{revision}.yaml"));
        let names: String = failing.iter().map(|name| format!("  - {name:?}\n")).collect();
        let text = if names.is_empty() { "client: []\n".to_owned() } else { format!("client:\n{names}") };
        std::fs::write(&baseline, text).with_context(|| format!("cannot write {}", baseline.display()))?;
        let log = folder.join(format!("{revision}.log"));
        let mut command = self.command();
        command.args(["client", "--suite", "all", "--spec-version", revision, "--timeout", SCENARIO_TIMEOUT_MS]);
        command.arg("--command").arg(binary("debug", CLIENT));
        command.arg("--expected-failures").arg(&baseline).arg("--output-dir").arg(folder.join(revision));
        let ended = command.output().context("the conformance suite does not start")?;
        let said = [ended.stderr, ended.stdout].concat();
        std::fs::write(&log, &said).with_context(|| format!("cannot write {}", log.display()))?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&said);
            let summary = said.rfind("=== SUITE SUMMARY ===").map_or("", |place| &said[place..]);
            bail!("revision {revision} is not as {EXPECTED} has it; see {}\n{summary}", log.display());
        }
        Ok(())
    }
}

impl Expectations {
    /// Whether each entry says what it has to.
    fn check(&self) -> anyhow::Result<()> {
        let mut seen = BTreeSet::new();
        for scenario in &self.scenario {
            let name = &scenario.name;
            ensure!(seen.insert(name), "{EXPECTED} names `{name}` twice");
            let has_reason = scenario.reason.as_ref().is_some_and(|reason| !reason.trim().is_empty());
            ensure!(
                has_reason != (scenario.outcome == Outcome::Passes),
                "`{name}`: a reason goes with what does not pass"
            );
            ensure!(
                scenario.revisions.is_empty() == (scenario.outcome == Outcome::NotRun),
                "`{name}`: what is run has revisions"
            );
            let may_have_checks = matches!(scenario.outcome, Outcome::NotApplicable | Outcome::NotYet);
            ensure!(scenario.checks.is_empty() || may_have_checks, "`{name}`: only what fails has failing checks");
        }
        Ok(())
    }

    /// Whether the suite has the scenarios that are expected, in the revisions expected.
    fn compare(&self, listed: &BTreeMap<String, BTreeSet<String>>) -> anyhow::Result<()> {
        for scenario in &self.scenario {
            let name = &scenario.name;
            let places = listed.get(name).with_context(|| format!("the suite has no scenario `{name}` any more"))?;
            let run: BTreeSet<_> = self.revisions.iter().filter(|revision| places.contains(*revision)).collect();
            let expected: BTreeSet<_> = scenario.revisions.iter().collect();
            ensure!(run == expected, "`{name}` is run in {run:?}; {EXPECTED} has {expected:?}");
        }
        let known: BTreeSet<_> = self.scenario.iter().map(|scenario| &scenario.name).collect();
        let new: Vec<_> = listed.keys().filter(|name| !known.contains(name)).collect();
        ensure!(new.is_empty(), "the suite has scenarios that {EXPECTED} does not name: {new:?}");
        Ok(())
    }

    fn of<'a>(&'a self, revision: &'a str) -> impl Iterator<Item = &'a Scenario> {
        self.scenario.iter().filter(move |scenario| scenario.revisions.iter().any(|one| one == revision))
    }

    /// What is expected to fail in a revision, as the suite names it: scenarios, and checks of scenarios.
    fn list_failing(&self, revision: &str) -> Vec<String> {
        let failing = self.of(revision).filter(|scenario| scenario.outcome != Outcome::Passes);
        let named = failing.flat_map(|Scenario { name, checks, .. }| match checks.as_slice() {
            [] => vec![name.clone()],
            checks => checks.iter().map(|check| format!("{name}:{check}")).collect(),
        });
        named.collect()
    }
}
