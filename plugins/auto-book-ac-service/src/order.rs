//! The way of an order: a booking, until it is cancelled or the provider reports (spec 2, AcServiceBooking and
//! CancellationResult). The host keeps it and calls no tool out of its turn.

use crate::tables::{CANCEL, CREATE};
use contract_sdk::bindings::{Milestone, Opening};
use contract_sdk::{KeptValue, OrderDeadline, OrderOutcome, OrderState, OrderStep, OrderWay, code};

/// What the order keeps of the scope that the provider confirmed.
pub(crate) const CONFIRMED_SCOPE: &str = "service_scope_confirmed";
/// What the order keeps of the kind of provider, which later rankings go by.
pub(crate) const PROVIDER_TYPE: &str = "provider_type";
/// When the work starts; the car is taken in then.
const START: &str = "scheduled_start";
/// When the car is likely to be ready.
const END: &str = "estimated_completion";
/// What the user is to expect in all, INR.
const TOTAL: &str = "total_estimate_inr";
const BOOKED: &str = "booked";
const CANCELLED: &str = "cancelled";

pub const ORDER: Option<OrderWay> = Some(OrderWay {
    states: &[
        OrderState::open(BOOKED, "The provider expects the car.", &[Milestone::Confirmed]),
        OrderState::closed(CANCELLED, "The booking was cancelled before the car was taken in."),
    ],
    steps: &[
        OrderStep {
            opening: Opening::Always,
            keeps: &[
                KeptValue::answer("booking_id", "/booking_id").identifying(),
                KeptValue::answer("partner_booking_reference", "/partner_booking_reference").identifying(),
                KeptValue::answer(START, "/scheduled_start"),
                KeptValue::answer(END, "/estimated_completion"),
                KeptValue::answer(CONFIRMED_SCOPE, "/service_scope_confirmed"),
                KeptValue::answer(TOTAL, "/total_estimate_inr"),
                KeptValue::option(PROVIDER_TYPE, "/provider/provider_type"),
            ],
            outcomes: &[OrderOutcome::always(BOOKED)],
            ..OrderStep::of(CREATE.name)
        },
        OrderStep {
            states: &[BOOKED],
            deadlines: &[OrderDeadline {
                kept: START,
                code: code::INVALID_REQUEST,
                text: "A booking is cancelled before the car is taken in; ask the provider now.",
            }],
            outcomes: &[OrderOutcome::always(CANCELLED)],
            ..OrderStep::of(CANCEL.name)
        },
    ],
    amount: Some(TOTAL),
    due_after: Some(END),
    history: &[PROVIDER_TYPE],
});
