//! The store of a configuration, opened: the server and the commands work on the same one. Both see to it that it is the one that
//! this installation had ([`intent_gateway_domain::installation`]); only a gateway that starts may begin a new one.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::installation::{
    Beginning, Decision, InstallationId, LostState, Outside, StoreState, decide,
};
use intent_gateway_domain::vault::Vault;
use intent_gateway_store::{Location, OpenError, SqlStore};
use serde_json::json;

use crate::Config;
use crate::marker::{find_traces, put_marker_aside, read_marker, write_marker};

/// Which store the marker and the configuration name.
pub fn look_outside(config: &Config) -> anyhow::Result<Outside> {
    let marker = read_marker(&config.state_dir)?;
    Ok(Outside { marker, configured: config.store.installation_id.clone(), traces: Vec::new() })
}

/// Opens the store for a gateway that starts; the state folder is made if need be. A store that is new, or that an older gateway
/// has filled, gets an identity. `first_start` says that the operator means what looks like a loss.
///
/// # Errors
/// When the store cannot be opened, or is not the one that this installation had; nothing was changed then.
pub async fn start_on_store(
    config: &Config,
    vault: &Vault,
    first_start: bool,
    now: Timestamp,
) -> anyhow::Result<Arc<SqlStore>> {
    let location = config.store.location(&config.state_dir)?;
    let outside = Outside { traces: find_traces(config)?, ..look_outside(config)? };
    if location.is_missing() {
        // Before a file is made that would be taken for the store.
        decide(&StoreState { id: None, is_empty: true }, &outside, first_start)
            .map_err(|lost| explain(lost, &location, config))?;
    }
    let store = open(config, &location, SqlStore::open(&location, Some(vault))).await?;
    let state = store.state().await.context("the store cannot be read")?;
    let decision = decide(&state, &outside, first_start).map_err(|lost| explain(lost, &location, config))?;
    store.begin_chains().await.context("the links of the audit log and of the ledger cannot be put under the key")?;
    let id = settle(&store, vault, state.id, decision, &outside, now).await?;
    if outside.marker.as_ref() != Some(&id) {
        put_marker_aside(&config.state_dir, now)?;
        write_marker(&config.state_dir, &id)?;
    }
    tracing::info!(store = %location, installation = %id, "the store is open");
    Ok(Arc::new(store))
}

/// Does what was decided about the store's identity; the one that it has then.
async fn settle(
    store: &SqlStore,
    vault: &Vault,
    found: Option<InstallationId>,
    decision: Decision,
    outside: &Outside,
    now: Timestamp,
) -> anyhow::Result<InstallationId> {
    let (replaced, id, detail) = match (decision, found) {
        (Decision::Keep, Some(found)) => return Ok(found),
        (Decision::Adopt { former }, Some(found)) => {
            tracing::warn!(installation = %found, %former, "the state folder goes over to the store of another installation");
            (Some(found.clone()), found, json!({"how": "adopted", "former": former}))
        }
        (Decision::Begin(how), found) => {
            let id = InstallationId::make(vault.entropy())?;
            let former = found.as_ref().or(outside.marker.as_ref()).map(ToString::to_string);
            match how {
                Beginning::AfterLoss => tracing::warn!(installation = %id, former, "begins anew after a loss"),
                Beginning::New | Beginning::Existing => {
                    tracing::info!(installation = %id, "the store got its identity")
                }
            }
            (found, id, json!({"how": how.as_str(), "former": former, "traces": outside.traces}))
        }
        // A decision to keep or to adopt is made of a store that has an identity.
        (Decision::Keep | Decision::Adopt { .. }, None) => return Err(anyhow!("the store has no identity to keep")),
    };
    let draft = AuditDraft {
        at_ms: now,
        actor: Actor::gateway(),
        action: "installation.begun".to_owned(),
        subject: id.to_string(),
        detail,
    };
    let begun = store.begin_installation(replaced.as_ref(), id, draft).await;
    begun.context("the store's identity cannot be kept")
}

/// Opens the store that this installation has, for a command. Nothing is made where there is none.
///
/// # Errors
/// When there is none, or it is another one than the state folder's marker or the configuration names.
pub async fn open_store(config: &Config, vault: Option<&Vault>) -> anyhow::Result<Arc<SqlStore>> {
    let (location, outside) = (config.store.location(&config.state_dir)?, look_outside(config)?);
    let store = open(config, &location, SqlStore::open_existing(&location, vault)).await?;
    let state = store.state().await.context("the store cannot be read")?;
    outside.check(&state).map_err(|lost| explain(lost, &location, config))?;
    tracing::info!(store = %location, "the store is open");
    Ok(Arc::new(store))
}

/// Opens a store to restore a backup into it; it is made where there is none.
pub async fn open_to_restore(config: &Config, vault: Option<&Vault>) -> anyhow::Result<Arc<SqlStore>> {
    let location = config.store.location(&config.state_dir)?;
    make_state_folder(&config.state_dir)?;
    open(config, &location, SqlStore::open(&location, vault)).await.map(Arc::new)
}

async fn open(
    config: &Config,
    location: &Location,
    opening: impl Future<Output = Result<SqlStore, OpenError>>,
) -> anyhow::Result<SqlStore> {
    let opened = opening.await.with_context(|| format!("the store cannot be opened ({location})"))?;
    make_state_folder(&config.state_dir)?;
    Ok(opened)
}

fn make_state_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("the state folder {} cannot be made", path.display()))
}

/// What was found, where, and what to do about it.
fn explain(lost: LostState, location: &Location, config: &Config) -> anyhow::Error {
    let state = config.state_dir.display();
    let what_to_do = match &lost {
        LostState::Contradiction { .. } => {
            "one of the two is wrong: correct `store.installation_id` or `state_dir`".to_owned()
        }
        _ if config.store.installation_id.is_some() => "restore a backup with `intent-gateway store restore FILE`, or \
            correct `store.url`. If this store is meant, take `store.installation_id` out of the configuration and start once \
            with `intent-gateway serve --first-start`"
            .to_owned(),
        LostState::OtherStore { .. } => "correct `store.url` or `state_dir`. If this store is meant, start once with \
            `intent-gateway serve --first-start`: the store keeps its identity, and the state folder goes over to it"
            .to_owned(),
        LostState::NoIdentity { .. } | LostState::Emptied(_) | LostState::Traces(_) => "restore a backup with \
            `intent-gateway store restore FILE`, or correct `store.url`. If the loss is meant, start once with \
            `intent-gateway serve --first-start`: the store gets a new identity, and the audit log says so"
            .to_owned(),
    };
    anyhow!("{lost} (store: {location}; state folder: {state}). Nothing was changed. What to do: {what_to_do}")
}
