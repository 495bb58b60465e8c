//! All that is known of one partner's health, under one lock.

use std::collections::BTreeMap;

use serde::Serialize;

use super::breaker::{Breaker, BreakerView, Gate, Turn};
use super::latency::Sample;
use super::observed::{Observation, Outcome};
use super::pool::{HealthVerdict, OutView, Passage, Pool, ToolView};
use super::strikes::Tally;
use super::{Admission, Cause};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::health::{HealthChange, Slowness, Strikes};
use intent_gateway_domain::id::{IntentId, PartnerId};

/// Intents followed for one partner: as many as a manifest lists (spec 1, Limits).
const INTENTS_MAX: usize = 50;
/// Who was called within this time counts as serving, milliseconds: the window by which it is judged.
const SERVING_MS: u64 = 5 * 60 * 1_000;

/// Where a partner stands for an intent, in the eyes of another that is due to leave.
#[derive(Clone, Debug)]
pub(super) enum Standing {
    /// In the pool, called of late, its breaker closed.
    Serves,
    /// Out for slowness, its breaker closed.
    Out(Slowness),
    /// Of no help.
    Elsewhere,
}

#[derive(Debug)]
pub(super) struct PartnerHealth {
    breaker: Breaker,
    pools: BTreeMap<IntentId, Pool>,
    pub(super) strikes: Tally,
    heard_at: Timestamp,
}

/// What is shown of one partner.
#[derive(Clone, Debug, Serialize)]
pub struct PartnerView {
    /// Who.
    pub partner: PartnerId,
    pub breaker: BreakerView,
    /// The strikes that have not expired, by code.
    pub strikes: Vec<Strikes>,
    /// The intents that it was called for, sorted.
    pub intents: Vec<IntentView>,
}

/// What is shown of one partner and intent.
#[derive(Clone, Debug, Serialize)]
pub struct IntentView {
    pub intent: IntentId,
    /// Set while the partner is out of the pool.
    pub out: Option<OutView>,
    /// The tools that were called.
    pub tools: Vec<ToolView>,
}

impl PartnerView {
    /// Of a partner that nothing is known of: it is well.
    #[must_use]
    pub fn unheard(partner: &PartnerId, now: Timestamp) -> Self {
        PartnerHealth::new(0).view(partner, now)
    }
}

impl PartnerHealth {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            breaker: Breaker::new(seed),
            pools: BTreeMap::new(),
            strikes: Tally::default(),
            heard_at: Timestamp::EPOCH,
        }
    }

    /// Forgets how it was called; what counts towards its suspension stays.
    pub(super) fn forget_calls(&mut self, seed: u64) {
        *self = Self { strikes: std::mem::take(&mut self.strikes), ..Self::new(seed) };
    }

    /// Whether a call may go, whatever the pool says of searches.
    pub(super) fn admit_call(&mut self, now: Timestamp, changes: &mut Vec<HealthChange>) -> Admission {
        match self.breaker.admit(now) {
            Gate::Pass => Admission::Go,
            Gate::Shut => Admission::LeftOut(Cause::Broken),
            Gate::Probe { first } => {
                changes.extend(first.then_some(HealthChange::HalfOpened));
                Admission::Probe(Cause::Broken)
            }
        }
    }

    /// Whether a search may go. A trial is taken only where the breaker lets it through as well.
    pub(super) fn admit_search(
        &mut self,
        intent: &IntentId,
        now: Timestamp,
        changes: &mut Vec<HealthChange>,
    ) -> Admission {
        let passage = self.pools.get(intent).map_or(Passage::In, |pool| pool.passage(now));
        if passage == Passage::Out {
            return Admission::LeftOut(Cause::Slow);
        }
        let admission = self.admit_call(now, changes);
        if passage == Passage::In || matches!(admission, Admission::LeftOut(_)) {
            return admission;
        }
        let back = self.pools.get_mut(intent).and_then(|pool| pool.try_out(now));
        match (back, admission) {
            (Some(by), admission) => {
                changes.push(HealthChange::Returned { intent: intent.clone(), by });
                admission
            }
            (None, Admission::Go) => Admission::Probe(Cause::Slow),
            (None, admission) => admission,
        }
    }

    /// Takes a call that ended. Returned are the numbers by which the partner is due to leave the pool.
    pub(super) fn record(
        &mut self,
        seen: &Observation<'_>,
        now: Timestamp,
        changes: &mut Vec<HealthChange>,
    ) -> Option<Slowness> {
        self.heard_at = self.heard_at.max(now);
        let elapsed_ms = seen.elapsed_ms();
        let outcome = seen.outcome.after(elapsed_ms, seen.targets);
        match self.breaker.record(outcome, elapsed_ms, now) {
            Turn::None => {}
            Turn::Opened(opening) => changes.push(HealthChange::Opened(opening)),
            Turn::Closed { after_ms } => changes.push(HealthChange::Closed { after_ms }),
        }
        let (sample, failed) = match outcome {
            Outcome::Answered => (Some(Sample::answered(elapsed_ms, seen.targets)), false),
            Outcome::TimedOut => (Some(Sample::timed_out(elapsed_ms, seen.targets)), true),
            Outcome::Broken => (None, true),
            Outcome::TurnedAway | Outcome::Unsaid => (None, false),
        };
        match self.pool(seen.intent)?.record(seen.tool, seen.targets, sample, failed, now) {
            HealthVerdict::Stays => None,
            HealthVerdict::Due(slowness) => Some(slowness),
            HealthVerdict::Returned(by) => {
                changes.push(HealthChange::Returned { intent: seen.intent.clone(), by });
                None
            }
        }
    }

    /// The pool of an intent; absent beyond the bound.
    pub(super) fn pool(&mut self, intent: &IntentId) -> Option<&mut Pool> {
        if !self.pools.contains_key(intent) {
            if self.pools.len() >= INTENTS_MAX {
                return None;
            }
            self.pools.insert(intent.clone(), Pool::default());
        }
        self.pools.get_mut(intent)
    }

    pub(super) fn standing(&self, intent: &IntentId, now: Timestamp) -> Standing {
        let Some(pool) = self.pools.get(intent).filter(|_| self.breaker.is_closed()) else {
            return Standing::Elsewhere;
        };
        match pool.why_out() {
            Some(slowness) => Standing::Out(slowness.clone()),
            None if now.ms_since(pool.heard_at()) <= SERVING_MS => Standing::Serves,
            None => Standing::Elsewhere,
        }
    }

    /// Whether nothing is lost by forgetting it.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        now.ms_since(self.heard_at) > SERVING_MS
            && self.breaker.is_closed()
            && self.strikes.is_blank()
            && self.pools.values().all(|pool| pool.why_out().is_none())
    }

    pub(super) fn view(&self, partner: &PartnerId, now: Timestamp) -> PartnerView {
        let view = |(intent, pool): (&IntentId, &Pool)| IntentView {
            intent: intent.clone(),
            out: pool.out_view(),
            tools: pool.tools_view(now),
        };
        PartnerView {
            partner: partner.clone(),
            breaker: self.breaker.view(now),
            strikes: self.strikes.view(now),
            intents: self.pools.iter().map(view).collect(),
        }
    }
}
