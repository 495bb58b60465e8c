//! How the end of a call is recorded: in its order, and in whatever else the call has changed.

use serde_json::value::RawValue;

use super::ordering::{OrderStanding, Part};
use super::prepare::PreparedCall;
use super::{CallError, Caller, JudgedAnswer};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::order::progress::AnsweredStep;
use intent_gateway_domain::order::{Order, OrderId};
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, load};
use intent_gateway_outbound::policy::idempotency::Effect;

/// The order that the end of a call is recorded in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled<'a> {
    pub(super) order: &'a OrderId,
    /// Where the call is kept under its key, if only the order's last call says something new of it.
    pub(super) only_as_last: Option<&'a str>,
}

impl Caller {
    /// An order, where it is kept.
    pub(super) async fn order(&self, order: Option<&OrderId>) -> Result<Option<Order>, CallError> {
        let Some(id) = order else { return Ok(None) };
        Ok(load::<Order>(&*self.memory.store, id.as_str()).await?.map(|kept| kept.value))
    }

    /// Records the outcome of a call, in its order and in whatever `more` adds to the change. A call that was answered and
    /// whose end cannot be kept is answered as a failure of the store: repeated under its key, it is settled then.
    pub(super) async fn settle(
        &self,
        call: &PreparedCall<'_>,
        order: Option<Settled<'_>>,
        outcome: Result<JudgedAnswer, CallError>,
        more: impl Fn(&mut Change),
    ) -> Result<JudgedAnswer, CallError> {
        let store = &*self.memory.store;
        let settled = steps::run(store, async || {
            let mut change = Change::default();
            more(&mut change);
            let mut standing = None;
            let kept = match order {
                Some(settled) => load::<Order>(store, settled.order.as_str()).await?,
                None => None,
            };
            if let Some(mut kept) = kept {
                let before = kept.value.clone();
                let only_as_last = order.and_then(|settled| settled.only_as_last);
                if only_as_last.is_none_or(|attempt| kept.value.was_last_called(attempt)) {
                    self.take_outcome(call, &mut kept.value, &outcome);
                }
                if kept.value != before {
                    change.put(&kept);
                }
                standing = Some(OrderStanding::from(&kept.value));
            }
            let is_empty = change.writes.is_empty();
            Ok::<_, CallError>(if is_empty { Proposal::nothing(standing) } else { Proposal::new(change, standing) })
        });
        match (settled.await, outcome) {
            (Ok(order), Ok(answer)) => Ok(JudgedAnswer { order, ..answer }),
            (Err(error), Ok(_)) if order.is_some() => Err(error),
            (Err(error), outcome) => {
                tracing::error!(error = %chain(&error), tool = call.request.tool, "the end of a write could not be kept");
                outcome
            }
            (Ok(_), Err(error)) => Err(error),
        }
    }

    /// Records in an order how a call of it ended.
    fn take_outcome(&self, call: &PreparedCall<'_>, order: &mut Order, outcome: &Result<JudgedAnswer, CallError>) {
        let descriptor = call.descriptor();
        let (Part::Step(part), Some(way)) = (&call.part, &descriptor.order) else { return };
        let (now, tool) = (self.clock.now(), call.request.tool);
        match outcome {
            Ok(answer) => {
                let answered = AnsweredStep {
                    option: call.quoted.as_deref().map(RawValue::get),
                    arguments: call.arguments.get(),
                    answer: answer.payload.get(),
                };
                order.take_answer(way, &part.step, answered, now);
            }
            Err(CallError::Partner { failure, code, .. }) => {
                let code = code.as_deref().unwrap_or_else(|| failure.code());
                match Effect::of(failure, descriptor) {
                    Effect::None => order.take_failure(tool, code, now),
                    Effect::Possible => order.take_doubt(tool, code, now),
                }
            }
            // The partner has answered, and may have done it, whatever is thought of its answer.
            Err(CallError::Answer(refusal)) => order.take_doubt(tool, &refusal.code, now),
            Err(_) => order.take_doubt(tool, "CONTRACT_FAULT", now),
        }
    }
}
