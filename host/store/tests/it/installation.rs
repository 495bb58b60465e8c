//! The identity of a store: made once, whoever is first, noted in the audit log, carried by backups; and no store is made where a
//! command looks for one.

use std::path::Path;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::installation::{InstallationId, LostState, Outside, StoreState};
use intent_gateway_domain::store::{Kind, Store as _};
use intent_gateway_store::{BackupError, OpenError, SqlStore};

use crate::support::{Database, RESTORED, entry, on_both_engines, put, record, vault};

on_both_engines!(
    a_store_gets_its_identity_once,
    a_backup_carries_the_identity,
    a_command_makes_no_store,
    the_clock_of_a_server_is_read,
);

fn id(digit: &str) -> InstallationId {
    format!("ins_{}", digit.repeat(32)).parse().expect("an identity")
}

async fn begin(store: &SqlStore, former: Option<&InstallationId>, new: InstallationId) -> InstallationId {
    let draft = entry(new.as_str());
    store.begin_installation(former, new, draft).await.expect("it is kept")
}

async fn a_store_gets_its_identity_once(database: Database) {
    let (one, other) = (database.open().await, database.open().await);
    assert_eq!(one.state().await.unwrap(), StoreState { id: None, is_empty: true });
    assert_eq!(begin(&one, None, id("a")).await, id("a"));
    assert_eq!(begin(&other, None, id("b")).await, id("a"), "of two that start at once the first has it");
    assert_eq!(other.state().await.unwrap(), StoreState { id: Some(id("a")), is_empty: false });
    assert_eq!(begin(&other, Some(&id("a")), id("b")).await, id("b"), "in place of one that is named");
    let log = one.audit(None, 0, 10).await.unwrap();
    assert_eq!(
        log.iter().map(|entry| entry.subject.as_str()).collect::<Vec<_>>(),
        [id("a").as_str(), id("b").as_str()]
    );
}

async fn a_backup_carries_the_identity(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup");
    let store = database.open().await;
    begin(&store, None, id("a")).await;
    store.backup(&file, Timestamp::from_ms(1)).await.unwrap();
    let named = |marker| Outside { marker, ..Outside::default() };
    for marker in [None, Some(id("a"))] {
        let restored = database.another().open().await;
        restored.restore_expected(&file, &named(marker), RESTORED).await.unwrap();
        assert_eq!(restored.state().await.unwrap().id, Some(id("a")));
    }
    let elsewhere = database.another();
    let refused =
        elsewhere.open().await.restore_expected(&file, &named(Some(id("b"))), RESTORED).await.expect_err("refused");
    let BackupError::OtherInstallation(LostState::OtherStore { found, expected, .. }) = &refused else {
        panic!("{refused:?}")
    };
    assert_eq!((found, expected), (&id("a"), &id("b")));
    assert_eq!(elsewhere.open().await.state().await.unwrap(), StoreState { id: None, is_empty: true });
}

async fn a_command_makes_no_store(database: Database) {
    let refused = SqlStore::open_existing(&database.location, None).await.expect_err("there is none");
    assert!(matches!(refused, OpenError::Absent(_)), "{refused:?}");
    assert!(!database.file().is_some_and(Path::exists), "none was made");
    assert_eq!(database.location.is_missing(), database.file().is_some());
    let store = database.open().await;
    store.commit(put(Kind::Accounts, record("ptr_1"))).await.unwrap();
    store.close().await;
    let store = SqlStore::open_existing(&database.location, Some(&vault())).await.expect("there is one");
    assert_eq!(store.state().await.unwrap(), StoreState { id: None, is_empty: false });
}

async fn the_clock_of_a_server_is_read(database: Database) {
    let shown = database.open().await.clock().await.unwrap();
    assert_eq!(shown.is_some(), database.file().is_none());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert!(shown.is_none_or(|shown| u128::from(shown.as_ms()).abs_diff(now) < 60_000), "{shown:?}");
}
