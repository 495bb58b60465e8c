//! The ledger's port, over either engine.
//!
//! A batch of bookings is one transaction: what was booked before for its orders is looked up, the rest is numbered and
//! linked after the last entry, and added. On SQLite all of it is one job of the thread that writes; on PostgreSQL it
//! is four round trips, whatever the size of the batch, one more where something was found in its reports, and four more where
//! they close orders. Both hold the lock of all writers meanwhile. Look-ups hold no lock and wait for none.

mod batch;
mod known;
mod orders;
mod row;
mod sums;

use std::collections::HashMap;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::chain::{ChainCheck, ChainKeys, Link};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::delivered::{Deliveries, Tally};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::{Kind, StoreError};
use intent_gateway_ledger::completion::ReportKey;
use intent_gateway_ledger::{
    BATCH_MAX, Booked, Booking, Books, CorrectedEntries, Correction, ENTRIES_READ_MAX, Entry, EntryKind, KnownOrder,
    Month, OrderQuery, Posting, StoredEntry, TrialBalance, Verification, Verifier, genesis, link, reverse,
};

use crate::chains::{self, Chains};
use crate::engine::{Engine, Tx};
use crate::error::EngineError;
use crate::evidence;
use crate::postgres::Postgres;
use crate::records::SqlStore;
use crate::sqlite;
use crate::tables;
use crate::value::{Column, Row, Value};
use batch::{Batch, BatchOutcome};
use row::{columns, values};

const PAGE: &str = concat!("SELECT ", columns!(), " FROM ledger WHERE number > $1 ORDER BY number LIMIT $2");
const PAGE_OF_MONTH: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger WHERE partner = $1 AND month = $2 AND number > $3 ORDER BY number LIMIT $4"
);
/// What came last for an order: a booking that stands, or a reversal.
const LATEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger WHERE partner = $1 AND intent = $2 AND external_id = $3 ORDER BY turn DESC LIMIT 1"
);
/// What was last booked for an order, whether or not it stands. A booking is told by its kind, which its link covers, and not by
/// `reverses`: whoever owns the database could hide it so.
const LAST_BOOKED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger WHERE partner = $1 AND intent = $2 AND external_id = $3 AND kind < 2 ORDER BY turn DESC LIMIT 1"
);
/// The same for many orders at once, and the last entry of all under the number 0.
const HEAD_AND_LAST_BOOKED: &str = concat!(
    "(SELECT ",
    columns!(),
    ", 0::bigint AS place FROM ledger ORDER BY number DESC LIMIT 1) UNION ALL SELECT ",
    columns!(),
    ", place FROM UNNEST($1, $2, $3) WITH ORDINALITY AS wanted (the_partner, the_intent, the_external_id, place) \
     CROSS JOIN LATERAL (SELECT ",
    columns!(),
    " FROM ledger WHERE partner = the_partner AND intent = the_intent AND external_id = the_external_id \
     AND kind < 2 ORDER BY turn DESC LIMIT 1) AS booked"
);
const INSERT: &str = concat!(
    "INSERT INTO ledger (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)"
);
const INSERT_MANY: &str = concat!(
    "INSERT INTO ledger (",
    columns!(),
    ") SELECT * FROM UNNEST($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
     $20, $21, $22)"
);

impl SqlStore {
    /// Follows the ledger from its first entry on, as it is at this moment, and says what is wrong with it.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails. That an entry cannot be read is a fault of the ledger.
    pub async fn verify_ledger(&self) -> Result<Verification, StoreError> {
        let mut tx = self.engine.read().await.map_err(EngineError::into_store)?;
        let found = follow(&mut tx, &self.chains).await;
        tx.rollback().await;
        found.map_err(EngineError::into_store)
    }

    async fn book_batch(&self, bookings: Vec<Booking>) -> Result<Vec<Booked>, EngineError> {
        if bookings.is_empty() {
            return Ok(Vec::new());
        }
        if bookings.len() > BATCH_MAX {
            return Err(EngineError::failed("a batch has too many bookings"));
        }
        let (batch, keys) = (Batch::new(bookings), chains::require(&self.chains.ledger)?.clone());
        match &self.engine {
            Engine::Sqlite(engine) => engine.batch(move |tx| book_on_sqlite(tx, batch, &keys)).await,
            Engine::Postgres(engine) => book_on_postgres(engine, batch, &keys).await,
        }
    }

    async fn carry_out_correction(&self, correction: Correction) -> Result<Option<CorrectedEntries>, EngineError> {
        let replacement = Booking::new(correction.replacement, Vec::new())
            .map_err(|error| EngineError::because("the replacement cannot be kept", error))?;
        let mut tx = self.engine.write().await?;
        let done = correct(&mut tx, correction.reversal, replacement, &self.chains.ledger).await;
        finish(tx, done).await
    }

    async fn carry_out_reversal(&self, reversal: Posting) -> Result<Option<Entry>, EngineError> {
        let mut tx = self.engine.write().await?;
        let done = take_back(&mut tx, reversal, &self.chains.ledger).await;
        finish(tx, done).await
    }

    async fn read_entries(&self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Entry>, EngineError> {
        values.iter().try_for_each(Value::check)?;
        self.engine.query(sql, values).await?.iter().map(row::entry).collect()
    }

    async fn find_standing(&self, order: &ReportKey) -> Result<Option<Entry>, EngineError> {
        let latest = self.read_entries(LATEST, key(order)).await?.pop();
        Ok(latest.filter(|entry| !matches!(entry.posting.kind, EntryKind::Reversal { .. })))
    }
}

impl Deliveries for SqlStore {
    fn sum_delivered<'a>(
        &'a self,
        partner: Option<&'a PartnerId>,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<Tally>, StoreError>> {
        self.count_delivered(partner, since).map(|tallies| tallies.map_err(EngineError::into_store)).boxed()
    }

    fn partners_of_month<'a>(
        &'a self,
        month: &'a str,
        after: Option<&'a PartnerId>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<PartnerId>, StoreError>> {
        let found = self.find_partners_of_month(month, after, limit);
        found.map(|found| found.map_err(EngineError::into_store)).boxed()
    }
}

impl Books for SqlStore {
    fn book(&self, bookings: Vec<Booking>) -> BoxFuture<'_, Result<Vec<Booked>, StoreError>> {
        self.book_batch(bookings).map(|booked| booked.map_err(EngineError::into_store)).boxed()
    }

    fn look_up(&self, asked: Vec<OrderQuery>) -> BoxFuture<'_, Result<Vec<KnownOrder>, StoreError>> {
        self.look_up_batch(asked).map(|known| known.map_err(EngineError::into_store)).boxed()
    }

    fn take_back(&self, reversal: Posting) -> BoxFuture<'_, Result<Option<Entry>, StoreError>> {
        self.carry_out_reversal(reversal).map(|done| done.map_err(EngineError::into_store)).boxed()
    }

    fn correct(&self, correction: Correction) -> BoxFuture<'_, Result<Option<CorrectedEntries>, StoreError>> {
        self.carry_out_correction(correction).map(|done| done.map_err(EngineError::into_store)).boxed()
    }

    fn find_standing<'a>(&'a self, order: &'a ReportKey) -> BoxFuture<'a, Result<Option<Entry>, StoreError>> {
        self.find_standing(order).map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn entries(&self, after: u64, limit: u32) -> BoxFuture<'_, Result<Vec<Entry>, StoreError>> {
        let read = async move {
            let values = vec![Value::number(after)?, limit.min(ENTRIES_READ_MAX).into()];
            self.read_entries(PAGE, values).await
        };
        read.map(|entries| entries.map_err(EngineError::into_store)).boxed()
    }

    fn stored(&self, after: u64, limit: u32) -> BoxFuture<'_, Result<Vec<StoredEntry>, StoreError>> {
        let read = async move {
            let values = vec![Value::number(after)?, limit.min(ENTRIES_READ_MAX).into()];
            let rows = self.engine.query(PAGE, values).await?;
            rows.iter().map(row::stored).collect::<Result<Vec<_>, EngineError>>()
        };
        read.map(|stored| stored.map_err(EngineError::into_store)).boxed()
    }

    fn entries_of<'a>(
        &'a self,
        partner: &'a PartnerId,
        month: Month,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        let read = async move {
            let (month, limit) = (month.to_string(), limit.min(ENTRIES_READ_MAX));
            let values = vec![partner.as_str().into(), month.into(), Value::number(after)?, limit.into()];
            self.read_entries(PAGE_OF_MONTH, values).await
        };
        read.map(|entries| entries.map_err(EngineError::into_store)).boxed()
    }

    fn months_of<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<Vec<Month>, StoreError>> {
        self.find_months(partner).map(|months| months.map_err(EngineError::into_store)).boxed()
    }

    fn trial_balance(&self) -> BoxFuture<'_, Result<TrialBalance, StoreError>> {
        self.sum_balances().map(|trial| trial.map_err(EngineError::into_store)).boxed()
    }

    fn chain(&self) -> BoxFuture<'_, Result<ChainCheck, StoreError>> {
        let chain = self.chains.read(&self.engine, ChainName::Ledger);
        chain.map(|chain| chain.map_err(EngineError::into_store)).boxed()
    }

    fn head(&self) -> BoxFuture<'_, Result<(u64, Digest), StoreError>> {
        let read = async move {
            let last = self.engine.query(chains::last(ChainName::Ledger), Vec::new()).await?;
            head(last.first())
        };
        read.map(|head| head.map_err(EngineError::into_store)).boxed()
    }
}

/// Number and link of the last entry, out of its row.
fn head(row: Option<&Row>) -> Result<(u64, Digest), EngineError> {
    let (number, Link { hash, .. }) = chains::head(row, ChainName::Ledger)?;
    Ok((number, hash))
}

fn key(order: &ReportKey) -> Vec<Value> {
    vec![order.partner.as_str().into(), order.intent.as_str().into(), order.external_id.as_str().into()]
}

fn book_on_sqlite(tx: &sqlite::Batch<'_>, batch: Batch, keys: &ChainKeys) -> Result<Vec<Booked>, EngineError> {
    let mut booked = HashMap::new();
    for order in batch.orders() {
        if let Some(row) = tx.query(LAST_BOOKED, &key(order))?.first() {
            booked.insert(order.clone(), row::entry(row)?);
        }
    }
    let mut orders = HashMap::new();
    for id in batch.closes() {
        if let Some(row) = tx.query(tables::of(Kind::Orders).by_key, &[id.as_str().into()])?.first() {
            orders.insert(id.clone(), orders::read(row)?);
        }
    }
    let head = head(tx.query(chains::last(ChainName::Ledger), &[])?.first())?;
    let BatchOutcome { new, findings, closed, answers } = batch.decide(booked, orders, head, keys);
    for entry in &new {
        tx.execute(INSERT, &values(entry, 0)?)?;
    }
    for order in &closed {
        orders::close_on_sqlite(tx, order)?;
    }
    let findings: Vec<_> = findings.iter().map(evidence::finding_values).collect();
    evidence::keep_findings_on_sqlite(tx, &findings)?;
    Ok(answers)
}

async fn book_on_postgres(engine: &Postgres, batch: Batch, keys: &ChainKeys) -> Result<Vec<Booked>, EngineError> {
    let wanted = Column::of_rows(batch.orders().map(key).collect())?;
    let mut tx = engine.write().await?;
    let mut head = (0, genesis());
    let mut booked = HashMap::new();
    for row in tx.query_columns(HEAD_AND_LAST_BOOKED, &wanted).await? {
        let entry = row::entry(&row)?;
        if row.number(row::WIDTH)? == 0 {
            head = (entry.number, entry.hash);
        } else {
            booked.insert(entry.posting.order(), entry);
        }
    }
    let orders = orders::to_close_on_postgres(&mut tx, batch.closes()).await?;
    let BatchOutcome { new, findings, closed, answers } = batch.decide(booked, orders, head, keys);
    if new.is_empty() {
        tx.rollback().await;
        return Ok(answers);
    }
    let rows = new.iter().map(|entry| values(entry, 0)).collect::<Result<_, _>>()?;
    tx.query_columns(INSERT_MANY, &Column::of_rows(rows)?).await?;
    orders::close_on_postgres(&mut tx, &closed).await?;
    let findings = findings.iter().map(evidence::finding_values).collect();
    evidence::keep_findings_on_postgres(&mut tx, findings).await?;
    tx.commit().await?;
    Ok(answers)
}

/// Commits what was done, or gives up what was not. A turn, or the place of what takes an entry back, that is taken is one that
/// somebody has written past the gateway: the entry does not stand as it seems, and a verification says why.
async fn finish<T>(tx: Tx, done: Result<Option<T>, EngineError>) -> Result<Option<T>, EngineError> {
    match done {
        Ok(Some(done)) => {
            tx.commit().await?;
            Ok(Some(done))
        }
        Err(EngineError::Taken) => {
            tx.rollback().await;
            Ok(None)
        }
        other => {
            tx.rollback().await;
            other
        }
    }
}

async fn correct(
    tx: &mut Tx,
    reversal: Posting,
    replacement: Booking,
    keys: &ChainKeys,
) -> Result<Option<CorrectedEntries>, EngineError> {
    let (replacement, _) = replacement.into_parts();
    let Some((reversal, turn)) = reversible(tx, &replacement.order(), reversal, keys).await? else { return Ok(None) };
    let replacement = link(replacement, reversal.number + 1, reversal.hash, keys);
    tx.execute(INSERT, values(&reversal, turn)?).await?;
    tx.execute(INSERT, values(&replacement, turn + 1)?).await?;
    Ok(Some(CorrectedEntries { reversal, replacement }))
}

async fn take_back(tx: &mut Tx, reversal: Posting, keys: &ChainKeys) -> Result<Option<Entry>, EngineError> {
    let order = reversal.order();
    let Some((reversal, turn)) = reversible(tx, &order, reversal, keys).await? else { return Ok(None) };
    tx.execute(INSERT, values(&reversal, turn)?).await?;
    Ok(Some(reversal))
}

/// A reversal with its place in the ledger and its turn, if it takes back what stands for the order.
async fn reversible(
    tx: &mut Tx,
    order: &ReportKey,
    reversal: Posting,
    keys: &ChainKeys,
) -> Result<Option<(Entry, u64)>, EngineError> {
    let rows = tx.query(LATEST, key(order)).await?;
    let Some(latest) = rows.first() else { return Ok(None) };
    let (standing, turn) = (row::entry(latest)?, row::turn(latest)?);
    // What stands, taken back for the same reason at the same time, must be what is to be booked.
    let reason = match &reversal.kind {
        EntryKind::Reversal { reason, .. } => reason.as_str(),
        EntryKind::Charge | EntryKind::Memorandum => return Ok(None),
    };
    if reverse(&standing, reason, reversal.posted_at_ms).as_ref() != Ok(&reversal) {
        return Ok(None);
    }
    let (number, hash) = head(tx.query(chains::last(ChainName::Ledger), Vec::new()).await?.first())?;
    Ok(Some((link(reversal, number + 1, hash, chains::require(keys)?), turn + 1)))
}

/// Follows the ledger as a transaction sees it.
pub(crate) async fn follow(tx: &mut Tx, chains: &Chains) -> Result<Verification, EngineError> {
    let mut verifier = Verifier::new(chains.follow(tx, ChainName::Ledger).await?, &[]);
    let mut after = 0;
    loop {
        let rows = tx.query(PAGE, vec![Value::number(after)?, ENTRIES_READ_MAX.into()]).await?;
        if rows.is_empty() {
            return Ok(verifier.finish());
        }
        for row in &rows {
            let stored = row::stored(row)?;
            after = stored.number;
            verifier.take_stored(&stored);
        }
    }
}
