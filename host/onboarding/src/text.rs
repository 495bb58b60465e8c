//! What people write: reasons and notes.

use super::OnboardingError;

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
