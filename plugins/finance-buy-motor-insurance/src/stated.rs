//! The rules of the contract in words, for the partners' page (spec 2). What they do is in [`crate::request_rules`],
//! [`crate::quote_rules`], the tools and [`crate::completion`]; the case files are held against this table, so that
//! neither has a rule that the other does not.

use contract_sdk::RuleRow;
use contract_sdk::bindings::Consequence::{Dropped, Finding, Note, Refused};
use contract_sdk::bindings::Judged::{self, Answer, Report, Request};

/// Every rule beyond the shapes.
pub const RULES: &[RuleRow] = &[
    RuleRow::new(
        Request,
        Note,
        "PURCHASE_CONTEXT_MISMATCH",
        "A lapsed or a live policy is a prior policy; a newly purchased vehicle has none.",
    ),
    RuleRow::new(Request, Note, "SUBTYPE_MISMATCH", "The subtype is one of the vehicle's type."),
    RuleRow::new(Request, Refused, "EV_KW_MISSING", "An electric vehicle has kw_rating and battery_kwh."),
    RuleRow::new(Request, Note, "COMMERCIAL_ONLY", "Only a commercial vehicle has carrying_capacity_tonnes."),
    RuleRow::new(Request, Refused, "INVOICE_VALUE_INVALID", "A newly purchased vehicle has its invoice value."),
    RuleRow::new(Request, Refused, "PRIOR_POLICY_INCOMPLETE", "A prior policy has its insurer and its expiry date."),
    RuleRow::new(
        Request,
        Note,
        "ADDON_INCOMPATIBLE",
        "Addons that are asked for go with the vehicle and the kind of policy.",
    ),
    RuleRow::new(
        Request,
        Note,
        "LONG_TERM_TP_NOT_ALLOWED",
        "A long-term bundle is asked for a new car or a new two-wheeler only.",
    ),
    RuleRow::new(
        Request,
        Refused,
        "LONG_TERM_TP_NOT_ALLOWED",
        "Vehicles that are not new, and commercial ones, have 0 years of long-term third-party cover.",
    ),
    RuleRow::new(
        Request,
        Refused,
        "LONG_TERM_TP_REQUIRED",
        "A new car has 3 years of third-party cover, a new two-wheeler 5; an electric vehicle counts as what it is.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "RATIO_BELOW_FLOOR",
        "The settlement ratio is at least 90 % for the safety band fast, 92 % for balanced, good and great.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "POLICY_TYPE_MISMATCH",
        "The quote is for the kind of policy that was asked for.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "IDV_OUT_OF_RANGE",
        "A newly purchased vehicle is not insured above its invoice.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "TP_BELOW_FLOOR",
        "No third-party premium is below the tariff: the year's by the year's rate, a bundle's two parts together by the bundle's.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "PREMIUM_SUM",
        "The parts of the premium add up to the total, give or take 1 INR.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "ADDONS_SUM",
        "The addons add up to their part of the premium, give or take 1 INR.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "NCB_NOT_EARNED",
        "There is no bonus without a prior policy, after a claim, or after a lapse of more than 90 days.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "NCB_ABOVE_CARRY_FORWARD",
        "The bonus is not above what may be carried forward.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "NCB_DISCOUNT_WITHOUT_BONUS",
        "There is no no-claim discount without a bonus.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "LONG_TERM_TP_REQUIRED",
        "The quote has the years of third-party cover that the new vehicle needs.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "LONG_TERM_TP_NOT_ALLOWED",
        "The quote has no years of long-term cover, and is no bundle, where the vehicle needs none.",
    ),
    RuleRow::new(Judged::Option, Dropped, "DATE_ORDER", "The policy ends after it starts."),
    RuleRow::new(
        Judged::Option,
        Finding,
        "TENURE_MISMATCH",
        "The policy ends as many years after its start as it says.",
    ),
    RuleRow::new(Judged::Option, Dropped, "ADDON_INCOMPATIBLE", "Addons go with the vehicle and the kind of policy."),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "INSPECTION_OMITTED",
        "The vehicle is inspected after a lapse of more than 90 days, after a claim, and for a used vehicle's first policy.",
    ),
    RuleRow::new(
        Answer,
        Refused,
        "DATE_ORDER",
        "What ends, ends after it starts: the policy, its third-party cover, the inspection.",
    ),
    RuleRow::new(
        Answer,
        Finding,
        "INSPECTION_PLACE_MISSING",
        "An inspection says where: the garage's name, or the address of a visit.",
    ),
    RuleRow::new(Answer, Refused, "LONG_TERM_TP_END_MISSING", "A bundle says until when its third-party cover lasts."),
    RuleRow::new(
        Answer,
        Finding,
        "LONG_TERM_TP_END_MISMATCH",
        "The third-party cover of a bundle lasts as long as was quoted.",
    ),
    RuleRow::new(
        Answer,
        Finding,
        "FREELOOK_CUT_SHORT",
        "The free-look window is as long as it says, counted from the start of cover.",
    ),
    RuleRow::new(Answer, Finding, "INSURER_CHANGED", "The insurer is the one that was quoted."),
    RuleRow::new(Answer, Finding, "PRODUCT_CHANGED", "The product is the one that was quoted."),
    RuleRow::new(Answer, Finding, "POLICY_TYPE_CHANGED", "The kind of policy is the one that was quoted."),
    RuleRow::new(Answer, Finding, "PREMIUM_CHANGED", "What was paid is what was quoted, give or take 1 INR."),
    RuleRow::new(
        Answer,
        Finding,
        "ASSISTANCE_PHONE_MISSING",
        "Where roadside assistance was bought, there is a number for it.",
    ),
    RuleRow::new(
        Answer,
        Refused,
        "FREELOOK_WINDOW_EXPIRED",
        "After the free-look window a cancellation is no free-look cancellation.",
    ),
    RuleRow::new(
        Report,
        Finding,
        "PREMIUM_AS_AMOUNT",
        "amount_inr is the partner's commission and less than the premium.",
    ),
    RuleRow::new(
        Report,
        Finding,
        "PASS_THROUGH_MISMATCH",
        "pass_through_inr is the first year's premium of the quote.",
    ),
    RuleRow::new(Report, Finding, "INSURER_MISMATCH", "The insurer is the one that was quoted."),
    RuleRow::new(Report, Finding, "PRODUCT_MISMATCH", "The product is the one that was quoted."),
    RuleRow::new(Report, Finding, "POLICY_TYPE_MISMATCH", "The kind of policy is the one that was quoted."),
    RuleRow::new(
        Report,
        Finding,
        "LONG_TERM_TP_MISMATCH",
        "The years of third-party cover are those that were quoted.",
    ),
    RuleRow::new(Report, Finding, "ADDONS_MISMATCH", "There are as many addons as were quoted."),
];
