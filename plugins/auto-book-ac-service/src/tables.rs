//! Tools, error table, forbidden fields and lifetimes (spec 2). The host enforces them.

use crate::INTENT;
use crate::booking::{CancelBooking, CreateBooking};
use contract_sdk::bindings::{Backoff, ToolRole};
use contract_sdk::{About, ErrorRow, Forbidden, Lifetime, Search, ToolEntry, ToolPolicy};

pub const ABOUT: About = About {
    intent: INTENT,
    aliases: &[],
    version: "1.0.0",
    agent: "AutoServicesAgent",
    title: "Car AC service",
    summary: "Books the service of a car's air-conditioning: refrigerant, compressor, condenser, vents and blower, \
              cabin filter, electrical faults. Cars only.",
};

pub const SEARCH: Search = Search {
    policy: ToolPolicy {
        name: "search_ac_service_slots",
        role: ToolRole::Search,
        purpose: "Finds up to 15 slots that match the window, the location and the trouble.",
        p50_ms: 700,
        p95_ms: 1800,
        p99_ms: Some(3500),
        rate_per_minute: Some(60),
        idempotency_key: Some("request_id"),
        retries_on_rate_limited: 1,
        retries_on_server_error: 2,
        cache_seconds: Some(60),
        ..ToolPolicy::PLAIN
    },
    options_key: "slots",
    id_key: "slot_id",
    price_pointer: Some("/estimated_price/total_estimate_inr"),
    max_options: 15,
    empty_code: Some("NO_SLOTS_IN_WINDOW"),
    gone_code: Some("SLOT_GONE"),
};

pub(crate) const CREATE: ToolPolicy = ToolPolicy {
    name: "create_ac_service_booking",
    role: ToolRole::Create,
    purpose: "Books a slot.",
    p50_ms: 1500,
    p95_ms: 4000,
    rate_per_minute: Some(30),
    idempotency_key: Some("request_id"),
    ..ToolPolicy::PLAIN
};

pub(crate) const CANCEL: ToolPolicy = ToolPolicy {
    name: "cancel_ac_service_booking",
    role: ToolRole::Cancel,
    purpose: "Cancels a booking before intake.",
    p50_ms: 600,
    p95_ms: 1800,
    rate_per_minute: Some(30),
    retries_on_server_error: 1,
    ..ToolPolicy::PLAIN
};

/// The tools that are not a search.
pub const TOOLS: &[ToolEntry] = &[ToolEntry::of::<CreateBooking>(), ToolEntry::of::<CancelBooking>()];

/// Wait before a throttled call is tried again, in milliseconds (spec 2).
const THROTTLE_WAIT_MS: u32 = 2000;
/// First wait after a partner failure, in milliseconds; the spec says only that waits grow exponentially.
const FAILURE_WAIT_MS: u32 = 1000;

pub const ERRORS: &[ErrorRow] = &[
    ErrorRow::INVALID_REQUEST,
    ErrorRow::INVALID_AUTH,
    ErrorRow::RATE_LIMITED.with_retry(1, THROTTLE_WAIT_MS, Backoff::Fixed),
    ErrorRow::INTERNAL_ERROR.with_retry(2, FAILURE_WAIT_MS, Backoff::Exponential),
    ErrorRow::IDEMPOTENCY_VIOLATION,
    ErrorRow::SIGNATURE_INVALID,
    ErrorRow::new("VEHICLE_AC_INCOMPATIBLE", 422, "The vehicle has no AC, or one that is not served."),
    ErrorRow::new("REFRIGERANT_UNAVAILABLE", 422, "The refrigerant that the vehicle needs is out of stock."),
    ErrorRow::new("NO_SLOTS_IN_WINDOW", 200, "The request is valid and matches nothing."),
    ErrorRow::new("SLOT_GONE", 409, "The slot has been taken."),
    ErrorRow::new("DOORSTEP_UNAVAILABLE_AT_LOCATION", 422, "The location is outside the doorstep area."),
    ErrorRow::new("COMPRESSOR_WORK_REQUIRES_WORKSHOP", 422, "Compressor work is not done at the door."),
    ErrorRow::new("CANCELLATION_FEE_DUE", 200, "Cancelling costs a fee."),
];

/// Fields that no answer may carry, beyond the platform's own list.
pub const FORBIDDEN: &[Forbidden] = &[
    Forbidden::present("commission_padded_price", "Prices may not depend on the commission."),
    Forbidden::present(
        "unnecessary_overhaul_recommendation",
        "No larger remedy may be proposed where a smaller one would do.",
    ),
    Forbidden::unless_false("ai_generated_photo", "Shops and vehicles are shown as they are."),
    Forbidden::unless_empty("artificial_urgency_text", "Nobody is to be hurried into a booking."),
];

/// How long other data of a provider may be kept.
pub const LIFETIMES: &[Lifetime] = &[Lifetime::days("provider static data (certifications, refrigerant types)", 1)];
