//! Tools, error table, forbidden fields and lifetimes (spec 2). The host enforces them.

use crate::INTENT;
use crate::booking::{CancelBooking, CreateBooking};
use contract_sdk::bindings::{Backoff, Breach, ToolRole};
use contract_sdk::{About, ErrorRow, Forbidden, Lifetime, Search, ToolEntry, ToolPolicy};

/// Identity.
pub const ABOUT: About = About {
    intent: INTENT,
    version: "1.0.0",
    agent: "AutoServicesAgent",
    title: "Car AC service",
    summary: "Books the service of a car's air-conditioning: refrigerant, compressor, condenser, vents and blower, \
              cabin filter, electrical faults. Cars only.",
};

/// The search tool.
pub const SEARCH: Search = Search {
    policy: ToolPolicy {
        name: "search_ac_service_slots",
        role: ToolRole::Search,
        purpose: "Finds up to 15 slots that match the window, the location and the trouble.",
        p50_ms: 700,
        p95_ms: 1800,
        p99_ms: Some(3500),
        rate_per_minute: 60,
        idempotency_key: Some("request_id"),
        retries_on_rate_limited: 1,
        retries_on_server_error: 2,
        cache_seconds: Some(60),
        orders_tool: None,
    },
    options_key: "slots",
    id_key: "slot_id",
    max_options: 15,
    empty_code: Some("NO_SLOTS_IN_WINDOW"),
    gone_code: Some("SLOT_GONE"),
};

/// Policy of `create_ac_service_booking`.
pub(crate) const CREATE: ToolPolicy = ToolPolicy {
    name: "create_ac_service_booking",
    role: ToolRole::Create,
    purpose: "Books a slot.",
    p50_ms: 1500,
    p95_ms: 4000,
    p99_ms: None,
    rate_per_minute: 30,
    idempotency_key: Some("request_id"),
    retries_on_rate_limited: 0,
    retries_on_server_error: 0,
    cache_seconds: None,
    orders_tool: None,
};

/// Policy of `cancel_ac_service_booking`.
pub(crate) const CANCEL: ToolPolicy = ToolPolicy {
    name: "cancel_ac_service_booking",
    role: ToolRole::Cancel,
    purpose: "Cancels a booking before intake.",
    p50_ms: 600,
    p95_ms: 1800,
    p99_ms: None,
    rate_per_minute: 30,
    idempotency_key: None,
    retries_on_rate_limited: 0,
    retries_on_server_error: 1,
    cache_seconds: None,
    orders_tool: None,
};

/// The tools that are no search.
pub const TOOLS: &[ToolEntry] = &[ToolEntry::of::<CreateBooking>(), ToolEntry::of::<CancelBooking>()];

/// Wait before a throttled call is tried again, in milliseconds (spec 2).
const THROTTLE_WAIT_MS: u32 = 2000;
/// First wait after a partner failure, in milliseconds; the spec says only that waits grow exponentially.
const FAILURE_WAIT_MS: u32 = 1000;

/// The error table.
pub const ERRORS: &[ErrorRow] = &[
    ErrorRow::new("INVALID_REQUEST", 400, "The payload is malformed."),
    ErrorRow::new("INVALID_AUTH", 401, "The credentials are not valid."),
    ErrorRow::new("RATE_LIMITED", 429, "Too many calls.").retried(1, THROTTLE_WAIT_MS, Backoff::Fixed),
    ErrorRow::new("INTERNAL_ERROR", 500, "The partner failed.").retried(2, FAILURE_WAIT_MS, Backoff::Exponential),
    ErrorRow::new("IDEMPOTENCY_VIOLATION", 409, "The request_id was used before."),
    ErrorRow::new("SIGNATURE_INVALID", 401, "The signature of the completion report is wrong."),
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
    Forbidden {
        name: "commission_padded_price",
        breach: Breach::Present,
        reason: "Prices may not depend on the commission.",
    },
    Forbidden {
        name: "unnecessary_overhaul_recommendation",
        breach: Breach::Present,
        reason: "No larger remedy may be proposed where a smaller one would do.",
    },
    Forbidden {
        name: "ai_generated_photo",
        breach: Breach::UnlessFalse,
        reason: "Shops and vehicles are shown as they are.",
    },
    Forbidden {
        name: "artificial_urgency_text",
        breach: Breach::UnlessEmpty,
        reason: "Nobody is to be hurried into a booking.",
    },
];

/// Seconds of a day.
const DAY_SECONDS: u32 = 24 * 60 * 60;

/// How long other data of a provider may be kept.
pub const LIFETIMES: &[Lifetime] =
    &[Lifetime { data: "provider static data (certifications, refrigerant types)", seconds: DAY_SECONDS }];
