//! What is live, for a check on one's own machine: from a folder of contracts, or from a gateway.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use intent_gateway_api::intents::{IntentList, IntentSummary, WidgetChoice};
use intent_gateway_domain::endpoint::IntentShape;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_onboarding::manifest::{Catalogue, LiveIntent};
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use serde_json::Value;

use super::file::ManifestFile;
use crate::client::Gateway;
use crate::compiler;
use crate::outcome::{CommandError, fail, usage};

/// Contracts of one folder.
const CONTRACTS_MAX: usize = 200;
/// Instances that may run at a time; one contract is examined after the other.
const INSTANCES: u32 = 2;

/// The contracts of a folder, each compiled and examined as a gateway does.
pub(super) fn of_folder(folder: &Path) -> Result<Catalogue, CommandError> {
    let components = components(folder)?;
    let config = SandboxConfig { max_concurrent_instances: INSTANCES, ..SandboxConfig::default() };
    let engine = Engine::with_compiler(&config, compiler()).context("the sandbox did not start").map_err(fail)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fail)?;
    let mut live: BTreeMap<IntentId, LiveIntent> = BTreeMap::new();
    for path in components {
        let unusable = || format!("{} is no contract", path.display());
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display())).map_err(usage)?;
        let contract = runtime.block_on(LoadedContract::compile(&engine, &bytes)).with_context(unusable);
        let found = LiveIntent::from(contract.map_err(usage)?.descriptor());
        match live.get(&found.intent) {
            Some(other) if other.version >= found.version => {}
            _ => drop(live.insert(found.intent.clone(), found)),
        }
    }
    Ok(live.into_values().collect())
}

fn components(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let unreadable = || format!("cannot read the folder {}", folder.display());
    let entries = std::fs::read_dir(folder).with_context(unreadable).map_err(usage)?;
    let mut components = Vec::new();
    for entry in entries {
        let path = entry.with_context(unreadable).map_err(usage)?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            components.push(path);
        }
    }
    match components.len() {
        0 => Err(usage(anyhow!("{} holds no contract (*.wasm)", folder.display()))),
        1..=CONTRACTS_MAX => {
            components.sort();
            Ok(components)
        }
        more => Err(usage(anyhow!("{} holds {more} contracts, more than {CONTRACTS_MAX}", folder.display()))),
    }
}

/// What a gateway says is live; in full of those intents that `file` maps to an API.
pub(super) fn of_gateway(gateway: &Gateway, file: &ManifestFile) -> Result<Catalogue, CommandError> {
    let IntentList { intents } =
        gateway.get("/api/v1/intents").context("the live intents cannot be read").map_err(fail)?;
    let live = intents.into_iter().map(|IntentSummary { intent, aliases, version, widget, .. }| {
        let WidgetChoice { widget_type, preferred } = widget;
        let widget_types = std::iter::once(widget_type).chain(preferred).map(Cow::into_owned).collect();
        let shape = if file.mapping(intent.as_str()).is_some() { shape(gateway, &intent)? } else { None };
        Ok(LiveIntent { intent, aliases, version, widget_types, shape })
    });
    live.collect()
}

fn shape(gateway: &Gateway, intent: &IntentId) -> Result<Option<IntentShape>, CommandError> {
    let shown: Value = gateway
        .get(&format!("/api/v1/intents/{intent}"))
        .with_context(|| format!("the contract of {intent} cannot be read"))
        .map_err(fail)?;
    Ok(IntentShape::of_shown(&shown))
}
