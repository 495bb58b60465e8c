//! Calls follow each other no faster than partners and users may have them.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{Next, Outcome, Outgoing, Step, TakenSlot};
use crate::OutboundCall;
use crate::policy::failure::FailureMeaning;
use crate::policy::pace::{HeldBy, HeldCall, Pace, PacedCall, UserSlot};
use crate::policy::retry::TRY_MIN_MS;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_domain::ports::Timer;

/// How long a call that does not fit a rate yet is held back before its caller is told to come again, milliseconds: a user's
/// second search within a second waits for its turn and is not lost.
const HOLD_MAX_MS: u64 = 1_000;
/// How often a call is held back: others may take the turn that it waited for.
const HOLDS_MAX: u32 = 3;

/// Gives the user's turn back for a call that came to nothing, whatever its tries were.
pub(crate) struct GiveTurnBack {
    pub(crate) pace: Arc<Pace>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) next: Next,
}

impl Step for GiveTurnBack {
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        async move {
            let (call, user_slot) = (outgoing.call.clone(), TakenSlot::default());
            let outcome = self.next.call(Outgoing { user_slot: user_slot.clone(), ..outgoing }).await;
            if let Err(failure) = &outcome
                && !FailureMeaning::of(failure, call.descriptor()).may_have_landed
            {
                let slot = user_slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(slot) = slot {
                    self.pace.give_back_turn(slot, &*self.timer).await;
                }
            }
            outcome
        }
        .boxed()
    }
}

/// Waits for each call's turn where that is near, refuses it where it is not, and notes whether the partner asks to slow
/// down.
pub(crate) struct KeepPace {
    pub(crate) pace: Arc<Pace>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) next: Next,
}

impl Step for KeepPace {
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        async move {
            let call = outgoing.call.clone();
            if let Some(slot) = self.wait_for_turn(&call, outgoing.is_repeat, outgoing.deadline).await? {
                *outgoing.user_slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
            }
            let started = self.clock.now();
            let outcome = self.next.call(outgoing).await;
            match outcome.as_ref().err().and_then(slow_down) {
                Some(retry_after_ms) => {
                    self.pace.note_rate_limit(&call.partner.id, started, retry_after_ms, self.clock.now());
                }
                None => self.pace.note_answer(&call.partner.id, started),
            }
            outcome
        }
        .boxed()
    }
}

impl KeepPace {
    /// Waits until the call may go out: the slot of its user, where it takes one.
    async fn wait_for_turn(
        &self,
        call: &OutboundCall,
        is_repeat: bool,
        deadline: Timestamp,
    ) -> Result<Option<UserSlot>, CallFailure> {
        let paced = PacedCall {
            partner: &call.partner.id,
            intent: call.descriptor().intent.as_str(),
            tool: call.tool()?,
            user: call.user.as_ref(),
            is_repeat,
        };
        let mut holds = 0;
        loop {
            let HeldCall { wait_ms, by } = match self.admit(&paced).await {
                Ok(slot) => return Ok(slot),
                Err(held) => held,
            };
            let now = self.clock.now();
            // A retry has its own wait behind it and may wait for the partner as well, as long as there is time.
            let bearable_ms = if is_repeat { wait_ms } else { wait_ms.min(HOLD_MAX_MS) };
            let is_left_alone = by == HeldBy::BackOff && !is_repeat;
            let left_ms = deadline.ms_since(now);
            if is_left_alone || wait_ms > bearable_ms || wait_ms + TRY_MIN_MS > left_ms || holds >= HOLDS_MAX {
                return Err(CallFailure::NotCalled { why: why(by), wait_ms: Some(wait_ms) });
            }
            holds += 1;
            self.timer.wait(Duration::from_millis(wait_ms)).await;
        }
    }
}

impl KeepPace {
    /// Admits a call here and, where gateways count together, among all of them: the slot of its user, where it takes one.
    async fn admit(&self, call: &PacedCall<'_>) -> Result<Option<UserSlot>, HeldCall> {
        let mut admitted = self.pace.admit(call, self.clock.now())?;
        if let Some(slot) = &mut admitted.user
            && let Err(held) = self.pace.take_shared_turn(call, slot, &*self.timer).await
        {
            self.pace.take_back(admitted);
            return Err(held);
        }
        Ok(admitted.user)
    }
}

/// The partner's request to slow down, with what it said of when to come back.
#[expect(clippy::option_option, reason = "whether it asked, and whether it said when")]
fn slow_down(failure: &CallFailure) -> Option<Option<u64>> {
    match failure {
        CallFailure::RateLimited { retry_after_ms } => Some(*retry_after_ms),
        CallFailure::HttpStatus(429) => Some(None),
        _ if failure.platform_code() == Some(PlatformCode::RateLimited) => Some(None),
        _ => None,
    }
}

fn why(by: HeldBy) -> NotCalled {
    match by {
        HeldBy::BackOff => NotCalled::BackOff,
        HeldBy::PartnerRate => NotCalled::PartnerRate,
        HeldBy::UserRate => NotCalled::UserRate,
        HeldBy::Crowded => NotCalled::Crowded,
    }
}
