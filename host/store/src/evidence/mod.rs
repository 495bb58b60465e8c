//! What is kept of findings and of rankings, over either engine: read here, written by `page`.
//!
//! Not here: when it is written (`journal`, and the ledger for what was found in completion reports).

mod body;
mod check;
mod finding;
mod page;
mod receipt;
mod user;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::{
    COUNTS_MAX, DAY_MS, FindingQuery, FindingsAbout, IST_AHEAD_MS, KeptFinding, LOOKED_THROUGH_MAX, RuleCount,
    Severity, Source,
};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::ports::Evidence;
use intent_gateway_domain::receipt::{KeptReceipt, RECEIPTS_LOOKED_THROUGH_MAX};
use intent_gateway_domain::store::StoreError;
use serde_json::value::RawValue;

use crate::engine::{Engine, Tx};
use crate::error::EngineError;
use crate::records::SqlStore;
use crate::value::Value;

pub(crate) use finding::values as finding_values;
pub(crate) use page::{EvidencePage, keep_findings_on_postgres, keep_findings_on_sqlite};
pub(crate) use receipt::read_quoted;

/// Findings and identifiers of one answer, at most, whatever the caller asks for.
const READ_MAX: u32 = 1_000;
/// Findings that a count by day looks at.
const COUNTED_MAX: u32 = 100_000;
/// Findings forgotten in one transaction.
const FINDINGS_FORGOTTEN_AT_ONCE: u32 = 1_000;
/// Receipts forgotten in one transaction: their bodies are overwritten, and nobody else writes meanwhile.
const RECEIPTS_FORGOTTEN_AT_ONCE: u32 = 50;

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
const RECEIPT: &str = concat!("SELECT ", receipt::columns!(), " FROM receipts WHERE id = $1");
const PARTS: &str =
    concat!("SELECT ", receipt::part_columns!(), " FROM receipt_parts WHERE receipt = $1 ORDER BY place");
const QUOTED: &str = "SELECT quoted FROM receipt_parts WHERE partner = $2 AND \
                      receipt = (SELECT number FROM receipts WHERE id = $1)";
const RECEIPTS_OF: &str = "SELECT id FROM receipts WHERE request_id = $1 ORDER BY at_ms DESC, number DESC LIMIT $2";
/// By their numbers, which is how they lie: an index for what is asked when values are removed would cost every search.
const RECENT_RECEIPTS: &str = "SELECT id FROM (SELECT number, id, intent FROM receipts ORDER BY number DESC LIMIT $1) AS latest \
                               WHERE intent = $2 ORDER BY number DESC LIMIT $3";
const FORGET_FINDINGS: &str = "DELETE FROM findings WHERE number IN (SELECT number FROM findings WHERE at_ms < $1 ORDER BY at_ms, number LIMIT $2)";
/// The same receipts as the next: nobody else writes in between.
const FORGET_PARTS: &str = "DELETE FROM receipt_parts WHERE receipt IN \
                            (SELECT number FROM receipts WHERE at_ms < $1 ORDER BY at_ms, number LIMIT $2)";
const FORGET_RECEIPTS: &str = "DELETE FROM receipts WHERE number IN (SELECT number FROM receipts WHERE at_ms < $1 ORDER BY at_ms, number LIMIT $2)";

/// Text that both engines keep, cut to a length. A NUL character, which PostgreSQL cannot keep, is replaced.
fn keepable(text: &str, max_bytes: usize) -> String {
    text[..text.floor_char_boundary(max_bytes)].replace('\0', "\u{fffd}")
}

/// A request's identifier as it is kept and looked for.
pub(crate) fn keepable_name(name: &str) -> String {
    // Of up to four bytes a character.
    keepable(name, 4 * REQUEST_ID_MAX_CHARS)
}

/// A time, for what must not fail for it: later than any clock tells is the latest that is kept.
fn time(time: Timestamp) -> Value {
    number(time.as_ms())
}

/// A number, likewise.
fn number(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// Texts as findings keep them, as a list in JSON.
fn texts(texts: &[&str]) -> Value {
    let texts: Vec<String> = texts.iter().map(|text| finding::keepable_text(text)).collect();
    serde_json::Value::from(texts).to_string().into()
}

impl SqlStore {
    async fn read_receipt(&self, id: &str) -> Result<Option<KeptReceipt>, EngineError> {
        let mut tx = self.engine.read().await?;
        let read = receipt_of(&mut tx, id).await;
        tx.rollback().await;
        read
    }

    async fn forget_in_chunks(&self, before: Timestamp) -> Result<u64, EngineError> {
        let mut forgotten = 0;
        loop {
            let values = || vec![time(before), FINDINGS_FORGOTTEN_AT_ONCE.into()];
            let mut tx = self.engine.write().await?;
            let rows = tx.execute(FORGET_FINDINGS, values()).await?;
            tx.commit().await?;
            forgotten += rows;
            if rows < u64::from(FINDINGS_FORGOTTEN_AT_ONCE) {
                break;
            }
        }
        loop {
            let values = || vec![time(before), RECEIPTS_FORGOTTEN_AT_ONCE.into()];
            let mut tx = self.engine.write().await?;
            tx.execute(FORGET_PARTS, values()).await?;
            let rows = tx.execute(FORGET_RECEIPTS, values()).await?;
            tx.commit().await?;
            forgotten += rows;
            if rows < u64::from(RECEIPTS_FORGOTTEN_AT_ONCE) {
                return Ok(forgotten);
            }
        }
    }
}

async fn receipt_of(tx: &mut Tx, id: &str) -> Result<Option<KeptReceipt>, EngineError> {
    let rows = tx.query(RECEIPT, vec![keepable_name(id).into()]).await?;
    let Some(header) = rows.first() else { return Ok(None) };
    let parts = tx.query(PARTS, vec![header.integer(0)?.into()]).await?;
    receipt::receipt(header, &parts).map(Some)
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

    /// In one question, and of the one partner's shown options alone: every call of a tool asks it.
    fn option<'a>(
        &'a self,
        receipt: &'a str,
        partner: &'a PartnerId,
        number: u32,
    ) -> BoxFuture<'a, Result<Option<Box<RawValue>>, StoreError>> {
        let read = async move {
            let values = vec![keepable_name(receipt).into(), partner.as_str().into()];
            match self.engine.query(QUOTED, values).await?.first() {
                Some(part) => receipt::read_shown(part, number),
                None => Ok(None),
            }
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn recent_receipts<'a>(
        &'a self,
        intent: &'a IntentId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let read = async move {
            let values = vec![RECEIPTS_LOOKED_THROUGH_MAX.into(), intent.as_str().into(), limit.min(READ_MAX).into()];
            self.engine.query(RECENT_RECEIPTS, values).await?.iter().map(|row| row.text(0)).collect()
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn receipts_of<'a>(&'a self, request_id: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let read = async move {
            let values = vec![keepable_name(request_id).into(), limit.min(READ_MAX).into()];
            self.engine.query(RECEIPTS_OF, values).await?.iter().map(|row| row.text(0)).collect()
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn forget(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.forget_in_chunks(before).map(|done| done.map_err(EngineError::into_store)).boxed()
    }
}
