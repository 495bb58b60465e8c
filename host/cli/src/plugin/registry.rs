//! `plugin push` and `plugin pull`.

use anyhow::Context as _;
use intent_gateway_kit::subject::Subject;
use intent_gateway_registry::{ArtifactName, Contract, Options, Registry, RegistryError};
use serde_json::json;

use super::arguments::{PullArgs, PushArgs, RegistryArgs};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::terminal::harmless;
use crate::{compiler, complain, print};

pub(super) fn push(arguments: &PushArgs) -> Result<Verdict, CommandError> {
    let PushArgs { file, name, registry } = arguments;
    let tag = name.push_tag().map_err(usage)?;
    let subject = Subject::open(file, compiler()).map_err(usage)?;
    let contract = subject.load().with_context(|| format!("{} is no contract", file.display())).map_err(fail)?;
    let descriptor = intent_gateway_domain::ports::Contract::descriptor(&contract);
    let pushed =
        Contract { file: &subject.bytes, intent: &descriptor.intent, version: &descriptor.version, created: None };
    let opened = open(name, registry)?;
    let done = subject.wait(opened.push(&pushed, tag)).map_err(refused)?;
    let there = if done.was_there { ", as it was" } else { "" };
    let signed = if done.signed { "signed" } else { "not signed" };
    complain(&format!("{} {}, {signed}{there}", descriptor.intent, descriptor.version));
    if registry.json {
        print_json(&json!({
            "name": name.to_string(), "tag": done.tag.as_str(), "manifest": done.manifest, "component": done.component,
            "signed": done.signed, "was_there": done.was_there,
        }))?;
    } else {
        print(&format!("{}@sha256:{}", name.location(), done.manifest));
    }
    Ok(Verdict::Clean)
}

pub(super) fn pull(arguments: &PullArgs) -> Result<Verdict, CommandError> {
    let PullArgs { name, out, registry } = arguments;
    let reference =
        name.reference().with_context(|| format!("{name} names neither a tag nor a digest")).map_err(usage)?;
    let opened = open(name, registry)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fail)?;
    let pulled = runtime.block_on(opened.pull(reference)).map_err(refused)?;
    super::write_bytes(out, &pulled.file)?;
    if registry.json {
        print_json(&json!({
            "name": name.to_string(), "manifest": pulled.manifest, "component": pulled.component,
            "intent": pulled.intent, "version": pulled.version, "file": out,
        }))?;
    } else {
        let said =
            [pulled.intent, pulled.version].map(|text| text.map_or_else(|| "?".to_owned(), |text| harmless(&text)));
        complain(&format!("it says that it is {}; nobody has looked yet who signed it", said.join(" ")));
        print(&out.display().to_string());
    }
    Ok(Verdict::Clean)
}

fn open(name: &ArtifactName, arguments: &RegistryArgs) -> Result<Registry, CommandError> {
    let RegistryArgs { credentials_file, authorities_file, insecure, json: _ } = arguments;
    let options = Options::of_files(credentials_file.as_deref(), authorities_file.as_deref(), *insecure);
    Registry::open(name, &options).map_err(usage)
}

fn refused(error: RegistryError) -> CommandError {
    let code = error.code();
    fail(anyhow::Error::new(error).context(code))
}
