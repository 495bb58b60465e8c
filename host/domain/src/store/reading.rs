//! Records as what they are: read from their documents.

use std::marker::PhantomData;

use super::{Changed, Document, List, Named, Newest, Record, Store, StoreError, Versioned};

/// Reads a record by its key.
///
/// # Errors
/// [`StoreError`] when the engine fails or the record cannot be read.
pub async fn load<R: Record>(store: &dyn Store, key: &str) -> Result<Option<Versioned<R>>, StoreError> {
    store.get(R::KIND, key).await?.map(parse).transpose()
}

/// Reads a record by its lookup.
///
/// # Errors
/// As [`load`].
pub async fn lookup<R: Record>(store: &dyn Store, lookup: &str) -> Result<Option<Versioned<R>>, StoreError> {
    store.find(R::KIND, lookup).await?.map(parse).transpose()
}

/// Reads a page of records.
///
/// # Errors
/// As [`load`].
pub async fn page<R: Record>(store: &dyn Store, list: List<'_>) -> Result<Vec<Versioned<R>>, StoreError> {
    store.list(R::KIND, list).await?.into_iter().map(parse).collect()
}

/// Reads records from the greatest key down.
///
/// # Errors
/// As [`load`].
pub async fn newest<R: Record>(store: &dyn Store, newest: Newest<'_>) -> Result<Vec<Versioned<R>>, StoreError> {
    store.newest(R::KIND, newest).await?.into_iter().map(parse).collect()
}

/// Reads records of one name.
///
/// # Errors
/// As [`load`].
pub async fn named<R: Record>(store: &dyn Store, named: Named<'_>) -> Result<Vec<Versioned<R>>, StoreError> {
    store.named(R::KIND, named).await?.into_iter().map(parse).collect()
}

/// Reads records that were changed, each with the number of its latest change.
///
/// # Errors
/// As [`load`].
pub async fn changed<R: Record>(store: &dyn Store, changed: Changed<'_>) -> Result<Vec<(u64, R)>, StoreError> {
    let found = store.changed(R::KIND, changed).await?;
    found.into_iter().map(|(number, document)| Ok((number, parse(document)?.value))).collect()
}

/// Records of one page of [`Pages`].
const PAGE: u32 = 500;

/// All records of a kind in order of their keys, page by page: whoever goes through them holds one page at a time. One that
/// is added meanwhile is seen if its key lies ahead.
#[derive(Debug)]
pub struct Pages<R> {
    status: Option<&'static str>,
    after: Option<String>,
    is_last: bool,
    records: PhantomData<R>,
}

impl<R: Record> Pages<R> {
    /// Those of one status; of every status without one.
    #[must_use]
    pub fn of(status: Option<&'static str>) -> Self {
        Self { status, after: None, is_last: false, records: PhantomData }
    }

    /// The next page; none after the last.
    ///
    /// # Errors
    /// As [`load`].
    pub async fn next(&mut self, store: &dyn Store) -> Result<Option<Vec<Versioned<R>>>, StoreError> {
        if self.is_last {
            return Ok(None);
        }
        let list = List { status: self.status, after: self.after.as_deref(), limit: PAGE };
        let records = page::<R>(store, list).await?;
        self.is_last = records.len() < PAGE as usize;
        let Some(last) = records.last() else { return Ok(None) };
        self.after = Some(last.value.key());
        Ok(Some(records))
    }
}

/// Reads every record of a kind, with one status if given.
///
/// # Errors
/// As [`load`].
pub async fn all<R: Record>(store: &dyn Store, status: Option<&'static str>) -> Result<Vec<Versioned<R>>, StoreError> {
    let (mut records, mut pages) = (Vec::new(), Pages::of(status));
    while let Some(page) = pages.next(store).await? {
        records.extend(page);
    }
    Ok(records)
}

fn parse<R: Record>(document: Document) -> Result<Versioned<R>, StoreError> {
    let value = serde_json::from_str(&document.body).map_err(|error| StoreError::Corrupt(R::KIND, error))?;
    Ok(Versioned { revision: document.revision, value })
}
