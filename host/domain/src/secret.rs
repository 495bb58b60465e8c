//! Secrets have a type of their own, so that none reaches a log or an error by accident.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Deserializer};
use sha2::Sha256;

/// A secret text: redacted in `Debug`, wiped when dropped, compared in constant time, never serialised.
#[derive(Clone)]
pub struct Secret(zeroize::Zeroizing<String>);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(zeroize::Zeroizing::new(value.into()))
    }

    /// The secret itself; each caller is a place to look at in a review.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether a presented text is this secret, in time that does not depend on where they differ.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        // Comparing MACs under the secret itself hides the length as well.
        let mac = |text: &str| Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).map(|mac| mac.chain_update(text));
        match (mac(&self.0), mac(presented)) {
            (Ok(ours), Ok(theirs)) => ours.verify(&theirs.finalize().into_bytes()).is_ok(),
            _ => false,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_redacted_and_compares() {
        let secret = Secret::new("correct horse");
        assert_eq!(format!("{secret:?}"), "Secret(redacted)");
        assert!(secret.matches("correct horse"));
        assert!(!secret.matches("correct hors"));
        assert!(!secret.matches(""));
    }
}
