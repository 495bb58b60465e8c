//! The rules of the contract in words, for the partners' page (spec 2). What they do is in [`crate::rules`],
//! `overhaul`, [`crate::booking`] and [`crate::completion`]; the case files are held against this table, so that neither has a
//! rule that the other does not.

use contract_sdk::RuleRow;
use contract_sdk::bindings::Consequence::{Dropped, Finding, Refused, Strike};
use contract_sdk::bindings::Judged::{self, Answer, Report, Request};

/// Every rule beyond the shapes.
pub const RULES: &[RuleRow] = &[
    RuleRow::new(Request, Refused, "WINDOW_ORDER", "The preferred window ends after it starts."),
    RuleRow::new(
        Request,
        Refused,
        "COMPRESSOR_WORK_REQUIRES_WORKSHOP",
        "No doorstep_address comes with the booking of a slot that is for compressor_service or full_overhaul.",
    ),
    RuleRow::new(
        Request,
        Refused,
        "REFRIGERANT_MISMATCH",
        "Where the work of the slot touches refrigerant, the car that it is booked for takes the refrigerant of the slot.",
    ),
    RuleRow::new(Judged::Option, Dropped, "UNCERTIFIED", "The provider is certified to handle refrigerant."),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "DOORSTEP_SCOPE",
        "Only basic checks, top-ups and cabin filters are done at the door.",
    ),
    RuleRow::new(
        Judged::Option,
        Strike,
        "REFRIGERANT_MISMATCH",
        "Where the work touches refrigerant, its type is the one that the car takes: r134a before 2017, r1234yf from 2017 on, mixed always.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "OUTSIDE_RADIUS",
        "The provider is within the radius that the user asked for.",
    ),
    RuleRow::new(Judged::Option, Dropped, "WINDOW_ORDER", "The slot ends after it starts."),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "OUTSIDE_WINDOW",
        "The slot starts within the window that the user asked for.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "NOT_AUTHORISED",
        "Where the user asked for authorised providers only, the provider is oem_authorised.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "PRICE_SUM",
        "The parts of the price add up to the total, give or take 1 INR; a diagnostic fee that is waived may be left out.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "OVERHAUL_NOT_CALLED_FOR",
        "An overhaul is offered for a noise alone: every other trouble calls for a top-up or a check first.",
    ),
    RuleRow::new(Answer, Refused, "WINDOW_ORDER", "The work ends after it starts."),
    RuleRow::new(Answer, Refused, "DOORSTEP_SCOPE", "Only work that is done at the door is arranged there."),
    RuleRow::new(
        Answer,
        Refused,
        "PRICE_LOCK_EXCEEDED",
        "Under a price lock the total is not above the quoted one by more than the cap.",
    ),
    RuleRow::new(
        Answer,
        Finding,
        "REFRIGERANT_MISMATCH",
        "Where the work that is confirmed touches refrigerant, the car takes the refrigerant of the slot that was quoted.",
    ),
    RuleRow::new(Answer, Finding, "SCOPE_CHANGED", "The scope that is confirmed is the one that was quoted."),
    RuleRow::new(
        Report,
        Finding,
        "SCOPE_MISMATCH",
        "The scope that was performed is the one that was quoted or, where no quote is known, confirmed.",
    ),
    RuleRow::new(
        Report,
        Strike,
        "SCOPE_RELABELLED",
        "No work is reported as another and costlier one than was booked, for example a top-up as a full overhaul. Booked is \
         the scope that was confirmed or, where none is known, quoted.",
    ),
    RuleRow::new(
        Report,
        Finding,
        "AMOUNT_BELOW_QUOTE",
        "amount_inr, labour and the margin on parts and refrigerant, is not below the labour that was quoted, give or take 1 INR.",
    ),
    RuleRow::new(
        Report,
        Finding,
        "AMOUNT_ABOVE_QUOTE",
        "amount_inr is not above all that was quoted before tax, under a price lock with its cap on top, give or take 1 INR.",
    ),
    RuleRow::new(
        Report,
        Finding,
        "PRICE_LOCK_EXCEEDED",
        "Under a price lock, amount_inr, gst_inr and pass_through_inr together are not above the total that was locked by more than the cap, unless the user has agreed.",
    ),
];
