//! Creating and cancelling a booking: arguments, results, and the rules between them (spec 2).

use crate::request::{AcIssue, Vehicle};
use crate::rules::{REFRIGERANT_MISMATCH, tell_mismatch};
use crate::slot::{AcServiceSlot, ServiceScopeCode};
use crate::{AcService, tables};
use contract_sdk::shape::{DateTime, Inr, Phone, Text};
use contract_sdk::{AnswerRules, RequestRules, Shape, Subject, Tool, ToolPolicy, Vocabulary};

pub struct CreateBooking;

#[derive(Debug, Shape)]
pub struct CreateArguments<'a> {
    /// Identifier of the request; the same one gives the same booking.
    pub request_id: Text<'a>,
    /// The slot to book.
    pub slot_id: Text<'a>,
    /// The car.
    pub vehicle: Vehicle<'a>,
    /// What is wrong with its air-conditioning.
    pub ac_issue: AcIssue<'a>,
    /// Where the provider reaches the user.
    pub contact_phone: Text<'a>,
    /// Where to come to, for work at the door.
    pub doorstep_address: Option<Text<'a>>,
}

#[derive(Debug, Shape)]
pub struct AcServiceBooking<'a> {
    /// The partner's identifier of the booking; it never changes.
    pub booking_id: Text<'a>,
    /// The slot that was booked.
    pub slot_id: Text<'a>,
    /// When the work starts.
    pub scheduled_start: DateTime,
    /// When the car is likely to be ready.
    pub estimated_completion: DateTime,
    /// What will be done.
    pub service_scope_confirmed: ServiceScopeCode,
    /// What the user is to expect in all, in INR.
    #[shape(min = 0)]
    pub total_estimate_inr: Inr,
    /// Who looks after the user.
    pub service_advisor_name: Text<'a>,
    /// How to reach them.
    pub service_advisor_phone: Phone<'a>,
    /// When the user pays.
    pub payment_due_at: PaymentDue,
    /// Whether the work is done at the user's door.
    pub doorstep_arranged: bool,
    /// The partner's own reference.
    pub partner_booking_reference: Text<'a>,
}

/// When the user pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(name = "payment_due_at")]
pub enum PaymentDue {
    Intake,
    Completion,
    WeeklyInvoice,
}

impl Tool for CreateBooking {
    type Intent = AcService;
    type Arguments<'a> = CreateArguments<'a>;
    type Answer<'a> = AcServiceBooking<'a>;

    const POLICY: ToolPolicy = tables::CREATE;

    /// What cannot be booked as it was quoted is refused before the partner is called.
    fn argument_rules(
        arguments: &CreateArguments<'_>,
        subject: &Subject<'_, AcServiceSlot<'_>>,
        rules: &mut RequestRules,
    ) {
        let Some(quoted) = subject.quoted else {
            return;
        };
        let scope = &quoted.service_scope;
        rules.refuse_as(
            arguments.doorstep_address.is_some() && scope.code.works_on_compressor(),
            "COMPRESSOR_WORK_REQUIRES_WORKSHOP",
            "/doorstep_address",
            format_args!("{} is done at a workshop; book it without doorstep_address.", scope.code.value()),
        );
        // The slot was judged against the car of the search. The car that is booked for may be of another year.
        if let Some(mismatch) = tell_mismatch(scope.code, scope.refrigerant_type, &arguments.vehicle) {
            rules.refuse_if(true, REFRIGERANT_MISMATCH, "/vehicle/year_of_manufacture", mismatch);
        }
    }

    fn answer_rules(
        arguments: &CreateArguments<'_>,
        booking: &AcServiceBooking<'_>,
        subject: &Subject<'_, AcServiceSlot<'_>>,
        rules: &mut AnswerRules,
    ) {
        let scope = booking.service_scope_confirmed;
        rules.refuse_other(&booking.slot_id, &arguments.slot_id, "/slot_id", "the slot that was asked for");
        rules.refuse_if(
            booking.estimated_completion.ms <= booking.scheduled_start.ms,
            "WINDOW_ORDER",
            "/estimated_completion",
            "The work must end after it starts.",
        );
        rules.refuse_if(
            booking.doorstep_arranged && !scope.goes_to_the_door(),
            "DOORSTEP_SCOPE",
            "/doorstep_arranged",
            format_args!("{} is done at a workshop, so doorstep_arranged must be false.", scope.value()),
        );
        let Some(quoted) = subject.quoted else {
            return;
        };
        let price = &quoted.estimated_price;
        let (Inr(quoted_inr), Inr(booked_inr)) = (price.total_estimate_inr, booking.total_estimate_inr);
        let cap_pct = price.price_lock_variance_cap_pct;
        rules.refuse_if(
            price.price_lock_guaranteed && exceeds(booked_inr.into(), quoted_inr.into(), cap_pct),
            "PRICE_LOCK_EXCEEDED",
            "/total_estimate_inr",
            format_args!("{booked_inr} INR is more than {cap_pct} % above the {quoted_inr} INR that were locked."),
        );
        let quoted_scope = quoted.service_scope.code;
        rules.finding_if(
            scope != quoted_scope,
            "SCOPE_CHANGED",
            "/service_scope_confirmed",
            format_args!("{} was quoted, {} is confirmed.", quoted_scope.value(), scope.value()),
        );
        // Work that touches no refrigerant may be quoted with any. The booking names none, so it is a finding only.
        let refrigerant = quoted.service_scope.refrigerant_type;
        if let Some(mismatch) = tell_mismatch(scope, refrigerant, &arguments.vehicle) {
            rules.finding_if(
                true,
                REFRIGERANT_MISMATCH,
                "/service_scope_confirmed",
                format_args!("{} is confirmed for a slot with {}. {mismatch}", scope.value(), refrigerant.value()),
            );
        }
    }

    fn reference<'r>(booking: &'r AcServiceBooking<'_>) -> Option<&'r str> {
        Some(&booking.booking_id)
    }
}

/// Whether an amount is more than so many percent above another of the same unit.
pub(crate) fn exceeds(amount: i128, base: i128, cap_pct: i64) -> bool {
    amount * 100 > base * (100 + i128::from(cap_pct))
}

pub struct CancelBooking;

#[derive(Debug, Shape)]
pub struct CancelArguments<'a> {
    /// Identifier of the request that the booking came from.
    pub request_id: Text<'a>,
    /// The booking to cancel.
    pub booking_id: Text<'a>,
    /// Why.
    pub reason_code: Text<'a>,
}

/// AC CancellationResult.
#[derive(Debug, Shape)]
pub struct CancellationResult<'a> {
    /// The booking that was cancelled.
    pub booking_id: Text<'a>,
    /// When it was cancelled.
    pub cancelled_at: DateTime,
    /// What the user pays for cancelling, in INR.
    #[shape(min = 0)]
    pub cancellation_fee_inr: Inr,
    /// What the user gets back, in INR.
    #[shape(min = 0)]
    pub refund_amount_inr: Inr,
    /// Days until the refund arrives.
    #[shape(min = 0, max = 14)]
    pub refund_eta_days: i64,
}

impl Tool for CancelBooking {
    type Intent = AcService;
    type Arguments<'a> = CancelArguments<'a>;
    type Answer<'a> = CancellationResult<'a>;

    const POLICY: ToolPolicy = tables::CANCEL;

    fn answer_rules(
        arguments: &CancelArguments<'_>,
        result: &CancellationResult<'_>,
        _: &Subject<'_, AcServiceSlot<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_other(
            &result.booking_id,
            &arguments.booking_id,
            "/booking_id",
            "the booking that was to be cancelled",
        );
        rules.advise_if(result.cancellation_fee_inr.0 > 0, "CANCELLATION_FEE_DUE");
    }

    fn reference<'r>(result: &'r CancellationResult<'_>) -> Option<&'r str> {
        Some(&result.booking_id)
    }
}

#[cfg(test)]
mod tests {
    use super::exceeds;

    #[test]
    fn the_cap_is_exact() {
        assert!(!exceeds(1100, 1000, 10));
        assert!(exceeds(1101, 1000, 10));
        assert!(!exceeds(1000, 1000, 0));
        assert!(!exceeds(i64::MAX.into(), i64::MAX.into(), 50));
    }
}
