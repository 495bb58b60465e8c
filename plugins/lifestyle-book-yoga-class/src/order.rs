//! The way of an order: a booked slot, which may be moved, until it is cancelled or the studio reports (spec 3, provider
//! tools). The answers of the tools name a booking and nothing else, so what was booked is what was asked for.

use crate::tables::{BOOK, CANCEL, MODIFY};
use contract_sdk::bindings::{Milestone, Opening};
use contract_sdk::shape::DateTime;
use contract_sdk::{KeptValue, Order, OrderOutcome, OrderState, OrderStep, OrderWay};
use std::borrow::Cow;

const STUDIO: &str = "yoga_studio_id";
const CLASS: &str = "class_id";
const INSTRUCTOR: &str = "instructor_id";
const START: &str = "scheduled_for_iso";
const BOOKED: &str = "booked";
const CANCELLED: &str = "cancelled";

// Partners may give a changed booking another identifier; the latest one counts.
const KEPT_BOOKING: KeptValue = KeptValue::answer("booking_ref", "/booking_ref").identifying();
const KEPT_CLASS: KeptValue = KeptValue::argument(CLASS, "/class_id");
const KEPT_INSTRUCTOR: KeptValue = KeptValue::argument(INSTRUCTOR, "/instructor_id");
const KEPT_START: KeptValue = KeptValue::argument(START, "/scheduled_for_iso");

pub const ORDER: Option<OrderWay> = Some(OrderWay {
    states: &[
        OrderState::open(BOOKED, "The studio expects the user.", &[Milestone::Confirmed]),
        OrderState::closed(CANCELLED, "The booking was cancelled."),
    ],
    steps: &[
        OrderStep {
            opening: Opening::Always,
            keeps: &[
                KEPT_BOOKING,
                KeptValue::argument(STUDIO, "/yoga_studio_id"),
                KEPT_CLASS,
                KEPT_INSTRUCTOR,
                KEPT_START,
            ],
            outcomes: &[OrderOutcome::always(BOOKED)],
            ..OrderStep::of(BOOK.name)
        },
        OrderStep {
            states: &[BOOKED],
            keeps: &[KEPT_BOOKING, KEPT_CLASS, KEPT_INSTRUCTOR, KEPT_START],
            outcomes: &[OrderOutcome::always(BOOKED)],
            ..OrderStep::of(MODIFY.name)
        },
        OrderStep { states: &[BOOKED], outcomes: &[OrderOutcome::always(CANCELLED)], ..OrderStep::of(CANCEL.name) },
    ],
    amount: None,
    due_after: Some(START),
    history: &[],
});

/// What an order keeps of its slot; all none without an order.
#[derive(Debug, Default)]
pub(crate) struct BookedSlot<'s> {
    pub(crate) studio: Option<Cow<'s, str>>,
    pub(crate) class: Option<Cow<'s, str>>,
    pub(crate) instructor: Option<Cow<'s, str>>,
    pub(crate) start: Option<DateTime>,
}

impl<'s> BookedSlot<'s> {
    pub(crate) fn of(order: Option<Order<'s>>) -> Self {
        let Some(order) = order else {
            return Self::default();
        };
        Self {
            studio: order.text(STUDIO),
            class: order.text(CLASS),
            instructor: order.text(INSTRUCTOR),
            start: order.datetime(START),
        }
    }
}
