//! What is kept of a report that its partner has signed and that is refused: one finding for each thing that is wrong with
//! it, with what the report says there. Nothing of it is booked.
//!
//! Not here: reports without a sound signature. Anybody can send those, and they say nothing of the partner.

use serde::Deserialize;

use super::intake::IntakeError;
use super::rate::ReportRate;
use super::signature::SignatureError;
use super::{EXTERNAL_ID_MAX_CHARS, INTENT_MAX_CHARS};
use crate::FINDINGS_MAX;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::{Finding, Severity, Source, cut, excerpt};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_domain::ports::Journal;

/// The intent is none that is served.
const INVALID_INTENT: &str = "INVALID_INTENT";

/// What names a report, as far as it can be read: a refused one may lack any of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Names {
    intent: Name,
    external_id: Name,
    request_id: Name,
}

/// A member that is a text, or is as good as absent.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    #[default]
    Absent,
    Other(serde::de::IgnoredAny),
}

impl Name {
    /// At most so many characters of it: each finding holds them again.
    fn into_text(self, max_chars: usize) -> Option<String> {
        match self {
            Self::Text(text) => Some(cut(&text, max_chars)),
            Self::Absent | Self::Other(_) => None,
        }
    }
}

/// Records why a signed report was refused, as long as there are not too many of them. A failure of the gateway's own is not the
/// partner's.
pub(super) fn record(
    journal: &dyn Journal,
    rate: &ReportRate,
    partner: &PartnerId,
    body: &[u8],
    error: &IntakeError,
    now: Timestamp,
) {
    let violations = violations(error);
    if violations.is_empty() {
        return;
    }
    let text = std::str::from_utf8(body).unwrap_or_default();
    let Names { intent, external_id, request_id } = serde_json::from_str(text).unwrap_or_default();
    let intent = intent.into_text(INTENT_MAX_CHARS).unwrap_or_default();
    let external_id = external_id.into_text(EXTERNAL_ID_MAX_CHARS);
    let request_id = request_id.into_text(REQUEST_ID_MAX_CHARS).unwrap_or_default();
    for violation in violations.into_iter().take(FINDINGS_MAX) {
        if !rate.may_note_refusal(partner, now) {
            return;
        }
        journal.record(Finding {
            at_ms: now,
            partner: partner.clone(),
            intent: intent.clone(),
            request_id: request_id.clone(),
            source: Some(Source::Report),
            option_place: None,
            option_id: None,
            external_id: external_id.clone(),
            severity: Severity::Drop,
            excerpt: excerpt(text, &violation.pointer),
            violation,
        });
    }
}

/// What is wrong with the report itself.
fn violations(error: &IntakeError) -> Vec<Violation> {
    let one = |pointer: &str, code: &str| {
        vec![Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: format!("{error}.") }]
    };
    match error {
        IntakeError::Refused(refusal) => refusal.violations.clone(),
        IntakeError::UnknownIntent(_) => one("/intent", INVALID_INTENT),
        IntakeError::Conflict(_) => one("/external_id", PlatformCode::IdempotencyConflict.as_str()),
        IntakeError::Signature(late @ SignatureError::OutOfWindow { .. }) => {
            vec![Violation { pointer: String::new(), code: late.code().to_owned(), message: format!("{late}.") }]
        }
        IntakeError::Signature(_)
        | IntakeError::Stale(_)
        | IntakeError::Contract(_)
        | IntakeError::Desk(_)
        | IntakeError::Test(_)
        | IntakeError::Unbookable(_)
        | IntakeError::TooMany
        | IntakeError::TooOften(_)
        | IntakeError::Unsound(_) => Vec::new(),
    }
}
