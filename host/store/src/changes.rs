//! How changes of records get into one transaction with others: a durable transaction costs the same for one and for many.
//!
//! What comes while a batch is written makes the next one. Each change of a batch holds whole or not at all, by a savepoint
//! of its own; one that meets a conflict costs the others nothing.

use std::sync::Arc;

use futures_util::FutureExt as _;
use intent_gateway_domain::chain::ChainKeys;
use intent_gateway_domain::store::{Change, StoreError, StoreTrouble};
use intent_gateway_ledger::DeskError;
use tokio_util::sync::CancellationToken;

use crate::batching::{Queue, Rules};
use crate::engine::{Engine, Session};
use crate::error::EngineError;
use crate::records::{Applied, apply};
use crate::sqlite::Batch;

/// Changes of one transaction, at most. Others wait for the lock meanwhile.
const BATCH_MAX: usize = 64;
/// Changes that wait, at most.
const QUEUE_MAX: usize = 4_096;

const RULES: Rules = Rules { name: "changes", queue_max: QUEUE_MAX, batch_max: BATCH_MAX, lingers: false };

/// What a change has led to, or why it does not hold.
type Outcome = Result<Applied, StoreError>;

/// Where changes are handed in. Dropped, it finishes what it has taken.
pub(crate) struct Changes {
    queue: Queue<Change, Outcome>,
    closing: CancellationToken,
}

impl Changes {
    /// Opens the queue, on the runtime that this is called from. The keys are the audit log's.
    pub(crate) fn open(engine: Engine, audit_keys: ChainKeys) -> Self {
        let closing = CancellationToken::new();
        let work = move |changes| {
            let (engine, keys) = (engine.clone(), audit_keys.clone());
            async move { carry_out(&engine, changes, &keys).await }.boxed()
        };
        Self { queue: Queue::open(RULES, closing.clone(), Box::new(work)), closing }
    }

    /// Carries out a change, whole or not at all. Once it was taken it is carried out, whether or not this is waited for.
    pub(crate) async fn submit(&self, change: Change) -> Outcome {
        self.queue.submit(change).await.unwrap_or_else(|error| Err(into_store(error)))
    }

    /// Takes no more, and returns once all that was taken has its answer.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.queue.finish().await;
    }
}

fn into_store(error: DeskError) -> StoreError {
    match error {
        DeskError::Full => StoreError::Busy,
        DeskError::Closed => StoreError::Unavailable("it is closed".to_owned(), None),
        DeskError::Store(cause) => match cause.trouble() {
            StoreTrouble::Busy => StoreError::Busy,
            StoreTrouble::Unavailable => {
                StoreError::Unavailable(BATCH_FAILED.to_owned(), Some(Box::new(SharedError(cause))))
            }
            StoreTrouble::Defect => StoreError::Engine(BATCH_FAILED.to_owned(), Some(Box::new(SharedError(cause)))),
        },
    }
}

const BATCH_FAILED: &str = "the batch of the change failed";

/// A failure that all changes of a batch share.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct SharedError(#[source] Arc<StoreError>);

/// Carries out a batch in one transaction. On SQLite all of it is done on the thread that writes: handed over statement by
/// statement, a change of ten would wake two threads twenty times.
async fn carry_out(engine: &Engine, changes: Vec<Change>, keys: &ChainKeys) -> Result<Vec<Outcome>, StoreError> {
    if let Engine::Sqlite(engine) = engine {
        let keys = keys.clone();
        let work = move |tx: &Batch<'_>| carry_out_on_thread(tx, &changes, &keys);
        return engine.batch(work).await.map_err(EngineError::into_store);
    }
    let mut tx = engine.write().await.map_err(EngineError::into_store)?;
    // One alone is rolled back with its transaction.
    let guarded = changes.len() > 1;
    match apply_all(&mut tx, changes, keys, guarded).await {
        Ok(outcomes) if outcomes.iter().any(Result::is_ok) => {
            tx.commit().await.map_err(EngineError::into_store)?;
            Ok(outcomes)
        }
        Ok(outcomes) => {
            tx.rollback().await;
            Ok(outcomes)
        }
        Err(error) => {
            tx.rollback().await;
            Err(error.into_store())
        }
    }
}

/// Carries out a batch on the thread that writes. Nearly always all of it holds, so savepoints, for which SQLite copies each page
/// before it is changed, are only set when one did not, and the batch is carried out anew.
fn carry_out_on_thread(tx: &Batch<'_>, changes: &[Change], keys: &ChainKeys) -> Result<Vec<Outcome>, EngineError> {
    // Nothing on that thread is waited for, so it is done when it is first asked.
    let apply = |guarded| {
        let applied = apply_all(&mut &*tx, changes.to_vec(), keys, guarded).now_or_never();
        applied.ok_or_else(|| EngineError::failed("a change waits for something"))?
    };
    let outcomes = apply(false)?;
    if outcomes.iter().all(Result::is_ok) {
        return Ok(outcomes);
    }
    tx.begin_anew()?;
    if outcomes.len() == 1 { Ok(outcomes) } else { apply(true) }
}

/// Carries out change after change; `guarded` ones are undone each by itself where they do not hold.
async fn apply_all(
    tx: &mut impl Session,
    changes: Vec<Change>,
    keys: &ChainKeys,
    guarded: bool,
) -> Result<Vec<Outcome>, EngineError> {
    let mut outcomes = Vec::with_capacity(changes.len());
    for change in changes {
        if guarded {
            tx.batch("SAVEPOINT change").await?;
        }
        let outcome = apply(tx, change, keys).await;
        if guarded {
            tx.batch(if outcome.is_ok() { "RELEASE SAVEPOINT change" } else { UNDO }).await?;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

const UNDO: &str = "ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change";

#[cfg(test)]
mod tests {
    use intent_gateway_domain::store::{Document, Kind, Store as _, Write};

    use super::*;
    use crate::location::Location;
    use crate::records::SqlStore;
    use crate::value::Value;

    const KIND: Kind = Kind::Attempts;

    fn put(key: &str, bytes: usize) -> Change {
        let document = Document {
            key: key.to_owned(),
            revision: 0,
            lookup: None,
            status: None,
            body: format!("\"{}\"", "x".repeat(bytes)),
            names: Vec::new(),
            feed: None,
        };
        Change { writes: vec![Write::Put(KIND, document)], ..Change::default() }
    }

    /// Bounds the file of the database, in pages; no less than it has.
    async fn bound(store: &SqlStore, statement: &'static str) {
        let Engine::Sqlite(engine) = &store.engine else { panic!("it is SQLite") };
        engine.batch(move |tx| tx.query(statement, &[] as &[Value]).map(drop)).await.expect("bounded");
    }

    /// When its file cannot grow, SQLite rolls the transaction back by itself.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_that_cannot_grow_is_an_outage_and_keeps_nothing_that_was_not_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let location = Location::file(folder.path().join("x.db"));
        let store = SqlStore::open(&location, None).await.expect("opened");
        bound(&store, "PRAGMA max_page_count = 1").await;
        let batches = [vec![("alone", 1 << 20)], vec![("before", 1), ("large", 1 << 20), ("after", 1)]];
        for batch in batches {
            let changes = batch.iter().map(|(key, bytes)| put(key, *bytes)).collect();
            let outcomes = carry_out(&store.engine, changes, &ChainKeys::default()).await;
            for (number, (key, _)) in batch.iter().enumerate() {
                let error = match &outcomes {
                    Ok(outcomes) => outcomes[number].as_ref().err(),
                    Err(error) => Some(error),
                };
                let is_kept = store.get(KIND, key).await.expect("read").is_some();
                assert_eq!(is_kept, error.is_none(), "{key}: {error:?}");
                assert!(error.is_none_or(|error| error.trouble() == StoreTrouble::Unavailable), "{key}: {error:?}");
            }
        }
        bound(&store, "PRAGMA max_page_count = 1000000").await;
        assert_eq!(store.commit(put("large", 1 << 20)).await.expect("there is room again"), [1]);
    }
}
