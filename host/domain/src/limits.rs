//! Every bound of the platform that no contract can move, in one place. Units are in the names.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Milliseconds of a day.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Wait for a partner's tool call (spec 1, Limits).
pub const TOOL_CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// By then a call of a tool is over and its end is in the store, milliseconds: 15 seconds beyond the call itself, for what a
/// process may need besides, and for what the clocks of two gateways may be apart.
pub const CALL_SETTLED_MS: u64 = 45_000;
/// Wait for each call of a probe (spec 1, Limits).
pub const PROBE_CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Wait for a page that is fetched to see whether it is live, redirects included.
pub const PAGE_TIMEOUT: Duration = Duration::from_secs(20);
/// Redirects followed to such a page; partner calls follow none.
pub const PAGE_REDIRECTS_MAX: usize = 3;
/// Largest such page.
pub const PAGE_MAX_BYTES: usize = 2 * 1024 * 1024;
/// Wait for a partner's webhook to take an event, connecting included.
pub const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// Characters kept of a webhook's answer.
pub const WEBHOOK_EXCERPT_MAX_CHARS: usize = 300;
/// Bytes read of it.
pub const WEBHOOK_ANSWER_MAX_BYTES: usize = 4 * 1024;
/// Largest request body of an orchestrator.
pub const REQUEST_BODY_MAX_BYTES: usize = 256 * 1024;
/// Largest contract component that may be uploaded or found in the watched folder.
pub const CONTRACT_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Largest answer of a partner to one call.
pub const PARTNER_BODY_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Deepest nesting of objects and arrays in a partner's payload.
pub const PAYLOAD_MAX_DEPTH: usize = 64;
/// Options read of one partner's payload; a contract's own bound is lower.
pub const OPTIONS_READ_MAX: usize = 1_000;
/// Partners called for one search.
pub const FAN_OUT_MAX: usize = 64;
/// A user's past orders that a search tells its contract of.
pub const PAST_ORDERS_MAX: u32 = 20;
/// Partners that an answer names as left out; the rest is a number.
pub const LEFT_OUT_REPORTED_MAX: usize = 32;
/// How long an intent of a live partner goes on being routed after a repeated go-live test of it did not pass: time to mend
/// what was found, milliseconds.
pub const RETEST_GRACE_MS: u64 = 7 * DAY_MS;
/// For how many days a contract may let a person's confirmation of a go-live requirement hold: longer than the first
/// notice comes ahead, and ten years at most.
pub const CONFIRMATION_DAYS: RangeInclusive<u32> = 31..=3_660;
/// How long before a confirmation ends the partner and the platform team are told first, milliseconds.
pub const CONFIRMATION_FIRST_NOTICE_MS: u64 = 30 * DAY_MS;
/// The same for the last time.
pub const CONFIRMATION_LAST_NOTICE_MS: u64 = 7 * DAY_MS;
/// How long an intent of a live partner goes on being routed after its partner was warned that a confirmation has ended,
/// milliseconds.
pub const CONFIRMATION_GRACE_MS: u64 = 14 * DAY_MS;
/// Characters of an utterance to classify.
pub const UTTERANCE_MAX_CHARS: usize = 2_000;
/// Bytes of a `result_token`; longer ones cannot be carried in a reference.
pub const RESULT_TOKEN_MAX_BYTES: usize = 1_024;
/// How long an option can be booked of an answer that commits to nothing: one without a token and the time that it is good
/// for. The partner may answer that the option is gone.
pub const UNCOMMITTED_BOOKING_TIME: Duration = Duration::from_secs(15 * 60);
/// Bytes of an option's identifier, likewise.
pub const OPTION_ID_MAX_BYTES: usize = 256;
/// Characters of a request identifier.
pub const REQUEST_ID_MAX_CHARS: usize = 200;
/// Characters of any one text in a partner's answer; a longer one is nothing to be shown.
pub const ANSWER_TEXT_MAX_CHARS: usize = 4_000;
/// Characters of the name of a member there.
pub const ANSWER_NAME_MAX_CHARS: usize = 200;
/// Characters of a number there: twice as many as the exact decimals of any usual price, distance or share.
pub const ANSWER_NUMBER_MAX_CHARS: usize = 128;
/// Characters of one text of a card; a longer one is cut.
pub const CARD_TEXT_MAX_CHARS: usize = 2_000;
/// Flaws of one kind that are reported for one payload.
pub const FLAWS_REPORTED_MAX: usize = 100;
