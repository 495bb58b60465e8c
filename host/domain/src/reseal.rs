//! What is sealed in the store, sealed anew under the current master key, so that nothing stored depends on the one before.
//!
//! It goes record by record against the revision that was read, so it can run beside gateways that know the new key, be stopped, and
//! be run again: what is under the current key is left alone. Not here: marks and links of chains, which cannot be made anew,
//! since what they were made of is not kept.

use std::ops::AddAssign;

use crate::store::{Change, List, Record, Store, StoreError, Versioned, load, page};
use crate::vault::{NoEntropy, ResealError, Sealed, Vault};

/// Tries of one record that somebody else changes meanwhile.
const TRIES_MAX: u32 = 5;

/// A record that holds sealed texts.
pub trait SealedRecord: Record {
    /// Records that are read and written at once.
    const BATCH: u32 = 200;

    /// Each of its sealed texts, with what it is sealed for.
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)>;
}

/// How far it is. Counts are of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resealed {
    /// Those that were looked at.
    pub seen: u64,
    /// Those of which something was sealed anew.
    pub resealed: u64,
    /// Those of which something cannot be opened with the keys that are configured; they are as they were.
    pub unreadable: u64,
}

impl AddAssign for Resealed {
    fn add_assign(&mut self, other: Self) {
        self.seen += other.seen;
        self.resealed += other.resealed;
        self.unreadable += other.unreadable;
    }
}

/// It had to stop. What was sealed anew stays so.
#[derive(Debug, thiserror::Error)]
pub enum ResealStopped {
    /// The store failed, or a record is changed all the time.
    #[error("the store cannot be worked on")]
    Store(#[from] StoreError),
    /// The machine gives no random bytes.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

/// The sealed texts of a record, each with what it is sealed for.
pub type SealedOf<'a, R> = &'a (dyn for<'r> Fn(&'r mut R) -> Vec<(String, &'r mut Sealed)> + Sync);

/// Hears after each batch how far a kind of records is, by the kind's name.
pub type Tell<'a> = &'a (dyn Fn(&'static str, Resealed) + Sync);

/// Seals anew every record of a kind.
///
/// # Errors
/// [`ResealStopped`]; it can be run again, and goes on.
pub async fn reseal_all<R: SealedRecord>(
    store: &dyn Store,
    vault: &Vault,
    tell: Tell<'_>,
) -> Result<Resealed, ResealStopped> {
    let (mut so_far, mut after) = (Resealed::default(), None::<String>);
    loop {
        let list = List { status: None, after: after.as_deref(), limit: R::BATCH };
        let mut records = page::<R>(store, list).await?;
        let is_last = records.len() < R::BATCH as usize;
        let keys: Vec<String> = records.iter().map(|record| record.value.key()).collect();
        let (mut done, mut change) = (Resealed::default(), Change::default());
        for record in &mut records {
            done += reseal_one(record, vault, &mut change, &R::sealed)?;
        }
        so_far += match commit(store, change).await {
            Ok(()) => done,
            // One was changed meanwhile; the others are not to wait for it.
            Err(StoreError::Conflict(_)) => reseal_each::<R>(store, vault, &keys).await?,
            Err(error) => return Err(error.into()),
        };
        tell(R::KIND.name(), so_far);
        after = keys.into_iter().next_back();
        if is_last {
            return Ok(so_far);
        }
    }
}

/// One by one, each as it is now.
async fn reseal_each<R: SealedRecord>(
    store: &dyn Store,
    vault: &Vault,
    keys: &[String],
) -> Result<Resealed, ResealStopped> {
    let mut so_far = Resealed::default();
    for key in keys {
        so_far += reseal_record(store, vault, key, &R::sealed).await?;
    }
    Ok(so_far)
}

/// Seals one record anew, of a kind whose records do not say themselves what they are sealed for. One that is gone holds nothing.
///
/// # Errors
/// As [`reseal_all`].
pub async fn reseal_record<R: Record>(
    store: &dyn Store,
    vault: &Vault,
    key: &str,
    sealed: SealedOf<'_, R>,
) -> Result<Resealed, ResealStopped> {
    let mut tries_left = TRIES_MAX;
    loop {
        let Some(mut record) = load::<R>(store, key).await? else { return Ok(Resealed::default()) };
        let mut change = Change::default();
        let done = reseal_one(&mut record, vault, &mut change, sealed)?;
        tries_left -= 1;
        match commit(store, change).await {
            Ok(()) => return Ok(done),
            Err(StoreError::Conflict(_)) if tries_left > 0 => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Seals a record anew where it has to be, and adds it to a change then.
fn reseal_one<R: Record>(
    record: &mut Versioned<R>,
    vault: &Vault,
    change: &mut Change,
    sealed: SealedOf<'_, R>,
) -> Result<Resealed, NoEntropy> {
    let mut done = Resealed { seen: 1, ..Resealed::default() };
    for (context, sealed) in sealed(&mut record.value) {
        match vault.reseal(&context, sealed) {
            Ok(None) => {}
            Ok(Some(anew)) => {
                *sealed = anew;
                done.resealed = 1;
            }
            Err(ResealError::Unreadable(_)) => done.unreadable = 1,
            Err(ResealError::NoEntropy(error)) => return Err(error),
        }
    }
    if done.resealed > 0 {
        change.put(record);
    }
    Ok(done)
}

async fn commit(store: &dyn Store, change: Change) -> Result<(), StoreError> {
    if change.writes.is_empty() { Ok(()) } else { store.commit(change).await.map(drop) }
}
