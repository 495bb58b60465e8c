//! Identity, tools, error codes, forbidden fields and go-live requirements. The gateway enforces them.

use crate::INTENT;
use crate::booking::CreateBooking;
use contract_sdk::bindings::{Backoff, ToolRole};
use contract_sdk::{
    About, ErrorRow, Forbidden, GoLiveCheck, Minimum, Requirement, Search, ToolEntry, ToolPolicy, Window,
};

pub const ABOUT: About = About {
    intent: INTENT,
    aliases: &[],
    // A new release carries a higher one.
    version: "1.0.0",
    agent: "{{agent}}",
    title: "{{title}}",
    summary: "Finds and books: {{words}}.",
};

/// The search tool, and how its payload is taken apart.
pub const SEARCH: Search = Search {
    policy: ToolPolicy {
        name: "search_{{subject}}_offers",
        role: ToolRole::Search,
        purpose: "Finds up to 15 offers that match the city, the kind and the window.",
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
    options_key: "offers",
    id_key: "offer_id",
    price_pointer: Some("/total_inr"),
    max_options: 15,
    empty_code: Some("NO_OFFERS"),
    gone_code: Some("OFFER_GONE"),
};

/// Policy of the tool that books.
pub(crate) const CREATE: ToolPolicy = ToolPolicy {
    name: "create_{{subject}}_booking",
    role: ToolRole::Create,
    purpose: "Books an offer.",
    p50_ms: 1500,
    p95_ms: 4000,
    rate_per_minute: Some(30),
    idempotency_key: Some("request_id"),
    ..ToolPolicy::PLAIN
};

/// The tools that are not a search.
pub const TOOLS: &[ToolEntry] = &[ToolEntry::of::<CreateBooking>()];

pub const ERRORS: &[ErrorRow] = &[
    ErrorRow::INVALID_REQUEST,
    ErrorRow::INVALID_AUTH,
    ErrorRow::RATE_LIMITED.with_retry(1, 2000, Backoff::Fixed),
    ErrorRow::INTERNAL_ERROR.with_retry(2, 1000, Backoff::Exponential),
    ErrorRow::new("NO_OFFERS", 200, "The request is valid and matches nothing."),
    ErrorRow::new("OFFER_GONE", 409, "The offer has been taken."),
];

/// Fields that no answer may carry, beyond the platform's own list.
pub const FORBIDDEN: &[Forbidden] =
    &[Forbidden::present("commission_padded_price", "Prices may not depend on the commission.")];

/// What must hold before users are sent to a partner, beyond its tools. The gateway searches with samples and checks
/// what they show; the rest people confirm.
pub const GO_LIVE: &[Requirement] = &[
    Requirement::new(
        "OFFERS_IN_A_DAY",
        "There are at least 5 offers within 24 hours.",
        GoLiveCheck::AtLeast {
            minimums: &[Minimum { counted: "offers", pointer: "", count: 5 }],
            within: Some(Window { pointer: "/starts_at", hours: 24 }),
        },
    ),
    Requirement::new(
        "KINDS_COVERED",
        "Every kind of service can be had.",
        GoLiveCheck::Covers { pointer: "/kind", vocabulary: "service_kind" },
    ),
    Requirement::new(
        "PAPERS_SEEN",
        "No provider is offered whose papers the partner has not seen.",
        GoLiveCheck::Handles { occasions: &[], unbroken: &["UNVERIFIED"] },
    ),
    Requirement::search_latency(&SEARCH),
    Requirement::IDEMPOTENCY_TESTED,
];
