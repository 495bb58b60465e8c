//! The store: whether it opens, takes writes and is of this version; its clock; the contracts that it has.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use intent_gateway_catalogue::{Entry, GatewayState};
use intent_gateway_config::{look_outside, open_store};
use intent_gateway_domain::clock::watch::AGREE_MS;
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::fleet::Leases as _;
use intent_gateway_domain::store::{Store as _, StoreError, all};
use intent_gateway_domain::vault::Vault;
use intent_gateway_store::{Location, OpenError, SqlStore, TableVersions};

use crate::Order;
use crate::finding::{Area, Code, Finding};

/// What a folder of contracts holds.
const COMPONENT_EXTENSION: &str = "wasm";
/// Why something was not looked at.
const NO_STORE: &str = "it is kept in the store, which could not be looked at";

/// Does something with a bound on its time.
pub(crate) async fn within<T>(wait: Duration, work: impl Future<Output = T>) -> Result<T, String> {
    tokio::time::timeout(wait, work).await.map_err(|_| format!("there was no answer within {} s", wait.as_secs()))
}

/// Opens the store, where there is one and it is of this version, and looks whether it takes writes.
pub(crate) async fn open(order: Order<'_>, vault: Option<&Vault>) -> (Option<Arc<SqlStore>>, Vec<Finding>) {
    let unusable = |why: String| (None, vec![Finding::of(Area::Store, Code::StoreUnusable, why)]);
    let location = match order.config.store.location(&order.config.state_dir) {
        Ok(location) => location,
        Err(error) => return unusable(chain(&error)),
    };
    match within(order.wait, SqlStore::versions(&location)).await {
        Err(late) => return unusable(format!("{location}: {late}")),
        Ok(Err(error @ OpenError::Absent(_))) => return (None, vec![tell_absent(order, &location, &error)]),
        Ok(Err(error)) => return unusable(format!("{location}: {}", chain(&error))),
        Ok(Ok(TableVersions { found, known })) if found < known => {
            let message = format!("{location}: its tables are of version {found}, and this program's of {known}");
            return (None, vec![Finding::of(Area::Store, Code::StoreOld, message)]);
        }
        // A newer one is refused when it is opened.
        Ok(Ok(_)) => {}
    }
    let store = match within(order.wait, open_store(order.config, vault)).await {
        Ok(Ok(store)) => store,
        Ok(Err(error)) => return unusable(format!("{error:#}")),
        Err(late) => return unusable(format!("{location}: {late}")),
    };
    let finding = match within(order.wait, try_write(&store)).await {
        Ok(Ok(changes)) => Finding::ok(Area::Store, format!("{location} takes reads and writes; {changes} changes")),
        Ok(Err(error)) => Finding::of(Area::Store, Code::StoreReadOnly, format!("{location}: {}", chain(&error))),
        Err(late) => Finding::of(Area::Store, Code::StoreReadOnly, format!("{location}: {late}")),
    };
    (Some(store), vec![finding])
}

/// Before the first start there is none; after it, its absence is a loss.
fn tell_absent(order: Order<'_>, location: &Location, error: &OpenError) -> Finding {
    match look_outside(order.config) {
        Ok(outside) if outside.marker.is_none() && outside.configured.is_none() => {
            Finding::skipped(Area::Store, format!("{location} is not there: a gateway makes it when it first starts"))
        }
        Ok(_) => {
            let message = format!("{location}: {error}, and a gateway has served from this state folder");
            Finding::of(Area::Store, Code::StoreUnusable, message)
        }
        Err(error) => Finding::of(Area::Store, Code::StoreUnusable, format!("{error:#}")),
    }
}

async fn try_write(store: &SqlStore) -> Result<u64, StoreError> {
    store.check_writable().await?;
    store.changes().await
}

/// This machine's clock against the database server's.
pub(crate) async fn check_clock(order: Order<'_>, store: Option<&SqlStore>) -> Vec<Finding> {
    let Some(store) = store else {
        return vec![Finding::skipped(Area::Clock, "there is no other clock to compare this machine's with")];
    };
    vec![match within(order.wait, store.clock()).await {
        Ok(Ok(Some(shown))) => judge_clock(SystemClock.now().as_ms(), shown.as_ms()),
        Ok(Ok(None)) => Finding::skipped(Area::Clock, "SQLite has no other clock than this machine's"),
        Ok(Err(error)) => Finding::skipped(Area::Clock, chain(&error)),
        Err(late) => Finding::skipped(Area::Clock, late),
    }]
}

fn judge_clock(own_ms: u64, store_ms: u64) -> Finding {
    let apart_ms = own_ms.abs_diff(store_ms);
    let which = if own_ms > store_ms { "ahead of" } else { "behind" };
    let message =
        format!("this machine's clock is {}.{:03} s {which} the database's", apart_ms / 1_000, apart_ms % 1_000);
    match apart_ms > AGREE_MS {
        true => Finding::of(Area::Clock, Code::ClockDiffers, message),
        false => Finding::ok(Area::Clock, message),
    }
}

/// The folder of contracts, what serves, and what a gateway that lives could not make ready.
pub(crate) async fn check_contracts(order: Order<'_>, store: Option<&SqlStore>) -> Vec<Finding> {
    let folder = order.config.contracts.dir.as_deref();
    let mut found: Vec<Finding> = folder.and_then(look_at_folder).into_iter().collect();
    let Some(store) = store else {
        found.push(Finding::skipped(Area::Contracts, NO_STORE));
        return found;
    };
    match within(order.wait, look_at_catalogue(store)).await {
        Ok(Ok(of_catalogue)) => found.extend(of_catalogue),
        Ok(Err(error)) => found.push(Finding::skipped(Area::Contracts, chain(&error))),
        Err(late) => found.push(Finding::skipped(Area::Contracts, late)),
    }
    found
}

fn look_at_folder(folder: &Path) -> Option<Finding> {
    let unusable = |error: std::io::Error| {
        Finding::of(Area::Contracts, Code::FolderUnusable, format!("{}: {error}", folder.display()))
            .about("contracts.dir")
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return Some(unusable(error)),
    };
    let components = entries.flatten().map(|entry| entry.path());
    let components = components.filter(|path| path.extension().is_some_and(|ending| ending == COMPONENT_EXTENSION));
    // One that its owner alone may read is none that the gateway sees.
    components.filter_map(|path| std::fs::File::open(&path).err()).next().map(unusable)
}

async fn look_at_catalogue(store: &SqlStore) -> Result<Vec<Finding>, StoreError> {
    let entries: Vec<Entry> = all::<Entry>(store, None).await?.into_iter().map(|kept| kept.value).collect();
    let serving: Vec<String> = entries.iter().filter_map(name_live).collect();
    let mut found = vec![match serving.as_slice() {
        [] => Finding::of(Area::Contracts, Code::NoContract, "no intent is live: every search is refused"),
        some => Finding::ok(Area::Contracts, some.join(", ")),
    }];
    let live = store.live().await?;
    for GatewayState { intent, gateway, run, staged, .. } in
        all::<GatewayState>(store, None).await?.into_iter().map(|kept| kept.value)
    {
        let lives = live.iter().any(|one| one.gateway.id.as_str() == gateway && one.gateway.run.as_str() == run);
        if let Some(failure) = staged.and_then(|staged| staged.failure).filter(|_| lives) {
            let message =
                format!("gateway {gateway} could not make a version ready: {} ({})", failure.message, failure.code);
            found.push(Finding::of(Area::Contracts, Code::ContractNotReady, message).about(intent));
        }
    }
    Ok(found)
}

/// An intent that is live, with the version that serves.
fn name_live(entry: &Entry) -> Option<String> {
    let live = entry.live?;
    let version = entry.versions.iter().find(|version| version.digest == live)?;
    Some(format!("{} {}", entry.intent, version.version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::State;

    #[test]
    fn clocks_that_are_far_apart_are_a_problem() {
        let found = judge_clock(1_000_000, 1_000_000 + AGREE_MS);
        assert_eq!(
            (found.state, found.message.as_str()),
            (State::Ok, "this machine's clock is 30.000 s behind the database's")
        );
        let found = judge_clock(1_000_001 + AGREE_MS, 1_000_000);
        assert_eq!(found.code, Some("CLOCK_DIFFERS"));
        assert!(found.message.contains("30.001 s ahead of"), "{found:?}");
    }

    #[test]
    fn a_folder_of_contracts_must_be_there() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(look_at_folder(folder.path()), None);
        let missing = look_at_folder(&folder.path().join("contracts")).expect("found");
        assert_eq!(missing.code, Some("FOLDER_UNUSABLE"));
        assert!(missing.message.contains("contracts"), "{missing:?}");
    }
}
