//! What happens to versions of contracts, into the audit log: loads, swaps, roll-backs, with who made them.
//!
//! The sandbox keeps each event with the change that it tells of, until it is told that the log has it. So nothing is
//! missing after a crash; an event whose entry was written just before one may stand there twice, under one number.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::error::chain;
use intent_gateway_domain::store::{Change, Store};
use intent_gateway_domain::versions::ContractEvent;
use intent_gateway_sandbox::Sandbox;
use tokio_util::sync::CancellationToken;

use crate::readiness::TaskRounds;

/// Events written in one go, at most.
const BATCH_MAX: usize = 128;
/// Pause after the store or the state folder has failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Writes events to the audit log as they come, until told to stop; what waits then is still written. It is not cut off
/// between the log and the note that the log has it, or an event would stand there twice after each such stop.
pub(crate) async fn follow(
    sandbox: Arc<Sandbox>,
    store: Arc<dyn Store>,
    stopping: CancellationToken,
    rounds: TaskRounds,
) {
    loop {
        tokio::select! {
            () = sandbox.wait_for_events() => {}
            () = stopping.cancelled() => {}
        }
        let written = write_pending(&sandbox, &*store).await;
        rounds.note_result(&written);
        if let Err(error) = &written {
            tracing::error!(error, "events of contracts could not be written to the audit log");
        }
        if stopping.is_cancelled() {
            return;
        }
        if written.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Writes what waits.
///
/// # Errors
/// When the store fails: what was not written is written the next time. When the state folder fails: see
/// [`Sandbox::settle_events`].
pub(crate) async fn write_pending(sandbox: &Sandbox, store: &dyn Store) -> Result<(), String> {
    let events = sandbox.pending_events();
    for batch in events.chunks(BATCH_MAX) {
        let Some(last) = batch.last() else { continue };
        let change = Change { audit: batch.iter().map(ContractEvent::to_draft).collect(), ..Change::default() };
        store.commit(change).await.map_err(|error| chain(&error))?;
        sandbox.settle_events(last.number).await.map_err(|error| chain(&error))?;
    }
    Ok(())
}
