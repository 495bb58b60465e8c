//! Opening: new databases, old ones, those of a newer gateway, and several gateways that start at once.

use std::os::unix::fs::PermissionsExt as _;

use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::{Change, Document, Kind, Store as _};
use intent_gateway_ledger::Books as _;
use intent_gateway_store::{Location, OpenError, SqlStore};

use crate::chains::link_plainly;
use crate::ledger::{all, asked, charge, sound};
use crate::support::{Database, entry, on_both_engines, put, record, revision, vault};

on_both_engines!(
    what_was_kept_is_there_after_a_restart,
    several_gateways_start_at_once_on_an_empty_database,
    a_database_of_a_newer_gateway_is_refused,
    a_step_that_was_edited_is_refused,
    a_database_of_an_older_gateway_is_brought_up_to_date,
    connections_learn_when_they_first_went_live,
    a_database_from_before_there_were_orders_keeps_what_it_has,
);

async fn what_was_kept_is_there_after_a_restart(database: Database) {
    let store = database.open().await;
    let mut change = put(Kind::Accounts, record("ptr_1"));
    change.audit.push(entry("ptr_1"));
    store.commit(change).await.unwrap();
    store.close().await;
    for restart in 1..=3 {
        let store = database.open().await;
        let mut document = store.get(Kind::Accounts, "ptr_1").await.unwrap().expect("it is kept");
        assert_eq!(document.revision, restart);
        document.body = format!("{{\"restart\":{restart}}}");
        let mut change = put(Kind::Accounts, document);
        change.audit.push(entry("ptr_1"));
        store.commit(change).await.unwrap();
        assert_eq!(store.verify_audit().await.unwrap().0, restart + 1);
        // Not closed: dropping is as safe.
    }
    assert_eq!(database.open().await.changes().await.unwrap(), 4);
}

/// A file whose index and table disagree: SQLite opens it, and a look through it finds out.
#[tokio::test(flavor = "multi_thread")]
async fn damage_of_the_file_is_found() {
    let database = Database::sqlite();
    let store = database.open().await;
    store.commit(put(Kind::Accounts, record("ptr_1"))).await.unwrap();
    store.check_file().await.expect("it is sound");
    store.close().await;
    // Hides the table's rows from the index, as a lost write would.
    let hide = "PRAGMA writable_schema = ON; \
                UPDATE sqlite_schema SET sql = 'CREATE INDEX accounts_by_status ON accounts (body, key)' \
                WHERE name = 'accounts_by_status'; PRAGMA writable_schema = RESET;";
    database.run(hide).await.unwrap();
    let damaged = database.open().await.check_file().await.expect_err("it is found");
    assert!(damaged.to_string().starts_with("the database file is damaged"), "{damaged}");
}

async fn several_gateways_start_at_once_on_an_empty_database(database: Database) {
    let start = |key: String| {
        let location = database.location.clone();
        tokio::spawn(async move {
            let store = SqlStore::open(&location, Some(&vault())).await.expect("it opens");
            store.commit(put(Kind::Accounts, record(&key))).await.expect("it keeps");
        })
    };
    let gateways: Vec<_> = (0..8).map(|at| start(format!("ptr_{at}"))).collect();
    for gateway in gateways {
        gateway.await.expect("it starts");
    }
    let store = database.open().await;
    for at in 0..8 {
        assert_eq!(revision(&store, Kind::Accounts, &format!("ptr_{at}")).await, Some(1));
    }
}

async fn a_database_of_a_newer_gateway_is_refused(database: Database) {
    database.open().await.close().await;
    let newer = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) \
                 VALUES (99, 'from_the_future', '2040-01-01T00:00:00Z', '1')";
    database.run(newer).await.unwrap();
    let refused = SqlStore::open(&database.location, Some(&vault())).await.expect_err("it is refused");
    assert!(matches!(refused, OpenError::Newer { found: 99, .. }), "{refused:?}");
    assert!(refused.to_string().contains("version 99"), "{refused}");
    database.run("DELETE FROM refinery_schema_history WHERE version = 99").await.unwrap();
    database.open().await;
}

async fn a_database_of_an_older_gateway_is_brought_up_to_date(database: Database) {
    let store = database.open().await;
    store.commit(put(Kind::Accounts, record("ptr_1"))).await.unwrap();
    store.close().await;
    // As the first release left it.
    let functions = if database.file().is_none() { "DROP FUNCTION ledger_refuse, ledger_follow;" } else { "" };
    let later = database.without_later_tables();
    let older = format!(
        "{later} DROP TABLE approvals; DROP TABLE chain_starts; DROP TABLE record_changes; DROP TABLE test_reports; DROP TABLE record_names; DROP TABLE ordered_options; DROP TABLE orders; \
         DROP TABLE contract_faults; DROP TABLE document_contents; DROP TABLE documents; DROP TABLE attempts; DROP TABLE link_clients; DROP TABLE pending_links; DROP TABLE links; \
         DROP TABLE receipt_parts; DROP TABLE receipts; DROP TABLE findings; DROP TABLE ledger; {functions} \
         DELETE FROM counters WHERE name IN ('findings', 'receipts', 'contract_faults', 'record_changes'); \
         DELETE FROM refinery_schema_history WHERE version > 1"
    );
    database.run(&older).await.unwrap();
    let store = database.open().await;
    assert_eq!(store.head().await.unwrap().0, 0);
    store.book(vec![charge("BK-1", 100)]).await.unwrap();
    assert_eq!(sound(&store).await.len(), 1);
    assert_eq!(revision(&store, Kind::Accounts, "ptr_1").await, Some(1));
}

/// Takes back what the twelfth step has done.
pub(crate) const WITHOUT_USER_DATA: &str = "DROP INDEX findings_by_request; DROP INDEX receipts_by_user; \
                                 ALTER TABLE receipts DROP COLUMN user_mark;";

async fn a_database_from_before_there_were_orders_keeps_what_it_has(database: Database) {
    let store = database.open().await;
    for kind in [Kind::Attempts, Kind::Links, Kind::Connections] {
        store.commit(put(kind, record("kept"))).await.unwrap();
    }
    store.book(vec![charge("BK-1", 100), charge("BK-2", 200)]).await.unwrap();
    link_plainly(&database, &store).await;
    let entries = all(&store).await;
    store.close().await;
    let older = "DROP TABLE approvals; DROP TABLE chain_starts; DROP TABLE record_changes; DROP TABLE test_reports; DROP TABLE record_names; DROP TABLE ordered_options; DROP TABLE orders; \
                 DELETE FROM counters WHERE name = 'record_changes'; \
                 DELETE FROM refinery_schema_history WHERE version > 9";
    database.run(&format!("{} {WITHOUT_USER_DATA} {older}", database.without_later_tables())).await.unwrap();
    let store = database.open().await;
    for kind in [Kind::Attempts, Kind::Links, Kind::Connections] {
        assert_eq!(revision(&store, kind, "kept").await, Some(1), "{kind:?}");
    }
    assert_eq!(sound(&store).await, entries);
    // An order reported before is known by its report, and a new one finds its place.
    let known = store.look_up(vec![asked("BK-1")]).await.unwrap();
    assert_eq!(known[0].booked.as_ref(), Some(&entries[0]));
    assert!(known[0].ordered.is_none());
    store.commit(put(Kind::Orders, record("ord_1"))).await.unwrap();
}

async fn connections_learn_when_they_first_went_live(database: Database) {
    let store = database.open().await;
    for partner in ["ptr_live", "ptr_never"] {
        let document = Document { body: r#"{"account":"x"}"#.to_owned(), ..record(partner) };
        store.commit(put(Kind::Connections, document)).await.unwrap();
    }
    let switched_on = |subject: &str, action: &str, at_ms| AuditDraft {
        at_ms: Timestamp::from_ms(at_ms),
        actor: Actor::new("admin", "ann"),
        action: action.to_owned(),
        subject: subject.to_owned(),
        detail: serde_json::json!({}),
    };
    let audit = vec![
        switched_on("ptr_live", "connection.switched_on", 7),
        switched_on("ptr_live", "connection.switched_on", 9),
        switched_on("ptr_never", "connection.probed", 8),
    ];
    store.commit(Change { audit, ..Change::default() }).await.unwrap();
    store.close().await;
    let older = "DROP TABLE approvals; DROP TABLE chain_starts; DROP TABLE record_changes; DROP TABLE test_reports; \
                 DELETE FROM counters WHERE name = 'record_changes'; \
                 DELETE FROM refinery_schema_history WHERE version > 10";
    database.run(&format!("{} {WITHOUT_USER_DATA} {older}", database.without_later_tables())).await.unwrap();
    let store = database.open().await;
    let body = async |key: &str| store.get(Kind::Connections, key).await.unwrap().expect("kept").body;
    assert_eq!(body("ptr_live").await, r#"{"first_live_at_ms":7,"account":"x"}"#);
    assert_eq!(body("ptr_never").await, r#"{"account":"x"}"#);
}

async fn a_step_that_was_edited_is_refused(database: Database) {
    database.open().await.close().await;
    database.run("UPDATE refinery_schema_history SET checksum = '1' WHERE version = 1").await.unwrap();
    let refused = SqlStore::open(&database.location, Some(&vault())).await.expect_err("it is refused");
    assert!(matches!(refused, OpenError::Migration(_)), "{refused:?}");
}

#[tokio::test]
async fn a_file_is_for_its_owner_alone() {
    let database = Database::sqlite();
    let file = database.file().expect("a file");
    let store = database.open().await;
    store.commit(put(Kind::Accounts, record("ptr_1"))).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(file), 0o600);
    for beside in ["-wal", "-shm"] {
        let name = format!("{}{beside}", file.display());
        assert_eq!(mode(name.as_ref()), 0o600, "{name}");
    }
    assert_eq!(mode(file.parent().expect("a folder")), 0o700);
    store.close().await;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    database.open().await.close().await;
    assert_eq!(mode(file), 0o600);
}

#[tokio::test]
async fn what_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "this is no database, and long enough to be looked at as one".repeat(100)).unwrap();
    let refused = SqlStore::open(&Location::file(&text), Some(&vault())).await.expect_err("it is refused");
    assert!(matches!(refused, OpenError::Engine(_)), "{refused:?}");
    let refused = SqlStore::open(&Location::file(folder.path()), Some(&vault())).await.expect_err("it is refused");
    assert!(matches!(refused, OpenError::Engine(_) | OpenError::File { .. }), "{refused:?}");
    let nowhere = Location::parse("postgres://u:hunter2@127.0.0.1:1/db?sslmode=disable").unwrap();
    let refused = SqlStore::open(&nowhere, Some(&vault())).await.expect_err("it is refused");
    assert!(matches!(refused, OpenError::Engine(_)), "{refused:?}");
    let mut shown = format!("{refused:?}");
    let mut cause: Option<&dyn std::error::Error> = Some(&refused);
    while let Some(error) = cause {
        shown.push_str(&error.to_string());
        cause = error.source();
    }
    assert!(!shown.contains("hunter2"), "{shown}");
}
