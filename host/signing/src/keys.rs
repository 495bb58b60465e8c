//! Keys: a private one as a file in PKCS#8 (RFC 8410), a public one as a line of text.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use intent_gateway_domain::vault::hex;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What a public key begins with.
const PREFIX: &str = "ed25519:";
const PUBLIC_KEY_BYTES: usize = 32;
/// Bytes of a public key's digest that name it.
const ID_BYTES: usize = 8;
const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";
/// Characters of a line of PEM (RFC 7468).
const PEM_LINE: usize = 64;

/// A text or a file that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    #[error("a public key is `ed25519:` and 32 bytes in Base64")]
    Public,
    #[error("this is no private Ed25519 key in PKCS#8 (`-----BEGIN PRIVATE KEY-----`)")]
    Private,
    #[error("a key's name is 16 hexadecimal characters")]
    Id,
    /// The machine gives no randomness.
    #[error("no key could be made: the machine gives no randomness")]
    NoRandomness,
}

/// What names a key in a signature: the beginning of its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId([u8; ID_BYTES]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for KeyId {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        if text.len() != 2 * ID_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InvalidKey::Id);
        }
        let mut id = [0; ID_BYTES];
        for (byte, pair) in id.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| InvalidKey::Id)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| InvalidKey::Id)?;
        }
        Ok(Self(id))
    }
}

impl TryFrom<String> for KeyId {
    type Error = InvalidKey;

    fn try_from(text: String) -> Result<Self, InvalidKey> {
        text.parse()
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.to_string()
    }
}

/// A public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey([u8; PUBLIC_KEY_BYTES]);

impl PublicKey {
    /// What names it.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&Sha256::digest(self.0)[..ID_BYTES]);
        KeyId(id)
    }

    /// Whether a signature of a message is this key's.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(message, signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", STANDARD.encode(self.0))
    }
}

impl FromStr for PublicKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(InvalidKey::Public)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| InvalidKey::Public)?;
        bytes.try_into().map(Self).map_err(|_| InvalidKey::Public)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = InvalidKey;

    fn try_from(text: String) -> Result<Self, InvalidKey> {
        text.parse()
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

/// A private key. It is neither printed nor serialised.
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// Makes a key; the second is what its file holds.
    ///
    /// # Errors
    /// [`InvalidKey::NoRandomness`].
    pub fn generate() -> Result<(Self, String), InvalidKey> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| InvalidKey::NoRandomness)?;
        let encoded = STANDARD.encode(document.as_ref());
        let lines: Vec<&str> =
            encoded.as_bytes().chunks(PEM_LINE).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        let pem = format!("{PEM_BEGIN}\n{}\n{PEM_END}\n", lines.join("\n"));
        Ok((Self::read(&pem)?, pem))
    }

    /// Reads a file, of this crate or of another tool such as `openssl genpkey -algorithm ed25519`.
    ///
    /// # Errors
    /// [`InvalidKey::Private`].
    pub fn read(pem: &str) -> Result<Self, InvalidKey> {
        let inner = pem.trim().strip_prefix(PEM_BEGIN).and_then(|rest| rest.trim_end().strip_suffix(PEM_END));
        let encoded: String = inner.ok_or(InvalidKey::Private)?.split_whitespace().collect();
        let document = STANDARD.decode(encoded).map_err(|_| InvalidKey::Private)?;
        // Files of other tools lack the public half.
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&document).map_err(|_| InvalidKey::Private)?;
        Ok(Self(pair))
    }

    /// The public half.
    ///
    /// # Errors
    /// [`InvalidKey::Private`], which does not happen.
    pub fn public(&self) -> Result<PublicKey, InvalidKey> {
        self.0.public_key().as_ref().try_into().map(PublicKey).map_err(|_| InvalidKey::Private)
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).as_ref().to_vec()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}
