//! Tools, error table, forbidden fields (spec 3 and, where it inherits what is not shown, spec 1). The host
//! enforces them.

use crate::INTENT;
use crate::booking::{BookSlot, CancelBooking, GetAvailableSlots, GetProviderDetail, ModifyBooking};
use contract_sdk::bindings::ToolRole;
use contract_sdk::{About, ErrorRow, Forbidden, Search, ToolEntry, ToolPolicy};

pub const ABOUT: About = About {
    intent: INTENT,
    aliases: &[],
    version: "1.0.0",
    agent: "LifestyleAgent",
    title: "Yoga class",
    summary: "Books a yoga class at a studio, in a group or in private, with an instructor who may teach it.",
};

/// A tool of the Service shape. Its latency targets are those of its kind (spec 1, "Limits"). The intent states no
/// retry, so there is none, and no rate that a studio must bear of all users together; how often one user may call is the
/// platform's to say. Only searches may be cached.
const fn policy(
    name: &'static str,
    role: ToolRole,
    purpose: &'static str,
    [p50_ms, p95_ms, p99_ms]: [u32; 3],
) -> ToolPolicy {
    ToolPolicy { name, role, purpose, p50_ms, p95_ms, p99_ms: Some(p99_ms), ..ToolPolicy::PLAIN }
}

/// Latency targets in milliseconds, p50, p95 and p99, by kind of tool (spec 1, "Limits").
const SEARCH_MS: [u32; 3] = [600, 1500, 3000];
const GET_MS: [u32; 3] = [300, 800, 1500];
/// Creating with payment. Changing a booking is not a kind of its own there; it can ask for a payment as well.
const CREATE_MS: [u32; 3] = [2000, 5000, 10_000];
const CANCEL_MS: [u32; 3] = [1000, 3000, 5000];

/// Seconds for which a search may be served again (spec 1, "Limits").
const SEARCH_CACHE_SECONDS: u32 = 60;

pub const SEARCH: Search = Search {
    policy: ToolPolicy {
        idempotency_key: Some("request_id"),
        cache_seconds: Some(SEARCH_CACHE_SECONDS),
        ..policy(
            "search_providers",
            ToolRole::Search,
            "Finds up to 15 studios with classes, slots and instructors for the user.",
            SEARCH_MS,
        )
    },
    options_key: "options",
    id_key: "/yoga_studio/identity/id",
    // What the card shows. A private session may cost what its instructor takes instead, and nobody knows of whom.
    price_pointer: Some("/session_pass/pass_inr"),
    max_options: 15,
    empty_code: None,
    gone_code: None,
};

pub(crate) const DETAIL: ToolPolicy = policy(
    "get_provider_detail",
    ToolRole::GetDetail,
    "Gives one studio with its classes, slots and instructors.",
    GET_MS,
);

pub(crate) const SLOTS: ToolPolicy = policy(
    "get_available_slots",
    ToolRole::GetDetail,
    "Gives the slots of a studio, of a class or of an instructor.",
    GET_MS,
);

/// Policy of `book_slot`. The same `request_id` gives the same booking (spec 1, "Endpoints", rule 4).
pub(crate) const BOOK: ToolPolicy = ToolPolicy {
    idempotency_key: Some("request_id"),
    ..policy("book_slot", ToolRole::Create, "Books a slot.", CREATE_MS)
};

pub(crate) const CANCEL: ToolPolicy = policy("cancel_booking", ToolRole::Cancel, "Cancels a booking.", CANCEL_MS);

pub(crate) const MODIFY: ToolPolicy =
    policy("modify_booking", ToolRole::Modify, "Moves a booking to another class, instructor or slot.", CREATE_MS);

/// The tools that are not a search.
pub const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<GetProviderDetail>(),
    ToolEntry::of::<GetAvailableSlots>(),
    ToolEntry::of::<BookSlot>(),
    ToolEntry::of::<CancelBooking>(),
    ToolEntry::of::<ModifyBooking>(),
];

/// The error table: the platform's general codes (spec 1, "Errors"), since the inherited table is not shown, and
/// the one code that the intent adds. None is retried, since no retry is stated.
pub const ERRORS: &[ErrorRow] = &[
    ErrorRow::INVALID_REQUEST,
    ErrorRow::INVALID_AUTH,
    ErrorRow::METHOD_NOT_FOUND,
    ErrorRow::RATE_LIMITED,
    ErrorRow::INTERNAL_ERROR,
    ErrorRow::PARTNER_MAINTENANCE,
    ErrorRow::IDEMPOTENCY_CONFLICT,
    ErrorRow::IDEMPOTENCY_VIOLATION,
    ErrorRow::SIGNATURE_INVALID,
    ErrorRow::new("PRENATAL_CLASS_REQUIRED", 422, "The user needs a prenatal class, and this is none."),
];

/// Fields that no answer may carry, beyond the platform's own list.
pub const FORBIDDEN: &[Forbidden] = &[
    Forbidden::present("fake_recent_class_text", "Classes that did not take place may not be told of."),
    Forbidden::present("auto_inflate_class_count", "Counts of classes are what they are."),
    Forbidden::present("hidden_pass_fee", "The price of a pass is all that it costs."),
    Forbidden::present("fake_certifications", "Certifications are held or not claimed."),
    Forbidden::present("fake_yoga_lineage_claim", "A lineage must be verifiable."),
    Forbidden::present("fake_partner_completion_rate_30d", "Rates are computed from what took place."),
    Forbidden::unless_false("ai_generated_photos", "Studios are shown as they are."),
];
