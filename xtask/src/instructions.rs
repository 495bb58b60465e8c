//! `cargo xtask instructions`: what the host's code and the contracts cost, counted and compared with what is committed
//! (docs/benchmarks.md, "Instructions and allocations").
//!
//! The host's instructions are those that valgrind counts under the bench of `tests/instructions`, the contracts' fuel is what
//! `plugin bench` tells. Neither depends on how busy the machine is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use contract_toolchain::Compiler;
use serde::{Deserialize, Serialize};

use crate::command::{cargo, output, root, step};
use crate::table::{Side, Table};
use crate::tools::RustProgram;
use crate::{gateway, guests, tools};

/// What is committed.
pub(crate) const FILE: &str = "tests/instructions/counts.json";
/// A count above what is committed by more than this fails, percent.
const ALLOWED_PERCENT: u64 = 2;
/// The same for receipts: what zstd frees has the C library merge its pieces now and then, at a moment that the length of a path
/// decides, which is up to 4 % of them.
const ALLOWED_OF_RECEIPTS_PERCENT: u64 = 5;
/// The package of the bench, and the bench.
const BENCH: [&str; 6] = ["--package", "instruction-counts", "--features", "counting", "--bench", "host"];
/// What is measured with, and the program that it starts; both of one release.
const LIBRARY: &str = "gungraun";
const RUNNER: &str = "gungraun-runner";
/// The variable by which the bench is told of its runner, when it is compiled.
const RUNNER_PATH: &str = "GUNGRAUN_RUNNER";
/// Seconds for which each contract's calls are timed, too, which nobody looks at here.
const TIMED_SECONDS: &str = "0.1";

/// Counts by name.
pub(crate) type Counts = BTreeMap<String, u64>;

/// What is committed, or measured now.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    /// What the host's code is compiled by.
    host_compiler: String,
    /// The kind of processor: libraries choose their code by what it can do.
    processor: String,
    /// What the contracts are compiled by: with another one, their fuel is another.
    guest_compiler: String,
    /// Instructions of the host, by benchmark.
    host: Counts,
    /// Fuel of a call, by contract and entry point.
    fuel: Counts,
}

/// Measures and compares; `write` has the counts written down in place of compared.
pub(crate) fn run(write: bool) -> anyhow::Result<()> {
    tools::install_valgrind()?;
    let now = measure()?;
    if !write {
        return compare(&now);
    }
    let text = serde_json::to_string_pretty(&now).context("counts are JSON")? + "\n";
    std::fs::write(root().join(FILE), text).with_context(|| format!("cannot write {FILE}"))?;
    eprintln!("   {FILE} is written; say in the commit why the counts are others");
    Ok(())
}

/// The same as a part of the tests: without valgrind it is left out, unless that is required.
pub(crate) fn check() -> anyhow::Result<()> {
    tools::install_wished_valgrind()?;
    if tools::has_valgrind() { run(false) } else { Ok(()) }
}

fn measure() -> anyhow::Result<Measured> {
    guests::build_all()?;
    gateway::build("debug")?;
    let root = root();
    let guests = Compiler::find(&root, &step)?;
    Ok(Measured {
        host_compiler: output(Command::new("rustc").current_dir(&root).arg("--version"))?,
        processor: processor()?,
        guest_compiler: guests.version(&root)?,
        host: count_host()?,
        fuel: count_fuel()?,
    })
}

/// Maker, family and model of the processor, as the kernel tells them.
fn processor() -> anyhow::Result<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").context("the kernel does not tell of its processors")?;
    let told = |name: &str| {
        let named = |line: &str| {
            line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
        };
        text.lines().find_map(named).unwrap_or_default()
    };
    Ok(format!("{} {} {}", told("vendor_id"), told("cpu family"), told("model")))
}

/// Runs the bench.
fn count_host() -> anyhow::Result<Counts> {
    let runner = RustProgram::new(RUNNER, &locked_version(LIBRARY)?).install()?;
    step("Counting instructions of the host");
    let mut bench = cargo();
    bench.args(["bench", "--locked", "--quiet"]).args(BENCH).args(["--", "--output-format=json"]);
    let printed = output(bench.env(RUNNER_PATH, runner))?;
    let counts = serde_json::Deserializer::from_str(&printed).into_iter();
    counts.map(|summary| read_count(&summary.context("the bench printed no JSON")?)).collect()
}

/// The version of a crate that `Cargo.lock` has.
fn locked_version(name: &str) -> anyhow::Result<String> {
    let path = root().join("Cargo.lock");
    let text = std::fs::read_to_string(&path).context("cannot read Cargo.lock")?;
    let lock: toml::Table = text.parse().context("Cargo.lock is no TOML")?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock lists no packages")?;
    let package = packages.iter().find(|package| package.get("name").and_then(toml::Value::as_str) == Some(name));
    let version = package.and_then(|package| package.get("version")).and_then(toml::Value::as_str);
    version.map(str::to_owned).with_context(|| format!("Cargo.lock has no {name}"))
}

/// Name and instructions of one benchmark, out of the summary that the runner writes.
fn read_count(summary: &serde_json::Value) -> anyhow::Result<(String, u64)> {
    let text = |member: &str| summary[member].as_str().with_context(|| format!("a benchmark without `{member}`"));
    let name = format!("{} {}", text("function_name")?, text("id")?);
    let count = summary.pointer("/profiles/0/data/total/metrics/Ir/values/new").and_then(serde_json::Value::as_u64);
    Ok((name.clone(), count.with_context(|| format!("no instructions were counted of {name}"))?))
}

/// Asks `plugin bench` about each contract that ships.
fn count_fuel() -> anyhow::Result<Counts> {
    step("Counting the contracts' fuel");
    let mut counts = Counts::new();
    for contract in guests::list_shipped()? {
        counts.extend(fuel_of(contract)?);
    }
    Ok(counts)
}

fn fuel_of(contract: PathBuf) -> anyhow::Result<Counts> {
    #[derive(Deserialize)]
    struct Report {
        entries: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        entry: String,
        fuel: u64,
    }
    let name = contract.file_stem().context("a contract has a name")?.to_string_lossy().into_owned();
    let mut bench = Command::new(gateway::binary("debug", "intent-gateway"));
    bench.args(["plugin", "bench", "--json", "--seconds", TIMED_SECONDS]).arg(&contract);
    let report: Report = serde_json::from_str(&output(&mut bench)?).context("`plugin bench` printed no report")?;
    Ok(report.entries.into_iter().map(|Entry { entry, fuel }| (format!("{name} {entry}"), fuel)).collect())
}

/// Compares with what is committed, and prints the table.
fn compare(now: &Measured) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let committed: Measured = serde_json::from_str(&text).with_context(|| format!("{FILE} has another form"))?;
    step("Instructions and fuel");
    let host = |measured: &Measured| format!("{} on {}", measured.host_compiler, measured.processor);
    let hosts = [host(&committed), host(now)];
    let mut rows = list_comparable("THE HOST'S INSTRUCTIONS ARE", &hosts, [&committed.host, &now.host]);
    let guests = [committed.guest_compiler.clone(), now.guest_compiler.clone()];
    rows.extend(list_comparable("THE CONTRACTS' FUEL IS", &guests, [&committed.fuel, &now.fuel]));
    show(&rows);
    judge(&rows)
}

/// Counts beside those that are committed, if both were counted with the same; nothing otherwise, and it is said.
fn list_comparable<'a>(what: &str, with: &[String; 2], [committed, now]: [&'a Counts; 2]) -> Vec<Row<'a>> {
    let [then, here] = with;
    if then == here {
        return compare_counts(committed, now);
    }
    eprintln!("   WARNING: {what} NOT COMPARED: counted with {then}, and here with {here}");
    Vec::new()
}

/// One count beside what is committed.
#[derive(Debug, PartialEq)]
struct Row<'a> {
    name: &'a str,
    committed: Option<u64>,
    now: Option<u64>,
}

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    Dearer,
    Cheaper,
    /// It is measured or committed, and not both.
    Unknown,
}

impl Row<'_> {
    fn verdict(&self) -> Verdict {
        let (Some(committed), Some(now)) = (self.committed, self.now) else { return Verdict::Unknown };
        let allowed = if self.name.starts_with("receipt ") { ALLOWED_OF_RECEIPTS_PERCENT } else { ALLOWED_PERCENT };
        match now * 100 {
            now if now > committed * (100 + allowed) => Verdict::Dearer,
            now if now < committed * (100 - allowed) => Verdict::Cheaper,
            _ => Verdict::Same,
        }
    }

    fn change(&self) -> String {
        match (self.committed, self.now) {
            (Some(0), Some(now)) => format!("{now:+}"),
            (Some(committed), Some(now)) => {
                format!("{:+.2} %", (now as f64 - committed as f64) / committed as f64 * 100.0)
            }
            (None, _) => "new".to_owned(),
            (_, None) => "gone".to_owned(),
        }
    }
}

fn compare_counts<'a>(committed: &'a Counts, now: &'a Counts) -> Vec<Row<'a>> {
    let names: BTreeSet<&String> = committed.keys().chain(now.keys()).collect();
    let row = |name: &'a String| Row { name, committed: committed.get(name).copied(), now: now.get(name).copied() };
    names.into_iter().map(row).collect()
}

fn show(rows: &[Row<'_>]) {
    let mut table = Table::new([
        ("what", Side::Left),
        ("committed", Side::Right),
        ("now", Side::Right),
        ("change", Side::Right),
        ("", Side::Left),
    ]);
    let figure = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    for row in rows {
        let remark = match row.verdict() {
            Verdict::Same => "",
            Verdict::Dearer => "DEARER",
            Verdict::Cheaper => "cheaper",
            Verdict::Unknown => "NOT KNOWN",
        };
        let cells = [row.name.to_owned(), figure(row.committed), figure(row.now), row.change(), remark.to_owned()];
        table.row(cells);
    }
    table.print();
}

fn judge(rows: &[Row<'_>]) -> anyhow::Result<()> {
    let names = |verdict: Verdict| -> Vec<&str> {
        rows.iter().filter(|row| row.verdict() == verdict).map(|row| row.name).collect()
    };
    let cheaper = names(Verdict::Cheaper);
    if !cheaper.is_empty() {
        eprintln!(
            "   {} got cheaper by more than is allowed: write it down, that it stays so (`cargo xtask instructions --write`)",
            cheaper.join(", ")
        );
    }
    let dearer = names(Verdict::Dearer);
    ensure!(
        dearer.is_empty(),
        "{} got dearer by more than is allowed: make it cheaper, or write it down with `cargo xtask instructions --write` and \
         say in the commit what it is worth",
        dearer.join(", ")
    );
    let unknown = names(Verdict::Unknown);
    if !unknown.is_empty() {
        bail!(
            "{} is not in both {FILE} and what was measured: `cargo xtask instructions --write` writes down what there is now",
            unknown.join(", ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    fn verdict(committed: u64, now: u64) -> Verdict {
        Row { name: "scan", committed: Some(committed), now: Some(now) }.verdict()
    }

    #[test]
    fn two_percent_are_allowed_either_way() {
        assert_eq!(verdict(1_000, 1_020), Verdict::Same);
        assert_eq!(verdict(1_000, 1_021), Verdict::Dearer);
        assert_eq!(verdict(1_000, 980), Verdict::Same);
        assert_eq!(verdict(1_000, 979), Verdict::Cheaper);
        assert_eq!(verdict(0, 0), Verdict::Same);
    }

    #[test]
    fn what_got_dearer_fails_and_what_got_cheaper_does_not() {
        let committed = counts(&[("read", 100), ("scan", 100)]);
        assert!(judge(&compare_counts(&committed, &counts(&[("read", 50), ("scan", 102)]))).is_ok());
        let failed = judge(&compare_counts(&committed, &counts(&[("read", 100), ("scan", 103)]))).expect_err("dearer");
        let text = failed.to_string();
        assert!(text.starts_with("scan got dearer") && text.contains("--write"), "{text}");
    }

    #[test]
    fn what_is_new_or_gone_is_to_be_written_down() {
        let (old, new) = (counts(&[("scan", 100)]), counts(&[("read", 100)]));
        let rows = compare_counts(&old, &new);
        assert_eq!(rows.iter().map(Row::change).collect::<Vec<_>>(), ["new", "gone"]);
        let text = judge(&rows).expect_err("unknown").to_string();
        assert!(text.starts_with("read, scan is not in both"), "{text}");
    }

    #[test]
    fn the_runner_is_of_the_release_that_is_locked() {
        let version = locked_version(LIBRARY).expect("it is a dependency");
        assert_eq!(locked_version(RUNNER).expect("so is it"), version);
    }
}
