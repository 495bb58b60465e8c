//! Partners that are too slow or broken are not called.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{Next, Outcome, Outgoing, Step};
use crate::health::{Admission, Cause, Health, Observation};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::ToolRole;
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{HealthLog, LeftOut};

/// Who is called of the partners that were chosen for a search.
pub(crate) trait SearchAdmission: Send + Sync {
    /// One for each partner, in their order: whether it is called, or why not.
    fn admit_search(
        &self,
        intent: &IntentId,
        partners: &mut dyn Iterator<Item = &PartnerId>,
    ) -> Vec<Result<(), LeftOut>>;
}

/// The health of partners, and who is told of changes in it.
pub(crate) struct HealthGate {
    pub(crate) health: Arc<Health>,
    pub(crate) log: Arc<dyn HealthLog>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl HealthGate {
    /// Whether a call may go to a partner, as far as its breaker says.
    fn admit_call(&self, partner: &PartnerId) -> Result<(), CallFailure> {
        let now = self.clock.now();
        let (admission, event) = self.health.admit_call(partner, now);
        if let Some(event) = event {
            self.log.note_change(event);
        }
        match admission {
            Admission::LeftOut(_) => {
                let wait_ms = Some(self.health.shut_for_ms(partner, now));
                Err(CallFailure::NotCalled { why: NotCalled::Down, wait_ms })
            }
            Admission::Go | Admission::Probe(_) => Ok(()),
        }
    }

    /// Records the outcome of a call.
    pub(super) fn record(&self, seen: &Observation<'_>) {
        for event in self.health.record(seen, self.clock.now()) {
            self.log.note_change(event);
        }
    }
}

impl SearchAdmission for HealthGate {
    fn admit_search(
        &self,
        intent: &IntentId,
        partners: &mut dyn Iterator<Item = &PartnerId>,
    ) -> Vec<Result<(), LeftOut>> {
        let admitted = self.health.admit(intent, partners, self.clock.now());
        for event in admitted.events {
            self.log.note_change(event);
        }
        let answer = |admission| match admission {
            Admission::Go | Admission::Probe(_) => Ok(()),
            Admission::LeftOut(Cause::Slow) => Err(LeftOut::TooSlow),
            Admission::LeftOut(Cause::Broken) => Err(LeftOut::Down),
        };
        admitted.admissions.into_iter().map(answer).collect()
    }
}

/// Calls everybody.
pub(crate) struct Everybody;

impl SearchAdmission for Everybody {
    fn admit_search(&self, _: &IntentId, partners: &mut dyn Iterator<Item = &PartnerId>) -> Vec<Result<(), LeftOut>> {
        partners.map(|_| Ok(())).collect()
    }
}

/// Refuses calls to a server that is down. For a search its partners were asked for beforehand, all at once.
pub(crate) struct AskHealth {
    pub(crate) gate: Arc<HealthGate>,
    pub(crate) next: Next,
}

impl Step for AskHealth {
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        async move {
            if outgoing.call.tool()?.role != ToolRole::Search {
                self.gate.admit_call(&outgoing.call.partner.id)?;
            }
            self.next.call(outgoing).await
        }
        .boxed()
    }
}
