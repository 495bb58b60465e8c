//! How a call that is a step of an order begins: its turn is checked on the order as it is at that moment, and the order, opened
//! or gone on with, is kept in the same change as the call.
//!
//! What is decided by an order that another call has changed meanwhile holds no more: such a call is prepared anew.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::ordering::{Part, StepPart};
use super::prepare::PreparedCall;
use super::settling::{Ending, Settled};
use super::time::CallTime;
use super::{CallError, Caller, JudgedAnswer};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Opening;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::order::{Opened, Order, OrderId, OrderedOption, Owner, turn};
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Record as _, Versioned, load, lookup};
use intent_gateway_outbound::policy::idempotency::Attempt;

/// How soon it is looked again whether another call has ended, milliseconds.
const LOOK_AGAIN_MS: u64 = 250;

/// How a call may go on.
#[derive(Clone, Debug)]
pub(super) enum Begun {
    /// With this order; none where the call belongs to no order.
    With(Option<BegunOrder>),
    /// Not at all: the order is not any more as it was when the call was prepared.
    Overtaken,
}

/// The order of a call, as the change that begins the call keeps it.
#[derive(Clone, Debug)]
pub(super) struct BegunOrder {
    order: Box<Order>,
    /// Which of the change's writes keeps it.
    write: usize,
}

impl BegunOrder {
    pub(super) fn id(&self) -> &OrderId {
        &self.order.id
    }

    /// Where the end of the call is recorded, by the revisions that the change has led to.
    pub(super) fn into_settled(self, revisions: &[u64]) -> Settled {
        let id = self.order.id.clone();
        let kept = revisions.get(self.write).map(|revision| Versioned { revision: *revision, value: *self.order });
        Settled { order: id, only_as_last: None, as_begun: kept.map(Box::new) }
    }
}

/// A call that was made before under the same key, and its end is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier<'a> {
    /// Where it is kept.
    pub(super) attempt: &'a str,
    /// The order that it has opened or gone on with.
    pub(super) order: &'a OrderId,
}

impl Caller {
    /// Adds to a change that the call begins: the order that it opens or goes on with. `attempt` is where the call is kept under
    /// its key.
    ///
    /// # Errors
    /// [`CallError::Refused`] where it is not its turn.
    pub(super) async fn begin_order(
        &self,
        call: &PreparedCall<'_>,
        attempt: Option<&str>,
        earlier: Option<Earlier<'_>>,
        change: &mut Change,
    ) -> Result<Begun, CallError> {
        let Part::Step(part) = &call.part else { return Ok(Begun::With(None)) };
        let now = self.clock.now();
        let found = match (earlier, &part.order) {
            (Some(earlier), _) => self.repeated(part, earlier, now).await?,
            (None, Some(order)) => self.gone_on_with(part, order, now).await?,
            (None, None) => self.opened(call, part, now, change).await?,
        };
        let Some(mut order) = found else { return Ok(Begun::Overtaken) };
        order.value.begin(call.request.tool, &call.context.request_id, attempt, now);
        let write = change.writes.len();
        change.put(&order);
        Ok(Begun::With(Some(BegunOrder { order: Box::new(order.value), write })))
    }

    /// The order of a call that is repeated, because nobody knows its end. It is not asked for its turn as long as nothing else
    /// was called since; after that, it is a call like any other.
    async fn repeated(
        &self,
        part: &StepPart,
        earlier: Earlier<'_>,
        now: Timestamp,
    ) -> Result<Option<Versioned<Order>>, CallError> {
        // One that is not kept any more is as good as made up.
        let kept = load::<Order>(&*self.memory.store, earlier.order.as_str()).await?;
        let kept = kept.ok_or(CallError::InvalidReference)?;
        let is_last = kept.value.is_open && kept.value.was_last_called(earlier.attempt);
        if !is_last {
            turn::check(&part.step, Some(&kept.value), now).map_err(CallError::Refused)?;
        }
        Ok(Some(kept))
    }

    /// The order that a call goes on with, if it is still as the call was prepared for.
    async fn gone_on_with(
        &self,
        part: &StepPart,
        found: &Order,
        now: Timestamp,
    ) -> Result<Option<Versioned<Order>>, CallError> {
        let kept = load::<Order>(&*self.memory.store, found.id.as_str()).await?.ok_or(CallError::InvalidReference)?;
        if kept.value.under_way(now).is_some() || kept.value.view() != found.view() {
            return Ok(None);
        }
        turn::check(&part.step, Some(&kept.value), now).map_err(CallError::Refused)?;
        Ok(Some(kept))
    }

    /// A new order, if the call still opens one.
    async fn opened(
        &self,
        call: &PreparedCall<'_>,
        part: &StepPart,
        now: Timestamp,
        change: &mut Change,
    ) -> Result<Option<Versioned<Order>>, CallError> {
        turn::check(&part.step, None, now).map_err(CallError::Refused)?;
        let mut order = self.open(call, part, now)?;
        order.has_option = Some(call.quoted.is_some());
        if order.is_sole {
            let asker = call.request.asker;
            if self.newest_open(&order.partner, &order.from, asker, now).await?.is_some() {
                return Ok(None);
            }
            self.give_up_former(&order, now, change).await?;
        }
        if let Some(option) = &call.quoted {
            let option = OrderedOption { order: order.id.clone(), option: option.clone() };
            change.put(&Versioned::new(option));
        }
        Ok(Some(Versioned::new(order)))
    }

    /// Lets go of an order of the same option whose opening call nobody can answer any more.
    async fn give_up_former(&self, order: &Order, now: Timestamp, change: &mut Change) -> Result<(), CallError> {
        let Some(held) = order.lookup() else { return Ok(()) };
        if let Some(mut former) = lookup::<Order>(&*self.memory.store, &held).await? {
            former.value.give_up_waiting(now);
            change.put(&former);
        }
        Ok(())
    }

    fn open(&self, call: &PreparedCall<'_>, part: &StepPart, now: Timestamp) -> Result<Order, CallError> {
        let vault = &self.memory.vault;
        let id = OrderId::new(vault, now).map_err(|error| CallError::defect(&error))?;
        let intent = IntentId::parse(call.request.intent)
            .map_err(|_| CallError::InvalidIntent(call.request.intent.to_owned()))?;
        let opened = Opened {
            id,
            partner: call.partner.id.clone(),
            intent,
            contract: call.contract.digest(),
            owner: Owner::of(vault, call.request.asker),
            from: part.from.clone(),
            request_id: call.context.request_id.clone(),
            is_sole: part.step.opening == Opening::First,
        };
        Ok(Order::open(opened, now))
    }

    /// A step that names no key: made at once, and its order settled. None where it was overtaken.
    pub(super) async fn call_in_order(&self, call: &PreparedCall<'_>) -> Result<Option<JudgedAnswer>, CallError> {
        let proposed = Mutex::new(None);
        let begun = steps::run_to_revisions(&*self.memory.store, async || {
            let mut change = Change::default();
            let begun = self.begin_order(call, None, None, &mut change).await?;
            Ok::<_, CallError>(match &begun {
                Begun::With(order) => {
                    let order = order.as_ref().map(|begun| begun.id().clone());
                    *proposed.lock().unwrap_or_else(PoisonError::into_inner) = order;
                    Proposal::new(change, begun)
                }
                Begun::Overtaken => Proposal::nothing(begun),
            })
        });
        let begun = begun.await;
        let proposed = proposed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let (Err(error), Some(order)) = (&begun, proposed) {
            self.leave_never_called(call, error, Some(order), None);
        }
        let (Begun::With(order), revisions) = begun? else { return Ok(None) };
        let settled = order.map(|begun| begun.into_settled(&revisions));
        let outcome = self.make(call, false).await;
        self.settle(call, settled, None, outcome).await.map(Some)
    }

    /// The store failed while it was to keep the beginning of a call, so that the call was not made. Whether the beginning is
    /// kept is not known; where it is, it must not stand there as a call that is under way.
    pub(super) fn leave_never_called(
        &self,
        call: &PreparedCall<'_>,
        error: &CallError,
        order: Option<OrderId>,
        attempt: Option<Attempt>,
    ) {
        if error.is_outage() {
            self.unsettled.add(Ending::never_called(call, order, attempt), self.clock.now());
        }
    }

    /// Waits a moment for another call to end, which takes so long at most.
    ///
    /// # Errors
    /// [`CallError::UnderWay`] where the deadline comes first.
    pub(super) async fn wait_for_another(&self, left_ms: u64, time: &CallTime) -> Result<(), CallError> {
        if self.clock.now().plus_ms(LOOK_AGAIN_MS) > time.deadline() {
            return Err(CallError::UnderWay { wait_ms: left_ms });
        }
        self.memory.timer.wait(Duration::from_millis(LOOK_AGAIN_MS)).await;
        time.note_wait(LOOK_AGAIN_MS);
        Ok(())
    }
}
