//! What is signed: which content it is, and of which version of which intent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::keys::{InvalidKey, KeyId, PublicKey, SigningKey};

/// What every signed message begins with: no signature of another purpose can pass for one of these.
const PURPOSE: &[u8] = b"intent-gateway contract v1\n";
/// Signatures of a component.
const SIGNATURES_MAX: usize = 8;
/// Bytes of signatures as they are written.
const SIGNATURES_MAX_BYTES: usize = 16 * 1024;

/// What whoever signs says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// SHA-256 of the component without its signatures.
    pub component: Digest,
    pub intent: IntentId,
    pub version: Version,
    /// The interface that it is written against, for example `intent-gateway:contract@1.0.0`.
    pub interface: String,
}

/// A statement with those who have signed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signatures {
    /// The statement as it was signed, JSON: byte for byte.
    statement: String,
    signatures: Vec<OneSignature>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OneSignature {
    key: KeyId,
    /// Base64.
    signature: String,
}

/// Bytes that are no signatures.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSignatures {
    #[error("signatures have at most {SIGNATURES_MAX_BYTES} bytes")]
    TooLarge,
    #[error("these are no signatures of a contract")]
    NotRead(#[from] serde_json::Error),
    #[error("a component has 1 to {SIGNATURES_MAX} signatures, each of another key")]
    Count,
    #[error("the component has signatures in several places")]
    Several,
    #[error("the component was signed before, with another statement; sign it anew without the earlier signatures")]
    OtherStatement,
    #[error("the key cannot be used")]
    Key(#[from] InvalidKey),
}

impl Statement {
    /// Signs it. What was signed before stays, where the statement is the same.
    ///
    /// # Errors
    /// [`InvalidSignatures`].
    pub fn sign(&self, key: &SigningKey, before: Option<Signatures>) -> Result<Signatures, InvalidSignatures> {
        let statement = serde_json::to_string(self)?;
        let mut all = match before {
            Some(before) if before.statement != statement => return Err(InvalidSignatures::OtherStatement),
            Some(before) => before,
            None => Signatures { statement, signatures: Vec::new() },
        };
        let id = key.public()?.id();
        let signature = STANDARD.encode(key.sign(&message(&all.statement)));
        all.signatures.retain(|one| one.key != id);
        all.signatures.push(OneSignature { key: id, signature });
        all.check()?;
        Ok(all)
    }
}

impl Signatures {
    /// Reads signatures from JSON.
    ///
    /// # Errors
    /// [`InvalidSignatures`].
    pub fn read(json: &[u8]) -> Result<Self, InvalidSignatures> {
        if json.len() > SIGNATURES_MAX_BYTES {
            return Err(InvalidSignatures::TooLarge);
        }
        // A list would be read as the members in their order.
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(json)?;
        let read: Self = serde_json::from_value(members.into())?;
        read.check()?;
        read.statement()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), InvalidSignatures> {
        let is_once = |at: usize| !self.signatures[..at].iter().any(|one| one.key == self.signatures[at].key);
        let fits = (1..=SIGNATURES_MAX).contains(&self.signatures.len());
        if fits && (0..self.signatures.len()).all(is_once) { Ok(()) } else { Err(InvalidSignatures::Count) }
    }

    /// As they are written.
    ///
    /// # Errors
    /// [`InvalidSignatures::NotRead`], which does not happen.
    pub fn to_json(&self) -> Result<String, InvalidSignatures> {
        Ok(serde_json::to_string(self)?)
    }

    /// What is said. Nothing is verified yet.
    ///
    /// # Errors
    /// [`InvalidSignatures::NotRead`].
    pub fn statement(&self) -> Result<Statement, InvalidSignatures> {
        Ok(serde_json::from_str(&self.statement)?)
    }

    /// The keys that are said to have signed.
    pub fn keys(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.signatures.iter().map(|one| one.key)
    }

    /// Whether a key has signed; none where no signature is said to be its.
    #[must_use]
    pub fn verify(&self, key: &PublicKey) -> Option<bool> {
        let one = self.signatures.iter().find(|one| one.key == key.id())?;
        let signature = STANDARD.decode(&one.signature).ok();
        Some(signature.is_some_and(|signature| key.verifies(&message(&self.statement), &signature)))
    }

    /// These, and those of another reading of the same statement.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let mut merged = self.clone();
        if self.statement == other.statement {
            let new = other.signatures.iter().filter(|one| !self.signatures.iter().any(|known| known.key == one.key));
            merged.signatures.extend(new.cloned());
            merged.signatures.truncate(SIGNATURES_MAX);
        }
        merged
    }
}

fn message(statement: &str) -> Vec<u8> {
    [PURPOSE, statement.as_bytes()].concat()
}
