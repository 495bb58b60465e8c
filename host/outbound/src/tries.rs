//! The tries of one call: admitted, sent, recorded, and repeated as the contract says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::first_word::FirstWord;
use super::read_first::Orders;
use super::{Errand, Outbound, Policies, Reply, is_search};
use crate::health::{Admission, Observation, Outcome};
use crate::policy::failure::{RATE_LIMITED, Reading};
use crate::policy::pace::{Held, HeldBy, PacedCall, UserSlot};
use crate::policy::retry::{Plan, Retry, TRY_MIN_MS};
use intent_gateway_domain::contract::Tool;
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::ports::Progress;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::telemetry;

/// How long a call that does not fit a rate yet is held back before its caller is told to come again, milliseconds: a user's
/// second search within a second waits for its turn and is not lost.
const HOLD_MAX_MS: u64 = 1_000;
/// How often a call is held back: others may take the turn that it waited for.
const HOLDS_MAX: u32 = 3;

impl Outbound {
    /// Makes a call and its retries, all within the errand's time from `started_ms`.
    pub(super) async fn tries(
        self: &Arc<Self>,
        policies: &Policies,
        errand: &Errand,
        token: Option<&Secret>,
        started_ms: u64,
        progress: Option<&dyn Progress>,
    ) -> Result<Reply, CallFailure> {
        let tool = errand.tool()?;
        let mut plan = Plan::new(errand.descriptor(), tool, started_ms, errand.within);
        let mut again = errand.again;
        let mut failed = None;
        let mut slot = None;
        loop {
            match self.pass(policies, errand, tool, again, &plan).await {
                Ok(taken) => slot = slot.or(taken),
                // A retry that may not go out leaves the failure before it standing.
                Err(held) => return Err(failed.unwrap_or(held)),
            }
            let left = plan.left(self.clock.now_ms());
            let failure = match self.observed(policies, errand, tool, left, token, progress).await {
                Ok(text) => return Ok(Reply { text, by: None }),
                Err(failure) => failure,
            };
            match plan.next(&failure, self.clock.now_ms()) {
                Retry::After(wait_ms) => {
                    tracing::debug!(
                        partner = %errand.partner.id, tool = %errand.tool, outcome = telemetry::failure(&failure), wait_ms,
                        "a call is tried again"
                    );
                    policies.timer.wait(Duration::from_millis(wait_ms)).await;
                }
                Retry::ReadFirst(wait_ms) => {
                    policies.timer.wait(Duration::from_millis(wait_ms)).await;
                    match self.orders(policies, errand, &plan, token).await? {
                        Orders::Landed(reply) => return Ok(reply),
                        Orders::None => {}
                        Orders::Unclear => return Err(failure),
                    }
                }
                Retry::GiveUp => {
                    if let (Some(pace), Some(slot)) = (policies.pace.as_ref(), slot)
                        && !Reading::of(&failure, errand.descriptor()).may_have_landed
                    {
                        pace.give_back(slot);
                    }
                    return Err(failure);
                }
            }
            failed = Some(failure);
            again = true;
        }
    }

    /// Waits for the call's turn, where that is near.
    pub(super) async fn pass(
        &self,
        policies: &Policies,
        errand: &Errand,
        tool: &Tool,
        again: bool,
        plan: &Plan<'_>,
    ) -> Result<Option<UserSlot>, CallFailure> {
        self.healthy(policies, errand, tool)?;
        let Some(pace) = &policies.pace else { return Ok(None) };
        let paced = paced(errand, tool, again);
        let mut holds = 0;
        loop {
            let now_ms = self.clock.now_ms();
            let Held { wait_ms, by } = match pace.admit(&paced, now_ms) {
                Ok(slot) => return Ok(slot),
                Err(held) => held,
            };
            // A retry has its own wait behind it and may wait for the partner as well, as long as there is time.
            let left_ms = u64::try_from(plan.left(now_ms).as_millis()).unwrap_or(u64::MAX);
            let bearable = if again { wait_ms } else { wait_ms.min(HOLD_MAX_MS) };
            let is_left_alone = by == HeldBy::BackOff && !again;
            if is_left_alone || wait_ms > bearable || wait_ms + TRY_MIN_MS > left_ms || holds >= HOLDS_MAX {
                return Err(CallFailure::NotCalled { why: why(by), wait_ms: Some(wait_ms) });
            }
            holds += 1;
            policies.timer.wait(Duration::from_millis(wait_ms)).await;
        }
    }

    /// Asks the partner's breaker; for a search it was asked before.
    fn healthy(&self, policies: &Policies, errand: &Errand, tool: &Tool) -> Result<(), CallFailure> {
        if is_search(tool) {
            return Ok(());
        }
        let (admission, event) = policies.health.admit_call(&errand.partner.id, self.clock.now_ms());
        if let Some(event) = event {
            policies.log.changed(event);
        }
        match admission {
            Admission::LeftOut(_) => Err(CallFailure::NotCalled { why: NotCalled::Down, wait_ms: None }),
            Admission::Go | Admission::Probe(_) => Ok(()),
        }
    }

    /// Sends one call and takes down what came of it.
    pub(super) async fn observed(
        &self,
        policies: &Policies,
        errand: &Errand,
        tool: &Tool,
        left: Duration,
        token: Option<&Secret>,
        progress: Option<&dyn Progress>,
    ) -> Result<String, CallFailure> {
        let (started, started_ms) = (Instant::now(), self.clock.now_ms());
        let first = progress.map(FirstWord::new);
        let outcome = self.send(errand, left, token, first.as_ref().map(|first| first as &dyn Progress)).await;
        // A stream lasts as long as there is something to tell; that makes no partner slow.
        let elapsed = first.and_then(|first| first.took()).unwrap_or_else(|| started.elapsed());
        let now_ms = self.clock.now_ms();
        let partner = &errand.partner.id;
        if let Some(pace) = &policies.pace {
            match outcome.as_ref().err().and_then(slow_down) {
                Some(retry_after_ms) => pace.note_rate_limit(partner, started_ms, retry_after_ms, now_ms),
                None => pace.note_answer(partner, started_ms),
            }
        }
        let seen = Observation {
            partner,
            intent: &errand.descriptor().intent,
            tool: &errand.tool,
            targets: tool.latency,
            outcome: Outcome::of(outcome.as_ref().err()),
            elapsed,
        };
        for event in policies.health.record(&seen, now_ms) {
            policies.log.changed(event);
        }
        outcome
    }
}

fn paced<'a>(errand: &'a Errand, tool: &'a Tool, again: bool) -> PacedCall<'a> {
    let intent = errand.descriptor().intent.as_str();
    PacedCall { partner: &errand.partner.id, intent, tool, user: errand.user.as_ref(), is_repeat: again }
}

/// The partner's request to slow down, with what it said of when to come back.
#[expect(clippy::option_option, reason = "whether it asked, and whether it said when")]
fn slow_down(failure: &CallFailure) -> Option<Option<u64>> {
    match failure {
        CallFailure::RateLimited { retry_after_ms } => Some(*retry_after_ms),
        CallFailure::HttpStatus(429) => Some(None),
        CallFailure::Platform { code, .. } if code == RATE_LIMITED => Some(None),
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
