//! What a call has to do with an order: which one it is about, and whether it has its turn.
//!
//! The rules are [`order`](intent_gateway_domain::order)'s. An order is in the store before its partner is called
//! (`beginning`), and settled before the caller has the answer (`settling`). Its steps are called one after the other: while
//! one is under way, the next waits. A reference from before there were orders is about none, and nothing is asked of it.

use std::collections::BTreeMap;

use super::time::CallTime;
use super::{CallError, CallRequest, Caller};
use crate::pinned::PinnedContract;
use crate::reference::{OptionReference, Reference};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Opening, OrderStep, OrderView, OrderWay, Refusal};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::order::turn::{self, Turn};
use intent_gateway_domain::order::{Order, OrderId, OrderedFrom, Owner, name};
use intent_gateway_domain::store::{Named, load, named};
use intent_gateway_domain::user::Asker;

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
    pub(super) step: OrderStep,
    /// The order that it goes on with, as it was found; none where it opens one.
    pub(super) order: Option<Order>,
    /// Whether it has its turn.
    turn: Result<Turn, Refusal>,
    /// What was ordered, or would be.
    pub(super) from: OrderedFrom,
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
    /// The order that a call by this reference is about, and whether it has its turn. Another call of the order that is under
    /// way is waited for, until the deadline.
    pub(super) async fn part(
        &self,
        contract: &PinnedContract,
        reference: &Reference,
        request: &CallRequest<'_>,
        time: &CallTime,
    ) -> Result<Part, CallError> {
        let Some(way) = &contract.descriptor().order else { return Ok(Part::None) };
        let Some(step) = way.step(request.tool).cloned() else { return Ok(Part::None) };
        // Ends: every wait brings the deadline nearer.
        loop {
            let now = self.clock.now();
            let Some((order, from)) = self.subject(&step, reference, request, now).await? else {
                return Ok(Part::None);
            };
            if let Some(left_ms) = order.as_ref().and_then(|order| order.under_way(now)) {
                self.wait_for_another(left_ms, time).await?;
                continue;
            }
            let turn = turn::check(&step, order.as_ref(), now);
            let identifiers = order.as_ref().map(|order| known_identifiers(way, order)).unwrap_or_default();
            return Ok(Part::Step(Box::new(StepPart { step, order, turn, from, identifiers })));
        }
    }

    /// The order that a step by this reference is about, and what was ordered, or would be. None where the reference is from
    /// before there were orders.
    async fn subject(
        &self,
        step: &OrderStep,
        reference: &Reference,
        request: &CallRequest<'_>,
        now: Timestamp,
    ) -> Result<Option<(Option<Order>, OrderedFrom)>, CallError> {
        match reference {
            Reference::Option(option) => {
                let partner = PartnerId::parse(&option.partner).map_err(|_| CallError::InvalidReference)?;
                let from = ordered_from(option);
                let order = match step.opening {
                    Opening::Always => None,
                    Opening::First | Opening::Never => self.newest_open(&partner, &from, request.asker, now).await?,
                };
                Ok(Some((order, from)))
            }
            Reference::Booking(booking) => {
                let Some(id) = &booking.order else { return Ok(None) };
                // One that is not kept any more is as good as made up.
                let kept = load::<Order>(&*self.memory.store, id.as_str()).await?.ok_or(CallError::InvalidReference)?;
                let from = kept.value.from.clone();
                Ok(Some((Some(kept.value), from)))
            }
        }
    }

    /// The asker's newest open order of an option. One in doubt is none: a repeat under its key goes on with it.
    pub(super) async fn newest_open(
        &self,
        partner: &PartnerId,
        from: &OrderedFrom,
        asker: &Asker,
        now: Timestamp,
    ) -> Result<Option<Order>, CallError> {
        for mark in Owner::marks(&self.memory.vault, asker) {
            let name = name::of_option(&mark, partner, from);
            let asked = Named { name: &name, before: None, limit: LOOKED_THROUGH_MAX };
            let orders = named::<Order>(&*self.memory.store, asked).await?;
            if let Some(open) = orders.into_iter().find(|order| order.value.is_open && !order.value.is_in_doubt(now)) {
                return Ok(Some(open.value));
            }
        }
        Ok(None)
    }
}

/// What the partner knows an order by, under the names that its contract keeps it under.
pub(crate) fn known_identifiers(way: &OrderWay, order: &Order) -> BTreeMap<String, String> {
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
