//! Identifiers of the domain.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An intent identifier, `<domain>.<name>`, each part lower snake case (spec 1, What the service does).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntentId(Arc<str>);

/// The text is not an intent identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no intent identifier: expected `<domain>.<name>` in lower snake case")]
pub struct InvalidIntentId(pub String);

/// Longest intent identifier in bytes.
const INTENT_ID_MAX_BYTES: usize = 128;

impl IntentId {
    /// Checks the form; whether the intent exists is for the catalogue to say.
    ///
    /// # Errors
    /// [`InvalidIntentId`] when the text is not `<domain>.<name>`.
    pub fn parse(text: &str) -> Result<Self, InvalidIntentId> {
        let snake = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_lowercase())
                && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        match text.split_once('.') {
            Some((domain, name)) if snake(domain) && snake(name) && text.len() <= INTENT_ID_MAX_BYTES => {
                Ok(Self(text.into()))
            }
            _ => Err(InvalidIntentId(text.chars().take(INTENT_ID_MAX_BYTES).collect())),
        }
    }

    /// The identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text, shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The namespace, the part before the dot.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.0.split_once('.').map_or(&self.0, |(domain, _)| domain)
    }
}

impl std::borrow::Borrow<str> for IntentId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for IntentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for IntentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A partner's identifier, issued by the platform and never changed (spec 1, Manifest).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartnerId(Arc<str>);

/// The text is not a partner identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a partner identifier is 1 to 64 letters, digits, `-` or `_`")]
pub struct InvalidPartnerId;

impl PartnerId {
    /// Checks the form.
    ///
    /// # Errors
    /// [`InvalidPartnerId`] when the text is empty, too long or holds other characters.
    pub fn parse(text: &str) -> Result<Self, InvalidPartnerId> {
        let fits = (1..=64).contains(&text.len());
        if fits && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
            Ok(Self(text.into()))
        } else {
            Err(InvalidPartnerId)
        }
    }

    /// The identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text, shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl std::borrow::Borrow<str> for PartnerId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PartnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for PartnerId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for PartnerId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intent_identifiers() {
        let intent = IntentId::parse("auto.book_ac_service").expect("well formed");
        assert_eq!(intent.domain(), "auto");
        for bad in ["", "auto", "auto.", ".x", "Auto.x", "auto.x.y", "auto.book-ac", "auto.1x"] {
            assert!(IntentId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn partner_identifiers() {
        assert!(PartnerId::parse("coolcar-01").is_ok());
        assert!(PartnerId::parse("").is_err());
        assert!(PartnerId::parse("a b").is_err());
        assert!(PartnerId::parse(&"x".repeat(65)).is_err());
    }
}
