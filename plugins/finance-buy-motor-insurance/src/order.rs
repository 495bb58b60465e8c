//! The way of an order: a quote on its way to a policy, and back (spec 2, tools 2 to 5 and their results).
//!
//! Inspection and the check of the customer come in either order, so both open an order and both belong to the one that is
//! open. A policy is issued to a customer who was checked, and only while that check holds (KYCResult `expires_at`). Whether
//! the user has paid, the partner judges: `PAYMENT_FAILED` is its answer.

use crate::tables::{CANCEL, CONFIRM, INSPECT, ISSUE};
use contract_sdk::bindings::{Milestone, Opening};
use contract_sdk::{KeptValue, OrderDeadline, OrderOutcome, OrderRefusal, OrderState, OrderStep, OrderWay};

pub(crate) const INSPECTING: &str = "inspecting";
pub(crate) const KYC_PENDING: &str = "kyc_pending";
pub(crate) const KYC_FAILED: &str = "kyc_failed";
pub(crate) const KYC_VERIFIED: &str = "kyc_verified";
pub(crate) const ISSUED: &str = "issued";
const CANCELLED: &str = "cancelled";

// Names of kept values.
pub(crate) const QUOTE_ID: &str = "quote_id";
pub(crate) const KYC_ID: &str = "kyc_id";
pub(crate) const INSPECTION_ID: &str = "inspection_id";
pub(crate) const FREELOOK_DAYS: &str = "freelook_period_days";
pub(crate) const FREELOOK_END: &str = "freelook_ends_at";
pub(crate) const INSURER_ID: &str = "insurer_id";
pub(crate) const INSURER_REGISTRATION: &str = "insurer_registration_number";
const KYC_EXPIRES_AT: &str = "kyc_expires_at";
const TOTAL_PAID: &str = "total_paid_inr";

/// The states before a policy is issued.
const BEFORE_ISSUANCE: &[&str] = &[INSPECTING, KYC_PENDING, KYC_FAILED, KYC_VERIFIED];

/// Code of the error table for a policy without a check of the customer.
const UNCHECKED: &str = "KYC_FAILED";

const KEPT_QUOTE: KeptValue = KeptValue::answer(QUOTE_ID, "/quote_id").identifying();
/// The insurer, which later rankings go by.
const KEPT_INSURER: KeptValue = KeptValue::option(INSURER_ID, "/insurer/insurer_id");
const KEPT_REGISTRATION: KeptValue = KeptValue::option(INSURER_REGISTRATION, "/insurer/irdai_registration_number");

pub const ORDER: Option<OrderWay> = Some(OrderWay {
    states: &[
        OrderState::open(INSPECTING, "An inspection is booked; the customer has not been checked yet.", &[]),
        OrderState::open(KYC_PENDING, "The quote is locked; somebody still looks at the customer's papers.", &[]),
        OrderState::open(KYC_FAILED, "The customer's details did not match; other papers may help.", &[]),
        OrderState::open(KYC_VERIFIED, "The quote is locked and the customer is known.", &[Milestone::Verified]),
        OrderState::open(
            ISSUED,
            "The policy is issued and paid.",
            &[Milestone::Confirmed, Milestone::Verified, Milestone::Paid],
        ),
        OrderState::closed(CANCELLED, "It was cancelled before issuance, or the policy was given back."),
    ],
    steps: &[
        OrderStep {
            opening: Opening::First,
            states: BEFORE_ISSUANCE,
            keeps: &[
                KEPT_QUOTE,
                KEPT_INSURER,
                KEPT_REGISTRATION,
                KeptValue::answer(KYC_ID, "/kyc_id").identifying(),
                KeptValue::answer("kyc_status", "/kyc_status"),
                KeptValue::answer(KYC_EXPIRES_AT, "/expires_at"),
            ],
            outcomes: &[
                OrderOutcome::where_answered(
                    "/kyc_status",
                    &["verified_aadhaar", "verified_pan", "verified_dl"],
                    KYC_VERIFIED,
                ),
                OrderOutcome::where_answered("/kyc_status", &["pending_manual"], KYC_PENDING),
                OrderOutcome::where_answered("/kyc_status", &["failed"], KYC_FAILED),
            ],
            ..OrderStep::of(CONFIRM.name)
        },
        OrderStep {
            opening: Opening::First,
            states: BEFORE_ISSUANCE,
            keeps: &[
                KEPT_QUOTE,
                KEPT_INSURER,
                KEPT_REGISTRATION,
                KeptValue::answer(INSPECTION_ID, "/inspection_id").identifying(),
                KeptValue::answer("inspection_scheduled_at", "/scheduled_at"),
            ],
            outcomes: &[OrderOutcome::always(INSPECTING).from(&["pending", INSPECTING])],
            ..OrderStep::of(INSPECT.name)
        },
        OrderStep {
            states: &[KYC_VERIFIED],
            refusals: &[
                OrderRefusal {
                    states: &["none", "pending", INSPECTING],
                    code: UNCHECKED,
                    text: "The customer has not been checked; call confirm_quote_and_kyc first.",
                },
                OrderRefusal {
                    states: &[KYC_PENDING],
                    code: UNCHECKED,
                    text: "The check of the customer is not over; call confirm_quote_and_kyc again for its result.",
                },
                OrderRefusal {
                    states: &[KYC_FAILED],
                    code: UNCHECKED,
                    text: "The customer's details did not match; call confirm_quote_and_kyc with other papers.",
                },
            ],
            deadlines: &[OrderDeadline {
                kept: KYC_EXPIRES_AT,
                code: UNCHECKED,
                text: "The check of the customer no longer holds; call confirm_quote_and_kyc again.",
            }],
            keeps: &[
                KeptValue::answer("policy_id", "/policy_id").identifying(),
                KeptValue::answer("policy_number", "/policy_number").identifying(),
                KeptValue::answer(FREELOOK_END, "/freelook_ends_at"),
                KeptValue::answer(FREELOOK_DAYS, "/freelook_period_days"),
                KeptValue::answer(TOTAL_PAID, "/total_paid_inr"),
                KeptValue::argument("payment_reference", "/payment_reference"),
            ],
            outcomes: &[OrderOutcome::always(ISSUED)],
            ..OrderStep::of(ISSUE.name)
        },
        OrderStep {
            states: &[INSPECTING, KYC_PENDING, KYC_FAILED, KYC_VERIFIED, ISSUED],
            outcomes: &[OrderOutcome::always(CANCELLED)],
            ..OrderStep::of(CANCEL.name)
        },
    ],
    amount: Some(TOTAL_PAID),
    due_after: None,
    history: &[INSURER_ID, INSURER_REGISTRATION],
});
