//! `intent-gateway contract`: what the platform team does with the contracts of a running gateway.
//!
//! | question | module |
//! |---|---|
//! | which loaded version a name means | `select` |
//! | how an answer looks to a person | `show` |
//! | the calls in which contracts failed | `faults` |
//! | what is not trusted any more | `revoke` |
//! | what a version would have made of what was ranked | `compare` |
//! | a version that reaches everybody step by step | `rollout` |
//!
//! Not here: writing contracts, which is `plugin`.

mod arguments;
pub(crate) mod compare;
mod faults;
mod revoke;
mod rollout;
mod select;
mod show;

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use http::Method;
use intent_gateway_api::contracts::{IntentStatuses, LoadFailures, LoadedVersion, LoadedVersions, ReleasePolicy};
use intent_gateway_describe::partner_page;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use serde_json::{Value, json};

pub(crate) use self::arguments::ContractCommand;
use self::arguments::{
    ActivateArgs, ContractArgs, FailuresArgs, IntentArgs, ListArgs, LoadArgs, PolicyArgs, StatusArgs,
};
use self::select::Before;
use crate::ask::{refuse, tell};
use crate::client::Gateway;
use crate::outcome::{CommandError, Verdict, exit_code, fail, print_json, usage};
use crate::terminal::Palette;
use crate::{complain, files, print};

/// Where a gateway has its contracts.
const CONTRACTS: &str = "/api/v1/admin/contracts";
/// Media type of components.
const WASM: &str = "application/wasm";

/// Runs a command to its exit code.
pub(crate) fn run(command: &ContractCommand) -> ExitCode {
    exit_code(match command {
        ContractCommand::List(arguments) => list(arguments),
        ContractCommand::Show(arguments) => show_one(arguments),
        ContractCommand::Load(arguments) => load(arguments),
        ContractCommand::Activate(arguments) => activate(arguments),
        ContractCommand::Rollback(arguments) => roll_back(arguments),
        ContractCommand::Compare(arguments) => compare::run(arguments),
        ContractCommand::Promote(arguments) => rollout::promote(arguments),
        ContractCommand::Rollout(arguments) => rollout::run(arguments),
        ContractCommand::Policy(arguments) => set_policy(arguments),
        ContractCommand::Revoke(arguments) => revoke::run(arguments),
        ContractCommand::Revocations(arguments) => revoke::list(arguments),
        ContractCommand::Withdraw(arguments) => withdraw(arguments),
        ContractCommand::Retire(arguments) => retire(arguments),
        ContractCommand::Status(arguments) => status(arguments),
        ContractCommand::Failures(arguments) => failures(arguments),
        ContractCommand::Docs(arguments) => document(arguments),
    })
}

fn ask_versions(gateway: &Gateway) -> Result<Vec<LoadedVersion>, CommandError> {
    let LoadedVersions { contracts, missing: _ } = gateway.get(CONTRACTS).map_err(fail)?;
    Ok(contracts)
}

fn list(arguments: &ListArgs) -> Result<Verdict, CommandError> {
    let ListArgs { intent, ask } = arguments;
    let gateway = ask.open()?;
    if intent.is_none() {
        let all = |LoadedVersions { contracts, missing: _ }: &LoadedVersions| show::list(contracts);
        return tell(gateway.get(CONTRACTS), ask.json, all).map(|_| Verdict::Clean);
    }
    let mut contracts = ask_versions(&gateway)?;
    contracts.retain(|version| intent.as_ref().is_none_or(|intent| version.intent == intent.as_str()));
    if ask.json {
        print_json(&json!({ "contracts": contracts }))?;
    } else {
        print(&show::list(&contracts));
    }
    Ok(Verdict::Clean)
}

fn show_one(arguments: &ContractArgs) -> Result<Verdict, CommandError> {
    let ContractArgs { contract, ask } = arguments;
    let gateway = ask.open()?;
    let versions = ask_versions(&gateway)?;
    let version = contract.find(&versions).map_err(usage)?;
    if ask.json {
        print_json(version)?;
    } else {
        print(&show::one(version, Palette::of_stdout()));
    }
    Ok(Verdict::Clean)
}

fn load(arguments: &LoadArgs) -> Result<Verdict, CommandError> {
    let LoadArgs { file, inactive, allow_removed_values, ask } = arguments;
    let component = files::read_bounded(file, CONTRACT_MAX_BYTES).map_err(usage)?;
    let path = format!("{CONTRACTS}?activate={}&allow_removed_values={allow_removed_values}", !inactive);
    let answer = ask.open()?.send_file(Method::POST, &path, WASM, &component);
    tell(answer, ask.json, |outcome| show::show_load(outcome, Palette::of_stdout()))?;
    Ok(Verdict::Clean)
}

fn activate(arguments: &ActivateArgs) -> Result<Verdict, CommandError> {
    let ActivateArgs { contract, at_once, ask } = arguments;
    let gateway = ask.open()?;
    let digest = match contract.digest() {
        Some(digest) => digest,
        None => contract.find(&ask_versions(&gateway)?).map_err(usage)?.digest,
    };
    make_live(&gateway, digest, *at_once, ask.json)
}

fn make_live(gateway: &Gateway, digest: Digest, at_once: bool, json: bool) -> Result<Verdict, CommandError> {
    let query = if at_once { "?at_once=true" } else { "" };
    let answer = gateway.post(&format!("{CONTRACTS}/{digest}/activate{query}"), None);
    tell(answer, json, |outcome| show::show_activation(outcome, Palette::of_stdout()))?;
    Ok(Verdict::Clean)
}

fn roll_back(arguments: &IntentArgs) -> Result<Verdict, CommandError> {
    let IntentArgs { intent, ask } = arguments;
    let gateway = ask.open()?;
    let versions = ask_versions(&gateway)?;
    let Before { version, passed_over } = select::before_live(&versions, intent.as_str()).map_err(fail)?;
    if !passed_over.is_empty() {
        complain(&format!("passed over, as taken out for faults: {}", passed_over.join(", ")));
    }
    make_live(&gateway, version.digest, false, ask.json)
}

fn withdraw(arguments: &IntentArgs) -> Result<Verdict, CommandError> {
    let IntentArgs { intent, ask } = arguments;
    let answer = ask.open()?.delete(&format!("/api/v1/admin/intents/{intent}/coming"));
    answer.or_else(|error| refuse(error, ask.json))?;
    if ask.json {
        print_json(&json!({"intent": intent, "coming": null}))?;
    } else {
        print(&format!("{intent} waits for no version any more; what serves goes on"));
    }
    Ok(Verdict::Clean)
}

fn set_policy(arguments: &PolicyArgs) -> Result<Verdict, CommandError> {
    let PolicyArgs { intent, policy, ask } = arguments;
    let order = json!({ "policy": policy });
    let answer = ask.open()?.put(&format!("/api/v1/admin/intents/{intent}/policy"), &order);
    answer.or_else(|error| refuse(error, ask.json))?;
    match (ask.json, policy) {
        (true, _) => print_json(&json!({"intent": intent, "policy": policy}))?,
        (false, ReleasePolicy::Auto) => print(&format!("new versions of {intent} in a contract folder go live")),
        (false, ReleasePolicy::Manual) => print(&format!(
            "new versions of {intent} in a contract folder are loaded, and `contract activate` makes one live"
        )),
    }
    Ok(Verdict::Clean)
}

fn retire(arguments: &IntentArgs) -> Result<Verdict, CommandError> {
    let IntentArgs { intent, ask } = arguments;
    let answer = ask.open()?.delete(&format!("/api/v1/admin/intents/{intent}"));
    answer.or_else(|error| refuse(error, ask.json))?;
    if ask.json {
        print_json(&json!({"intent": intent, "live": false}))?;
    } else {
        print(&format!(
            "{intent} is out of service; its versions stay loaded, and `contract activate` brings one back"
        ));
    }
    Ok(Verdict::Clean)
}

fn document(arguments: &IntentArgs) -> Result<Verdict, CommandError> {
    let IntentArgs { intent, ask } = arguments;
    let path = format!("/api/v1/intents/{intent}");
    let gateway = ask.open()?;
    if ask.json {
        print_json(&gateway.get::<Value>(&path).map_err(fail)?)?;
    } else {
        let descriptor: Descriptor = gateway.get(&path).map_err(fail)?;
        print(partner_page::page(&descriptor, None).trim_end());
    }
    Ok(Verdict::Clean)
}

fn status(arguments: &StatusArgs) -> Result<Verdict, CommandError> {
    let StatusArgs { ask } = arguments;
    let gateway = ask.open()?;
    let LoadedVersions { contracts, missing } = gateway.get(CONTRACTS).map_err(fail)?;
    let LoadFailures { failures } = gateway.get(&format!("{CONTRACTS}/failures")).map_err(fail)?;
    let IntentStatuses { intents } = gateway.get(&format!("{CONTRACTS}/status")).map_err(fail)?;
    if ask.json {
        let status = json!({"intents": intents, "contracts": contracts, "missing": missing, "failures": failures});
        print_json(&status)?;
    } else {
        print(&show::status(&contracts, &missing, &failures, Palette::of_stdout()));
        let fleet = show::fleet(&intents, Palette::of_stdout());
        if !fleet.is_empty() {
            print(&format!("\n{fleet}"));
        }
    }
    Ok(Verdict::Clean)
}

fn failures(arguments: &FailuresArgs) -> Result<Verdict, CommandError> {
    let FailuresArgs { intent, before, limit, save, output, ask } = arguments;
    match (intent, save) {
        (Some(intent), Some(number)) => faults::save(ask, intent, *number, output.as_deref()),
        (Some(intent), None) => faults::list(ask, intent, *before, *limit),
        (None, _) => {
            let answer = ask.open()?.get(&format!("{CONTRACTS}/failures"));
            tell(answer, ask.json, |LoadFailures { failures }| show::failures(failures, Palette::of_stdout()))?;
            Ok(Verdict::Clean)
        }
    }
}

/// A version's number, to be compared. The gateway loads none that has none.
fn number(version: &LoadedVersion) -> anyhow::Result<semver::Version> {
    let unreadable = || anyhow!("the gateway names {} as a version of {}", version.version, version.intent);
    version.version.parse().with_context(unreadable)
}
