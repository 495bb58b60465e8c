//! The audit log: in order, without gaps, and nothing but additions.

use intent_gateway_domain::audit::genesis;
use intent_gateway_domain::chain::BrokenChain;
use intent_gateway_domain::store::{Change, Store as _};
use intent_gateway_store::BackupError;

use crate::support::{Database, Place, entry, on_both_engines, on_every_store};

on_every_store!(entries_follow_each_other, it_is_followed_over_many_pages);

on_both_engines!(it_is_append_only, what_was_changed_behind_its_back_is_found);

fn of(subjects: &[&str]) -> Change {
    Change { audit: subjects.iter().map(|subject| entry(subject)).collect(), ..Change::default() }
}

async fn entries_follow_each_other(place: impl Place) {
    let store = place.store().await;
    assert_eq!(store.follow_audit().await, (0, genesis()));
    store.commit(of(&["ptr_1", "ptr_2"])).await.unwrap();
    store.commit(of(&["ptr_1"])).await.unwrap();
    let log = store.audit(None, 0, 10).await.unwrap();
    assert_eq!(log.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(store.follow_audit().await, (3, log[2].hash));
    let draft = entry("ptr_1");
    assert_eq!((log[0].at_ms, &log[0].actor, &log[0].action), (draft.at_ms, &draft.actor, &draft.action));
    assert_eq!((&log[0].subject, &log[0].detail), (&draft.subject, &draft.detail.to_string()));
    assert_eq!(store.audit(Some("ptr_1"), 0, 10).await.unwrap(), [log[0].clone(), log[2].clone()]);
    assert_eq!(store.audit(Some("ptr_1"), 1, 10).await.unwrap(), [log[2].clone()]);
    assert_eq!(store.audit(None, 1, 1).await.unwrap(), [log[1].clone()]);
    assert_eq!(store.audit(None, 3, 10).await.unwrap(), []);
}

async fn it_is_append_only(database: Database) {
    let store = database.open().await;
    store.commit(of(&["ptr_1", "ptr_2"])).await.unwrap();
    for sql in ["UPDATE audit_log SET subject = 'ptr_3' WHERE seq = 1", "DELETE FROM audit_log WHERE seq = 2"] {
        let refused = database.run(sql).await;
        assert_eq!(refused, Err("the audit log is append-only".to_owned()), "{sql}");
    }
    if database.file().is_none() {
        assert_eq!(database.run("TRUNCATE audit_log").await, Err("the audit log is append-only".to_owned()));
    }
    assert_eq!(store.verify_audit().await.unwrap().0, 2);
}

async fn what_was_changed_behind_its_back_is_found(database: Database) {
    let store = database.open().await;
    store.commit(of(&["ptr_1", "ptr_2", "ptr_3"])).await.unwrap();
    // Who may do anything with the database may also take the triggers away.
    let table = if database.file().is_none() { " ON audit_log" } else { "" };
    database.run(&format!("DROP TRIGGER audit_log_keeps{table}; DROP TRIGGER audit_log_stays{table}")).await.unwrap();
    database.run("UPDATE audit_log SET actor = 'somebody else' WHERE seq = 2").await.unwrap();
    let found = store.verify_audit().await;
    assert!(matches!(found, Err(BackupError::Audit(BrokenChain::Changed(2)))), "{found:?}");
    database.run("DELETE FROM audit_log WHERE seq = 2").await.unwrap();
    let found = store.verify_audit().await;
    assert!(matches!(found, Err(BackupError::Audit(BrokenChain::Gap { expected: 2, found: 3 }))), "{found:?}");
}

async fn it_is_followed_over_many_pages(place: impl Place) {
    let store = place.store().await;
    for _ in 0..3 {
        store.commit(of(&["ptr_1"; 700])).await.unwrap();
    }
    assert_eq!(store.follow_audit().await.0, 2_100);
    assert_eq!(store.audit(None, 0, 5_000).await.unwrap().len(), 1_000, "an answer has a bound of its own");
}
