//! What is kept of findings, over either engine, and in which form receipts are kept.
//!
//! Not here: when it is written (`journal`, and the ledger for what was found in completion reports), and where receipts lie
//! (`receipts`).

mod body;
mod check;
mod finding;
mod keepable;
mod keeping;
mod receipt;
mod user;

use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::{
    COUNTS_MAX, DAY_MS, FindingQuery, FindingsAbout, IST_AHEAD_MS, KeptFinding, LOOKED_THROUGH_MAX, RuleCount,
    Severity, Source,
};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Evidence;
use intent_gateway_domain::receipt::{KeptReceipt, ReceiptsBack};
use intent_gateway_domain::store::StoreError;
use serde_json::value::RawValue;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::receipts::give_way;
use crate::records::SqlStore;
use crate::value::Value;

pub(crate) use finding::values as finding_values;
pub(crate) use keepable::keepable_name;
use keepable::{keepable, number, time};
pub(crate) use keeping::{keep_findings_on_postgres, keep_findings_on_sqlite};
pub(crate) use receipt::{
    PackedRows, ReceiptRows, read_bookable_until, read_quoted, read_shown, receipt, rows as receipt_rows,
};

/// The columns of receipts.
pub(crate) mod receipt_columns {
    pub(crate) use super::receipt::{COUNT, USER, columns, part_columns};
}

/// Findings and identifiers of one answer, at most, whatever the caller asks for.
const READ_MAX: u32 = 1_000;
/// Findings that a count by day looks at.
const COUNTED_MAX: u32 = 100_000;
/// Findings forgotten in one transaction. Nobody else writes meanwhile.
const FINDINGS_FORGOTTEN_AT_ONCE: u32 = 200;

const FINDINGS: &str = concat!(
    "SELECT ",
    finding::columns!(),
    " FROM findings WHERE partner = $1 AND number < $2 AND ($4 = '' OR severity = $4) AND ($5 = '' OR source = $5) \
     AND ($6 = '' OR intent = $6) AND ($7 = '' OR code = $7) ORDER BY number DESC LIMIT $3"
);
/// Lists of texts are JSON, which each engine takes apart in its own way. By the partner's numbers: an index for what is asked
/// of one order at a time would cost every search.
macro_rules! findings_about {
    ($texts:literal, $of:literal) => {
        concat!(
            "SELECT ",
            finding::columns!(),
            " FROM (SELECT ",
            finding::columns!(),
            " FROM findings WHERE partner = $1 ORDER BY number DESC LIMIT $2) AS latest WHERE intent = $3 AND \
             ((source = 'search' AND request_id = $4 AND option_id = $5) \
             OR (source = 'call' AND request_id IN (SELECT ",
            $texts,
            "($6",
            $of,
            "))) OR external_id IN (SELECT ",
            $texts,
            "($7",
            $of,
            "))) ORDER BY number DESC LIMIT $8"
        )
    };
}
const ABOUT_ON_SQLITE: &str = findings_about!("value FROM json_each", "");
const ABOUT_ON_POSTGRES: &str = findings_about!("json_array_elements_text", "::json");
/// Days are those of Indian Standard Time (`findings::day_number`). So many of the latest findings are looked at, so that whoever
/// asks again and again costs no more than that.
const COUNTS: &str = "SELECT (at_ms + $3) / $4 AS day, intent, code, severity, COUNT(*) FROM \
                      (SELECT at_ms, intent, code, severity FROM findings WHERE partner = $1 \
                      ORDER BY number DESC LIMIT $6) AS latest WHERE at_ms >= $2 \
                      GROUP BY day, intent, code, severity ORDER BY day DESC, intent, code, severity LIMIT $5";
/// The severity stands there as the index has it, or the index would not be used.
const STRIKES: &str = concat!(
    "SELECT ",
    finding::columns!(),
    " FROM findings WHERE severity = 'strike' AND number > $1 AND at_ms >= $2 ORDER BY number LIMIT $3"
);
/// Those before the highest number that is not kept any more. Strikes count towards a suspension: they go by their age alone.
const FORGET_EXCESS: &str = "DELETE FROM findings WHERE number IN (SELECT number FROM findings WHERE number <= $1 \
                             AND severity <> 'strike' ORDER BY number LIMIT $2)";
const FORGET_OLD: &str = "DELETE FROM findings WHERE number IN \
                          (SELECT number FROM findings WHERE at_ms < $1 ORDER BY at_ms, number LIMIT $2)";
const LAST_FINDING: &str = "SELECT value FROM counters WHERE name = 'findings'";

/// Texts as findings keep them, as a list in JSON.
fn texts(texts: &[&str]) -> Value {
    let texts: Vec<String> = texts.iter().map(|text| finding::keepable_text(text)).collect();
    serde_json::Value::from(texts).to_string().into()
}

impl SqlStore {
    /// Forgets findings, a few at a time: who reports must not wait for it. How many there were.
    async fn forget_findings(&self, sql: &'static str, bound: Value) -> Result<u64, EngineError> {
        let mut forgotten = 0;
        loop {
            let begun = Instant::now();
            let mut tx = self.engine.write().await?;
            let rows = tx.execute(sql, vec![bound.clone(), FINDINGS_FORGOTTEN_AT_ONCE.into()]).await?;
            tx.commit().await?;
            forgotten += rows;
            if rows < u64::from(FINDINGS_FORGOTTEN_AT_ONCE) {
                return Ok(forgotten);
            }
            give_way(begun).await;
        }
    }

    /// Forgets the oldest findings that exceed a number; how many there were. Strikes stay.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; what was forgotten by then is.
    pub async fn forget_excess_findings(&self, max: u64) -> Result<u64, StoreError> {
        let forget = async {
            let rows = self.engine.query(LAST_FINDING, Vec::new()).await?;
            // Numbers are given one after the other, so this bounds how many there are.
            let last = rows.first().map_or(Ok(0), |row| row.number(0))?;
            match last.saturating_sub(max) {
                0 => Ok(0),
                end => self.forget_findings(FORGET_EXCESS, number(end)).await,
            }
        };
        forget.await.map_err(EngineError::into_store)
    }

    async fn forget_old(&self, before: Timestamp) -> Result<u64, EngineError> {
        // The segments first: they are the most, and cost the least.
        let segments = self.forget_whole(before).await?;
        let findings = self.forget_findings(FORGET_OLD, time(before)).await?;
        Ok(segments + findings + self.forget_receipts_of_before(before).await?)
    }
}

impl Evidence for SqlStore {
    fn findings<'a>(&'a self, query: FindingQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>> {
        let FindingQuery { partner, before, limit, severity, source, intent, code } = query;
        let read = async move {
            let values = vec![
                keepable_name(partner).into(),
                number(before.unwrap_or(u64::MAX)),
                limit.min(READ_MAX).into(),
                severity.map_or("", Severity::as_str).into(),
                source.map_or("", Source::as_str).into(),
                keepable_name(intent.unwrap_or_default()).into(),
                keepable_name(code.unwrap_or_default()).into(),
            ];
            self.engine.query(FINDINGS, values).await?.iter().map(finding::read_kept).collect()
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn findings_about<'a>(&'a self, about: FindingsAbout<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>> {
        let FindingsAbout { partner, intent, shown: (request_id, option_id), calls, external_ids, limit } = about;
        let read = async move {
            let values = vec![
                partner.as_str().into(),
                LOOKED_THROUGH_MAX.into(),
                intent.as_str().into(),
                finding::keepable_text(request_id).into(),
                finding::keepable_text(option_id).into(),
                texts(calls),
                texts(external_ids),
                limit.min(READ_MAX).into(),
            ];
            let sql = match &self.engine {
                Engine::Sqlite(_) => ABOUT_ON_SQLITE,
                Engine::Postgres(_) => ABOUT_ON_POSTGRES,
            };
            self.engine.query(sql, values).await?.iter().map(finding::read_kept).collect()
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn counts<'a>(
        &'a self,
        partner: &'a PartnerId,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<RuleCount>, StoreError>> {
        let read = async move {
            let values = vec![
                partner.as_str().into(),
                time(since),
                number(IST_AHEAD_MS),
                number(DAY_MS),
                COUNTS_MAX.into(),
                COUNTED_MAX.into(),
            ];
            self.engine.query(COUNTS, values).await?.iter().map(finding::read_count).collect()
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn strikes(&self, after: u64, since: Timestamp, limit: u32) -> BoxFuture<'_, Result<Vec<KeptFinding>, StoreError>> {
        let read = async move {
            let values = vec![number(after), time(since), limit.min(READ_MAX).into()];
            self.engine.query(STRIKES, values).await?.iter().map(finding::read_kept).collect()
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn receipt<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<KeptReceipt>, StoreError>> {
        self.read_receipt(id).map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn option<'a>(
        &'a self,
        receipt: &'a str,
        partner: &'a PartnerId,
        number: u32,
    ) -> BoxFuture<'a, Result<Option<Box<RawValue>>, StoreError>> {
        self.read_option(receipt, partner, number).map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn recent_receipts<'a>(
        &'a self,
        intent: &'a IntentId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        self.read_recent(intent, limit.min(READ_MAX)).map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn receipts_of<'a>(&'a self, request_id: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let found = self.read_of_request(request_id, limit.min(READ_MAX));
        found.map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn receipts_back<'a>(
        &'a self,
        intent: &'a IntentId,
        since: Timestamp,
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<ReceiptsBack, StoreError>> {
        self.read_back(intent, since, before).map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn forget(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.forget_old(before).map(|done| done.map_err(EngineError::into_store)).boxed()
    }
}
