//! Booking an offer: arguments, result, and the rules between them.

use crate::{{type}};
use crate::option::Offer;
use crate::tables;
use contract_sdk::shape::{DateTime, Inr, Phone, Text};
use contract_sdk::{AnswerRules, Shape, Subject, Tool, ToolPolicy};

/// The tool that books.
pub struct CreateBooking;

#[derive(Debug, Shape)]
pub struct Arguments<'a> {
    /// Identifier of the request; the same one gives the same booking.
    pub request_id: Text<'a>,
    /// The offer to book.
    pub offer_id: Text<'a>,
    /// Where the provider reaches the user.
    pub contact_phone: Phone<'a>,
}

#[derive(Debug, Shape)]
pub struct Booking<'a> {
    /// The partner's identifier of the booking; it never changes.
    pub booking_id: Text<'a>,
    /// The offer that was booked.
    pub offer_id: Text<'a>,
    /// When the service starts.
    pub starts_at: DateTime,
    /// What the user pays in all, in INR.
    #[shape(min = 0)]
    pub total_inr: Inr,
}

impl Tool for CreateBooking {
    type Intent = {{type}};
    type Arguments<'a> = Arguments<'a>;
    type Answer<'a> = Booking<'a>;

    const POLICY: ToolPolicy = tables::CREATE;

    fn answer_rules(
        arguments: &Arguments<'_>,
        booking: &Booking<'_>,
        subject: &Subject<'_, Offer<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_other(&booking.offer_id, &arguments.offer_id, "/offer_id", "the offer that was asked for");
        let Some(quoted) = subject.quoted else {
            return;
        };
        let (Inr(offered), Inr(booked)) = (quoted.total_inr, booking.total_inr);
        rules.refuse_if(
            booked > offered,
            "PRICE_RAISED",
            "/total_inr",
            format_args!("{booked} INR is more than the {offered} INR that were offered."),
        );
    }

    fn reference<'r>(booking: &'r Booking<'_>) -> Option<&'r str> {
        Some(&booking.booking_id)
    }
}
