//! What may be done with an order now: which tools have their turn, and the reference to call them with.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Descriptor, OrderStep, OrderWay, Tool, ToolRole};
use intent_gateway_domain::datetime;
use intent_gateway_domain::order::{Order, turn};
use intent_gateway_domain::user::Asker;
use serde_json::value::RawValue;

use super::{OrderView, Orders};
use crate::calling::{known_identifiers, outlasts_routing};
use crate::reference::{AskerMark, BookingReference};

/// What may be done with an order now.
#[derive(Clone, Debug)]
pub struct NextSteps {
    /// Signed, and good for the asker alone.
    pub reference: String,
    /// In the order of the contract.
    pub tools: Vec<NextStep>,
}

/// A tool that may be called now.
#[derive(Clone, Debug)]
pub struct NextStep {
    pub tool: String,
    pub role: ToolRole,
    /// One sentence.
    pub purpose: String,
    /// The argument that identifies a repeated call.
    pub idempotency_key: Option<String>,
    /// JSON Schema (2020-12) of the arguments.
    pub request_schema: Box<RawValue>,
    /// It may be called before this time.
    pub until: Option<Timestamp>,
}

impl Orders {
    /// What the asker whose order it is may do with it now. None where no contract is left that has orders.
    #[must_use]
    pub fn next(&self, view: &OrderView, asker: &Asker) -> Option<NextSteps> {
        let (descriptor, way) = (view.descriptor()?, view.way()?);
        let now = self.clock.now();
        let tools = descriptor.tools.iter().filter(|tool| self.reaches(&view.order, tool.role));
        let tools = tools.filter_map(|tool| next_step(way, tool, &view.order, now)).collect();
        Some(NextSteps { reference: self.refer_to(descriptor, way, &view.order, asker), tools })
    }

    /// Whether tools of this role are still called at the order's partner.
    fn reaches(&self, order: &Order, role: ToolRole) -> bool {
        let partner = match outlasts_routing(role) {
            true => self.directory.find_known(&order.partner),
            false => self.directory.find(&order.partner),
        };
        partner.is_some_and(|partner| partner.listing(order.intent.as_str()).is_some())
    }

    /// A reference to an order, named as the partner has named it last; by its option as long as the partner has not.
    fn refer_to(&self, descriptor: &Descriptor, way: &OrderWay, order: &Order, asker: &Asker) -> String {
        let known = known_identifiers(way, order);
        let answered = order.answered.iter().rev().filter_map(|answered| way.step(&answered.tool));
        let latest =
            answered.flat_map(|step| &step.keeps).find(|value| value.identifies && known.contains_key(&value.name));
        let (booking_id, member) = match latest {
            Some(value) => (known[&value.name].clone(), Some(value.name.clone())),
            None => {
                let member = descriptor.search.id_key.rsplit('/').next();
                (order.from.option_id.clone(), member.map(str::to_owned))
            }
        };
        self.references.seal_booking(&BookingReference {
            partner: order.partner.to_string(),
            intent: order.intent.to_string(),
            contract: order.contract,
            member,
            booking_id,
            asker: Some(AskerMark::of(asker)),
            option: order.from.receipt.clone().map(|receipt| (receipt, order.from.number)),
            order: Some(order.id.clone()),
        })
    }
}

/// The tool, if it may be called now. One that only follows is not a step of an order: it may be called as soon as the partner has
/// named what is followed.
fn next_step(way: &OrderWay, tool: &Tool, order: &Order, now: Timestamp) -> Option<NextStep> {
    let until = match way.step(&tool.name) {
        Some(step) => {
            turn::check(step, Some(order), now).ok()?;
            deadline(step, order)
        }
        None if tool.role == ToolRole::Track && !order.identifiers.is_empty() => None,
        None => return None,
    };
    Some(NextStep {
        tool: tool.name.clone(),
        role: tool.role,
        purpose: tool.purpose.clone(),
        idempotency_key: tool.idempotency_key.clone(),
        request_schema: tool.request_schema.clone(),
        until,
    })
}

/// The first of a step's deadlines.
fn deadline(step: &OrderStep, order: &Order) -> Option<Timestamp> {
    let kept = step.deadlines.iter().filter_map(|deadline| order.kept.get(&deadline.kept)?.as_str());
    kept.filter_map(datetime::end_of).min()
}
