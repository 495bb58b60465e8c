//! Tools, error table, forbidden fields and lifetimes (spec 2). The host enforces them.

use crate::INTENT;
use crate::cancellation::CancelOrFreelook;
use crate::inspection::ScheduleInspection;
use crate::issuance::IssuePolicy;
use crate::kyc::ConfirmQuoteAndKyc;
use contract_sdk::bindings::{Backoff, ToolRole};
use contract_sdk::{About, ErrorRow, Forbidden, Lifetime, Search, ToolEntry, ToolPolicy};

pub const ABOUT: About = About {
    intent: INTENT,
    // The same policies, asked for from the vehicle's side (spec 2).
    aliases: &["auto.buy_new_insurance"],
    version: "1.0.0",
    agent: "FinanceAgent",
    title: "New motor insurance",
    summary: "Buys a fresh motor policy for a car, two-wheeler, electric or commercial vehicle: newly purchased, \
              lapsed, switching insurer, or a used vehicle's first policy.",
};

pub const SEARCH: Search = Search {
    policy: ToolPolicy {
        name: "search_motor_quotes",
        role: ToolRole::Search,
        purpose: "Finds up to 15 quotes that match vehicle, policy type, addons and tenure.",
        p50_ms: 800,
        p95_ms: 2500,
        p99_ms: Some(5000),
        rate_per_minute: Some(60),
        idempotency_key: Some("request_id"),
        retries_on_rate_limited: 1,
        retries_on_server_error: 2,
        cache_seconds: Some(30),
        ..ToolPolicy::PLAIN
    },
    options_key: "quotes",
    id_key: "quote_id",
    price_pointer: Some("/premium_breakdown/total_payable_inr"),
    max_options: 15,
    // The error table names neither an empty result nor a quote that is gone.
    empty_code: None,
    gone_code: None,
};

/// What the tools that are not a search have in common.
const STEP: ToolPolicy =
    ToolPolicy { role: ToolRole::Create, p50_ms: 1500, p95_ms: 4000, rate_per_minute: Some(30), ..ToolPolicy::PLAIN };

pub(crate) const CONFIRM: ToolPolicy = ToolPolicy {
    name: "confirm_quote_and_kyc",
    purpose: "Locks a quote and checks the customer, with a nominee where one applies.",
    idempotency_key: Some("request_id"),
    ..STEP
};

pub(crate) const ISSUE: ToolPolicy = ToolPolicy {
    name: "issue_policy",
    purpose: "Issues the policy after the customer was checked and has paid.",
    p50_ms: 2500,
    p95_ms: 7000,
    p99_ms: Some(15_000),
    idempotency_key: Some("request_id"),
    ..STEP
};

pub(crate) const INSPECT: ToolPolicy = ToolPolicy {
    name: "schedule_inspection",
    purpose: "Books the inspection of the vehicle.",
    idempotency_key: Some("quote_id"),
    retries_on_server_error: 1,
    ..STEP
};

pub(crate) const CANCEL: ToolPolicy = ToolPolicy {
    name: "cancel_or_freelook",
    role: ToolRole::Cancel,
    purpose: "Cancels before issuance or within the free-look window.",
    idempotency_key: Some("policy_id"),
    retries_on_server_error: 1,
    ..STEP
};

/// The tools that are not a search.
pub const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<ConfirmQuoteAndKyc>(),
    ToolEntry::of::<IssuePolicy>(),
    ToolEntry::of::<ScheduleInspection>(),
    ToolEntry::of::<CancelOrFreelook>(),
];

/// Wait before a throttled call, or one to an insurer that was down, is tried again, in milliseconds (spec 2).
const THROTTLE_WAIT_MS: u32 = 2000;
/// First wait after a partner failure, in milliseconds; the spec says only that waits grow exponentially.
const FAILURE_WAIT_MS: u32 = 1000;

pub const ERRORS: &[ErrorRow] = &[
    ErrorRow::INVALID_REQUEST,
    ErrorRow::RATE_LIMITED.with_retry(1, THROTTLE_WAIT_MS, Backoff::Fixed),
    ErrorRow::INTERNAL_ERROR.with_retry(2, FAILURE_WAIT_MS, Backoff::Exponential),
    ErrorRow::SIGNATURE_INVALID,
    ErrorRow::new("VEHICLE_NOT_FOUND_IN_VAHAN", 422, "The government's vehicle database has no such registration."),
    ErrorRow::new("INVOICE_VALUE_INVALID", 422, "A newly purchased vehicle has no invoice value."),
    ErrorRow::new("LONG_TERM_TP_REQUIRED", 422, "A new car needs the 3-year bundle, a new two-wheeler the 5-year one."),
    ErrorRow::new("IDV_OUT_OF_RANGE", 422, "The insured value lies outside the permitted band."),
    ErrorRow::new("ADDON_INCOMPATIBLE", 422, "The addon cannot be had with this policy or for this vehicle."),
    ErrorRow::new("INSPECTION_REQUIRED", 200, "The quote asks for an inspection first."),
    ErrorRow::new("KYC_FAILED", 422, "The customer's details do not match."),
    ErrorRow::new("PAYMENT_FAILED", 402, "The payment was declined."),
    ErrorRow::new("INSURER_DOWN", 503, "The insurer does not answer.").with_retry(1, THROTTLE_WAIT_MS, Backoff::Fixed),
    ErrorRow::new("FREELOOK_WINDOW_EXPIRED", 410, "The free-look window has ended."),
    ErrorRow::new("EV_KW_MISSING", 422, "An electric vehicle lacks kw_rating or battery_kwh."),
];

const NO_BADGES: &str = "No quote is recommended over another.";
const NO_FAKES: &str = "Insurers and garages are shown as they are.";

/// Fields that no answer may carry, beyond the platform's own list. The spec names some by what they are only; the
/// names of those are the ones that partners would use.
pub const FORBIDDEN: &[Forbidden] = &[
    Forbidden::present("commission_padded_premium", "Premiums may not depend on the commission."),
    Forbidden::present("below_irdai_floor_premium", "No premium may be below the tariff."),
    Forbidden::present("inflated_claim_settlement_ratio", "Ratios are those that the regulator publishes."),
    Forbidden::present("editor_recommended", NO_BADGES),
    Forbidden::present("platform_pick", NO_BADGES),
    Forbidden::present("best_for_new_vehicle", NO_BADGES),
    Forbidden::unless_empty("artificial_urgency_text", "Nobody is to be hurried into a policy."),
    Forbidden::unless_false("ai_generated_logo", NO_FAKES),
    Forbidden::unless_false("ai_generated_insurer_logo", NO_FAKES),
    Forbidden::unless_false("logo_ai_generated", NO_FAKES),
    Forbidden::unless_false("ai_generated_photo", NO_FAKES),
];

/// How long other data of a partner may be kept.
pub const LIFETIMES: &[Lifetime] = &[
    Lifetime::days("insurer static data (settlement ratio, solvency, garage counts)", 1),
    Lifetime::days("product wording", 7),
    Lifetime::days("garage directory", 1),
];
