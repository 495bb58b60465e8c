//! Receipts are kept, many at once, in the newest segment.

use std::collections::HashSet;
use std::sync::Arc;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::growth::Segment;

use super::transfer::value_bytes;
use super::{
    INSERT_DICTIONARY, INSERT_SEGMENT, KnownSegment, NEXT_NUMBER, begun_value, first_number, kept, partitions,
};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evidence::{PackedRows, ReceiptRows};
use crate::packing::{NewDictionary, Packer};
use crate::postgres::Postgres;
use crate::records::SqlStore;
use crate::sqlite::{Batch, OpenSegments, Sqlite};
use crate::value::{Column, Row, Value};

/// How often a segment is looked for that can be written. Another process may have forgotten the one that was found.
const TRIES: u32 = 4;

const INSERT_RECEIPT: &str = "INSERT INTO receipts (id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, \
                              dictionary, number) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const INSERT_PART: &str = "INSERT INTO receipt_parts (place, partner, request_id, intent, at_ms, shown, quoted, body, \
                           dictionary, receipt) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const LAST_NUMBER: &str = "SELECT number FROM receipts ORDER BY number DESC LIMIT 1";
const IS_KNOWN: &str = "SELECT number FROM receipts WHERE id = $1";

/// The newest segment; the lock on its row is held to the commit, so gateways that share the database keep receipts one after the
/// other, and nobody else waits for them. A lock leaves the row as it is: PostgreSQL keeps each state of a row for whoever has a
/// snapshot from before, and looks through all of them, so a row that every page changes is changed once.
const LOCK_NEWEST: &str = "SELECT number, begun_at_ms, payload_bytes, receipts, COALESCE(file, number), remaining, looked_at_ms, changes \
                           FROM receipt_segments WHERE state = 'kept' \
                           AND number = (SELECT MAX(number) FROM receipt_segments WHERE state = 'kept') FOR UPDATE";
const COUNT: &str =
    "UPDATE receipt_segments SET receipts = receipts + $2, payload_bytes = payload_bytes + $3 WHERE number = $1";
/// Those of the identifiers that one of the two newest segments has.
const KNOWN_OF_MANY: &str = "SELECT id FROM UNNEST($1, $2) AS wanted (the_id, the_least) \
                             JOIN segment_receipts ON id = the_id AND number > the_least";
const INSERT_RECEIPTS: &str = concat!(
    "INSERT INTO segment_receipts (id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, ",
    "dictionary, number) SELECT * FROM UNNEST($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
);
const INSERT_PARTS: &str = "INSERT INTO segment_receipt_parts (place, partner, request_id, intent, at_ms, shown, quoted, body, \
                            dictionary, receipt) SELECT * FROM UNNEST($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

/// Receipts that are kept together.
#[derive(Default)]
pub(crate) struct ReceiptPage(pub(crate) Vec<ReceiptRows>);

impl ReceiptPage {
    /// The latest time of a receipt on it: what the age of a segment is measured by, so that no clock is asked here.
    fn latest(&self) -> Timestamp {
        self.0.iter().map(|receipt| receipt.at).max().unwrap_or(Timestamp::EPOCH)
    }
}

impl SqlStore {
    /// Keeps receipts, all or none.
    pub(crate) async fn keep_receipts(&self, page: Arc<ReceiptPage>) -> Result<(), EngineError> {
        if page.0.is_empty() {
            return Ok(());
        }
        let now = page.latest();
        for _ in 0..TRIES {
            let is_kept = match &self.engine {
                Engine::Sqlite(engine) => self.keep_in_file(engine, &page, now).await?,
                Engine::Postgres(engine) => self.keep_in_partition(engine, &page, now).await?,
            };
            if is_kept {
                return Ok(());
            }
        }
        Err(EngineError::too_late("no segment was there for receipts in time"))
    }

    /// False when a segment has to be looked for again.
    async fn keep_in_file(
        &self,
        engine: &Sqlite,
        page: &Arc<ReceiptPage>,
        now: Timestamp,
    ) -> Result<bool, EngineError> {
        let files = self.receipts.files()?;
        let mut segments = kept(&self.engine).await?;
        let Some(KnownSegment { segment: last, file, .. }) = segments.pop() else {
            return self.begin_file(engine, None, now).await.map(|()| false);
        };
        let last = Segment { bytes: files.bytes(file), ..last };
        // A file that is missing was removed by hand.
        if self.receipts.bounds().is_full(&last, now) || last.bytes == 0 {
            return self.begin_file(engine, Some(last.number), now).await.map(|()| false);
        }
        let before = segments.pop().map(|known| known.file);
        let page = Arc::clone(page);
        let mut packer = Arc::clone(&self.receipts.packer).lock_owned().await;
        files.write(move |segments| keep_in(segments, &mut packer, &page, (&last, file), before)).await
    }

    /// Makes the file of a new segment after `last`, unless another process was faster.
    async fn begin_file(&self, engine: &Sqlite, last: Option<u64>, now: Timestamp) -> Result<(), EngineError> {
        let _changing = self.receipts.changing.lock().await;
        let files = self.receipts.files()?;
        let number = loop {
            let taken = engine.batch(take_number).await?;
            // There may be a file of that name which the database does not know: it is left alone.
            if files.write(move |segments| segments.make(taken)).await? {
                break taken;
            }
        };
        // In use only from here on. Cut off before, the file is nobody's and empty.
        let is_begun = engine.batch(move |tx| {
            if last_number(tx)? != last {
                return Ok(false);
            }
            tx.execute(INSERT_SEGMENT, &[Value::number(number)?, begun_value(now).into()])?;
            Ok(true)
        });
        if !is_begun.await? {
            files.write(move |segments| segments.remove(number)).await?;
        }
        Ok(())
    }

    async fn keep_in_partition(
        &self,
        engine: &Postgres,
        page: &ReceiptPage,
        now: Timestamp,
    ) -> Result<bool, EngineError> {
        let mut tx = engine.write_beside().await?;
        let newest = tx.query(LOCK_NEWEST, Vec::new()).await?;
        let last = match newest.first().map(super::known).transpose()? {
            Some(known) if !self.receipts.bounds().is_full(&known.segment, now) => known,
            other => {
                tx.rollback().await;
                let last = other.map(|known| known.segment.number);
                let _changing = self.receipts.changing.lock().await;
                return partitions::begin(engine, last, now).await.map(|()| false);
            }
        };
        let KnownSegment { segment, receipts: taken, .. } = last;
        let before = Value::number(first_number(segment.number.saturating_sub(1)))?;
        let wanted = page.0.iter().map(|receipt| vec![receipt.id.as_str().into(), before.clone()]).collect();
        // Only now, for what another gateway has kept meanwhile is seen by a statement of its own.
        let known = tx.query_columns(KNOWN_OF_MANY, &Column::of_rows(wanted)?).await?;
        let mut known = known.iter().map(|row| row.text(0)).collect::<Result<HashSet<_>, _>>()?;
        let mut packer = self.receipts.packer.lock().await;
        packer.begin(segment.number);
        let (mut headers, mut parts) = (Vec::with_capacity(page.0.len()), Vec::new());
        for (number, receipt) in (first_number(segment.number) + taken + 1..).zip(&page.0) {
            if !known.insert(receipt.id.clone()) {
                continue;
            }
            let packed = receipt.pack(&mut packer, number)?;
            let number = Value::number(number)?;
            let with_number = |mut row: Vec<Value>| {
                row.push(number.clone());
                row
            };
            headers.push(with_number(packed.header));
            parts.extend(packed.parts.into_iter().map(with_number));
            if let Some(NewDictionary { number, bytes }) = packed.dictionary {
                tx.execute(INSERT_DICTIONARY, vec![Value::number(number)?, bytes.into()]).await?;
            }
        }
        let values = headers.iter().chain(&parts).flatten();
        let bytes = values.map(value_bytes).fold(0, i64::saturating_add);
        let count = i64::try_from(page.0.len()).map_err(|_| EngineError::failed("a page is too large"))?;
        tx.execute(COUNT, vec![Value::number(segment.number)?, count.into(), bytes.into()]).await?;
        if !headers.is_empty() {
            tx.query_columns(INSERT_RECEIPTS, &Column::of_rows(headers)?).await?;
        }
        if !parts.is_empty() {
            tx.query_columns(INSERT_PARTS, &Column::of_rows(parts)?).await?;
        }
        tx.commit().await?;
        packer.finish();
        Ok(true)
    }
}

/// Keeps a page in the file of the last segment; false where it is not there any more. `before` is the file of the one before.
fn keep_in(
    segments: &mut OpenSegments,
    packer: &mut Packer,
    page: &ReceiptPage,
    (last, file): (&Segment, u64),
    before: Option<u64>,
) -> Result<bool, EngineError> {
    // A page that is tried again after a new segment has begun may be in the one before. Later receipts cannot be.
    let suspects: Vec<&str> =
        page.0.iter().filter(|receipt| receipt.at <= last.begun).map(|receipt| receipt.id.as_str()).collect();
    let mut known = HashSet::new();
    if let Some(before) = before.filter(|_| !suspects.is_empty()) {
        let look = |tx: &Batch<'_>| {
            for id in &suspects {
                if !tx.query(IS_KNOWN, &[(*id).into()])?.is_empty() {
                    known.insert((*id).to_owned());
                }
            }
            Ok(())
        };
        segments.on(before, look)?;
    }
    packer.begin(file);
    let keep = |tx: &Batch<'_>| {
        let taken = tx.query(LAST_NUMBER, &[] as &[Value])?.first().map(|row| row.number(0)).transpose()?;
        let mut number = taken.unwrap_or(first_number(last.number));
        for receipt in &page.0 {
            // The same ranking, come again, is kept once.
            if known.contains(&receipt.id) || !tx.query(IS_KNOWN, &[receipt.id.as_str().into()])?.is_empty() {
                continue;
            }
            number += 1;
            let PackedRows { header, parts, dictionary } = receipt.pack(packer, number)?;
            if let Some(NewDictionary { number, bytes }) = dictionary {
                tx.execute(INSERT_DICTIONARY, &[Value::number(number)?, bytes.into()])?;
            }
            let number = Value::number(number)?;
            tx.execute(INSERT_RECEIPT, header.iter().chain([&number]))?;
            parts.iter().try_for_each(|part| tx.execute(INSERT_PART, part.iter().chain([&number])).map(drop))?;
        }
        Ok(())
    };
    let is_kept = segments.on(file, keep)?.is_some();
    if is_kept {
        packer.finish();
    }
    Ok(is_kept)
}

/// The next number of a segment.
fn take_number(tx: &Batch<'_>) -> Result<u64, EngineError> {
    let rows = tx.query(NEXT_NUMBER, &[] as &[Value])?;
    rows.first().ok_or_else(|| EngineError::failed("the counter of segments is gone"))?.number(0)
}

/// The newest segment.
fn last_number(tx: &Batch<'_>) -> Result<Option<u64>, EngineError> {
    let rows = tx.query(super::KEPT, &[] as &[Value])?;
    rows.last().map(|row: &Row| row.number(0)).transpose()
}
