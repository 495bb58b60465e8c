//! Steps over a store in which somebody else is faster.

use std::cell::Cell;

use futures_executor::block_on;
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::steps::{self, Contended, Proposal, TRIES_MAX};
use intent_gateway_domain::store::{Change, Kind, OutgoingMail, Record, Store as _, StoreError, Versioned, load};
use intent_gateway_testing::store::MemoryStore;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counter {
    count: u32,
}

impl Record for Counter {
    const KIND: Kind = Kind::Accounts;

    fn key(&self) -> String {
        "counter".to_owned()
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("refused")]
    Refused,
    #[error(transparent)]
    Contended(#[from] Contended),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Counts one up, with an audit entry and a mail. Returns the count, and how often it was decided.
fn count_up(store: &MemoryStore) -> (Result<u32, Failure>, u32) {
    let decided = Cell::new(0);
    let step = steps::run(store, async || {
        decided.set(decided.get() + 1);
        let kept = load::<Counter>(store, "counter").await?;
        let mut kept = kept.unwrap_or_else(|| Versioned::new(Counter { count: 0 }));
        kept.value.count += 1;
        let mut change = Change::default();
        change.put(&kept);
        change.audit.push(AuditDraft {
            at_ms: Timestamp::from_ms(1),
            actor: Actor::gateway(),
            action: "counter.raised".to_owned(),
            subject: "counter".to_owned(),
            detail: kept.value.count.into(),
        });
        let id = format!("mail-{}", decided.get());
        change.mail.push(OutgoingMail { id, sealed: "sealed".to_owned(), not_before: Timestamp::EPOCH });
        Ok(Proposal::new(change, kept.value.count))
    });
    (block_on(step), decided.get())
}

fn count(store: &MemoryStore) -> Option<u32> {
    block_on(load::<Counter>(store, "counter")).expect("readable").map(|kept| kept.value.count)
}

#[test]
fn a_step_is_decided_anew_until_nobody_was_faster() {
    for conflicts in 0..TRIES_MAX {
        let store = MemoryStore::default();
        store.conflict_next(conflicts);
        let (answer, decided) = count_up(&store);
        assert_eq!((answer.expect("it holds"), decided), (1, conflicts + 1));
        assert_eq!(count(&store), Some(1));
        assert_eq!(store.log().len(), 1, "of {decided} tries, one has left an audit entry");
        let mails = block_on(store.claim_mail(Timestamp::EPOCH, 1, 100)).expect("readable");
        assert_eq!(mails.iter().map(|mail| mail.id.clone()).collect::<Vec<_>>(), [format!("mail-{decided}")]);
    }
}

#[test]
fn a_step_is_given_up_after_so_many_tries_and_has_changed_nothing() {
    let store = MemoryStore::default();
    store.conflict_next(TRIES_MAX);
    let (answer, decided) = count_up(&store);
    assert!(matches!(answer, Err(Failure::Contended(Contended))), "{answer:?}");
    assert_eq!((decided, count(&store)), (TRIES_MAX, None));
    assert!(store.log().is_empty() && block_on(store.claim_mail(Timestamp::EPOCH, 1, 1)).expect("readable").is_empty());
    assert_eq!(count_up(&store).0.expect("nobody interferes any more"), 1);
}

#[test]
fn every_try_decides_by_what_is_there_then() {
    let store = MemoryStore::default();
    let was_overtaken = Cell::new(false);
    let step = steps::run(&store, async || {
        let mut kept =
            load::<Counter>(&store, "counter").await?.unwrap_or_else(|| Versioned::new(Counter { count: 0 }));
        if !was_overtaken.replace(true) {
            let mut faster = Change::default();
            faster.put(&Versioned { revision: kept.revision, value: Counter { count: 10 } });
            store.commit(faster).await?;
        }
        kept.value.count += 1;
        let mut change = Change::default();
        change.put(&kept);
        Ok::<_, Failure>(Proposal::new(change, kept.value.count))
    });
    assert_eq!(block_on(step).expect("it holds"), 11);
    assert_eq!(count(&store), Some(11));
}

#[test]
fn a_refusal_is_final_and_a_proposal_of_nothing_is_not_committed() {
    let store = MemoryStore::default();
    store.conflict_next(u32::MAX);
    let refused: Result<(), _> = block_on(steps::run(&store, async || Err(Failure::Refused)));
    assert!(matches!(refused, Err(Failure::Refused)), "{refused:?}");
    let unchanged = block_on(steps::run(&store, async || Ok::<_, Failure>(Proposal::nothing(7))));
    assert_eq!(unchanged.expect("no commit can fail"), 7);
    assert!(!block_on(steps::commit_unless_changed(&store, Change::default())).expect("a conflict is no failure"));
}
