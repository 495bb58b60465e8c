//! Partners' health beside the calls: changes into the log and the audit log, new strikes out of the store.
//!
//! The steps themselves are in [`onboarding`](intent_gateway_onboarding). Here is when they are taken, and what waits
//! for them: a bounded queue, so that no call waits for the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use intent_gateway_domain::error::chain;
use intent_gateway_domain::health::{HealthChange, HealthEvent};
use intent_gateway_domain::ports::{Evidence, HealthLog};
use intent_gateway_domain::telemetry;
use intent_gateway_onboarding::{StrikeDesk, StrikeWatch};
use intent_gateway_outbound::health::Health;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use crate::readiness::TaskRounds;

/// Changes that wait to be written, at most. A partner makes a few a minute at worst.
const QUEUE_MAX: usize = 4_096;
/// Changes written in one go, at most.
const BATCH_MAX: usize = 128;
/// How often new strikes are looked for.
const STRIKE_POLL: Duration = Duration::from_secs(1);
/// Pause after the store has failed.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Takes changes of partners' health: each is logged at once, and written to the audit log a moment later.
pub(crate) struct HealthJournal {
    queue: mpsc::Sender<HealthEvent>,
    /// Changes that did not fit the queue, since that was last told.
    lost: AtomicU64,
}

/// Where the changes come out.
pub(crate) type Changes = mpsc::Receiver<HealthEvent>;

impl HealthJournal {
    /// A journal, and what is to be given to [`write`].
    pub(crate) fn new() -> (Arc<Self>, Changes) {
        let (queue, changes) = mpsc::channel(QUEUE_MAX);
        (Arc::new(Self { queue, lost: AtomicU64::new(0) }), changes)
    }

    /// Tells how many were lost since it was last asked.
    fn tell_lost(&self) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::error!(lost, "changes of partners' health are missing from the audit log; they are in this log");
        }
    }
}

impl HealthLog for HealthJournal {
    fn note_change(&self, event: HealthEvent) {
        telemetry::health_changed(&event);
        announce(&event);
        if self.queue.try_send(event).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// One line for whoever watches the log.
fn announce(event: &HealthEvent) {
    let HealthEvent { partner, change, .. } = event;
    let (action, numbers) = (event.action(), serde_json::to_string(change).unwrap_or_default());
    match change {
        HealthChange::Returned { .. } | HealthChange::HalfOpened | HealthChange::Closed { .. } => {
            tracing::info!(target: "partner_health", %partner, action, numbers, "a partner's health changed");
        }
        HealthChange::Ejected { .. }
        | HealthChange::HeldBack { .. }
        | HealthChange::Opened(_)
        | HealthChange::StruckOut(_) => {
            tracing::warn!(target: "partner_health", %partner, action, numbers, "a partner's health changed");
        }
    }
}

/// Writes changes to the audit log, until told to stop and nothing is left. While the store fails they wait, as many as
/// fit; what is left when the gateway stops is tried once.
pub(crate) async fn write(
    changes: Arc<Mutex<Changes>>,
    journal: Arc<HealthJournal>,
    desk: Arc<StrikeDesk>,
    stop: CancellationToken,
    rounds: TaskRounds,
) {
    let mut changes = changes.lock().await;
    let mut batch = Vec::with_capacity(BATCH_MAX);
    loop {
        let count = tokio::select! {
            biased;
            count = changes.recv_many(&mut batch, BATCH_MAX) => count,
            () = stop.cancelled() => 0,
        };
        if count == 0 {
            journal.tell_lost();
            return;
        }
        while let Err(error) = desk.record_health(&batch).await {
            let error = chain(&error);
            rounds.note(false);
            tracing::error!(%error, waiting = batch.len(), "changes of partners' health could not be written");
            let stopped = tokio::time::timeout(STORE_PAUSE, stop.cancelled()).await.is_ok();
            if stopped {
                break;
            }
        }
        rounds.note(true);
        batch.clear();
        journal.tell_lost();
    }
}

/// Looks for new strikes, again and again, and has whoever is struck out suspended.
pub(crate) async fn follow_strikes(
    desk: Arc<StrikeDesk>,
    evidence: Arc<dyn Evidence>,
    health: Arc<Health>,
    mut watch: StrikeWatch,
    journal: Arc<HealthJournal>,
    rounds: TaskRounds,
) {
    loop {
        let followed = desk.follow(&*evidence, &*health, &mut watch, &*journal).await;
        rounds.note_result(&followed);
        if let Err(error) = followed {
            tracing::error!(error = %chain(&error), "new strikes could not be read");
        }
        tokio::time::sleep(STRIKE_POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::clock::Timestamp;
    use intent_gateway_domain::id::PartnerId;

    use super::*;

    #[test]
    fn nobody_waits_and_what_does_not_fit_is_counted() {
        let (journal, mut changes) = HealthJournal::new();
        let event = |at_ms| {
            let partner = PartnerId::parse("ptr_1").expect("well formed");
            HealthEvent { at_ms, partner, change: HealthChange::HalfOpened }
        };
        for ms in 0..QUEUE_MAX as u64 + 3 {
            journal.note_change(event(Timestamp::from_ms(ms)));
        }
        assert_eq!(journal.lost.load(Ordering::Relaxed), 3);
        assert_eq!(changes.len(), QUEUE_MAX);
        assert_eq!(changes.try_recv().map(|event| event.at_ms), Ok(Timestamp::EPOCH), "the oldest are kept, in order");
        journal.tell_lost();
        assert_eq!(journal.lost.load(Ordering::Relaxed), 0);
        drop(changes);
        journal.note_change(event(Timestamp::from_ms(1)));
        assert_eq!(journal.lost.load(Ordering::Relaxed), 1);
    }
}
