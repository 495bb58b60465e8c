//! How the end of a call is recorded: in its order, and in the attempt that is kept under its key.
//!
//! A store that is down does not take the end of a call that its partner has carried out. Such an end waits in memory and is
//! recorded once the store is back ([`unsettled`](super::unsettled)); until then the call would stand as under way, and a
//! repeat of it be sent away.

use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;

use super::ordering::{OrderStanding, Part};
use super::prepare::PreparedCall;
use super::{CallError, Caller, JudgedAnswer};
use crate::pinned::PinnedContract;
use intent_gateway_domain::contract::OrderStep;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::order::progress::AnsweredStep;
use intent_gateway_domain::order::{Order, OrderId};
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Record as _, Versioned, load};
use intent_gateway_outbound::policy::idempotency::{Attempt, Effect};

/// A call was never made: its beginning may be in the store all the same.
const NEVER_CALLED: &str = "NEVER_CALLED";
/// The contract failed on the partner's answer.
const CONTRACT_FAULT: &str = "CONTRACT_FAULT";

/// The order that the end of a call is recorded in.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) order: OrderId,
    /// Where the call is kept under its key, if only the order's last call says something new of it.
    pub(super) only_as_last: Option<String>,
    /// As the beginning of the call was kept. As long as nobody has changed it since, it need not be read again.
    pub(super) as_begun: Option<Box<Versioned<Order>>>,
}

/// The attempt that a call was kept as, and what takes its place.
#[derive(Clone, Debug)]
pub(super) struct EndedAttempt {
    pub(super) begun: Attempt,
    /// None where nothing can have come of the call: its key is free again.
    pub(super) ended: Option<Attempt>,
}

impl EndedAttempt {
    /// Adds its end to a change. `revision` is the one that it was kept at when it began.
    fn write(&self, revision: u64, change: &mut Change) {
        match &self.ended {
            Some(value) => change.put(&Versioned { revision, value: value.clone() }),
            None => change.delete(&Versioned { revision, value: self.begun.clone() }),
        }
    }
}

/// What a call has led to, as an order takes it.
#[derive(Clone, Debug)]
enum Happened {
    /// The partner's answer passed.
    Answered(Box<RawValue>),
    /// It certainly did nothing.
    Failed(String),
    /// Nobody knows what it did.
    InDoubt(String),
}

/// The end of a call, with all that it takes to record it later.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    contract: PinnedContract,
    step: Option<OrderStep>,
    tool: String,
    request_id: String,
    arguments: Box<RawValue>,
    quoted: Option<Box<RawValue>>,
    order: Option<Settled>,
    attempt: Option<EndedAttempt>,
    happened: Happened,
}

impl Ending {
    fn new(call: &PreparedCall<'_>, order: Option<Settled>, attempt: Option<EndedAttempt>, happened: Happened) -> Self {
        let step = match &call.part {
            Part::Step(part) => Some(part.step.clone()),
            Part::None => None,
        };
        Self {
            contract: call.contract.clone(),
            step,
            tool: call.request.tool.to_owned(),
            request_id: call.context.request_id.clone(),
            arguments: call.arguments.clone(),
            quoted: call.quoted.clone(),
            order,
            attempt,
            happened,
        }
    }

    /// Of a call whose outcome is known.
    fn of(
        call: &PreparedCall<'_>,
        order: Option<Settled>,
        attempt: Option<EndedAttempt>,
        outcome: &Result<JudgedAnswer, CallError>,
    ) -> Self {
        let happened = match outcome {
            Ok(answer) => Happened::Answered(answer.payload.clone()),
            Err(CallError::Partner { failure, code, .. }) => {
                let code = code.as_deref().unwrap_or_else(|| failure.code()).to_owned();
                match Effect::of(failure, call.descriptor()) {
                    Effect::None => Happened::Failed(code),
                    Effect::Possible => Happened::InDoubt(code),
                }
            }
            Err(CallError::Store { answered: false, .. }) => Happened::Failed(NEVER_CALLED.to_owned()),
            // The partner has answered, and may have done it, whatever is thought of its answer.
            Err(CallError::Answer(refusal)) => Happened::InDoubt(refusal.code.clone()),
            Err(_) => Happened::InDoubt(CONTRACT_FAULT.to_owned()),
        };
        Self::new(call, order, attempt, happened)
    }

    /// Of a call that was not made, because the store did not say that its beginning is kept.
    pub(super) fn never_called(call: &PreparedCall<'_>, order: Option<OrderId>, begun: Option<Attempt>) -> Self {
        let attempt = begun.map(|begun| EndedAttempt { ended: begun.clone().fail(Effect::None), begun });
        let order = order.map(|order| Settled { order, only_as_last: None, as_begun: None });
        Self::new(call, order, attempt, Happened::Failed(NEVER_CALLED.to_owned()))
    }

    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    /// Bytes that it holds, about.
    pub(super) fn bytes(&self) -> usize {
        let answer = match &self.happened {
            Happened::Answered(payload) => payload.get().len(),
            Happened::Failed(_) | Happened::InDoubt(_) => 0,
        };
        // The attempt holds the answer once more, sealed.
        let sealed = if self.attempt.is_some() { 2 * answer } else { 0 };
        let quoted = self.quoted.as_ref().map_or(0, |quoted| quoted.get().len());
        size_of::<Self>() + self.arguments.get().len() + quoted + answer + sealed
    }

    /// Whether it still says something of an order: another call may have been made since.
    fn is_of_last_call(&self, order: &Order) -> bool {
        match &self.attempt {
            Some(attempt) => order.was_last_called(&attempt.begun.key()),
            None => order.was_last_asked(&self.tool, &self.request_id),
        }
    }

    /// Records in an order how the call ended.
    fn take(&self, caller: &Caller, order: &mut Order) {
        let (Some(step), Some(way)) = (&self.step, &self.contract.descriptor().order) else { return };
        let now = caller.clock.now();
        match &self.happened {
            Happened::Answered(payload) => {
                let answered = AnsweredStep {
                    option: self.quoted.as_deref().map(RawValue::get),
                    arguments: self.arguments.get(),
                    answer: payload.get(),
                };
                order.take_answer(way, step, answered, now);
            }
            Happened::Failed(code) => order.take_failure(&self.tool, code, now),
            Happened::InDoubt(code) => order.take_doubt(&self.tool, code, now),
        }
    }
}

impl Caller {
    /// An order, where it is kept.
    pub(super) async fn order(&self, order: Option<&OrderId>) -> Result<Option<Order>, CallError> {
        let Some(id) = order else { return Ok(None) };
        Ok(load::<Order>(&*self.memory.store, id.as_str()).await?.map(|kept| kept.value))
    }

    /// Records the outcome of a call, in its order and in the attempt with the revision that it was kept at. A call that was
    /// answered and whose end cannot be kept is answered as a failure of the store; its end is recorded when the store is back.
    pub(super) async fn settle(
        &self,
        call: &PreparedCall<'_>,
        order: Option<Settled>,
        attempt: Option<(u64, EndedAttempt)>,
        outcome: Result<JudgedAnswer, CallError>,
    ) -> Result<JudgedAnswer, CallError> {
        let (revision, attempt) = attempt.unzip();
        let mut ending = Ending::of(call, order, attempt, &outcome);
        let as_begun = ending.order.as_mut().and_then(|settled| settled.as_begun.take());
        match (self.record_end(&ending, revision, as_begun).await, outcome) {
            (Ok(order), Ok(answer)) => Ok(JudgedAnswer { order, ..answer }),
            (Ok(_), Err(error)) => Err(error),
            (Err(error), outcome) => {
                tracing::error!(error = %chain(&error), tool = call.request.tool, "the end of a call could not be kept");
                let has_order = ending.order.is_some();
                if error.is_outage() {
                    self.unsettled.add(ending, self.clock.now());
                }
                if outcome.is_ok() && has_order { Err(error.after_answer()) } else { outcome }
            }
        }
    }

    async fn record_end(
        &self,
        ending: &Ending,
        revision: Option<u64>,
        as_begun: Option<Box<Versioned<Order>>>,
    ) -> Result<Option<OrderStanding>, CallError> {
        let store = &*self.memory.store;
        // For the first try alone: after a conflict it is read.
        let as_begun = Mutex::new(as_begun);
        steps::run(store, async || {
            let mut change = Change::default();
            if let (Some(attempt), Some(revision)) = (&ending.attempt, revision) {
                attempt.write(revision, &mut change);
            }
            let as_begun = as_begun.lock().unwrap_or_else(PoisonError::into_inner).take();
            let kept = match (as_begun, &ending.order) {
                (Some(kept), _) => Some(*kept),
                (None, Some(settled)) => load::<Order>(store, settled.order.as_str()).await?,
                (None, None) => None,
            };
            let mut standing = None;
            if let Some(mut kept) = kept {
                let before = kept.value.clone();
                let only_as_last = ending.order.as_ref().and_then(|settled| settled.only_as_last.as_deref());
                if only_as_last.is_none_or(|attempt| kept.value.was_last_called(attempt)) {
                    ending.take(self, &mut kept.value);
                }
                if kept.value != before {
                    // It was kept under its names when the call began.
                    change.put_changed(&kept, &before);
                }
                standing = Some(OrderStanding::from(&kept.value));
            }
            let is_empty = change.writes.is_empty();
            Ok(if is_empty { Proposal::nothing(standing) } else { Proposal::new(change, standing) })
        })
        .await
    }

    /// Records an end that the store did not take before. Where the attempt, or the order's last call, is not any more as the
    /// call had left it, it has gone on without this end, which says nothing new then.
    pub(super) async fn record_late(&self, ending: &Ending) -> Result<(), CallError> {
        let store = &*self.memory.store;
        steps::run(store, async || {
            let mut change = Change::default();
            if let Some(attempt) = &ending.attempt {
                match load::<Attempt>(store, &attempt.begun.key()).await? {
                    Some(kept) if kept.value == attempt.begun => attempt.write(kept.revision, &mut change),
                    _ => return Ok(Proposal::nothing(())),
                }
            }
            if let Some(settled) = &ending.order
                && let Some(mut kept) = load::<Order>(store, settled.order.as_str()).await?
                && ending.is_of_last_call(&kept.value)
            {
                let before = kept.value.clone();
                ending.take(self, &mut kept.value);
                if kept.value != before {
                    change.put(&kept);
                }
            }
            let is_empty = change.writes.is_empty();
            Ok(if is_empty { Proposal::nothing(()) } else { Proposal::new(change, ()) })
        })
        .await
    }
}
