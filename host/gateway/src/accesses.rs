//! What is noted of sign-ins, refused changes and reads, into the audit log: a moment after it happened.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::store::{Change, Store};
use tokio_util::sync::CancellationToken;

use crate::readiness::TaskRounds;

/// Entries written in one go, at most.
const BATCH_MAX: usize = 128;
/// How often is looked for entries that are due; with the process is lost what came since.
const POLL: Duration = Duration::from_secs(1);

/// Writes what is due, until told to stop; what waits then is still written.
pub(crate) async fn follow(
    accesses: Arc<Accesses>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    stopping: CancellationToken,
    rounds: TaskRounds,
) {
    let mut waiting = Vec::new();
    loop {
        let stopped = stopping.run_until_cancelled(tokio::time::sleep(POLL)).await.is_none();
        // While the store fails they go on being folded, which is bounded.
        if stopped {
            waiting.extend(accesses.take_all());
        } else if waiting.is_empty() {
            waiting = accesses.take_due(clock.now());
        }
        while !waiting.is_empty() {
            let batch = waiting.iter().take(BATCH_MAX).cloned().collect::<Vec<_>>();
            let written = batch.len();
            if let Err(error) = store.commit(Change { audit: batch, ..Change::default() }).await {
                tracing::error!(error = %chain(&error), waiting = waiting.len(), "accesses could not be written to the audit log");
                break;
            }
            waiting.drain(..written);
        }
        rounds.note(waiting.is_empty());
        if stopped {
            return;
        }
    }
}
