//! Option references: what the orchestrator gets to book by. Opaque to it, signed, and complete in themselves,
//! so that any replica can take one without having kept the search.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::secret::Secret;

/// What a reference is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionReference {
    /// The partner that offered it.
    #[serde(rename = "p")]
    pub partner: String,
    /// The intent.
    #[serde(rename = "i")]
    pub intent: String,
    /// The contract version that ranked it.
    #[serde(rename = "v")]
    pub version: String,
    /// The search's request identifier.
    #[serde(rename = "q")]
    pub request_id: String,
    /// The option's own identifier.
    #[serde(rename = "o")]
    pub option_id: String,
    /// The partner's token, where the option is bookable by one.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub result_token: Option<String>,
    /// How long it stays bookable, milliseconds since the epoch.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
}

/// The text is no reference that this gateway issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the option reference is not one that this gateway issued")]
pub struct InvalidReference;

/// Seals and opens references under one key.
#[derive(Clone)]
pub struct ReferenceSealer {
    keyed: Hmac<Sha256>,
}

/// Longest reference that is looked at, bytes.
const REFERENCE_MAX_BYTES: usize = 8 * 1024;

impl ReferenceSealer {
    /// A sealer under a key. The MAC state is keyed once; each use copies it.
    #[must_use]
    pub fn new(key: &Secret) -> Self {
        use sha2::Digest as _;
        // A SHA-256 of the domain and the key has the fixed length that the MAC takes without failing.
        let key = Sha256::new().chain_update(b"option-reference\0").chain_update(key.expose()).finalize();
        Self { keyed: Hmac::<Sha256>::new(&padded(key.into())) }
    }

    /// Seals a reference into URL-safe text.
    #[must_use]
    pub fn seal(&self, reference: &OptionReference) -> String {
        let claims = serde_json::to_vec(reference).expect("a struct of strings and numbers always serialises");
        let mut text = URL_SAFE_NO_PAD.encode(claims);
        let mac = self.keyed.clone().chain_update(text.as_bytes()).finalize().into_bytes();
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(mac, &mut text);
        text
    }

    /// Opens a reference.
    ///
    /// # Errors
    /// [`InvalidReference`] for anything that was not sealed under this key.
    pub fn open(&self, text: &str) -> Result<OptionReference, InvalidReference> {
        if text.len() > REFERENCE_MAX_BYTES {
            return Err(InvalidReference);
        }
        let (claims, mac) = text.split_once('.').ok_or(InvalidReference)?;
        let mac = URL_SAFE_NO_PAD.decode(mac).map_err(|_| InvalidReference)?;
        let expected = self.keyed.clone().chain_update(claims.as_bytes());
        expected.verify_slice(&mac).map_err(|_| InvalidReference)?;
        let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| InvalidReference)?;
        serde_json::from_slice(&claims).map_err(|_| InvalidReference)
    }
}

/// HMAC's own padding of a short key to its block.
pub(crate) fn padded(key: [u8; 32]) -> hmac::digest::Key<Hmac<Sha256>> {
    let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
    block[..32].copy_from_slice(&key);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> OptionReference {
        OptionReference {
            partner: "coolcar".to_owned(),
            intent: "auto.book_ac_service".to_owned(),
            version: "1.0.0".to_owned(),
            request_id: "r1".to_owned(),
            option_id: "slot-1".to_owned(),
            result_token: Some("t".to_owned()),
            expires_at_ms: Some(1),
        }
    }

    #[test]
    fn opens_only_what_it_sealed() {
        let sealer = ReferenceSealer::new(&Secret::new("k"));
        let text = sealer.seal(&reference());
        assert_eq!(sealer.open(&text), Ok(reference()));
        assert_eq!(ReferenceSealer::new(&Secret::new("other")).open(&text), Err(InvalidReference));
        for at in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).expect("ASCII");
            assert_eq!(sealer.open(&altered), Err(InvalidReference), "at {at}");
        }
        assert_eq!(sealer.open(""), Err(InvalidReference));
    }
}
