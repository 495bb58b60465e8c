//! Several gateways on one database: nothing is lost between them, and each learns of the other's changes in time.

use std::time::{Duration, Instant};

use intent_gateway_domain::store::{Kind, StoreError};

use crate::support::{Place, entry, on_every_store, put, record, revision};

on_every_store!(
    no_update_is_lost,
    a_change_of_ones_own_is_seen_at_once,
    a_change_of_another_is_seen_within_a_second,
    what_concerns_nobody_else_wakes_nobody,
);

/// How long a change of another gateway may take to be in force.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(1);

async fn no_update_is_lost(place: impl Place) {
    const TASKS: u64 = 50;
    let stores = [place.store().await, place.store().await];
    stores[0].commit(put(Kind::Accounts, record("ptr_1"))).await.unwrap();
    let tasks = (0..TASKS).map(|at| {
        let store = stores[usize::try_from(at % 2).unwrap()].clone();
        tokio::spawn(async move {
            loop {
                let mut document = store.get(Kind::Accounts, "ptr_1").await.expect("it reads").expect("it is there");
                let count: u64 = document.body.parse().unwrap_or(0);
                document.body = (count + 1).to_string();
                let mut change = put(Kind::Accounts, document);
                change.audit.push(entry("ptr_1"));
                match store.commit(change).await {
                    Ok(_) => return,
                    Err(StoreError::Conflict(_)) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let document = stores[1].get(Kind::Accounts, "ptr_1").await.unwrap().expect("it is there");
    assert_eq!((document.body, document.revision), (TASKS.to_string(), TASKS + 1));
    assert_eq!(stores[0].follow_audit().await.0, TASKS);
    assert_eq!(stores[0].changes().await.unwrap(), TASKS + 1);
}

async fn a_change_of_ones_own_is_seen_at_once(place: impl Place) {
    let store = place.store().await;
    let seen = store.changes().await.unwrap();
    store.commit(put(Kind::Connections, record("ptr_1"))).await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(50), store.wait_for_change(seen)).await;
    assert_eq!(waited, Ok(seen + 1));
}

async fn a_change_of_another_is_seen_within_a_second(place: impl Place) {
    let (ours, theirs) = (place.store().await, place.store().await);
    let mut seen = ours.changes().await.unwrap();
    for at in 0..5 {
        let started = Instant::now();
        let (next, done) = tokio::join!(
            tokio::time::timeout(10 * IN_FORCE_WITHIN, ours.wait_for_change(seen)),
            theirs.commit(put(Kind::Credentials, record(&format!("ptr_{at}"))))
        );
        done.unwrap();
        assert_eq!(next, Ok(seen + 1));
        assert!(started.elapsed() < IN_FORCE_WITHIN, "it took {:?}", started.elapsed());
        assert_eq!(revision(&*ours, Kind::Credentials, &format!("ptr_{at}")).await, Some(1));
        seen += 1;
    }
}

async fn what_concerns_nobody_else_wakes_nobody(place: impl Place) {
    let store = place.store().await;
    let seen = store.changes().await.unwrap();
    store.commit(put(Kind::EmailCodes, record("a@x.example"))).await.unwrap();
    store.commit(put(Kind::Reviews, record("rev_1"))).await.unwrap();
    assert_eq!(store.changes().await.unwrap(), seen);
}
