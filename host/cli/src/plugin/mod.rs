//! `intent-gateway plugin`: the author's commands. What they do is in the kit; here are their arguments, what they
//! print and how they end.

mod arguments;
mod cases;
mod compare;
mod registry;
mod remote;
mod sign;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use contract_toolchain::ToolchainError;
use intent_gateway_kit::build::BuildError;
use intent_gateway_kit::check::{self, Live, Loaded};
use intent_gateway_kit::fuzz::FuzzReport;
use intent_gateway_kit::replay::{self, Recorded};
use intent_gateway_kit::scaffold::{self, Scaffold};
use intent_gateway_kit::subject::Subject;
use intent_gateway_kit::{bench, build, docs, inspect};

pub(crate) use arguments::PluginCommand;
use arguments::{BenchArgs, BuildArgs, CheckArgs, DocsArgs, InspectArgs, NewArgs, ReplayArgs};

use crate::outcome::{CommandError, Verdict, exit_code, fail, print_json, usage};
use crate::terminal::harmless;
use crate::{compiler, complain, files, print};

/// Runs a command to its exit code.
pub(crate) fn run(command: &PluginCommand) -> ExitCode {
    let outcome = match command {
        PluginCommand::New(arguments) => scaffold_one(arguments),
        PluginCommand::Build(arguments) => build_one(arguments),
        PluginCommand::Check(arguments) => check_one(arguments),
        PluginCommand::Test(arguments) => cases::run(arguments),
        PluginCommand::Bench(arguments) => bench_one(arguments),
        PluginCommand::Inspect(arguments) => inspect_one(arguments),
        PluginCommand::Docs(arguments) => document_one(arguments),
        PluginCommand::Keygen(arguments) => sign::make_key(arguments),
        PluginCommand::Sign(arguments) => sign::sign_one(arguments),
        PluginCommand::Verify(arguments) => sign::verify_one(arguments),
        PluginCommand::Compare(arguments) => compare::run(arguments),
        PluginCommand::Push(arguments) => registry::push(arguments),
        PluginCommand::Pull(arguments) => registry::pull(arguments),
        PluginCommand::Replay(arguments) => replay_one(arguments),
    };
    exit_code(outcome)
}

fn scaffold_one(arguments: &NewArgs) -> Result<Verdict, CommandError> {
    let path = arguments.path.clone().unwrap_or_else(|| scaffold::folder_name(&arguments.intent).into());
    let scaffold = Scaffold { intent: &arguments.intent, path: &path, sdk: arguments.sdk.as_deref() };
    let made = scaffold.make().map_err(usage)?;
    complain(&format!("{} files; next: cd {} && cargo test", made.files, path.display()));
    print(&path.display().to_string());
    Ok(Verdict::Clean)
}

fn build_one(arguments: &BuildArgs) -> Result<Verdict, CommandError> {
    let built = build::run(&arguments.dir, arguments.out.as_deref(), &complain).map_err(|error| match error {
        BuildError::Toolchain(ToolchainError::NoCrate(_)) | BuildError::Unreadable(..) | BuildError::NoBudget(..) => {
            usage(error)
        }
        other => fail(other),
    })?;
    let kib = built.component_bytes.div_ceil(1024);
    complain(&format!("{kib} KiB{}", if built.changed { "" } else { ", as it was" }));
    print(&built.path.display().to_string());
    Ok(Verdict::Clean)
}

fn check_one(arguments: &CheckArgs) -> Result<Verdict, CommandError> {
    let subject = Subject::open(&arguments.file, compiler()).map_err(usage)?;
    let against = against(arguments, &subject)?;
    let options = check::Options { against: against.as_ref(), fuzz_for: arguments.fuzz_seconds, seed: arguments.seed };
    complain(&format!("checking {}", arguments.file.display()));
    let report = check::run(&subject, &options);
    if arguments.json {
        print_json(&report)?;
    } else {
        print(&report.text());
    }
    report.fuzz.iter().try_for_each(|fuzzed| keep_failures(fuzzed, &arguments.file))?;
    Ok(Verdict::of(report.passed))
}

/// What the component is to follow.
fn against(arguments: &CheckArgs, subject: &Subject) -> Result<Option<Loaded>, CommandError> {
    if let Some(path) = &arguments.against {
        let before = Subject::open(path, compiler()).map_err(usage)?;
        let live = Live::of(&before).with_context(|| format!("{} is no contract", path.display())).map_err(usage)?;
        let versions = vec![(live.version.clone(), live.digest)];
        return Ok(Some(Loaded { live: Some(live), versions }));
    }
    // A gateway that only the environment names is not a reason to ask it: a check needs none.
    if !arguments.gateway.is_on_command_line() {
        return Ok(None);
    }
    // A component that is not a contract has no intent to ask the gateway for; the check says what is wrong with it.
    let Ok(inspected) = inspect::run(subject) else { return Ok(None) };
    let (gateway, _) = arguments.gateway.open()?;
    remote::find_loaded(&gateway, inspected.descriptor.intent.as_str()).map(Some).map_err(usage)
}

/// Writes each input that brought the contract down to a file of its own.
fn keep_failures(report: &FuzzReport, component: &Path) -> Result<(), CommandError> {
    for failure in &report.failures {
        let code = failure.code.to_lowercase().replace('_', "-");
        let path = format!("fuzz-{code}-{}.json", failure.execution);
        let text = serde_json::to_string_pretty(failure).context("the input is no JSON").map_err(fail)?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {path}")).map_err(usage)?;
        complain(&format!(
            "the input is in {path}: `intent-gateway plugin replay {path} {}` makes the call again, and `--seed {}` the run",
            component.display(),
            report.seed
        ));
    }
    Ok(())
}

fn bench_one(arguments: &BenchArgs) -> Result<Verdict, CommandError> {
    let subject = Subject::open(&arguments.file, compiler()).map_err(usage)?;
    let report = bench::run(&subject, arguments.seconds, &complain).map_err(fail)?;
    if arguments.json {
        print_json(&report)?;
    } else {
        print(&report.text());
    }
    Ok(Verdict::Clean)
}

fn inspect_one(arguments: &InspectArgs) -> Result<Verdict, CommandError> {
    let subject = Subject::open(&arguments.file, compiler()).map_err(usage)?;
    let inspection = inspect::run(&subject).map_err(fail)?;
    if arguments.json {
        print_json(&inspection)?;
    } else {
        print(&inspection.text());
    }
    Ok(Verdict::Clean)
}

fn document_one(arguments: &DocsArgs) -> Result<Verdict, CommandError> {
    let subject = Subject::open(&arguments.file, compiler()).map_err(usage)?;
    let page = docs::run(&subject).map_err(fail)?;
    match &arguments.out {
        Some(path) => write(path, &page)?,
        None => print(page.trim_end()),
    }
    Ok(Verdict::Clean)
}

fn replay_one(arguments: &ReplayArgs) -> Result<Verdict, CommandError> {
    let ReplayArgs { file, component, json } = arguments;
    let text = files::read_json(file, replay::FILE_MAX_BYTES).map_err(usage)?;
    let recorded = Recorded::read(&text).with_context(|| file.display().to_string()).map_err(usage)?;
    let component = match component {
        Some(component) => component.clone(),
        None => cases::component_of(Path::new(".")).context("name the component").map_err(usage)?,
    };
    let subject = Subject::open(&component, compiler())
        .context("build the contract first, or name its component")
        .map_err(usage)?;
    let contract = subject.load().map_err(fail)?;
    let report = subject.wait(replay::run(&contract, &recorded));
    if *json {
        print_json(&report)?;
    } else {
        // The file may come from anywhere.
        print(&report.text().lines().map(harmless).collect::<Vec<_>>().join("\n"));
    }
    Ok(Verdict::of(!report.has_failed()))
}

/// Writes a file, and the folder that it is to be in.
fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    write_bytes(path, text.as_bytes())
}

/// Likewise.
fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, bytes));
    made.with_context(|| format!("cannot write {}", path.display())).map_err(usage)
}
