//! The store itself: the core's port, over either engine.

use std::fmt;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::audit::{AuditDraft, AuditEntry};
use intent_gateway_domain::chain::{ChainCheck, ChainKeys};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::growth::ReceiptBounds;
use intent_gateway_domain::store::{
    Change, Changed, ChangedDocument, ClaimedMail, Document, Kind, List, MailFate, NAME_MAX_BYTES, Named, Newest,
    OutgoingMail, StatusCount, Store, StoreError, Write,
};
use intent_gateway_domain::vault::Vault;

use crate::chains::Chains;
use crate::changes::Changes;
use crate::engine::{Engine, Patience, Session, Tx};
use crate::error::{BackupError, EngineError, OpenError};
use crate::installation::ABSENT_FILE;
use crate::location::Location;
use crate::receipts::{self, Receipts};
use crate::sqlite::OpenSegments;
use crate::value::{Row, Value};
use crate::watch::Watch;
use crate::{feed, migrate, tables};

/// Rows of one answer, whatever the caller asks for.
pub(crate) const PAGE_MAX: u32 = 1_000;
/// Bytes of one record. The largest ones hold all that a probe saw of a partner.
pub(crate) const DOCUMENT_MAX_BYTES: usize = 16 * 1024 * 1024;
/// A text that is greater than every key, by bytes.
const AFTER_ALL_KEYS: &str = "\u{10ffff}";
/// Writes, entries and mails of one change.
const CHANGE_PARTS_MAX: usize = 1_000;

/// A database that is open, migrated and watched.
pub struct SqlStore {
    pub(crate) engine: Engine,
    pub(crate) chains: Chains,
    pub(crate) receipts: Receipts,
    changes: Changes,
    watch: Watch,
}

impl fmt::Debug for SqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SqlStore")
    }
}

impl SqlStore {
    /// Opens a database, which is made (SQLite) or filled with its tables (both) if it is new. The vault has the keys of the audit
    /// log and of the ledger; without it both can be read, and nothing can be added to them.
    ///
    /// # Errors
    /// [`OpenError`] when it cannot be reached, has been used by a newer gateway, or would not keep what it acknowledges.
    pub async fn open(location: &Location, vault: Option<&Vault>) -> Result<Self, OpenError> {
        Self::open_engine(Engine::open(location, Patience::default()).await?, location, vault).await
    }

    /// Opens a database that a gateway has used before; for commands that only look, and must not make an empty one at an
    /// address that was mistyped.
    ///
    /// # Errors
    /// [`OpenError::Absent`] where there is none, else as [`open`](Self::open).
    pub async fn open_existing(location: &Location, vault: Option<&Vault>) -> Result<Self, OpenError> {
        if location.is_missing() {
            return Err(OpenError::Absent(ABSENT_FILE));
        }
        let engine = Engine::open(location, Patience::default()).await?;
        Self::expect_tables(&engine).await?;
        Self::open_engine(engine, location, vault).await
    }

    async fn open_engine(engine: Engine, location: &Location, vault: Option<&Vault>) -> Result<Self, OpenError> {
        let migrated = migrate::run(&engine).await?;
        let chains = Chains::of(vault);
        if migrated.has_new_chain_starts {
            chains.begin(&engine).await?;
        }
        engine.warn_of_loss().await?;
        let receipts = Receipts::open(location, Patience::default())?;
        receipts::tell_of_strangers(&engine, &receipts).await?;
        let watch = Watch::start(engine.clone()).await?;
        let changes = Changes::open(engine.clone(), chains.audit.clone());
        Ok(Self { changes, engine, chains, receipts, watch })
    }

    /// Says how many receipts are kept, which whoever serves has to say once. Otherwise nothing bounds their room.
    pub fn bound_receipts(&self, bounds: ReceiptBounds) {
        self.receipts.set_bounds(bounds);
    }

    /// Begins to put the links of the audit log and of the ledger under the key, if somebody without a key was the first to open the
    /// database. Whoever serves does so; whoever only looks must not, or a record that was removed would be made anew.
    ///
    /// # Errors
    /// [`OpenError`] when the engine fails.
    pub async fn begin_chains(&self) -> Result<(), OpenError> {
        Ok(self.chains.begin(&self.engine).await?)
    }

    /// Closes the database in good order. Dropping is as safe and leaves the tidying to the next who opens it.
    pub async fn close(self) {
        let Self { engine, chains: _, receipts, changes, watch } = self;
        changes.close().await;
        drop(changes);
        watch.stop().await;
        receipts.close().await;
        engine.close().await;
    }

    /// Follows the audit log from its first entry on, with what keys are at hand; the number of its entries and the link of the last.
    ///
    /// # Errors
    /// [`BackupError::Audit`] when it does not hold together, or [`BackupError::Engine`].
    pub async fn verify_audit(&self) -> Result<(u64, Digest), BackupError> {
        let mut tx = self.engine.read().await?;
        let head = follow_audit(&mut tx, &self.chains).await;
        tx.rollback().await;
        head
    }

    /// Has SQLite look through its files for damage, those of receipts included: each page, each index against its table. PostgreSQL looks after its
    /// own files; there is nothing to ask it.
    ///
    /// # Errors
    /// [`BackupError::FileDamaged`] with what was found first, or [`BackupError::Engine`].
    pub async fn check_file(&self) -> Result<(), BackupError> {
        if let Engine::Postgres(_) = self.engine {
            return Ok(());
        }
        let mut tx = self.engine.read().await?;
        let found = tx.query("PRAGMA integrity_check", Vec::new()).await;
        tx.rollback().await;
        let mut found = found?;
        for known in receipts::kept(&self.engine).await? {
            let look = |segments: &mut OpenSegments, file| segments.ask(file, "PRAGMA integrity_check");
            // A file that is missing holds nothing, and was removed by hand.
            found.extend(self.ask_segment(known.segment.number, look).await?.unwrap_or_default());
        }
        for row in found {
            match row.text(0)?.as_str() {
                "ok" => {}
                damage => return Err(BackupError::FileDamaged(damage.to_owned())),
            }
        }
        Ok(())
    }

    /// Whether a change could be kept now: counts this look, durably. Another value each time, for SQLite writes nothing where
    /// nothing changes.
    ///
    /// # Errors
    /// [`StoreError`], as a change would meet it.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        let write = async {
            let mut tx = self.engine.write().await?;
            tx.execute(COUNT_LOOK, Vec::new()).await?;
            tx.commit().await
        };
        write.await.map_err(EngineError::into_store)
    }

    /// Takes note of a change of this process.
    pub(crate) fn moved_to(&self, count: u64) {
        self.watch.moved_to(count);
    }

    async fn carry_out(&self, change: Change) -> Result<Vec<u64>, StoreError> {
        check(&change)?;
        let Applied { revisions, watched } = self.changes.submit(change).await?;
        if let Some(count) = watched {
            self.moved_to(count);
        }
        Ok(revisions)
    }

    async fn rows<T>(
        &self,
        sql: &'static str,
        values: Vec<Value>,
        parse: impl Fn(&Row) -> Result<T, EngineError>,
    ) -> Result<Vec<T>, StoreError> {
        values.iter().try_for_each(Value::check).map_err(EngineError::into_store)?;
        let rows = self.engine.query(sql, values).await.map_err(EngineError::into_store)?;
        rows.iter().map(parse).collect::<Result<_, _>>().map_err(EngineError::into_store)
    }

    async fn claim(&self, now: Timestamp, lease_ms: u64, limit: u32) -> Result<Vec<ClaimedMail>, EngineError> {
        let due_by = Value::time(now)?;
        // Most times nothing is due, and nobody has to wait for the lock to learn that.
        let due = "SELECT id FROM mail WHERE not_before_ms <= $1 LIMIT 1";
        if limit == 0 || self.engine.query(due, vec![due_by.clone()]).await?.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = self.engine.write().await?;
        let sql = "UPDATE mail SET not_before_ms = $2, tries = tries + 1 WHERE id IN \
                   (SELECT id FROM mail WHERE not_before_ms <= $1 ORDER BY not_before_ms, id LIMIT $3) \
                   RETURNING id, sealed, tries - 1";
        let until = Value::time(now.plus_ms(lease_ms))?;
        let rows = tx.query(sql, vec![due_by, until, limit.min(PAGE_MAX).into()]).await?;
        tx.commit().await?;
        rows.iter().map(tables::claimed_mail).collect()
    }

    async fn settle(&self, id: &str, fate: MailFate) -> Result<(), EngineError> {
        let mut tx = self.engine.write().await?;
        match fate {
            MailFate::Done => tx.execute("DELETE FROM mail WHERE id = $1", vec![id.into()]).await?,
            MailFate::Retry(at) => {
                let sql = "UPDATE mail SET not_before_ms = $2 WHERE id = $1";
                tx.execute(sql, vec![id.into(), Value::time(at)?]).await?
            }
        };
        tx.commit().await
    }
}

impl Store for SqlStore {
    fn get<'a>(&'a self, kind: Kind, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        async move { Ok(self.rows(tables::of(kind).by_key, vec![key.into()], tables::document).await?.pop()) }.boxed()
    }

    fn find<'a>(&'a self, kind: Kind, lookup: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        async move { Ok(self.rows(tables::of(kind).by_lookup, vec![lookup.into()], tables::document).await?.pop()) }
            .boxed()
    }

    fn list<'a>(&'a self, kind: Kind, list: List<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        async move {
            let mut values = vec![list.after.unwrap_or_default().into(), list.limit.min(PAGE_MAX).into()];
            let sql = match list.status {
                None => tables::of(kind).page,
                Some(status) => {
                    values.push(status.into());
                    tables::of(kind).page_of_status
                }
            };
            self.rows(sql, values, tables::document).await
        }
        .boxed()
    }

    fn newest<'a>(&'a self, kind: Kind, newest: Newest<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        async move {
            let Newest { status, before, limit } = newest;
            let mut values = vec![before.unwrap_or(AFTER_ALL_KEYS).into(), limit.min(PAGE_MAX).into()];
            let sql = match status {
                None => tables::of(kind).newest,
                Some(status) => {
                    values.push(status.into());
                    tables::of(kind).newest_of_status
                }
            };
            self.rows(sql, values, tables::document).await
        }
        .boxed()
    }

    fn count(&self, kind: Kind) -> BoxFuture<'_, Result<Vec<StatusCount>, StoreError>> {
        let counted = |row: &Row| Ok(StatusCount { status: row.optional_text(0)?, count: row.number(1)? });
        self.rows(tables::of(kind).counts, Vec::new(), counted).boxed()
    }

    fn named<'a>(&'a self, kind: Kind, named: Named<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        async move {
            let Named { name, before, limit } = named;
            let values = vec![name.into(), before.unwrap_or(AFTER_ALL_KEYS).into(), limit.min(PAGE_MAX).into()];
            self.rows(tables::of(kind).named, values, tables::document).await
        }
        .boxed()
    }

    fn changed<'a>(
        &'a self,
        kind: Kind,
        changed: Changed<'a>,
    ) -> BoxFuture<'a, Result<Vec<ChangedDocument>, StoreError>> {
        feed::read(&self.engine, kind, changed).map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Vec<u64>, StoreError>> {
        self.carry_out(change).boxed()
    }

    fn audit_chain(&self) -> BoxFuture<'_, Result<ChainCheck, StoreError>> {
        let chain = self.chains.read(&self.engine, ChainName::Audit);
        chain.map(|chain| chain.map_err(EngineError::into_store)).boxed()
    }

    fn audit<'a>(
        &'a self,
        subject: Option<&'a str>,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        async move {
            let after = Value::number(after).map_err(EngineError::into_store)?;
            let mut values = vec![after, limit.min(PAGE_MAX).into()];
            let sql = match subject {
                None => AUDIT_PAGE,
                Some(subject) => {
                    values.push(subject.into());
                    AUDIT_PAGE_OF_SUBJECT
                }
            };
            self.rows(sql, values, tables::audit_entry).await
        }
        .boxed()
    }

    fn claim_mail(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ClaimedMail>, StoreError>> {
        self.claim(now, lease_ms, limit).map(|claimed| claimed.map_err(EngineError::into_store)).boxed()
    }

    fn settle_mail<'a>(&'a self, id: &'a str, fate: MailFate) -> BoxFuture<'a, Result<(), StoreError>> {
        self.settle(id, fate).map(|settled| settled.map_err(EngineError::into_store)).boxed()
    }

    fn changes(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        tables::changes(&self.engine).map(|count| count.map_err(EngineError::into_store)).boxed()
    }

    fn wait_for_change(&self, seen: u64) -> BoxFuture<'_, u64> {
        self.watch.moved_from(seen).boxed()
    }
}

/// Counts the looks whether the store takes writes.
const COUNT_LOOK: &str = "INSERT INTO counters (name, value) VALUES ('looks', 1) \
                          ON CONFLICT (name) DO UPDATE SET value = counters.value + 1";
const AUDIT_PAGE: &str = "SELECT seq, at_ms, role, actor, action, subject, detail, hash FROM audit_log \
                          WHERE seq > $1 ORDER BY seq LIMIT $2";
const AUDIT_PAGE_OF_SUBJECT: &str = "SELECT seq, at_ms, role, actor, action, subject, detail, hash FROM audit_log \
                                     WHERE subject = $3 AND seq > $1 ORDER BY seq LIMIT $2";

/// Refuses what is larger than any change that the services make.
fn check(change: &Change) -> Result<(), StoreError> {
    let Change { writes, audit, mail } = change;
    let too_large = |what: &str| Err(StoreError::Engine(what.to_owned(), None));
    if writes.len() + audit.len() + mail.len() > CHANGE_PARTS_MAX {
        return too_large("a change has too many parts");
    }
    let body = |write: &Write| match write {
        Write::Put(_, document) => document.body.len(),
        Write::Delete(..) => 0,
    };
    if writes.iter().any(|write| body(write) > DOCUMENT_MAX_BYTES) {
        return too_large("a record is too large");
    }
    let names = |write: &Write| match write {
        Write::Put(kind, document) => {
            let fits = |name: &String| kind.has_names() && name.len() <= NAME_MAX_BYTES;
            let is_told = |feed: &String| kind.has_feed() && feed.len() <= NAME_MAX_BYTES;
            document.names.len() <= CHANGE_PARTS_MAX
                && document.names.iter().all(fits)
                && document.feed.iter().all(is_told)
        }
        Write::Delete(..) => true,
    };
    if !writes.iter().all(names) {
        return too_large("a record has a name or a feed that cannot be kept");
    }
    Ok(())
}

/// What a change has led to.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The revision of each record that it writes.
    pub(crate) revisions: Vec<u64>,
    /// The number of watched changes so far, where it is one.
    pub(crate) watched: Option<u64>,
}

/// Carries out a change within a transaction.
pub(crate) async fn apply(tx: &mut impl Session, change: Change, keys: &ChainKeys) -> Result<Applied, StoreError> {
    let is_watched = change.is_watched();
    let Change { writes, audit, mail } = change;
    let mut revisions = Vec::with_capacity(writes.len());
    for write in writes {
        let (kind, done) = match write {
            Write::Put(kind, document) => (kind, tables::put(tx, kind, document).await),
            Write::Delete(kind, key, revision) => (kind, tables::delete(tx, kind, key, revision).await),
        };
        let revision = done.map_err(|error| error.into_store_for(kind))?;
        revisions.push(revision.ok_or(StoreError::Conflict(kind))?);
    }
    let watched = add(tx, audit, mail, is_watched, keys).await.map_err(EngineError::into_store)?;
    Ok(Applied { revisions, watched })
}

async fn add(
    tx: &mut impl Session,
    audit: Vec<AuditDraft>,
    mail: Vec<OutgoingMail>,
    watched: bool,
    keys: &ChainKeys,
) -> Result<Option<u64>, EngineError> {
    if !audit.is_empty() {
        tables::append_audit(tx, audit, keys).await?;
    }
    for mail in mail {
        tables::put_mail(tx, mail).await?;
    }
    if watched { tables::count_change(tx).await.map(Some) } else { Ok(None) }
}

/// Follows the audit log as a transaction sees it.
pub(crate) async fn follow_audit(tx: &mut Tx, chains: &Chains) -> Result<(u64, Digest), BackupError> {
    let mut chain = chains.follow(tx, ChainName::Audit).await?;
    chain.check_start().map_err(BackupError::Audit)?;
    loop {
        let after = Value::number(chain.head().0)?;
        let rows = tx.query(AUDIT_PAGE, vec![after, PAGE_MAX.into()]).await?;
        if rows.is_empty() {
            chain.check_end().map_err(BackupError::Audit)?;
            return Ok(chain.head());
        }
        for row in &rows {
            chain.take(&tables::audit_entry(row)?).map_err(BackupError::Audit)?;
        }
    }
}
