//! `plugin check`: everything that a gateway checks before a version goes live, and more, reported all at once.

use std::time::{Duration, Instant};

use intent_gateway_describe::text::{Page, bytes};
use intent_gateway_domain::contract::{Descriptor, Vocabulary};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::faults::Call;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::succession::{self, Removal, SuccessionError, name_removed};
use intent_gateway_sandbox::{LoadError, LoadedContract};
use serde::Serialize;

use crate::call::{self, CallOutcome};
use crate::fuzz::{self, FuzzReport};
use crate::outline::Outline;
use crate::subject::Subject;
use crate::tables;

/// How one check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// It was not reached, or there is nothing to compare with.
    Skipped,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable name.
    pub name: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// What was seen, in a few words.
    pub seen: String,
    /// What is wrong, one thing each.
    pub problems: Vec<String>,
}

/// What is loaded of the intent elsewhere, as far as the version rules look at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The version that serves.
    pub live: Option<Live>,
    /// Numbers and contents of all loaded versions.
    pub versions: Vec<(semver::Version, Digest)>,
}

/// The version that serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// Its number.
    pub version: semver::Version,
    /// Name of its content.
    pub digest: Digest,
    pub vocabularies: Vec<Vocabulary>,
}

impl Live {
    /// The version in a component.
    ///
    /// # Errors
    /// [`LoadError`] when it is not a contract.
    pub fn of(subject: &Subject) -> Result<Self, LoadError> {
        let contract = subject.load()?;
        let Descriptor { version, vocabularies, .. } = contract.descriptor().clone();
        Ok(Self { version, digest: contract.digest(), vocabularies })
    }
}

/// What to check besides the component itself.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// What it is to follow.
    pub against: Option<&'a Loaded>,
    /// How long to fuzz; zero leaves it out.
    pub fuzz_for: Duration,
    /// Seed of the fuzz; without one, the content decides, so that the same component is fuzzed alike.
    pub seed: Option<u64>,
}

/// The outcome of all checks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// Whether nothing is wrong.
    pub passed: bool,
    /// Name of the content.
    pub digest: Digest,
    /// The intent, where the component tells it.
    pub intent: Option<String>,
    /// The version, likewise.
    pub version: Option<String>,
    /// The checks, in their order.
    pub checks: Vec<Check>,
    /// What the fuzz did, where it was reached.
    pub fuzz: Option<FuzzReport>,
}

/// The interface by which a contract says why it fails, up to its version.
const FAULTS: &str = "intent-gateway:contract/faults@";
/// How the names of WASI begin.
const WASI: &str = "wasi:";
/// What a component gets of it.
const WASI_NOTE: &str = "; WASI is linked with nothing granted";
/// The checks in the order in which a component passes them. What fails one is not asked for the next.
const STAGES: [&str; 5] = ["size", "component", "imports", "interface", "descriptor"];

/// Checks a component. Everything that can still be checked after a failure is.
#[must_use]
pub fn run(subject: &Subject, options: &Options<'_>) -> CheckReport {
    let outline = Outline::of(&subject.bytes);
    let mut report = CheckReport {
        passed: false,
        digest: subject.digest(),
        intent: None,
        version: None,
        checks: Vec::new(),
        fuzz: None,
    };
    match subject.load() {
        Err(error) => {
            stages(subject, outline.as_ref(), Some(&error), &mut report.checks);
            for name in ["tables", "memory", "version", "examples", "time", "fuzz"] {
                report.checks.push(skip(name, "not reached"));
            }
        }
        Ok(contract) => {
            let descriptor = contract.descriptor();
            report.intent = Some(descriptor.intent.as_str().to_owned());
            report.version = Some(descriptor.version.to_string());
            stages(subject, outline.as_ref(), None, &mut report.checks);
            report.checks.push(subject.wait(compare_tables(&contract)));
            report.checks.push(memory(subject, outline.as_ref()));
            report.checks.push(version(descriptor, report.digest, options.against));
            report.checks.push(subject.wait(examples(&contract)));
            report.checks.push(subject.wait(times(&contract, subject)));
            let (check, fuzzed) = fuzz(subject, &contract, options, report.digest);
            report.checks.push(check);
            report.fuzz = fuzzed;
        }
    }
    report.passed = report.checks.iter().all(|check| check.outcome != Outcome::Failed);
    report
}

fn check(name: &'static str, seen: String, problems: Vec<String>) -> Check {
    let outcome = if problems.is_empty() { Outcome::Passed } else { Outcome::Failed };
    Check { name, outcome, seen, problems }
}

fn skip(name: &'static str, why: &str) -> Check {
    Check { name, outcome: Outcome::Skipped, seen: why.to_owned(), problems: Vec::new() }
}

/// Which stage an error belongs to.
fn stage_of(error: &LoadError) -> &'static str {
    match error {
        LoadError::TooLarge { .. } => "size",
        LoadError::ForbiddenImport(_) => "imports",
        LoadError::AbiMismatch { .. } | LoadError::MissingExport(_) | LoadError::ExportType { .. } => "interface",
        LoadError::Describe(_) | LoadError::Descriptor(_) => "descriptor",
        // Whatever else keeps the bytes from becoming a contract lies in the bytes.
        _ => "component",
    }
}

fn stages(subject: &Subject, outline: Option<&Outline>, error: Option<&LoadError>, checks: &mut Vec<Check>) {
    let failing = error.map(stage_of);
    let mut reached = true;
    for name in STAGES {
        if !reached {
            checks.push(skip(name, "not reached"));
            continue;
        }
        let problems = match error {
            Some(error) if failing == Some(name) => {
                reached = false;
                problems(error)
            }
            _ => Vec::new(),
        };
        checks.push(check(name, describe_subject(name, subject, outline), problems));
    }
}

fn describe_subject(stage: &str, subject: &Subject, outline: Option<&Outline>) -> String {
    let imports = outline.map(|outline| outline.imports.as_slice()).unwrap_or_default();
    let exports = outline.map(|outline| outline.exports.as_slice()).unwrap_or_default();
    let most = u64::try_from(CONTRACT_MAX_BYTES).unwrap_or(u64::MAX);
    match stage {
        "size" => {
            let size = u64::try_from(subject.bytes.len()).unwrap_or(u64::MAX);
            format!("{} of at most {}", bytes(size), bytes(most))
        }
        "component" => "a WebAssembly component that compiles".to_owned(),
        "imports" if imports.is_empty() => "nothing is imported".to_owned(),
        "imports" => describe_imports(imports),
        "interface" if exports.is_empty() => "nothing is exported".to_owned(),
        "interface" => exports.join(", "),
        _ => "identity, tools, ranking, vocabularies and schemas agree with each other".to_owned(),
    }
}

/// What a component imports, and what it gets of it.
fn describe_imports(imports: &[String]) -> String {
    let is_faults = |name: &&String| name.starts_with(FAULTS);
    let telling = imports.iter().find(is_faults).map(|name| format!("{name}, to say why it fails"));
    let others: Vec<&str> = imports.iter().filter(|name| !is_faults(name)).map(String::as_str).collect();
    let note = if others.iter().any(|name| name.starts_with(WASI)) { WASI_NOTE } else { "" };
    let others = (!others.is_empty()).then(|| format!("{}{note}", others.join(", ")));
    telling.into_iter().chain(others).collect::<Vec<_>>().join("; ")
}

/// An error as problems: one each where it lists several.
fn problems(error: &LoadError) -> Vec<String> {
    match error {
        LoadError::Descriptor(problems) => problems.clone(),
        other => vec![chain(other)],
    }
}

/// What the contract declares, against its documents and against the cards of its examples.
async fn compare_tables(contract: &LoadedContract) -> Check {
    let descriptor = contract.descriptor();
    let mut problems = tables::problems(descriptor);
    // Without examples there are no cards; that they cannot be read is told with the examples.
    for example in contract.examples().await.unwrap_or_default() {
        let input = call::read_example(&example.call());
        let is_search = matches!(input.call, Call::Evaluate { .. });
        if !(is_search && example.is_accepted()) {
            continue;
        }
        let Ok(CallOutcome::Evaluation(evaluation)) = call::run(&input, contract).await else { continue };
        let widget = &descriptor.widget;
        let mut cards = evaluation.ranked.iter();
        // One card is made as the other.
        let differing = cards.find_map(|option| tables::compare_card(&option.id, &option.card, widget));
        problems.extend(differing.map(|what| format!("example `{}`: {what}", example.name())));
    }
    check("tables", "targets, keys, places and cards fit the documents".to_owned(), problems)
}

fn memory(subject: &Subject, outline: Option<&Outline>) -> Check {
    let cap = u64::try_from(subject.limits().memory_max_bytes).unwrap_or(u64::MAX);
    let start = outline.map_or(0, |outline| outline.initial_memory_bytes);
    let problems = if start > cap { vec!["an instance starts with more than it may have".to_owned()] } else { vec![] };
    check("memory", format!("an instance starts with {} of at most {}", bytes(start), bytes(cap)), problems)
}

/// The version rules, against what is loaded elsewhere.
fn version(descriptor: &Descriptor, digest: Digest, against: Option<&Loaded>) -> Check {
    let number = &descriptor.version;
    let Some(loaded) = against else {
        return skip("version", "nothing to compare with; see --against and --gateway");
    };
    if loaded.versions.iter().any(|(_, known)| *known == digest) {
        return check("version", format!("this very component of {number} is loaded already"), Vec::new());
    }
    let (mut problems, mut removed) = (Vec::new(), Vec::new());
    let reused = loaded.versions.iter().any(|(other, _)| other == number);
    if let Some(live) = &loaded.live {
        // The rules look at nothing else of the live version.
        let before =
            Descriptor { version: live.version.clone(), vocabularies: live.vocabularies.clone(), ..descriptor.clone() };
        // Whoever ships it says whether values may go; here it is told.
        problems.extend(succession::check(&before, descriptor, Removal::Allowed).err().map(|error| error.to_string()));
        removed = succession::removed_values(&before, descriptor);
    }
    if reused && problems.is_empty() {
        problems.push(SuccessionError::VersionReused(number.clone()).to_string());
    }
    let seen = match &loaded.live {
        Some(live) if problems.is_empty() && !removed.is_empty() => format!(
            "{number} after the live {}; it removes {}, so it is taken only with `allow_removed_values=true`",
            live.version,
            name_removed(&removed)
        ),
        Some(live) => format!("{number} after the live {}", live.version),
        None => format!("{number}, the first to go live"),
    };
    check("version", seen, problems)
}

/// All examples, each judged, where the gateway stops at the first that does not hold.
async fn examples(contract: &LoadedContract) -> Check {
    let all = match contract.examples().await {
        Ok(all) => all,
        Err(error) => return check("examples", "none could be read".to_owned(), problems(&error)),
    };
    let mut problems = Vec::new();
    for example in &all {
        problems.extend(contract.run_example(example).await.err().map(|error| chain(&error)));
    }
    if problems.is_empty() {
        // Their number, and that there is one for each function.
        problems.extend(contract.run_examples().await.err().map(|error| chain(&error)));
    }
    check("examples", format!("{} examples", all.len()), problems)
}

/// Each example's call under the deadline of a serving gateway, which is shorter than that of a loading one.
async fn times(contract: &LoadedContract, subject: &Subject) -> Check {
    let Ok(all) = contract.examples().await else {
        return skip("time", "not reached");
    };
    let mut slowest = (Duration::ZERO, String::new());
    let mut problems = Vec::new();
    for example in &all {
        let input = call::read_example(&example.call());
        let start = Instant::now();
        let outcome = call::run(&input, contract).await;
        let elapsed = start.elapsed();
        if elapsed > slowest.0 {
            slowest = (elapsed, example.name().to_owned());
        }
        problems.extend(outcome.err().map(|fault| format!("example `{}`: {}", example.name(), fault.explain())));
    }
    let seen = format!(
        "the slowest call took {:.1} of {} ms: `{}`",
        slowest.0.as_secs_f64() * 1_000.0,
        subject.limits().deadline_ms,
        slowest.1
    );
    check("time", seen, problems)
}

fn fuzz(
    subject: &Subject,
    contract: &LoadedContract,
    options: &Options<'_>,
    digest: Digest,
) -> (Check, Option<FuzzReport>) {
    if options.fuzz_for.is_zero() {
        return (skip("fuzz", "left out"), None);
    }
    let corpus = match subject.wait(fuzz::corpus(contract)) {
        Ok(corpus) => corpus,
        Err(error) => return (check("fuzz", "no documents to start from".to_owned(), problems(&error)), None),
    };
    let seed = options.seed.unwrap_or_else(|| seed_of(digest));
    let report = subject.wait(fuzz::run(contract, &corpus, options.fuzz_for, seed));
    let problems = report.failures.iter().map(|failure| {
        format!("{}, input {} (seed {seed}): {} {}", failure.entry, failure.execution, failure.code, failure.message)
    });
    let seen = format!(
        "{} malformed inputs through {} entry points, {:.0}/s, seed {seed}",
        report.executions,
        report.by_entry.len(),
        report.per_second()
    );
    (check("fuzz", seen, problems.collect()), Some(report))
}

/// The first 8 bytes of the content's name.
fn seed_of(digest: Digest) -> u64 {
    digest.as_bytes().iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

impl CheckReport {
    /// As a text for people, a line for each check.
    #[must_use]
    pub fn text(&self) -> String {
        let mut page = Page::default();
        let name = match (&self.intent, &self.version) {
            (Some(intent), Some(version)) => format!("{intent} {version}"),
            _ => "a component that is no contract yet".to_owned(),
        };
        page.heading(&format!("{name} ({})", self.digest));
        for check in &self.checks {
            let mark = match check.outcome {
                Outcome::Passed => '✔',
                Outcome::Failed => '✘',
                Outcome::Skipped => '-',
            };
            page.line(&format!("{mark} {:<10}  {}", check.name, check.seen));
            for problem in &check.problems {
                page.line(&format!("    {problem}"));
            }
        }
        page.finish()
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_sandbox::Compiler;

    use intent_gateway_testing::descriptor::small_descriptor;

    use super::*;

    #[test]
    fn imports_are_told_with_what_they_give() {
        let told = |names: &[&str]| describe_imports(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        let faults = "intent-gateway:contract/faults@1.0.0";
        assert_eq!(told(&[faults]), format!("{faults}, to say why it fails"));
        assert_eq!(told(&["wasi:io/poll@0.2.0"]), "wasi:io/poll@0.2.0; WASI is linked with nothing granted");
        assert_eq!(told(&["host:files/read"]), "host:files/read", "it gets nothing");
        let both = told(&["wasi:io/poll@0.2.0", faults]);
        assert!(
            both.starts_with(faults) && both.ends_with("poll@0.2.0; WASI is linked with nothing granted"),
            "{both}"
        );
    }

    fn live(version: &str, values: &[&str]) -> Live {
        let values = values.iter().map(ToString::to_string).collect();
        Live {
            version: version.parse().expect("a version"),
            digest: Digest::of(version.as_bytes()),
            vocabularies: vec![Vocabulary { name: "kind".to_owned(), values }],
        }
    }

    fn next(version: &str, values: &[&str]) -> Descriptor {
        let mut descriptor = small_descriptor();
        let live = live(version, values);
        (descriptor.version, descriptor.vocabularies) = (live.version, live.vocabularies);
        descriptor
    }

    #[test]
    fn version_rules() {
        let loaded = |live: Option<Live>| Loaded {
            versions: live.iter().map(|live| (live.version.clone(), live.digest)).collect(),
            live,
        };
        let of = |next: &Descriptor, loaded: &Loaded| version(next, Digest::of(b"next"), Some(loaded));
        let first = loaded(Some(live("1.0.0", &["a"])));
        assert_eq!(of(&next("1.0.1", &["a"]), &first).outcome, Outcome::Passed);
        assert_eq!(of(&next("1.1.0", &["a", "b"]), &first).outcome, Outcome::Passed);
        let removing = of(&next("1.1.0", &["b"]), &first);
        assert_eq!(removing.outcome, Outcome::Passed, "whoever ships it decides");
        assert!(removing.seen.contains("it removes `a` of `kind`"), "{}", removing.seen);
        for (number, values) in [("1.0.0", ["a"]), ("0.9.0", ["a"]), ("1.0.1", ["b"])] {
            assert_eq!(of(&next(number, &values), &first).problems.len(), 1, "{number}");
        }
        assert_eq!(of(&next("1.0.0", &["a"]), &Loaded::default()).outcome, Outcome::Passed);
        // Loaded, but not live: the number is taken all the same.
        let mut idle = loaded(Some(live("1.0.0", &["a"])));
        idle.versions.push(("1.0.1".parse().expect("a version"), Digest::of(b"other")));
        assert_eq!(of(&next("1.0.1", &["a"]), &idle).outcome, Outcome::Failed);
        idle.versions.push(("1.0.1".parse().expect("a version"), Digest::of(b"next")));
        assert_eq!(of(&next("1.0.1", &["a"]), &idle).outcome, Outcome::Passed, "the very same is no successor");
        assert_eq!(version(&next("1.0.1", &["a"]), Digest::of(b"next"), None).outcome, Outcome::Skipped);
    }

    #[test]
    fn an_import_that_no_contract_may_have_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("curious.wasm");
        let text = r#"(component (import "wasi:sockets/tcp@0.2.0" (instance)) (import "host:files/read" (func)))"#;
        std::fs::write(&path, wat::parse_str(text).expect("a component")).expect("written");
        let subject = Subject::open(&path, Compiler::in_this_process()).expect("readable");
        let report = run(&subject, &Options { against: None, fuzz_for: Duration::from_secs(1), seed: None });
        let of = |name: &str| report.checks.iter().find(|check| check.name == name).expect("listed");
        assert_eq!([of("size").outcome, of("component").outcome], [Outcome::Passed; 2]);
        assert_eq!(of("imports").outcome, Outcome::Failed);
        assert!(of("imports").seen.contains("wasi:sockets/tcp@0.2.0, host:files/read"), "{:?}", of("imports"));
        assert!(of("imports").problems[0].contains("which no contract may"), "{:?}", of("imports"));
        let unreached = ["interface", "descriptor", "tables", "memory", "version", "examples", "time", "fuzz"];
        assert_eq!(unreached.map(|name| of(name).outcome), [Outcome::Skipped; 8]);
        assert!(!report.passed && report.text().contains("\n✘ imports"), "{}", report.text());
        assert!(report.text().starts_with("a component that is no contract yet ("), "{}", report.text());
    }

    #[test]
    fn each_error_has_its_stage() {
        for (error, stage) in [
            (LoadError::TooLarge { bytes: 2, max: 1 }, "size"),
            (LoadError::NotAComponent("x"), "component"),
            (LoadError::CompiledInput, "component"),
            (LoadError::TooCostly { bound: "functions", found: 2, max: 1 }, "component"),
            (LoadError::ForbiddenImport("wasi:sockets/tcp".to_owned()), "imports"),
            (LoadError::MissingExport("x".to_owned()), "interface"),
            (LoadError::Descriptor(vec![]), "descriptor"),
        ] {
            assert_eq!(stage_of(&error), stage, "{error}");
        }
    }
}
