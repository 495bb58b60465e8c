//! What partners delivered, as their completion reports tell it, summed up by the ledger.
//!
//! Not here: what is made of it (the crate `onboarding` holds it against what is declared).

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::clock::Timestamp;
use crate::id::{IntentId, PartnerId};
use crate::store::StoreError;

/// Reports of one partner, intent and status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Who reported.
    pub partner: PartnerId,
    pub intent: IntentId,
    /// The reported status.
    pub status: String,
    /// How many.
    pub reports: u64,
    /// Of these, how many tell how late the service began.
    pub timed: u64,
    /// Sum of the minutes by which those began late, below zero where early.
    pub late_minutes: i64,
}

/// The sums over completion reports.
pub trait Deliveries: Send + Sync {
    /// What was delivered, by partner, intent and status, out of the entries that stand and were posted since a time;
    /// of one partner alone if given.
    fn sum_delivered<'a>(
        &'a self,
        partner: Option<&'a PartnerId>,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<Tally>, StoreError>>;

    /// The partners that have entries in a month (`2026-05`, by Indian Standard Time), in the order of their identifiers: those
    /// after `after`, at most `limit`.
    fn partners_of_month<'a>(
        &'a self,
        month: &'a str,
        after: Option<&'a PartnerId>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<PartnerId>, StoreError>>;
}
