//! The classification of an utterance; what comes of it is the domain's own type.

use intent_gateway_domain::limits::UTTERANCE_MAX_CHARS;
use intent_gateway_domain::violations::code;
use utoipa::ToSchema;

use crate::read::{Body, Members};

/// Locale of an utterance that names none.
const DEFAULT_LOCALE: &str = "en-IN";
/// Longest locale, characters: what RFC 5646 asks implementations to take at least.
const LOCALE_MAX_CHARS: usize = 35;

/// An utterance to classify.
#[derive(Debug, ToSchema)]
pub struct ClassifyRequest {
    /// What the user said, in plain text.
    #[schema(min_length = 1, max_length = 2000, example = "my car AC blows warm air")]
    pub utterance: String,
    /// Language tag (BCP 47) of the utterance.
    #[schema(value_type = Option<String>, max_length = 35, default = "en-IN")]
    pub locale: String,
}

impl Body for ClassifyRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let utterance = members.text_of_any_length("utterance");
        match utterance.as_deref() {
            Some(text) if text.trim().is_empty() => {
                members.refuse("utterance", "TOO_SHORT", "expected at least one character");
            }
            Some(text) if text.chars().count() > UTTERANCE_MAX_CHARS => {
                let message = format!("expected at most {UTTERANCE_MAX_CHARS} characters");
                members.refuse("utterance", code::TOO_LONG, message);
            }
            _ => {}
        }
        let locale = members.optional_unbounded("locale");
        if !locale.as_deref().is_none_or(is_language_tag) {
            members.refuse("locale", code::BAD_FORMAT, "expected a language tag such as `en-IN`");
        }
        Some(Self { utterance: utterance?, locale: locale.unwrap_or_else(|| DEFAULT_LOCALE.to_owned()) })
    }
}

/// Subtags of 1 to 8 letters and digits, joined by `-` (RFC 5646, section 2.1).
fn is_language_tag(text: &str) -> bool {
    let subtag = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    text.len() <= LOCALE_MAX_CHARS && text.split('-').all(subtag)
}
