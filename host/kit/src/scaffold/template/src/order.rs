//! The way of an order: what each tool makes of it, and what the gateway keeps for the completion report. The gateway calls
//! no tool out of its turn. A tool that cancels or moves a booking gets a step of its own.

use crate::tables::CREATE;
use contract_sdk::bindings::{Milestone, Opening};
use contract_sdk::{KeptValue, OrderOutcome, OrderState, OrderStep, OrderWay};

pub const ORDER: Option<OrderWay> = Some(OrderWay {
    states: &[OrderState::open("booked", "The provider expects the user.", &[Milestone::Confirmed])],
    steps: &[OrderStep {
        opening: Opening::Always,
        keeps: &[
            KeptValue::answer("booking_id", "/booking_id").identifying(),
            KeptValue::answer("starts_at", "/starts_at"),
            KeptValue::answer("total_inr", "/total_inr"),
        ],
        outcomes: &[OrderOutcome::always("booked")],
        ..OrderStep::of(CREATE.name)
    }],
    amount: Some("total_inr"),
    due_after: Some("starts_at"),
    // Kept values that the ranking is told of the user's past orders; none where it goes by no history.
    history: &[],
});
