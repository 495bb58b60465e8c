//! Rules between the members of a request, and on an offer against the request.
//!
//! What a single field must hold is declared beside it, in `request.rs` and `option.rs`. Each rule here has a case in
//! `cases/`.

use crate::option::Offer;
use crate::request::Request;
use contract_sdk::bindings::{Consequence, Judged};
use contract_sdk::{ItemRules, RequestRules, RuleRow, Vocabulary};

/// Every rule in words, for the partners' page. `plugin test --coverage` holds the cases against it.
#[rustfmt::skip]
pub const RULES: &[RuleRow] = &[
    RuleRow::new(Judged::Request, Consequence::Refused, "WINDOW_ORDER", "The window ends after it starts."),
    RuleRow::new(Judged::Option, Consequence::Dropped, "UNVERIFIED", "The partner has seen the provider's papers."),
    RuleRow::new(Judged::Option, Consequence::Dropped, "OTHER_KIND", "The offer is of the kind that was asked for."),
    RuleRow::new(Judged::Option, Consequence::Dropped, "OUTSIDE_WINDOW", "The service starts within the window."),
    RuleRow::new(Judged::Option, Consequence::Dropped, "OVER_BUDGET", "The offer costs no more than the user would pay."),
    RuleRow::new(Judged::Answer, Consequence::Refused, "PRICE_RAISED", "What is booked costs no more than the offer."),
    RuleRow::new(Judged::Report, Consequence::Finding, "KIND_MISMATCH", "What was given is of the kind that was offered."),
];

pub(crate) fn request_rules(request: &Request<'_>, rules: &mut RequestRules) {
    if let Some(window) = request.window {
        rules.refuse_if(
            window.end.ms <= window.start.ms,
            "WINDOW_ORDER",
            "/window/end",
            "The window must end after it starts.",
        );
    }
}

pub(crate) fn item_rules(request: &Request<'_>, offer: &Offer<'_>, rules: &mut ItemRules) {
    rules.drop_if(
        !offer.provider.verified,
        "UNVERIFIED",
        "/provider/verified",
        "The provider's papers must have been seen.",
    );
    rules.drop_if(
        offer.kind != request.kind,
        "OTHER_KIND",
        "/kind",
        format_args!("{} was asked for; this is {}.", request.kind.value(), offer.kind.value()),
    );
    if let Some(window) = request.window {
        rules.drop_if(
            offer.starts_at.ms < window.start.ms || offer.starts_at.ms > window.end.ms,
            "OUTSIDE_WINDOW",
            "/starts_at",
            format_args!("{} lies outside {} to {}.", offer.starts_at, window.start, window.end),
        );
    }
    if let Some(most) = request.max_price_inr {
        rules.drop_if(
            offer.total_inr > most,
            "OVER_BUDGET",
            "/total_inr",
            format_args!("{} INR is more than the {} INR that the user would pay.", offer.total_inr.0, most.0),
        );
    }
}
