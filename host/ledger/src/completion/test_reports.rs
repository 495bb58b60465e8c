//! Test reports: completion reports of businesses that were never live, about orders that the gateway has not seen opened.
//!
//! They are judged like any other and answered like any other, and cost nothing: none of them is in the ledger. They are kept
//! apart, for [`TEST_REPORT_KEPT_MS`], so that the same report gets the same answer and its sender can look at it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ReportKey;
use crate::{EntryKind, Posting};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::DAY_MS;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::ports::Standings;
use intent_gateway_domain::steps::{self, Contended, Proposal};
use intent_gateway_domain::store::{Change, Kind, Named, Record, Store, StoreError, Versioned, load, named};
use intent_gateway_domain::vault::hex;

/// How long a test report is kept, milliseconds: 30 days.
pub const TEST_REPORT_KEPT_MS: u64 = 30 * DAY_MS;
/// Test reports kept of one partner; a further one takes the place of the oldest.
pub const TEST_REPORTS_MAX: u32 = 200;
/// Bytes of a digest that make a receipt.
const RECEIPT_BYTES: usize = 12;

/// A report that was taken as a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    pub partner: PartnerId,
    pub intent: IntentId,
    /// The partner's identifier of the order.
    pub external_id: String,
    pub request_id: String,
    /// The reported status.
    pub status: String,
    /// The reported amount.
    pub amount: Paise,
    /// Whether commission would be due on it.
    pub would_be_charged: bool,
    /// When it was taken, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// When the order closed, milliseconds since the epoch.
    pub closed_at_ms: Timestamp,
    /// Digest of its content.
    pub report: Digest,
}

impl TestReport {
    /// Of what would have been booked.
    fn of(posting: &Posting) -> Self {
        Self {
            partner: posting.partner.clone(),
            intent: posting.intent.clone(),
            external_id: posting.external_id.clone(),
            request_id: posting.request_id.clone(),
            status: posting.status.clone(),
            amount: posting.amount,
            would_be_charged: posting.kind == EntryKind::Charge,
            at_ms: posting.posted_at_ms,
            closed_at_ms: posting.closed_at_ms,
            report: posting.report,
        }
    }

    /// The identifier of its receipt, by which it cannot be taken for one of the ledger.
    #[must_use]
    pub fn receipt_id(&self) -> String {
        let of = format!("{} {} {}", self.key(), self.report, self.at_ms.as_ms());
        format!("test_{}", hex(&Digest::of(of.as_bytes()).as_bytes()[..RECEIPT_BYTES]))
    }
}

impl Record for TestReport {
    const KIND: Kind = Kind::TestReports;

    fn key(&self) -> String {
        let Self { partner, intent, external_id, .. } = self;
        key(partner, intent, external_id)
    }

    fn names(&self) -> Vec<String> {
        vec![name(&self.partner)]
    }
}

/// Keys are bounded; what partners write is not.
fn key(partner: &PartnerId, intent: &IntentId, external_id: &str) -> String {
    let parts =
        serde_json::to_string(&[partner.as_str(), intent.as_str(), external_id]).expect("texts always serialise");
    Digest::of(parts.as_bytes()).to_string()
}

fn name(partner: &PartnerId) -> String {
    format!("partner/{partner}")
}

/// What happened to a test report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenTest {
    /// It is kept.
    First(TestReport),
    /// The same was kept before.
    Repeat(TestReport),
    /// Other content was kept before under the same key, with this receipt.
    Conflict(String),
}

/// Why a test report could not be taken or read.
#[derive(Debug, thiserror::Error)]
pub enum TestReportError {
    #[error("the store of test reports failed")]
    Store(#[from] StoreError),
    #[error("too many test reports of one partner came at once")]
    Contended(#[from] Contended),
}

/// Takes and keeps test reports.
pub struct TestReports {
    pub store: Arc<dyn Store>,
    /// Says whose reports are real.
    pub standings: Arc<dyn Standings>,
}

impl TestReports {
    /// Whether a report about no order of the gateway's is a test.
    ///
    /// # Errors
    /// [`TestReportError::Store`].
    pub async fn is_test(&self, partner: &PartnerId) -> Result<bool, TestReportError> {
        Ok(!self.standings.was_ever_live(partner).await?)
    }

    /// What was taken as a test under this key.
    ///
    /// # Errors
    /// [`TestReportError::Store`].
    pub async fn find(&self, order: &ReportKey) -> Result<Option<TestReport>, TestReportError> {
        let ReportKey { partner, intent, external_id } = order;
        let kept = load::<TestReport>(&*self.store, &key(partner, intent, external_id)).await?;
        Ok(kept.map(|kept| kept.value))
    }

    /// Keeps what would have been booked, unless something was taken under its key before.
    ///
    /// # Errors
    /// [`TestReportError`]; nothing is kept then.
    pub async fn take(&self, posting: &Posting) -> Result<TakenTest, TestReportError> {
        let report = TestReport::of(posting);
        let store = &*self.store;
        steps::run(store, async || {
            if let Some(kept) = load::<TestReport>(store, &report.key()).await? {
                let taken = match kept.value.report == report.report {
                    true => TakenTest::Repeat(kept.value),
                    false => TakenTest::Conflict(kept.value.receipt_id()),
                };
                return Ok(Proposal::nothing(taken));
            }
            let mut change = Change::default();
            if let Some(oldest) = self.surplus(&report.partner).await? {
                change.delete(&oldest);
            }
            change.put(&Versioned::new(report.clone()));
            Ok::<_, TestReportError>(Proposal::new(change, TakenTest::First(report.clone())))
        })
        .await
    }

    /// The oldest one of a partner that has as many as are kept.
    async fn surplus(&self, partner: &PartnerId) -> Result<Option<Versioned<TestReport>>, StoreError> {
        let kept = self.named(partner).await?;
        let is_full = kept.len() >= TEST_REPORTS_MAX as usize;
        Ok(kept.into_iter().min_by_key(|kept| kept.value.at_ms).filter(|_| is_full))
    }

    async fn named(&self, partner: &PartnerId) -> Result<Vec<Versioned<TestReport>>, StoreError> {
        let asked = Named { name: &name(partner), before: None, limit: TEST_REPORTS_MAX };
        named::<TestReport>(&*self.store, asked).await
    }

    /// The test reports of a partner, newest first, at most [`TEST_REPORTS_MAX`].
    ///
    /// # Errors
    /// [`TestReportError::Store`].
    pub async fn list(&self, partner: &PartnerId) -> Result<Vec<TestReport>, TestReportError> {
        let mut kept: Vec<TestReport> = self.named(partner).await?.into_iter().map(|kept| kept.value).collect();
        kept.sort_by_key(|report| std::cmp::Reverse(report.at_ms));
        Ok(kept)
    }
}

/// Forgets those whose time is over; how many there were.
///
/// # Errors
/// [`StoreError`]; what was forgotten until then stays so.
pub async fn forget_test_reports(store: &dyn Store, now: Timestamp) -> Result<u64, StoreError> {
    let is_over = |report: &TestReport| now.ms_since(report.at_ms) >= TEST_REPORT_KEPT_MS;
    steps::forget_all(store, is_over).await
}
