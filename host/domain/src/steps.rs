//! How records are changed: read them, decide, commit one change; and decide anew when somebody else was faster.
//!
//! A step decides by what it has read and proposes one [`Change`]: the writes with the revisions that were read, and with
//! them the audit entries and the mail that belong to it. The store takes the change whole or not at all. After a conflict
//! nothing holds of it, so the step reads and decides anew, a bounded number of times.
//!
//! Not here: what is decided, and waiting for somebody else. A service that waits takes a step, waits, and takes another.

use crate::store::{Change, Pages, Record, Store, StoreError, Versioned};

/// How often a step is decided before it is given up because others keep changing the same records.
pub const TRIES_MAX: u32 = 32;

/// What a step has decided: what is to change, and the answer once that holds.
#[derive(Debug)]
#[must_use = "a proposal changes nothing by itself"]
pub struct Proposal<T> {
    change: Option<Change>,
    answer: T,
}

impl<T> Proposal<T> {
    /// The answer holds once the change does.
    pub fn new(change: Change, answer: T) -> Self {
        Self { change: Some(change), answer }
    }

    /// The answer holds as it is: nothing is to change.
    pub fn nothing(answer: T) -> Self {
        Self { change: None, answer }
    }
}

/// Others kept changing the same records; trying again later is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record was changed by others again and again")]
pub struct Contended;

/// Takes a step: has it decided, commits what it proposes, and after a conflict has it decided anew, at most [`TRIES_MAX`]
/// times in all.
///
/// # Errors
/// What `decide` refuses, at once; [`StoreError`] when the store fails; [`Contended`] when every try met a conflict. Nothing
/// has changed then.
pub async fn run<T, E, F>(store: &dyn Store, decide: impl FnMut() -> F) -> Result<T, E>
where
    F: Future<Output = Result<Proposal<T>, E>>,
    E: From<StoreError> + From<Contended>,
{
    run_to_revisions(store, decide).await.map(|(answer, _)| answer)
}

/// The same, with the revision that each write of the change has led to, in their order; none where nothing was to change.
///
/// # Errors
/// Likewise.
pub async fn run_to_revisions<T, E, F>(store: &dyn Store, mut decide: impl FnMut() -> F) -> Result<(T, Vec<u64>), E>
where
    F: Future<Output = Result<Proposal<T>, E>>,
    E: From<StoreError> + From<Contended>,
{
    for _ in 0..TRIES_MAX {
        let Proposal { change, answer } = decide().await?;
        let Some(change) = change else { return Ok((answer, Vec::new())) };
        if let Some(revisions) = commit_to_revisions(store, change).await? {
            return Ok((answer, revisions));
        }
    }
    Err(Contended.into())
}

/// Commits a change that is not worth deciding anew. False when somebody else was faster: then nothing of it holds.
///
/// # Errors
/// [`StoreError`], but for a conflict.
pub async fn commit_unless_changed(store: &dyn Store, change: Change) -> Result<bool, StoreError> {
    Ok(commit_to_revisions(store, change).await?.is_some())
}

/// The revisions that a change has led to; none when somebody else was faster.
async fn commit_to_revisions(store: &dyn Store, change: Change) -> Result<Option<Vec<u64>>, StoreError> {
    match store.commit(change).await {
        Ok(revisions) => Ok(Some(revisions)),
        Err(StoreError::Conflict(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a record that is not needed any more. False when somebody else was faster, or has changed it.
///
/// # Errors
/// [`StoreError`], but for a conflict.
pub async fn forget<R: Record>(store: &dyn Store, record: &Versioned<R>) -> Result<bool, StoreError> {
    let mut change = Change::default();
    change.delete(record);
    commit_unless_changed(store, change).await
}

/// Removes all records of a kind whose time is over; how many there were.
///
/// # Errors
/// [`StoreError`]; what was removed until then stays so.
pub async fn forget_all<R: Record>(store: &dyn Store, is_over: impl Fn(&R) -> bool) -> Result<u64, StoreError> {
    let (mut forgotten, mut pages) = (0, Pages::<R>::of(None));
    while let Some(records) = pages.next(store).await? {
        for record in records.iter().filter(|record| is_over(&record.value)) {
            forgotten += u64::from(forget(store, record).await?);
        }
    }
    Ok(forgotten)
}
