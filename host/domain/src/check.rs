//! Whether what is kept is as it must be: each record can be read, its columns say what its body says, it is found by its names,
//! its feed tells of it, and what is sealed in it can be opened.
//!
//! The parts of a check are put together elsewhere (crate `intent-gateway-check`); here is what is the same for every kind of
//! record, and how what was found is told. The chains have checks of their own ([`crate::chain`]).

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::reseal::SealedRecord;
use crate::store::{Document, Kind, Record, Store, StoreError};
use crate::vault::{Sealed, Vault};

/// Problems of one part that are listed; more are counted.
pub const PROBLEMS_LISTED_MAX: usize = 20;
/// Records that are read at once.
const PAGE: u32 = 200;

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Stable code (docs/ledger.md).
    pub code: &'static str,
    /// The record, entry or row that it is about.
    pub of: String,
    /// What is wrong, for the operator. It holds no secret and nothing that a user or partner wrote.
    pub message: String,
}

/// What was found in one part of what is kept, for example in one kind of records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedPart {
    /// Which.
    pub name: &'static str,
    /// Records, entries or rows that were looked at.
    pub seen: u64,
    /// Sealed texts and links that could not be looked at, for their key is not at hand.
    pub unchecked: u64,
    /// The first [`PROBLEMS_LISTED_MAX`].
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub problems_unlisted: u64,
}

impl CheckedPart {
    /// A part of which nothing was looked at yet.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, seen: 0, unchecked: 0, problems: Vec::new(), problems_unlisted: 0 }
    }

    /// Notes a problem.
    pub fn add(&mut self, code: &'static str, of: impl Into<String>, message: impl Into<String>) {
        if self.problems.len() < PROBLEMS_LISTED_MAX {
            self.problems.push(Problem { code, of: of.into(), message: message.into() });
        } else {
            self.problems_unlisted += 1;
        }
    }

    /// Whether all of it was looked at, and is as it must be.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.unchecked == 0
    }

    /// Looks whether a sealed text can be opened. An empty one holds nothing.
    pub fn open(&mut self, vault: Option<&Vault>, of: &str, context: &str, sealed: &Sealed) -> Option<Vec<u8>> {
        if sealed.clone().into_text().is_empty() {
            return None;
        }
        let Some(vault) = vault else {
            self.unchecked += 1;
            return None;
        };
        match vault.open_bytes(context, sealed) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.add("SEALED_UNREADABLE", of, format!("what is sealed in it cannot be opened: {error}"));
                None
            }
        }
    }
}

/// Hears how far a part is: its name, and what was looked at.
pub type Tell<'a> = &'a (dyn Fn(&'static str, u64) + Send + Sync);

/// A store that shows what it keeps beside its records, too.
pub trait Inspect: Store {
    /// Records in order of their keys, at most `limit`, each with its names and the feed that tells of it; all of one moment.
    fn whole<'a>(
        &'a self,
        kind: Kind,
        after: Option<&'a str>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>>;
}

/// Looks at every record of a kind that holds nothing sealed.
///
/// # Errors
/// [`StoreError`] when the store fails; what is wrong with a record is not an error.
pub async fn check_records<R: Record>(store: &dyn Inspect, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
    check_each::<R>(store, None, &|_| Vec::new(), tell).await
}

/// The same of a kind whose records hold sealed texts.
///
/// # Errors
/// As [`check_records`].
pub async fn check_sealed_records<R: SealedRecord>(
    store: &dyn Inspect,
    vault: Option<&Vault>,
    tell: Tell<'_>,
) -> Result<CheckedPart, StoreError> {
    check_each::<R>(store, vault, &R::sealed, tell).await
}

type SealedTexts<'a, R> = &'a (dyn for<'r> Fn(&'r mut R) -> Vec<(String, &'r mut Sealed)> + Sync);

async fn check_each<R: Record>(
    store: &dyn Inspect,
    vault: Option<&Vault>,
    sealed: SealedTexts<'_, R>,
    tell: Tell<'_>,
) -> Result<CheckedPart, StoreError> {
    let (mut part, mut after) = (CheckedPart::new(R::KIND.name()), None::<String>);
    loop {
        let page = store.whole(R::KIND, after.as_deref(), PAGE).await?;
        for document in &page {
            part.seen += 1;
            if let Some(mut record) = read_record::<R>(document, &mut part) {
                for (context, sealed) in sealed(&mut record) {
                    part.open(vault, &shown_key(R::KIND, &document.key), &context, sealed);
                }
            }
        }
        tell(R::KIND.name(), part.seen);
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.key),
            None => return Ok(part),
        }
    }
}

/// Reads a record, and compares it with its columns, its names and its feed.
pub fn read_record<R: Record>(document: &Document, part: &mut CheckedPart) -> Option<R> {
    let of = shown_key(R::KIND, &document.key);
    let record: R = match serde_json::from_str(&document.body) {
        Ok(record) => record,
        Err(error) => {
            // The error may quote what stands there.
            let (line, column) = (error.line(), error.column());
            part.add("RECORD_UNREADABLE", of, format!("its body cannot be read (line {line}, column {column})"));
            return None;
        }
    };
    if record.key() != document.key {
        part.add("COLUMN_DIFFERS", of.as_str(), "its key is another than its body says");
    }
    if record.lookup() != document.lookup {
        part.add("COLUMN_DIFFERS", of.as_str(), "its lookup is another than its body says");
    }
    if record.status() != document.status.as_deref() {
        part.add("COLUMN_DIFFERS", of.as_str(), "its status is another than its body says");
    }
    // Names that it had before stay.
    let missing = record.names().iter().filter(|name| !document.names.contains(name)).count();
    if missing > 0 {
        part.add("NAME_MISSING", of.as_str(), format!("it is not found by {missing} of its names"));
    }
    if record.feed() != document.feed {
        part.add("FEED_DIFFERS", of.as_str(), "the feed that tells of it is another than its body says, or none");
    }
    Some(record)
}

/// The key of a record as it may be shown: that of a code under way is a person's address.
#[must_use]
pub fn shown_key(kind: Kind, key: &str) -> String {
    match kind {
        Kind::EmailCodes => "(an e-mail address)".to_owned(),
        _ => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::secret::Secret;
    use crate::vault::tests::vault;

    #[derive(Serialize, Deserialize)]
    struct Thing {
        id: String,
        open: bool,
    }

    impl Record for Thing {
        const KIND: Kind = Kind::Orders;

        fn key(&self) -> String {
            self.id.clone()
        }

        fn lookup(&self) -> Option<String> {
            self.open.then(|| "held".to_owned())
        }

        fn status(&self) -> Option<&'static str> {
            Some(if self.open { "open" } else { "closed" })
        }

        fn names(&self) -> Vec<String> {
            vec!["a".to_owned(), "b".to_owned()]
        }

        fn feed(&self) -> Option<String> {
            Some("f".to_owned())
        }
    }

    fn document() -> Document {
        Document {
            key: "1".to_owned(),
            revision: 1,
            lookup: Some("held".to_owned()),
            status: Some("open".to_owned()),
            body: r#"{"id": "1", "open": true}"#.to_owned(),
            names: ["a", "b", "c"].map(str::to_owned).to_vec(),
            feed: Some("f".to_owned()),
        }
    }

    fn codes(document: &Document) -> Vec<&'static str> {
        let mut part = CheckedPart::new("things");
        read_record::<Thing>(document, &mut part);
        part.problems.iter().map(|problem| problem.code).collect()
    }

    #[test]
    fn a_record_is_compared_with_everything_beside_it() {
        assert_eq!(codes(&document()), [""; 0]);
        let with = |change: fn(&mut Document)| {
            let mut changed = document();
            change(&mut changed);
            codes(&changed)
        };
        assert_eq!(with(|document| document.key.push('2')), ["COLUMN_DIFFERS"]);
        assert_eq!(with(|document| document.lookup = None), ["COLUMN_DIFFERS"]);
        assert_eq!(with(|document| document.status = Some("closed".to_owned())), ["COLUMN_DIFFERS"]);
        assert_eq!(with(|document| document.names.truncate(1)), ["NAME_MISSING"]);
        assert_eq!(with(|document| document.feed = None), ["FEED_DIFFERS"]);
        assert_eq!(with(|document| document.body.clear()), ["RECORD_UNREADABLE"]);
    }

    #[test]
    fn what_is_sealed_is_opened_and_what_cannot_be_looked_at_is_counted() {
        let ours = vault("first", &[]);
        let sealed = ours.seal("here", &Secret::new("text")).expect("entropy");
        let opened = |vault: Option<&Vault>, context: &str| {
            let mut part = CheckedPart::new("things");
            let bytes = part.open(vault, "1", context, &sealed);
            (bytes, part.problems.first().map(|problem| problem.code), part.unchecked, part.is_sound())
        };
        assert_eq!(opened(Some(&ours), "here"), (Some(b"text".to_vec()), None, 0, true));
        assert_eq!(opened(Some(&ours), "there"), (None, Some("SEALED_UNREADABLE"), 0, false));
        assert_eq!(opened(Some(&vault("second", &[])), "here").1, Some("SEALED_UNREADABLE"));
        assert_eq!(opened(None, "here"), (None, None, 1, false));
    }

    #[test]
    fn problems_are_listed_up_to_a_bound() {
        let mut part = CheckedPart::new("things");
        (0..PROBLEMS_LISTED_MAX + 3).for_each(|at| part.add("X", at.to_string(), ""));
        assert_eq!((part.problems.len(), part.problems_unlisted), (PROBLEMS_LISTED_MAX, 3));
    }
}
