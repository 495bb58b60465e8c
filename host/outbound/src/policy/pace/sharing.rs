//! The rates of users over all gateways that share a store, and what gateways tell each other of partners that want to be
//! left alone.
//!
//! A gateway that is alone counts in memory and asks nobody. With others, a call that its own counts admit takes its user's
//! turn in the store, too. A store that does not answer within [`TURN_MAX`] is not waited for: the call goes out, counted by
//! this gateway alone, and the store is not asked for [`PAUSE_MS`] after that. Users then have each rate at each gateway;
//! the metric `intent_gateway_unshared_calls_total` counts such calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};

use super::back_off::BackOff;
use super::{BACK_OFFS_MAX, HeldBy, HeldCall, Pace, PacedCall, UserSlot, key_of, user_rate};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::fleet::shared::{SharedBackOff, SharedCounts, SharedRate, SharedTurn};
use intent_gateway_domain::ports::Timer;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::telemetry;
use intent_gateway_domain::vault::Vault;

/// How long a call waits for its turn to be counted.
pub(crate) const TURN_MAX: Duration = Duration::from_millis(500);
/// For how long the store is not asked after it did not answer, milliseconds.
pub(crate) const PAUSE_MS: u64 = 2_000;
/// Binds the marks of users' rates.
const CONTEXT: &str = "shared rate of a user";

/// Where gateways count together.
pub struct Sharing {
    counts: Arc<dyn SharedCounts>,
    vault: Vault,
    /// By the clock of the fleet.
    paused_until_ms: AtomicU64,
    /// Whether the last answer did not come.
    is_out: AtomicBool,
}

/// Where a call was counted in the store.
#[derive(Debug)]
pub(super) struct SharedSlot {
    mark: String,
    at: Timestamp,
}

impl Sharing {
    /// Counts in a store, which learns of users no more than marks under the vault's key.
    #[must_use]
    pub fn new(counts: Arc<dyn SharedCounts>, vault: Vault) -> Self {
        Self { counts, vault, paused_until_ms: AtomicU64::new(0), is_out: AtomicBool::new(false) }
    }

    fn note_answer(&self) {
        if self.is_out.swap(false, Ordering::Relaxed) {
            tracing::info!("users' calls are counted with the other gateways again");
        }
    }

    fn note_failure(&self, why: &str, now_ms: u64) {
        self.paused_until_ms.store(now_ms.saturating_add(PAUSE_MS), Ordering::Relaxed);
        if !self.is_out.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                why,
                "users' calls are counted by this gateway alone; each gateway now gives them their rates"
            );
        }
    }
}

/// An answer of the store, if it comes in time.
async fn in_time<T>(
    answer: impl Future<Output = Result<T, StoreError>> + Unpin,
    timer: &dyn Timer,
) -> Result<T, String> {
    match select(answer, timer.wait(TURN_MAX)).await {
        Either::Left((answer, _)) => answer.map_err(|error| chain(&error)),
        Either::Right(_) => Err(format!("the store did not answer within {} ms", TURN_MAX.as_millis())),
    }
}

impl Pace {
    /// Takes the turn of a call's user over all gateways, for a call that was admitted here.
    ///
    /// # Errors
    /// [`HeldCall`] where another gateway has had it. What was counted here has to be taken back.
    pub(crate) async fn take_shared_turn(
        &self,
        call: &PacedCall<'_>,
        slot: &mut UserSlot,
        timer: &dyn Timer,
    ) -> Result<(), HeldCall> {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.fleet.shares_counts()) else { return Ok(()) };
        let Some((rate, limit)) = user_rate(call) else { return Ok(()) };
        if self.fleet.elapsed_ms() < sharing.paused_until_ms.load(Ordering::Relaxed) {
            telemetry::count_unshared_call();
            return Ok(());
        }
        let mark = sharing.vault.mark(CONTEXT, &rate.to_string()).as_str().to_owned();
        let wanted = SharedRate { mark: mark.clone(), calls: limit.calls, per_ms: limit.per_ms };
        match in_time(sharing.counts.take(wanted), timer).await {
            Ok(SharedTurn::Taken(at)) => {
                sharing.note_answer();
                slot.shared = Some(SharedSlot { mark, at });
                Ok(())
            }
            Ok(SharedTurn::Wait(wait_ms)) => {
                sharing.note_answer();
                Err(HeldCall { wait_ms: wait_ms.max(1), by: HeldBy::UserRate })
            }
            Err(why) => {
                sharing.note_failure(&why, self.fleet.elapsed_ms());
                telemetry::count_unshared_call();
                Ok(())
            }
        }
    }

    /// A call that was admitted came to nothing: the user may make another one in its place, at any gateway.
    pub(crate) async fn give_back_turn(&self, slot: UserSlot, timer: &dyn Timer) {
        let shared = self.give_back(slot);
        let (Some(sharing), Some(SharedSlot { mark, at })) = (&self.sharing, shared) else { return };
        if let Err(why) = in_time(sharing.counts.give_back(&mark, at), timer).await {
            sharing.note_failure(&why, self.fleet.elapsed_ms());
        }
    }

    /// The partners that have asked this gateway to slow down since it was last asked for them, and that are still left alone.
    pub fn take_untold(&self, now: Timestamp) -> Vec<SharedBackOff> {
        let mut counts = self.counts();
        let untold = std::mem::take(&mut counts.untold);
        let told = untold.into_iter().filter_map(|partner| {
            let back_off = counts.back_offs.get(&key_of(&[partner.as_str()]), now)?;
            let wait_ms = back_off.wait_ms(now);
            (wait_ms > 0).then(|| SharedBackOff { partner, times: back_off.times(), wait_ms })
        });
        told.collect()
    }

    /// Takes up what could not be told, to be told later.
    pub fn put_back_untold(&self, untold: impl IntoIterator<Item = SharedBackOff>) {
        let mut counts = self.counts();
        for back_off in untold {
            if counts.untold.len() < BACK_OFFS_MAX {
                counts.untold.insert(back_off.partner);
            }
        }
    }

    /// Leaves a partner alone that has asked another gateway to slow down.
    pub fn hear_back_off(&self, SharedBackOff { partner, times, wait_ms }: &SharedBackOff, now: Timestamp) {
        let key = key_of(&[partner.as_str()]);
        let mut counts = self.counts();
        if counts.back_offs.room_for(&key, now).is_ok() {
            let hear = |back_off: &mut BackOff| back_off.hear(*times, *wait_ms, now);
            counts.back_offs.change_or_insert(key, now, BackOff::default, hear);
        }
    }
}

#[cfg(test)]
mod tests;
