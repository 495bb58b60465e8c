//! Backup and restore: between any two databases, exactly, or not at all.

use std::path::Path;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::{Change, Document, Kind, List, Named, OutgoingMail, Store as _, Write};
use intent_gateway_store::{BackupError, SqlStore};
use test_servers::postgres::Postgres;

use crate::support::{Database, RESTORED, delete, entry, on_both_engines, put, record, revision};

on_both_engines!(
    a_backup_is_restored_as_it_was,
    a_restore_wants_an_empty_database,
    a_damaged_backup_changes_nothing,
    a_backup_is_of_one_moment,
);

/// Records of every kind, with a removed one, mail and an audit log of several pages.
async fn fill(store: &SqlStore) {
    for (kind, at) in Kind::ALL.into_iter().zip(0_u32..) {
        let mut change = Change { audit: vec![entry("ptr_1"); 20], ..Change::default() };
        for number in 0..60 {
            let document = Document {
                lookup: Some(format!("lookup {number} ☂")),
                status: (number % 2 == 0).then(|| "live".to_owned()),
                feed: kind.has_feed().then(|| format!("feed {}", number % 2)),
                names: if kind.has_names() { vec![format!("name {}", number % 7)] } else { Vec::new() },
                ..record(&format!("key_{number:02} \"{at}\""))
            };
            change.writes.push(Write::Put(kind, document));
        }
        store.commit(change).await.unwrap();
    }
    store.commit(put(Kind::EmailCodes, record("gone"))).await.unwrap();
    store.commit(delete(Kind::EmailCodes, "gone", 1)).await.unwrap();
    let mail =
        |at| OutgoingMail { id: format!("mail_{at}"), sealed: "sealed".to_owned(), not_before: Timestamp::from_ms(at) };
    store.commit(Change { mail: vec![mail(1), mail(2)], ..Change::default() }).await.unwrap();
    store.claim_mail(Timestamp::from_ms(1), 100, 10).await.unwrap();
}

/// All that the port shows.
async fn contents(store: &SqlStore) -> String {
    let mut all = String::new();
    for kind in Kind::ALL {
        for document in store.list(kind, List { status: None, after: None, limit: 1_000 }).await.unwrap() {
            let Document { key, revision, lookup, status, body, names: _, feed: _ } = document;
            all.push_str(&format!("{} {key} {revision} {lookup:?} {status:?} {body}\n", kind.name()));
        }
    }
    for name in (0..7).map(|name| format!("name {name}")) {
        let named = store.named(Kind::Orders, Named { name: &name, before: None, limit: 100 }).await.unwrap();
        all.push_str(&format!("{name} {:?}\n", named.into_iter().map(|document| document.key).collect::<Vec<_>>()));
    }
    all.push_str(&format!("{:?}\n", store.audit(None, 0, 1_000).await.unwrap()));
    all
}

/// Another database of the same engine, and one of the other where there is one.
fn others(database: &Database) -> Vec<Database> {
    let mut others = vec![Database::sqlite()];
    if database.file().is_none() || Postgres::shared().is_ok_and(|server| server.is_some()) {
        others.extend(Database::postgres());
    }
    others
}

async fn a_backup_is_restored_as_it_was(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let store = database.open().await;
    fill(&store).await;
    let written = store.backup(&file, Timestamp::from_ms(1_700_000_000_000)).await.unwrap();
    assert_eq!(
        (written.rows["accounts"], written.rows["audit_log"], written.rows["mail"]),
        (60, 20 * Kind::ALL.len() as u64, 2)
    );
    assert!(
        matches!(store.backup(&file, Timestamp::EPOCH).await, Err(BackupError::File { .. })),
        "a backup is not overwritten"
    );
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    for other in others(&database) {
        let restored = other.open().await;
        let watcher = other.open().await;
        let seen = watcher.changes().await.unwrap();
        assert_eq!(restored.restore(&file, RESTORED).await.unwrap(), written);
        assert_eq!(contents(&restored).await, contents(&store).await);
        assert_eq!(restored.verify_audit().await.unwrap(), store.verify_audit().await.unwrap());
        let count = store.changes().await.unwrap() + 1;
        assert_eq!((restored.wait_for_change(seen).await, watcher.wait_for_change(seen).await), (count, count));
        // What came after a removed record still comes after it, and mail is as it was.
        restored.commit(put(Kind::EmailCodes, record("gone"))).await.unwrap();
        assert_eq!(revision(&restored, Kind::EmailCodes, "gone").await, Some(2));
        let due = |mail: Vec<intent_gateway_domain::store::ClaimedMail>| {
            mail.into_iter().map(|mail| (mail.id, mail.tries)).collect::<Vec<_>>()
        };
        assert_eq!(due(restored.claim_mail(Timestamp::from_ms(50), 1, 10).await.unwrap()), [("mail_2".to_owned(), 0)]);
        assert_eq!(due(restored.claim_mail(Timestamp::from_ms(101), 1, 1).await.unwrap()), [("mail_2".to_owned(), 1)]);
    }
}

async fn a_restore_wants_an_empty_database(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let store = database.open().await;
    store.backup(&file, Timestamp::EPOCH).await.unwrap();
    store.restore(&file, RESTORED).await.expect("an empty one, and it stays empty");
    store.commit(put(Kind::Webhooks, record("ptr_1"))).await.unwrap();
    let refused = store.restore(&file, RESTORED).await;
    assert!(matches!(refused, Err(BackupError::NotEmpty("webhooks"))), "{refused:?}");
    store.commit(delete(Kind::Webhooks, "ptr_1", 1)).await.unwrap();
    store.commit(Change { audit: vec![entry("ptr_1")], ..Change::default() }).await.unwrap();
    let refused = store.restore(&file, RESTORED).await;
    assert!(matches!(refused, Err(BackupError::NotEmpty("audit_log"))), "{refused:?}");
}

async fn a_damaged_backup_changes_nothing(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let source = Database::sqlite();
    let store = source.open().await;
    fill(&store).await;
    store.backup(&file, Timestamp::EPOCH).await.unwrap();
    let good = std::fs::read_to_string(&file).unwrap();
    let target = database.open().await;
    let lines: Vec<&str> = good.lines().collect();
    let middle = lines.len() / 2;
    let without = |at: usize| {
        let left: Vec<&str> = lines.iter().enumerate().filter(|(line, _)| *line != at).map(|(_, line)| *line).collect();
        left.join("\n") + "\n"
    };
    let damaged = [
        ("empty", String::new()),
        ("cut after a line", lines[..middle].join("\n") + "\n"),
        ("cut within a line", good[..good.len() / 2].to_owned()),
        ("without a row", without(middle)),
        ("without the header", without(0)),
        ("without the last newline", good.trim_end().to_owned()),
        ("with a row twice", good.replacen(lines[3], &format!("{}\n{}", lines[3], lines[3]), 1)),
        ("with a changed value", good.replacen("key_07", "key_77", 1)),
        ("with a changed format", good.replacen("intent-gateway backup", "something else", 1)),
        ("with another table", good.replacen("\"accounts\"", "\"sqlite_master\"", 1)),
        ("with more after the end", good.clone() + "\n"),
        ("with garbage", good.replacen('{', "[", 5)),
    ];
    for (what, text) in damaged {
        let bad = folder.path().join("damaged");
        std::fs::write(&bad, text).unwrap();
        let refused = target.restore(&bad, RESTORED).await;
        assert!(matches!(refused, Err(BackupError::Damaged { .. } | BackupError::Engine(_))), "{what}: {refused:?}");
        assert_eq!(target.changes().await.unwrap(), 0, "{what}");
    }
    let bad = folder.path().join("newer");
    let known: u64 = good
        .split("\"schema_version\":")
        .nth(1)
        .and_then(|rest| rest.split([',', '}']).next())
        .unwrap()
        .parse()
        .unwrap();
    let (this, next) = (format!("\"schema_version\":{known}"), format!("\"schema_version\":{}", known + 1));
    std::fs::write(&bad, good.replacen(&this, &next, 1)).unwrap();
    let refused = target.restore(&bad, RESTORED).await;
    assert!(matches!(refused, Err(BackupError::Newer { found, known: last }) if found == known + 1 && last == known));
    forged_log_is_refused(&target, &folder.path().join("forged"), &good).await;
    target.restore(&file, RESTORED).await.expect("it is still empty");
}

/// A backup whose digest is right and whose audit log is not.
async fn forged_log_is_refused(target: &SqlStore, file: &Path, good: &str) {
    let (rows, end) = good.trim_end().rsplit_once('\n').expect("several lines");
    let rows = rows.replacen("account.touched", "account.removed", 1) + "\n";
    let digest = intent_gateway_domain::digest::Digest::of(rows.as_bytes());
    let mut end: serde_json::Value = serde_json::from_str(end).unwrap();
    end["sha256"] = digest.to_string().into();
    std::fs::write(file, format!("{rows}{end}\n")).unwrap();
    let refused = target.restore(file, RESTORED).await;
    assert!(matches!(refused, Err(BackupError::Audit(_))), "{refused:?}");
}

async fn a_backup_is_of_one_moment(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let store = database.open_shared().await;
    let both = |at: u32| {
        let kinds = [Kind::Accounts, Kind::Connections];
        let writes = kinds.map(|kind| Write::Put(kind, record(&format!("ptr_{at:04}")))).into();
        Change { writes, ..Change::default() }
    };
    store.commit(both(0)).await.unwrap();
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for at in 1..400 {
                store.commit(both(at)).await.expect("it keeps");
            }
        }
    });
    let mut sizes = Vec::new();
    while !writer.is_finished() {
        let file = folder.path().join(format!("backup_{}", sizes.len()));
        let report = store.backup(&file, Timestamp::EPOCH).await.unwrap();
        assert_eq!(report.rows["accounts"], report.rows["connections"]);
        sizes.push(report.rows["accounts"]);
    }
    writer.await.unwrap();
    assert!(sizes.is_sorted() && sizes.len() > 1, "{sizes:?}");
}
