//! What a call has to do with an order: which one it is about, whether it has its turn, and what it makes of it.
//!
//! The rules are [`order`](intent_gateway_domain::order)'s. An order is in the store before its partner is called, and settled
//! before the caller has the answer. A reference from before there were orders is about none, and nothing is asked of it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::prepare::PreparedCall;
use super::{CallError, CallRequest, Caller, JudgedAnswer};
use crate::pinned::PinnedContract;
use crate::reference::{OptionReference, Reference};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Opening, OrderStep, OrderView, OrderWay, Refusal};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::order::progress::AnsweredStep;
use intent_gateway_domain::order::turn::{self, Turn};
use intent_gateway_domain::order::{Opened, Order, OrderId, OrderedFrom, OrderedOption, Owner, name};
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Named, Versioned, load, named};
use intent_gateway_outbound::policy::idempotency::Effect;

/// Orders of one option that are looked through for the newest that is open.
const LOOKED_THROUGH_MAX: u32 = 16;

/// What a call has to do with an order.
pub(super) enum Part {
    /// Nothing: its contract declares no step for the tool, or its reference is from before there were orders.
    None,
    /// It is a step of one.
    Step(Box<StepPart>),
}

/// A call that is a step of an order.
pub(super) struct StepPart {
    step: OrderStep,
    /// The order that it goes on with; none where it opens one.
    order: Option<Order>,
    /// Whether it has its turn.
    turn: Result<Turn, Refusal>,
    /// What was ordered, or would be.
    from: OrderedFrom,
    /// What the partner knows the order by, as later arguments name it.
    identifiers: BTreeMap<String, String>,
}

/// The order that a call has begun or gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderStanding {
    pub id: OrderId,
    /// `pending`, a declared state, or the status of a report.
    pub state: String,
}

impl From<&Order> for OrderStanding {
    fn from(order: &Order) -> Self {
        Self { id: order.id.clone(), state: order.state.clone() }
    }
}

impl Part {
    /// Whether it is a step of an order.
    pub(super) fn is_step(&self) -> bool {
        matches!(self, Self::Step(_))
    }

    /// The order that the call is about, as it was before it.
    pub(super) fn order(&self) -> Option<&Order> {
        match self {
            Self::None => None,
            Self::Step(part) => part.order.as_ref(),
        }
    }

    /// By which names of arguments the partner knows the order, and what each is.
    pub(super) fn identifiers(&self) -> BTreeMap<String, String> {
        match self {
            Self::None => BTreeMap::new(),
            Self::Step(part) => part.identifiers.clone(),
        }
    }

    /// The same as a contract sees it.
    pub(super) fn view(&self) -> Option<OrderView> {
        self.order().map(Order::view)
    }

    /// Whether the call has its turn.
    ///
    /// # Errors
    /// [`CallError::Refused`] with the code that the contract gives for it.
    pub(super) fn check_turn(&self) -> Result<(), CallError> {
        match self {
            Self::None => Ok(()),
            Self::Step(part) => part.turn.clone().map(drop).map_err(CallError::Refused),
        }
    }
}

impl Caller {
    /// The order that a call by this reference is about, and whether it has its turn.
    pub(super) async fn part(
        &self,
        contract: &PinnedContract,
        reference: &Reference,
        request: &CallRequest<'_>,
        now: Timestamp,
    ) -> Result<Part, CallError> {
        let Some(way) = &contract.descriptor().order else { return Ok(Part::None) };
        let Some(step) = way.step(request.tool).cloned() else { return Ok(Part::None) };
        let (order, from) = match reference {
            Reference::Option(option) => {
                let from = ordered_from(option);
                let order = match step.opening {
                    Opening::Always => None,
                    Opening::First | Opening::Never => self.newest_open(option, &from, request, now).await?,
                };
                (order, from)
            }
            Reference::Booking(booking) => {
                let Some(id) = &booking.order else { return Ok(Part::None) };
                // One that is not kept any more is as good as made up.
                let kept = load::<Order>(&*self.memory.store, id.as_str()).await?.ok_or(CallError::InvalidReference)?;
                let from = kept.value.from.clone();
                (Some(kept.value), from)
            }
        };
        let turn = turn::check(&step, order.as_ref(), now);
        let identifiers = order.as_ref().map(|order| identifiers(way, order)).unwrap_or_default();
        Ok(Part::Step(Box::new(StepPart { step, order, turn, from, identifiers })))
    }

    /// The asker's newest open order of an option. One in doubt is none: a repeat under its key goes on with it.
    async fn newest_open(
        &self,
        option: &OptionReference,
        from: &OrderedFrom,
        request: &CallRequest<'_>,
        now: Timestamp,
    ) -> Result<Option<Order>, CallError> {
        let partner = PartnerId::parse(&option.partner).map_err(|_| CallError::InvalidReference)?;
        for mark in Owner::marks(&self.memory.vault, request.asker) {
            let name = name::of_option(&mark, &partner, from);
            let asked = Named { name: &name, before: None, limit: LOOKED_THROUGH_MAX };
            let orders = named::<Order>(&*self.memory.store, asked).await?;
            if let Some(open) = orders.into_iter().find(|order| order.value.is_open && !order.value.is_in_doubt(now)) {
                return Ok(Some(open.value));
            }
        }
        Ok(None)
    }

    /// An order, where it is kept.
    pub(super) async fn order(&self, order: Option<&OrderId>) -> Result<Option<Order>, CallError> {
        let Some(id) = order else { return Ok(None) };
        Ok(load::<Order>(&*self.memory.store, id.as_str()).await?.map(|kept| kept.value))
    }

    /// Adds to a change that the call begins: the order that it opens, or that it goes on with `known`, the order of a call that
    /// was made before under the same key.
    pub(super) async fn begin_order(
        &self,
        call: &PreparedCall<'_>,
        known: Option<&OrderId>,
        change: &mut Change,
    ) -> Result<Option<OrderId>, CallError> {
        let Part::Step(part) = &call.part else { return Ok(None) };
        let now = self.clock.now();
        let id = known.or_else(|| part.order.as_ref().map(|order| &order.id));
        let mut order = match id {
            Some(id) => match load::<Order>(&*self.memory.store, id.as_str()).await? {
                Some(kept) => kept,
                None => return Ok(None),
            },
            None => {
                let opened = self.open(call, part, now)?;
                if let Some(option) = &call.quoted {
                    let option = OrderedOption { order: opened.id.clone(), option: option.clone() };
                    change.put(&Versioned::new(option));
                }
                Versioned::new(opened)
            }
        };
        order.value.begin(call.request.tool, &call.context.request_id, now);
        change.put(&order);
        Ok(Some(order.value.id))
    }

    fn open(&self, call: &PreparedCall<'_>, part: &StepPart, now: Timestamp) -> Result<Order, CallError> {
        let vault = &self.memory.vault;
        let id = OrderId::new(vault, now).map_err(|error| CallError::Store(chain(&error)))?;
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
        };
        Ok(Order::open(opened, now))
    }

    /// A step that names no key: made at once, and its order settled.
    pub(super) async fn call_in_order(&self, call: &PreparedCall<'_>) -> Result<JudgedAnswer, CallError> {
        call.part.check_turn()?;
        let store = &*self.memory.store;
        let begun = steps::run(store, async || {
            let mut change = Change::default();
            let order = self.begin_order(call, None, &mut change).await?;
            Ok::<_, CallError>(Proposal::new(change, order))
        });
        let order = begun.await?;
        let outcome = self.make(call, false).await;
        self.settle(call, order.as_ref(), outcome, |_| ()).await
    }

    /// Takes down what came of a call, in its order and in whatever `more` adds to the change. A call that was answered and
    /// whose end cannot be kept is answered as a failure of the store: repeated under its key, it is settled then.
    pub(super) async fn settle(
        &self,
        call: &PreparedCall<'_>,
        order: Option<&OrderId>,
        outcome: Result<JudgedAnswer, CallError>,
        more: impl Fn(&mut Change),
    ) -> Result<JudgedAnswer, CallError> {
        let store = &*self.memory.store;
        let settled = steps::run(store, async || {
            let mut change = Change::default();
            more(&mut change);
            let mut standing = None;
            let kept = match order {
                Some(id) => load::<Order>(store, id.as_str()).await?,
                None => None,
            };
            if let Some(mut kept) = kept {
                let before = kept.value.clone();
                self.take_outcome(call, &mut kept.value, &outcome);
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

    /// Takes down in an order how a call of it ended.
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

/// What the partner knows an order by, under the names that its contract keeps it under.
fn identifiers(way: &OrderWay, order: &Order) -> BTreeMap<String, String> {
    let declared = way.steps.iter().flat_map(|step| &step.keeps).filter(|value| value.identifies);
    let known =
        declared.filter_map(|value| Some((value.name.clone(), order.kept.get(&value.name)?.as_str()?.to_owned())));
    known.collect()
}

fn ordered_from(option: &OptionReference) -> OrderedFrom {
    OrderedFrom {
        option_id: option.option_id.clone(),
        receipt: option.receipt.clone(),
        number: option.number,
        request_id: option.request_id.clone(),
    }
}
