//! The port to what the gateway keeps: versioned records, changes that hold whole or not at all, the audit log, mail.
//!
//! A record is a JSON document with a key, at most one other unique name (its lookup), and a status that lists filter
//! on. What a record means is said beside its type; what a change may do is decided by the services in
//! `onboarding`, against the revision that they read. The store decides nothing: it takes a change
//! whose expected revisions hold and refuses any other, on every engine alike.

mod kind;
mod reading;

use std::fmt;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::audit::{AuditDraft, AuditEntry};
use crate::chain::ChainCheck;
use crate::clock::Timestamp;

pub use kind::Kind;
pub use reading::{Pages, all, changed, load, lookup, named, newest, page};

/// A record as the store keeps it.
#[derive(Clone, PartialEq, Eq)]
pub struct Document {
    /// Its key within the kind.
    pub key: String,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// Another unique name within the kind.
    pub lookup: Option<String>,
    /// What lists filter on.
    pub status: Option<String>,
    /// JSON text.
    pub body: String,
    /// Names to add under which it can be found, with others of its kind. They go with the record. Empty in what is read.
    pub names: Vec<String>,
    /// The feed that tells of this change. Absent in what is read.
    pub feed: Option<String>,
}

impl fmt::Debug for Document {
    /// Without the body: what a partner wrote does not belong in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("key", &self.key).field("revision", &self.revision).finish_non_exhaustive()
    }
}

/// A type that is kept as a record.
pub trait Record: Serialize + DeserializeOwned {
    /// Where it is kept.
    const KIND: Kind;

    fn key(&self) -> String;

    /// Another unique name, where it has one.
    fn lookup(&self) -> Option<String> {
        None
    }

    /// What lists filter on.
    fn status(&self) -> Option<&'static str> {
        None
    }

    /// Names that it shares with others of its kind, each at most [`NAME_MAX_BYTES`] long. One that it had before stays.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The feed that tells of its changes, at most [`NAME_MAX_BYTES`] long.
    fn feed(&self) -> Option<String> {
        None
    }
}

/// Bytes of a name or of a feed's name, at most.
pub const NAME_MAX_BYTES: usize = 512;

/// A record with the revision that it was read at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    /// Zero for one that is not kept yet.
    pub revision: u64,
    /// The record.
    pub value: T,
}

impl<T> Versioned<T> {
    /// A record that is not kept yet.
    pub fn new(value: T) -> Self {
        Self { revision: 0, value }
    }
}

/// One write of a change. It holds only if the record is at the revision `expected`.
#[derive(Clone, Debug)]
pub enum Write {
    /// Keeps a record. `document.revision` is the revision expected; it is kept at the next one. Zero expects that there
    /// is none.
    Put(Kind, Document),
    /// Removes a record.
    Delete(Kind, String, u64),
}

impl Write {
    /// The kind of the record.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Put(kind, _) | Self::Delete(kind, ..) => *kind,
        }
    }
}

/// A mail to be sent once the change holds. The text is sealed: it may carry a code.
#[derive(Clone, Debug)]
pub struct OutgoingMail {
    /// Unique.
    pub id: String,
    /// The mail, sealed by the vault.
    pub sealed: String,
    /// Not sent before this time.
    pub not_before: Timestamp,
}

/// A mail that this process has claimed to send.
#[derive(Clone, Debug)]
pub struct ClaimedMail {
    /// Unique.
    pub id: String,
    /// The mail, sealed by the vault.
    pub sealed: String,
    /// How often it was tried before.
    pub tries: u32,
}

/// What happens to a mail after a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailFate {
    /// It is gone, or will never go; it is forgotten.
    Done,
    /// It is tried again from this time on.
    Retry(Timestamp),
}

/// All that one step of a service changes, in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Records.
    pub writes: Vec<Write>,
    /// Entries of the audit log, in this order.
    pub audit: Vec<AuditDraft>,
    /// Mail to send.
    pub mail: Vec<OutgoingMail>,
}

impl Change {
    /// Keeps a record that was read at its revision, or a new one.
    ///
    /// # Panics
    /// Never: records are made of strings, numbers and maps with string keys.
    pub fn put<R: Record>(&mut self, record: &Versioned<R>) {
        let names = record.value.names();
        self.put_under(record, names);
    }

    /// The same for a record whose state `before` was kept with all its names by who now changes it: those are not written again.
    ///
    /// # Panics
    /// Never, likewise.
    pub fn put_changed<R: Record>(&mut self, record: &Versioned<R>, before: &R) {
        let known = before.names();
        let mut names = record.value.names();
        names.retain(|name| !known.contains(name));
        self.put_under(record, names);
    }

    fn put_under<R: Record>(&mut self, record: &Versioned<R>, names: Vec<String>) {
        let Versioned { revision, value } = record;
        let body = serde_json::to_string(value).expect("records always serialise");
        let document = Document {
            key: value.key(),
            revision: *revision,
            lookup: value.lookup(),
            status: value.status().map(str::to_owned),
            body,
            names,
            feed: value.feed(),
        };
        self.writes.push(Write::Put(R::KIND, document));
    }

    /// Removes a record that was read at its revision.
    pub fn delete<R: Record>(&mut self, record: &Versioned<R>) {
        self.writes.push(Write::Delete(R::KIND, record.value.key(), record.revision));
    }

    /// Whether other processes have to look at it.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.writes.iter().any(|write| write.kind().is_watched())
    }
}

/// Which records a list holds, by key in ascending order.
#[derive(Clone, Debug)]
pub struct List<'a> {
    /// Only those with this status.
    pub status: Option<&'a str>,
    /// Only those whose key is greater.
    pub after: Option<&'a str>,
    /// At most so many.
    pub limit: u32,
}

/// Which of the records of one name a list holds, by key in descending order.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub name: &'a str,
    /// Only those whose key is less.
    pub before: Option<&'a str>,
    /// At most so many.
    pub limit: u32,
}

/// Which records a list holds, by key in descending order.
#[derive(Clone, Copy, Debug)]
pub struct Newest<'a> {
    /// Only those with this status.
    pub status: Option<&'a str>,
    /// Only those whose key is less.
    pub before: Option<&'a str>,
    /// At most so many.
    pub limit: u32,
}

/// What of feeds is asked for, in the order of the changes.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'a> {
    /// Of all of these together.
    pub feeds: &'a [&'a str],
    /// Only records that were changed after the change of this number.
    pub after: u64,
    /// At most so many.
    pub limit: u32,
}

/// A record with the number of its latest change. Later changes, of whatever record, have greater numbers.
pub type ChangedDocument = (u64, Document);

/// How many records have a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCount {
    /// None of those that have no status.
    pub status: Option<String>,
    pub count: u64,
}

/// The store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A record is at another revision than expected, or is there and was not expected, or its lookup is taken.
    /// Nothing changed; reading again and deciding anew is in order.
    #[error("the {} record was changed by somebody else meanwhile", .0.name())]
    Conflict(Kind),
    /// The engine cannot be reached, or cannot write now: its connection broke or was refused, its disk is full or read-only, it
    /// is shutting down, it gave no answer in its time. Whether a change under way holds is not known when that happened during
    /// its commit.
    #[error("the store is not available: {0}")]
    Unavailable(String, #[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// The engine does not do what it was asked to: a defect of the gateway, or of what is kept.
    #[error("the store failed: {0}")]
    Engine(String, #[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// What is kept cannot be read.
    #[error("a {} record cannot be read", .0.name())]
    Corrupt(Kind, #[source] serde_json::Error),
    /// More waits for the store than it lets in; nothing changed.
    #[error("the store is busy")]
    Busy,
}

/// What a failure of the store means to whoever asked, where the failure itself has gone to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTrouble {
    /// The store is down, and will be back.
    Unavailable,
    /// There is more to do than it takes in.
    Busy,
    /// A defect: trying again changes nothing.
    Defect,
}

impl StoreError {
    /// What it means to whoever asked.
    #[must_use]
    pub fn trouble(&self) -> StoreTrouble {
        match self {
            Self::Unavailable(..) => StoreTrouble::Unavailable,
            Self::Busy => StoreTrouble::Busy,
            Self::Conflict(_) | Self::Engine(..) | Self::Corrupt(..) => StoreTrouble::Defect,
        }
    }
}

/// What the gateway keeps.
pub trait Store: Send + Sync {
    /// A record by its key.
    fn get<'a>(&'a self, kind: Kind, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>>;

    /// A record by its lookup.
    fn find<'a>(&'a self, kind: Kind, lookup: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>>;

    /// Records in order of their keys.
    fn list<'a>(&'a self, kind: Kind, list: List<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>>;

    /// Records from the greatest key down.
    fn newest<'a>(&'a self, kind: Kind, newest: Newest<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>>;

    /// How many records of a kind have each status. Reads no record.
    fn count(&self, kind: Kind) -> BoxFuture<'_, Result<Vec<StatusCount>, StoreError>>;

    /// Records of one name, from the greatest key down.
    fn named<'a>(&'a self, kind: Kind, named: Named<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>>;

    /// Records that were changed, as they are now: each once, at the place of its latest change. Whoever asks on with the number
    /// of the last one misses no change, at whichever process it was made.
    fn changed<'a>(
        &'a self,
        kind: Kind,
        changed: Changed<'a>,
    ) -> BoxFuture<'a, Result<Vec<ChangedDocument>, StoreError>>;

    /// Carries out a change: whole, durably, and in force for every later read, or not at all. The revision that each of its
    /// writes has led to, in their order; for a record that is removed, that which it had.
    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Vec<u64>, StoreError>>;

    /// The audit log from before its first entry on: with the keys that are at hand, and from where on links are under one.
    fn audit_chain(&self) -> BoxFuture<'_, Result<ChainCheck, StoreError>>;

    /// Entries of the audit log after a sequence number, oldest first, at most `limit`; of one subject alone if given.
    fn audit<'a>(
        &'a self,
        subject: Option<&'a str>,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<AuditEntry>, StoreError>>;

    /// Takes mails whose time has come; nobody else gets them for `lease_ms`.
    fn claim_mail(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ClaimedMail>, StoreError>>;

    /// Says what becomes of a claimed mail.
    fn settle_mail<'a>(&'a self, id: &'a str, fate: MailFate) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The number of watched changes so far, over all processes.
    fn changes(&self) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Waits until that number is another than `seen`, and returns it. A change of this process is seen at once,
    /// one of another within a second.
    fn wait_for_change(&self, seen: u64) -> BoxFuture<'_, u64>;
}
