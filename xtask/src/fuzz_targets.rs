//! Runs the fuzz targets (tests/fuzz) under libFuzzer, guided by coverage, on the stable compiler: the engine is linked in
//! from a crate, and what counts coverage is a pass of LLVM's that rustc runs on request. No sanitizer: those need a nightly
//! compiler, and the product has no `unsafe` code of its own to watch.
//!
//! Inputs that reach something new are kept in `target/fuzz-targets/corpus`, so that the next run goes on from there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use test_servers::soak;

use crate::command::{cargo, output, root, run, step};

/// The variable that names the target to the engine.
const VARIABLE: &str = "INTENT_GATEWAY_FUZZ_TARGET";
/// Where the instrumented build, the inputs and the findings are.
const FOLDER: &str = "target/fuzz-targets";
/// The inputs that are kept with the code.
const CORPUS: &str = "tests/fuzz/corpus";
/// Words that inputs of a target are made of.
const DICTIONARIES: &str = "tests/fuzz/dictionaries";
/// What makes the compiler count which branches are taken and with what values are compared, and tells crates that they are
/// fuzzed, as `cargo fuzz` does.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg fuzzing",
];
/// One input may take so long, seconds; more is a finding.
const INPUT_SECONDS_MAX: u32 = 5;
/// A process may have so much memory, MiB; more is a finding. The engine's own corpus is in it.
const MEMORY_MAX_MIB: u32 = 1_024;
/// Bytes of one input. Every bound of the product that depends on size has its own tests.
const INPUT_MAX_BYTES: u32 = 8 * 1_024;
/// How long each target runs in a soak.
const SOAK: Duration = Duration::from_secs(60);

/// Fuzzes one target, or all in turn, which share the time; or tries one input again.
pub(crate) fn fuzz(target: Option<&str>, time: Duration, input: Option<&Path>) -> anyhow::Result<()> {
    let all = list_targets()?;
    let chosen: Vec<&String> = all.iter().filter(|name| target.is_none_or(|target| target == *name)).collect();
    ensure!(!chosen.is_empty(), "there is no such target; the targets are: {}", all.join(", "));
    let engine = build()?;
    if let Some(input) = input {
        let [target] = chosen[..] else { bail!("name the target that the input is for") };
        return run(Command::new(engine).env(VARIABLE, target).arg(input));
    }
    let each = time / u32::try_from(chosen.len()).context("there are few targets")?;
    for target in chosen {
        fuzz_target(&engine, target, each)?;
    }
    step("Nothing was found");
    Ok(())
}

/// In a soak, every target for a while. In other runs the tests try the corpus and edits of it (`tests/fuzz/tests/replay.rs`).
pub(crate) fn soak() -> anyhow::Result<()> {
    if !soak::is_wanted() {
        return Ok(());
    }
    fuzz(None, SOAK * u32::try_from(list_targets()?.len()).context("there are few targets")?, None)
}

/// By the folders of the corpus; a test compares them with the targets.
fn list_targets() -> anyhow::Result<Vec<String>> {
    let folders = fs::read_dir(root().join(CORPUS)).context("the corpus cannot be read")?;
    let names = folders.map(|folder| Ok(folder?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<anyhow::Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

/// Compiles the targets with the engine. The triple is named so that macros and build scripts are compiled without counters.
fn build() -> anyhow::Result<PathBuf> {
    step("Building the fuzz targets");
    let version = output(Command::new("rustc").arg("-vV"))?;
    let triple = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let folder = root().join(FOLDER);
    let mut build = cargo();
    build.args(["build", "--locked", "--package", "fuzz-targets", "--features", "libfuzzer", "--bin", "fuzz"]);
    build.args(["--profile", "fuzz", "--target", triple, "--target-dir"]).arg(&folder);
    run(build.env("RUSTFLAGS", COVERAGE.join(" ")))?;
    Ok(folder.join(triple).join("fuzz/fuzz"))
}

fn fuzz_target(engine: &Path, target: &str, time: Duration) -> anyhow::Result<()> {
    step(&format!("Fuzzing {target} for {} s", time.as_secs()));
    let (own, found) =
        (root().join(FOLDER).join("corpus").join(target), root().join(FOLDER).join("found").join(target));
    for folder in [&own, &found] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let before = list_files(&found)?;
    let mut fuzzing = Command::new(engine);
    fuzzing.env(VARIABLE, target).stdin(Stdio::null());
    fuzzing.args([
        format!("-max_total_time={}", time.as_secs().max(1)),
        format!("-timeout={INPUT_SECONDS_MAX}"),
        format!("-rss_limit_mb={MEMORY_MAX_MIB}"),
        format!("-max_len={INPUT_MAX_BYTES}"),
        format!("-artifact_prefix={}/", found.display()),
        "-use_value_profile=1".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    let dictionary = root().join(DICTIONARIES).join(format!("{target}.txt"));
    if dictionary.is_file() {
        fuzzing.arg(format!("-dict={}", dictionary.display()));
    }
    // What is new goes into the first folder.
    fuzzing.arg(&own).arg(root().join(CORPUS).join(target));
    if fuzzing.status().context("the fuzz targets cannot be started")?.success() {
        return Ok(());
    }
    let new: Vec<String> = list_files(&found)?
        .iter()
        .filter(|file| !before.contains(file))
        .map(|file| file.display().to_string())
        .collect();
    ensure!(!new.is_empty(), "{target} ended without an input that shows why; its last lines above say what happened");
    bail!(
        "{target} fails, and what it says stands above. The input:\n   {}\nTry it again:\n   cargo xtask fuzz {target} --input {}\n\
         Once the cause is mended, move the file to {CORPUS}/{target} under a name that says what it was",
        new.join("\n   "),
        new[0]
    )
}

fn list_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    files.map(|file| Ok(file?.path())).collect()
}

/// A time such as `90s`, `10m` or `1h`.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a time such as 90s, 10m or 1h, found {text:?}");
    let unit = text.chars().last().filter(char::is_ascii_alphabetic).ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return Err(wrong()),
    };
    let count: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(u64::from(count) * seconds))
}
