//! The store of a configuration, opened: the server and the commands work on the same one.

use std::sync::Arc;

use anyhow::Context as _;
use intent_gateway_domain::vault::Vault;
use intent_gateway_store::SqlStore;

use crate::Config;

/// Opens the store of a configuration; the state folder is made if need be. The vault has the keys of the audit log and of the ledger.
pub async fn open_store(config: &Config, vault: Option<&Vault>) -> anyhow::Result<Arc<SqlStore>> {
    let location = config.store.location(&config.state_dir)?;
    std::fs::create_dir_all(&config.state_dir)
        .with_context(|| format!("the state folder {} cannot be made", config.state_dir.display()))?;
    let store = SqlStore::open(&location, vault).await;
    let store = store.with_context(|| format!("the store cannot be opened ({location})"))?;
    tracing::info!(store = %location, "the store is open");
    Ok(Arc::new(store))
}
