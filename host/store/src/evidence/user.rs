//! The rankings of one user: found by the user's mark, and erased.
//!
//! Of an erased ranking a row stays with nothing in it, so that whoever asks for it learns that it is erased.

use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::user_data::{ERASED_AT_ONCE_MAX, ErasedEvidence, UserEvidence, UserRanking};
use intent_gateway_domain::vault::Mark;

use super::{READ_MAX, keepable_name, number};
use crate::engine::{Engine, Tx};
use crate::error::EngineError;
use crate::receipts::{count_change, segment_of};
use crate::records::SqlStore;
use crate::sqlite::Batch;
use crate::value::Value;

/// An erased one has no request, and stays nobody's.
const MARK: &str = "UPDATE receipts SET user_mark = $2 WHERE id = $1 AND user_mark IS NULL AND request_id <> ''";
const ERASE_PARTS: &str = "DELETE FROM receipt_parts WHERE receipt = $1";
const ERASE_RECEIPT: &str = "UPDATE receipts SET request_id = '', body = $2, user_mark = NULL WHERE number = $1";
/// The same in a file, where parameters appear in their order.
const MARK_IN_FILE: &str =
    "UPDATE receipts SET user_mark = $1 WHERE id = $2 AND user_mark IS NULL AND request_id <> ''";
const ERASE_IN_FILE: &str = "UPDATE receipts SET request_id = '', body = $1, user_mark = NULL WHERE number = $2";
/// The same in the segments on PostgreSQL.
const MARK_IN_SEGMENTS: &str =
    "UPDATE segment_receipts SET user_mark = $2 WHERE id = $1 AND user_mark IS NULL AND request_id <> ''";
const SEGMENT_ROWS: &str = "SELECT number FROM segment_receipts WHERE id = $1";
const ERASE_PARTS_IN_SEGMENTS: &str = "DELETE FROM segment_receipt_parts WHERE receipt = $1";
const ERASE_IN_SEGMENTS: &str =
    "UPDATE segment_receipts SET request_id = '', body = $2, user_mark = NULL WHERE number = $1";
/// A contract's message may quote what it was given.
const ERASE_FINDINGS: &str = "UPDATE findings SET excerpt = NULL, message = $2 WHERE request_id = $1 \
                              AND (excerpt IS NOT NULL OR message <> $2)";
/// Likewise. There are few faults, so no index is kept for this.
const ERASE_FAULTS: &str = "UPDATE contract_faults SET input = NULL, message = NULL, place = NULL, fault = code \
                            WHERE request_id = $1 AND (input IS NOT NULL OR message IS NOT NULL OR fault <> code)";
/// What stands in place of a message.
const NO_MESSAGE: &str = "The message was erased with the user's data.";

impl SqlStore {
    async fn put_under_mark(&self, receipts: &[String], mark: &Mark) -> Result<(), EngineError> {
        if receipts.is_empty() {
            return Ok(());
        }
        let mut others = receipts.to_vec();
        if let Engine::Sqlite(_) = &self.engine {
            others.clear();
            for id in receipts {
                match self.segment_with(id).await? {
                    0 => others.push(id.clone()),
                    segment => {
                        let values = [mark.as_str().into(), keepable_name(id).into()];
                        let mut tx = self.engine.write().await?;
                        let marked = move |file: &Batch<'_>| file.execute(MARK_IN_FILE, &values);
                        self.change_file(&mut tx, segment, marked).await?;
                        tx.commit().await?;
                    }
                }
            }
        }
        let mut tx = self.engine.write().await?;
        for id in &others {
            let values = || vec![keepable_name(id).into(), mark.as_str().into()];
            tx.execute(MARK, values()).await?;
            if let Engine::Postgres(_) = self.engine {
                for row in tx.query(SEGMENT_ROWS, vec![keepable_name(id).into()]).await? {
                    count_change(&mut tx, segment_of(row.number(0)?)).await?;
                }
                tx.execute(MARK_IN_SEGMENTS, values()).await?;
            }
        }
        tx.commit().await
    }

    async fn erase_receipts(&self, rankings: &[UserRanking]) -> Result<ErasedEvidence, EngineError> {
        if rankings.len() > ERASED_AT_ONCE_MAX as usize {
            return Err(EngineError::failed("too many receipts are to be erased at once"));
        }
        let mut erased = ErasedEvidence::default();
        // What was found goes before the receipts: as long as these are under the mark, whoever asks again finds them.
        let mut tx = self.engine.write().await?;
        let mut in_files: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for ranking in rankings {
            erased += erase_found(&mut tx, &ranking.request_id).await?;
            let row = Value::number(ranking.number)?;
            let (parts, receipt) = match (&self.engine, segment_of(ranking.number)) {
                (_, 0) => (ERASE_PARTS, ERASE_RECEIPT),
                (Engine::Postgres(_), segment) => {
                    count_change(&mut tx, segment).await?;
                    (ERASE_PARTS_IN_SEGMENTS, ERASE_IN_SEGMENTS)
                }
                (Engine::Sqlite(_), segment) => {
                    in_files.entry(segment).or_default().push(ranking.number);
                    continue;
                }
            };
            tx.execute(parts, vec![row.clone()]).await?;
            erased.receipts += tx.execute(receipt, vec![row, Value::Bytes(Vec::new())]).await?;
        }
        tx.commit().await?;
        for (segment, numbers) in in_files {
            let mut tx = self.engine.write().await?;
            let erase = move |file: &Batch<'_>| erase_in_file(file, &numbers);
            erased.receipts += self.change_file(&mut tx, segment, erase).await?.unwrap_or_default();
            tx.commit().await?;
        }
        Ok(erased)
    }

    async fn erase_of_requests(&self, requests: &[String]) -> Result<ErasedEvidence, EngineError> {
        let mut tx = self.engine.write().await?;
        let mut erased = ErasedEvidence::default();
        for request_id in requests {
            erased += erase_found(&mut tx, request_id).await?;
        }
        tx.commit().await?;
        Ok(erased)
    }
}

fn erase_in_file(tx: &Batch<'_>, numbers: &[u64]) -> Result<u64, EngineError> {
    let mut erased = 0;
    for number in numbers {
        let row = Value::number(*number)?;
        tx.execute(ERASE_PARTS, [&row])?;
        erased += tx.execute(ERASE_IN_FILE, &[Value::Bytes(Vec::new()), row])?;
    }
    u64::try_from(erased).map_err(|_| EngineError::failed("a statement changed too many rows"))
}

async fn erase_found(tx: &mut Tx, request_id: &str) -> Result<ErasedEvidence, EngineError> {
    let request_id = keepable_name(request_id);
    if request_id.is_empty() {
        return Ok(ErasedEvidence::default());
    }
    let findings = tx.execute(ERASE_FINDINGS, vec![request_id.as_str().into(), NO_MESSAGE.into()]).await?;
    let faults = tx.execute(ERASE_FAULTS, vec![request_id.into()]).await?;
    Ok(ErasedEvidence { receipts: 0, findings, faults })
}

impl UserEvidence for SqlStore {
    fn rankings_of<'a>(
        &'a self,
        mark: &'a Mark,
        before: Option<u64>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<UserRanking>, StoreError>> {
        let found = self.read_of_user(mark, number(before.unwrap_or(u64::MAX)), limit.min(READ_MAX));
        found.map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn mark_rankings<'a>(&'a self, receipts: &'a [String], mark: &'a Mark) -> BoxFuture<'a, Result<(), StoreError>> {
        self.put_under_mark(receipts, mark).map(|done| done.map_err(EngineError::into_store)).boxed()
    }

    fn erase_rankings<'a>(&'a self, rankings: &'a [UserRanking]) -> BoxFuture<'a, Result<ErasedEvidence, StoreError>> {
        self.erase_receipts(rankings).map(|done| done.map_err(EngineError::into_store)).boxed()
    }

    fn erase_found<'a>(&'a self, requests: &'a [String]) -> BoxFuture<'a, Result<ErasedEvidence, StoreError>> {
        self.erase_of_requests(requests).map(|done| done.map_err(EngineError::into_store)).boxed()
    }
}
