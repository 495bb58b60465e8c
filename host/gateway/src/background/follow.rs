//! Follows the store: who is routed, and the keys that reports are signed with.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::error::chain;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::store::Store as _;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_onboarding::{LivePartners, StrikeDesk};
use intent_gateway_outbound::health::Health;
use intent_gateway_store::SqlStore;

use super::STORE_PAUSE;
use crate::readiness::TaskRounds;

/// How long a change is waited for before the store is asked whether there was none: the signing keys must be known to be
/// the store's, well within [`STALE_AFTER_MS`](intent_gateway_ledger::completion::keyring::STALE_AFTER_MS).
const COMPARE_POLL: Duration = Duration::from_secs(2);
/// Puts every change of who is routed, and of signing keys, in force. While the store cannot be read, who was routed last
/// stays so; the keys grow stale, and completion reports are refused until they can be compared again.
pub(super) async fn follow(follower: Follower, mut seen: u64, rounds: TaskRounds) {
    loop {
        let followed = follower.follow_once(&mut seen).await;
        rounds.note_result(&followed);
        if let Err(error) = followed {
            tracing::error!(%error, "the store could not be read; who was routed last stays so");
            tokio::time::sleep(STORE_PAUSE).await;
        }
    }
}

/// What follows the store.
#[derive(Clone)]
pub(super) struct Follower {
    pub(super) store: Arc<SqlStore>,
    pub(super) keys: Arc<KeyRing>,
    pub(super) live: Arc<LivePartners>,
    pub(super) strikes: Arc<StrikeDesk>,
    pub(super) health: Arc<Health>,
}

impl Follower {
    async fn follow_once(&self, seen: &mut u64) -> Result<(), String> {
        let Self { store, keys, live, strikes, health } = self;
        let now = match tokio::time::timeout(COMPARE_POLL, store.wait_for_change(*seen)).await {
            Ok(now) => now,
            Err(_elapsed) => {
                let asked_at_ms = keys.elapsed_ms();
                let now = store.changes().await.map_err(|error| chain(&error))?;
                if now == *seen {
                    keys.note_compared(asked_at_ms);
                    // What a date in a record ends is no change of the record.
                    if live.is_due() {
                        live.refresh().await.map_err(|error| chain(&error))?;
                    }
                    return Ok(());
                }
                now
            }
        };
        keys.refresh().await.map_err(|error| chain(&error))?;
        let partners = live.refresh().await.map_err(|error| chain(&error))?;
        strikes.settle(&**health).await.map_err(|error| chain(&error))?;
        tracing::debug!(partners, changes = now, "the partners and their keys were read anew");
        *seen = now;
        Ok(())
    }
}
