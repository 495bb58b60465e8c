//! What a partner wrote in place of an answer, whole and as it wrote it.
//!
//! A [`CallFailure`](crate::error::CallFailure) says what the failure means, and parts of it reach orchestrators and
//! logs. The partner's own words go another way, for they are for that partner and the platform team alone.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Characters kept of such a text; what is longer is cut.
pub const ERROR_TEXT_MAX_CHARS: usize = 2_000;

/// Takes the last text that a partner sent in place of an answer.
#[derive(Default)]
pub struct ErrorText(Mutex<Option<String>>);

impl ErrorText {
    /// Records what the partner wrote; what was there before is replaced.
    pub fn note(&self, text: &str) {
        let cut: String = text.chars().take(ERROR_TEXT_MAX_CHARS).collect();
        *self.held() = (!cut.trim().is_empty()).then_some(cut);
    }

    /// Hands it over.
    pub fn take(&self) -> Option<String> {
        self.held().take()
    }

    /// It is whole after every step, so that one which a panic interrupted can be used.
    fn held(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing that is logged shows it.
impl fmt::Debug for ErrorText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErrorText")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_text_is_handed_over_once_bounded_and_never_shown() {
        let text = ErrorText::default();
        text.note("first");
        text.note(&"☂".repeat(ERROR_TEXT_MAX_CHARS + 1));
        assert_eq!(format!("{text:?}"), "ErrorText");
        assert_eq!(text.take().map(|text| text.chars().count()), Some(ERROR_TEXT_MAX_CHARS));
        assert_eq!(text.take(), None);
        text.note(" \n");
        assert_eq!(text.take(), None, "blanks say nothing");
    }
}
