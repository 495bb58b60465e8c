//! What people write, reasons and notes, and times as people read them.

use super::OnboardingError;
use intent_gateway_domain::clock::Timestamp;

/// Characters of a name or a reason that a caller gives.
pub const TEXT_MAX_CHARS: usize = 500;

/// A reason or note, trimmed; refused where it is empty or too long.
pub(crate) fn bounded_text(pointer: &str, text: &str) -> Result<String, OnboardingError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > TEXT_MAX_CHARS {
        let message = format!("expected 1 to {TEXT_MAX_CHARS} characters");
        return Err(OnboardingError::invalid(pointer, "INVALID_TEXT", message));
    }
    Ok(text.to_owned())
}

/// A time as programs read it: RFC 3339, in UTC.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    at.to_jiff().unwrap_or(jiff::Timestamp::MAX).to_string()
}

/// A time as people read it: to the minute, in UTC.
pub(crate) fn date_and_time(at: Timestamp) -> String {
    // Only a corrupt record is past what calendars know.
    at.to_jiff().unwrap_or(jiff::Timestamp::MAX).strftime("%d %B %Y, %H:%M UTC").to_string()
}
