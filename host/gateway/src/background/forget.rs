//! Forgets what is over: codes, sessions, counts; evidence and orders that are old.

use std::sync::Arc;

use intent_gateway_catalogue::Catalogue;
use intent_gateway_domain::approval::forget_expired;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::faults::KEPT_MAX_MS;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::fleet::shared::SharedCounts;
use intent_gateway_domain::ports::{Evidence as _, Faults as _};
use intent_gateway_domain::web_session::forget_sessions;
use intent_gateway_ledger::completion::test_reports::forget_test_reports;
use intent_gateway_linking::Linking;
use intent_gateway_onboarding::Accounts;
use intent_gateway_onboarding::events::forget_events;
use intent_gateway_routing::calling::forget_attempts;
use intent_gateway_routing::user_data::forget_orders;
use intent_gateway_store::SqlStore;

use super::Keep;
use crate::readiness::TaskRounds;

pub(super) async fn forget(
    clock: Arc<dyn Clock>,
    store: Arc<SqlStore>,
    catalogue: Arc<Catalogue>,
    keep: Keep,
    rounds: TaskRounds,
) {
    let evidence = store.forget(clock.settled().minus_ms(keep.evidence_ms)).await;
    let excess = store.forget_excess_findings(keep.findings_max).await;
    let faults = store.forget_faults(clock.settled().minus_ms(keep.evidence_ms.min(KEPT_MAX_MS))).await;
    let orders = forget_orders(&*store, clock.settled().minus_ms(keep.orders_ms)).await;
    // What a receipt or an order was judged by stays as long as they do.
    let keep_contracts_ms = keep.evidence_ms.max(keep.orders_ms);
    let retired = catalogue.forget_retired(clock.settled().minus_ms(keep_contracts_ms)).await;
    rounds.note(evidence.is_ok() && excess.is_ok() && faults.is_ok() && orders.is_ok() && retired.is_ok());
    match retired {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "versions of contracts that nothing needs were forgotten"),
        Err(error) => tracing::error!(error = %chain(&error), "retired versions of contracts could not be forgotten"),
    }
    match evidence {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "findings and receipts that are too old were forgotten"),
        Err(error) => tracing::error!(error = %chain(&error), "old findings and receipts could not be forgotten"),
    }
    match excess {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "the oldest findings were forgotten: there were too many"),
        Err(error) => tracing::error!(error = %chain(&error), "findings beyond their number could not be forgotten"),
    }
    match faults {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "faults of contracts that are too old were forgotten"),
        Err(error) => tracing::error!(error = %chain(&error), "old faults of contracts could not be forgotten"),
    }
    match orders {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "closed orders that are too old were forgotten"),
        Err(error) => tracing::error!(error = %chain(&error), "old orders could not be forgotten"),
    }
}

/// Forgets counts that count no more. Who is alone makes none; what is left of before goes with the [`sweep`].
pub(super) async fn forget_shared(fleet: Fleet, counts: Arc<dyn SharedCounts>, rounds: TaskRounds) {
    if !fleet.shares_counts() {
        rounds.note(true);
        return;
    }
    let forgotten = counts.forget_ended().await;
    rounds.note_result(&forgotten);
    if let Err(error) = forgotten {
        tracing::error!(error = %chain(&error), "counts that are over could not be forgotten");
    }
}

/// What forgets what is over.
#[derive(Clone)]
pub(super) struct Sweeper {
    pub(super) accounts: Arc<Accounts>,
    pub(super) store: Arc<SqlStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) linking: Linking,
    pub(super) counts: Arc<dyn SharedCounts>,
    pub(super) catalogue: Arc<Catalogue>,
}

pub(super) async fn sweep(sweeper: Sweeper, rounds: TaskRounds) {
    let Sweeper { accounts, store, clock, linking, counts, catalogue } = sweeper;
    let swept = [
        ("codes that are over", told(accounts.forget_codes().await)),
        ("writes whose keys are free again", told(forget_attempts(&*store, clock.settled()).await)),
        ("test reports whose time is over", told(forget_test_reports(&*store, clock.settled()).await)),
        ("what waited too long for a second person", told(forget_expired(&*store, clock.settled()).await)),
        ("sessions of pages that are over", told(forget_sessions(&*store, clock.settled()).await)),
        ("what partners were told long ago", told(forget_events(&*store, clock.settled()).await)),
        ("links that nobody has ended", told(linking.forget_pending().await)),
        ("counts that are over", told(counts.forget_ended().await)),
        ("contracts of gateways that have gone", told(catalogue.forget_dead().await)),
        ("what was seen of rollouts that are over", told(catalogue.forget_evidence().await)),
    ];
    rounds.note(swept.iter().all(|(_, failed)| failed.is_none()));
    for (what, failed) in swept {
        if let Some(error) = failed {
            tracing::error!(error, what, "what is over could not be forgotten");
        }
    }
}

/// How something failed, with its causes.
fn told<T, E: std::error::Error>(outcome: Result<T, E>) -> Option<String> {
    outcome.err().map(|error| chain(&error))
}
