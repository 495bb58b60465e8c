//! The rankings of one user: found by the user's mark, and erased.
//!
//! Of an erased ranking a row stays with nothing in it, so that whoever asks for it learns that it is erased.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::user_data::{ERASED_AT_ONCE_MAX, ErasedEvidence, UserEvidence, UserRanking};
use intent_gateway_domain::vault::Mark;

use super::{READ_MAX, keepable_name, number};
use crate::engine::Tx;
use crate::error::EngineError;
use crate::records::SqlStore;
use crate::value::{Row, Value};

const OF_USER: &str = "SELECT number, id, request_id FROM receipts WHERE user_mark = $1 AND number < $2 \
                       ORDER BY number DESC LIMIT $3";
/// An erased one has no request, and stays nobody's.
const MARK: &str = "UPDATE receipts SET user_mark = $2 WHERE id = $1 AND user_mark IS NULL AND request_id <> ''";
const ERASE_PARTS: &str = "DELETE FROM receipt_parts WHERE receipt = $1";
const ERASE_RECEIPT: &str = "UPDATE receipts SET request_id = '', body = $2, user_mark = NULL WHERE number = $1";
/// A contract's message may quote what it was given.
const ERASE_FINDINGS: &str = "UPDATE findings SET excerpt = NULL, message = $2 WHERE request_id = $1 \
                              AND (excerpt IS NOT NULL OR message <> $2)";
/// Likewise. There are few faults, so no index is kept for this.
const ERASE_FAULTS: &str = "UPDATE contract_faults SET input = NULL, message = NULL, place = NULL, fault = code \
                            WHERE request_id = $1 AND (input IS NOT NULL OR message IS NOT NULL OR fault <> code)";
/// What stands in place of a message.
const NO_MESSAGE: &str = "The message was erased with the user's data.";

impl SqlStore {
    async fn find_rankings(
        &self,
        mark: &Mark,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<UserRanking>, EngineError> {
        let values = vec![mark.as_str().into(), number(before.unwrap_or(u64::MAX)), limit.min(READ_MAX).into()];
        self.engine.query(OF_USER, values).await?.iter().map(ranking).collect()
    }

    async fn put_under_mark(&self, receipts: &[String], mark: &Mark) -> Result<(), EngineError> {
        if receipts.is_empty() {
            return Ok(());
        }
        let mut tx = self.engine.write().await?;
        for id in receipts {
            tx.execute(MARK, vec![keepable_name(id).into(), mark.as_str().into()]).await?;
        }
        tx.commit().await
    }

    async fn erase_receipts(&self, rankings: &[UserRanking]) -> Result<ErasedEvidence, EngineError> {
        if rankings.len() > ERASED_AT_ONCE_MAX as usize {
            return Err(EngineError::failed("too many receipts are to be erased at once"));
        }
        let mut tx = self.engine.write().await?;
        let mut erased = ErasedEvidence::default();
        for ranking in rankings {
            erased += erase_found(&mut tx, &ranking.request_id).await?;
            let row = Value::number(ranking.number)?;
            tx.execute(ERASE_PARTS, vec![row.clone()]).await?;
            erased.receipts += tx.execute(ERASE_RECEIPT, vec![row, Value::Bytes(Vec::new())]).await?;
        }
        tx.commit().await?;
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

fn ranking(row: &Row) -> Result<UserRanking, EngineError> {
    Ok(UserRanking { number: row.number(0)?, id: row.text(1)?, request_id: row.text(2)? })
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
        self.find_rankings(mark, before, limit).map(|found| found.map_err(EngineError::into_store)).boxed()
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
