//! Which intent a name means: a record for each intent's own name and each alias, so that of two gateways that load contracts
//! at one time, one alone gets a name.

use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::store::{Change, Kind, Record, Store, StoreError, Versioned, Write, load};
use intent_gateway_domain::succession::SuccessionError;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, EntryVersion};

/// Whose a name is.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ContractName {
    name: IntentId,
    intent: IntentId,
    /// The version that brought it.
    version: Version,
}

impl Record for ContractName {
    const KIND: Kind = Kind::ContractNames;

    fn key(&self) -> String {
        self.name.to_string()
    }
}

/// Adds the names of a version that is to be added; none of them may be another intent's.
///
/// # Errors
/// [`NameError::Taken`] for the first that is.
pub(crate) async fn claim(
    store: &dyn Store,
    change: &mut Change,
    intent: &IntentId,
    version: &EntryVersion,
) -> Result<(), NameError> {
    for name in std::iter::once(intent).chain(&version.aliases) {
        let is_claimed =
            |write: &Write| matches!(write, Write::Put(Kind::ContractNames, document) if document.key == name.as_str());
        // By another version of the intent in the same change.
        if change.writes.iter().any(is_claimed) {
            continue;
        }
        match load::<ContractName>(store, name.as_str()).await? {
            Some(Versioned { value: ContractName { intent: owner, version, .. }, .. }) if owner != *intent => {
                return Err(NameError::Taken(SuccessionError::AliasTaken {
                    name: name.clone(),
                    intent: owner,
                    version,
                }));
            }
            Some(_) => {}
            None => change.put(&Versioned::new(ContractName {
                name: name.clone(),
                intent: intent.clone(),
                version: version.version.clone(),
            })),
        }
    }
    Ok(())
}

/// Removes the names that only versions had which are gone. An intent keeps its own for good.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn release(
    store: &dyn Store,
    change: &mut Change,
    entry: &Entry,
    gone: &[EntryVersion],
) -> Result<(), StoreError> {
    let mut names: Vec<&IntentId> = gone.iter().flat_map(|version| &version.aliases).collect();
    names.sort();
    names.dedup();
    for name in names {
        let is_needed = entry.versions.iter().any(|version| version.aliases.contains(name));
        if !is_needed && let Some(kept) = load::<ContractName>(store, name.as_str()).await? {
            change.delete(&kept);
        }
    }
    Ok(())
}

/// Why a version does not get its names.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NameError {
    #[error(transparent)]
    Taken(SuccessionError),
    #[error(transparent)]
    Store(#[from] StoreError),
}
