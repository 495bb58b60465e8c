//! Whether a component comes from somebody who is trusted with it.

use std::fmt;
use std::str::FromStr;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::keys::{KeyId, PublicKey};
use crate::revoked::{Revocations, Revoked};
use crate::statement::{InvalidSignatures, Signatures, Statement};

/// Ends a pattern that means all intents of a domain.
const WHOLE_DOMAIN: &str = ".*";

/// Which intents a key may sign: one by its name, or those of a domain, `auto.*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IntentPattern(String);

/// A text that is no such pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither an intent nor a domain with `.*`")]
pub struct InvalidIntentPattern(String);

impl IntentPattern {
    #[must_use]
    pub fn admits(&self, intent: &IntentId) -> bool {
        match self.0.strip_suffix(WHOLE_DOMAIN) {
            Some(domain) => intent.as_str().strip_prefix(domain).is_some_and(|rest| rest.starts_with('.')),
            None => intent.as_str() == self.0,
        }
    }
}

impl FromStr for IntentPattern {
    type Err = InvalidIntentPattern;

    fn from_str(text: &str) -> Result<Self, InvalidIntentPattern> {
        // A name below the domain stands for all of them.
        let as_intent = text.strip_suffix(WHOLE_DOMAIN).map_or_else(|| text.to_owned(), |domain| format!("{domain}.x"));
        IntentId::parse(&as_intent).map_err(|_| InvalidIntentPattern(text.to_owned()))?;
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for IntentPattern {
    type Error = InvalidIntentPattern;

    fn try_from(text: String) -> Result<Self, InvalidIntentPattern> {
        text.parse()
    }
}

impl From<IntentPattern> for String {
    fn from(pattern: IntentPattern) -> Self {
        pattern.0
    }
}

/// A key that is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKey {
    /// How people call it.
    pub name: String,
    pub key: PublicKey,
    /// What it may sign; all intents where none is named.
    pub intents: Vec<IntentPattern>,
    /// What it has signed may be loaded from then on.
    pub from: Option<Timestamp>,
    /// Until before then.
    pub until: Option<Timestamp>,
}

impl TrustPolicy {
    /// The names of the trusted keys that have signed something, whenever they may.
    #[must_use]
    pub fn signers(&self, signatures: &Signatures) -> Vec<String> {
        let signed = self.keys.iter().filter(|key| signatures.verify(&key.key) == Some(true));
        signed.map(|key| key.name.clone()).collect()
    }
}

/// Why a component is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum SignatureRefusal {
    #[error("the component is not signed, and this gateway takes signed ones alone")]
    Missing,
    #[error("the signatures cannot be read")]
    Unreadable(#[source] InvalidSignatures),
    #[error("the signature is of another content: the component was altered after it was signed")]
    OtherContent,
    #[error("the signature that is said to be of the key `{0}` is not: the statement or the signature was altered")]
    Invalid(String),
    #[error("no key that is trusted has signed it; it names {}", list(.0))]
    Unknown(Vec<KeyId>),
    #[error("the key `{name}` may not sign contracts of {intent}")]
    NotAllowed { name: String, intent: IntentId },
    #[error("the key `{0}` is not valid at this time")]
    OutOfDate(String),
    #[error("the key {key} is revoked: {reason}")]
    KeyRevoked { key: KeyId, reason: String },
    #[error("this content is revoked: {0}")]
    Revoked(String),
    #[error("the signature is of {} {}, and the component is {intent} {version}", .signed.intent, .signed.version)]
    OtherVersion { signed: Box<Statement>, intent: IntentId, version: Version },
}

fn list(keys: &[KeyId]) -> String {
    keys.iter().map(KeyId::to_string).collect::<Vec<_>>().join(", ")
}

impl SignatureRefusal {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "SIGNATURE_MISSING",
            Self::Unreadable(_) | Self::OtherContent | Self::Invalid(_) => "SIGNATURE_INVALID",
            Self::Unknown(_) => "SIGNER_UNKNOWN",
            Self::NotAllowed { .. } => "SIGNER_NOT_ALLOWED",
            Self::OutOfDate(_) => "SIGNER_OUT_OF_DATE",
            Self::KeyRevoked { .. } | Self::Revoked(_) => "REVOKED",
            Self::OtherVersion { .. } => "SIGNATURE_MISMATCH",
        }
    }

    /// Whether it was trusted, and is not any more.
    #[must_use]
    pub fn is_revocation(&self) -> bool {
        matches!(self, Self::KeyRevoked { .. } | Self::Revoked(_))
    }

    /// How much it tells, where several signatures are refused.
    fn weight(&self) -> u8 {
        match self {
            Self::KeyRevoked { .. } => 4,
            Self::Invalid(_) => 3,
            Self::NotAllowed { .. } => 2,
            Self::OutOfDate(_) => 1,
            _ => 0,
        }
    }
}

/// Whom a gateway trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustPolicy {
    pub keys: Vec<TrustedKey>,
    /// Whether what nobody trusted has signed is refused.
    pub requires_signature: bool,
}

impl TrustPolicy {
    /// The names of those who have signed and are trusted with it; none where nobody has, and nobody needs to.
    ///
    /// # Errors
    /// [`SignatureRefusal`].
    pub fn judge(
        &self,
        digest: Digest,
        signatures: Option<&Signatures>,
        at: Timestamp,
        revocations: &Revocations,
    ) -> Result<Vec<String>, SignatureRefusal> {
        if let Some(revoked) = revocations.find(Revoked::Component(digest)) {
            return Err(SignatureRefusal::Revoked(revoked.reason.clone()));
        }
        let Some(signatures) = signatures else {
            return if self.requires_signature { Err(SignatureRefusal::Missing) } else { Ok(Vec::new()) };
        };
        let statement = signatures.statement().map_err(SignatureRefusal::Unreadable)?;
        if statement.component != digest {
            return Err(SignatureRefusal::OtherContent);
        }
        let (mut names, mut worst) = (Vec::new(), None::<SignatureRefusal>);
        for id in signatures.keys() {
            match self.judge_key(id, signatures, &statement, at, revocations) {
                Ok(Some(name)) => names.push(name),
                Ok(None) => {}
                Err(refusal) if worst.as_ref().is_none_or(|worst| refusal.weight() > worst.weight()) => {
                    worst = Some(refusal);
                }
                Err(_) => {}
            }
        }
        match worst {
            // Whoever altered something of a trusted key's is not trusted for another one's sake.
            Some(invalid @ SignatureRefusal::Invalid(_)) => Err(invalid),
            _ if !names.is_empty() => Ok(names),
            Some(refusal) => Err(refusal),
            None if self.requires_signature => Err(SignatureRefusal::Unknown(signatures.keys().collect())),
            None => Ok(Vec::new()),
        }
    }

    /// The name of a key that has signed and is trusted with it; none where nobody knows it.
    fn judge_key(
        &self,
        id: KeyId,
        signatures: &Signatures,
        statement: &Statement,
        at: Timestamp,
        revocations: &Revocations,
    ) -> Result<Option<String>, SignatureRefusal> {
        if let Some(revoked) = revocations.find(Revoked::Key(id)) {
            return Err(SignatureRefusal::KeyRevoked { key: id, reason: revoked.reason.clone() });
        }
        let Some(trusted) = self.keys.iter().find(|trusted| trusted.key.id() == id) else { return Ok(None) };
        let name = || trusted.name.clone();
        if signatures.verify(&trusted.key) != Some(true) {
            return Err(SignatureRefusal::Invalid(name()));
        }
        if !trusted.intents.is_empty() && !trusted.intents.iter().any(|pattern| pattern.admits(&statement.intent)) {
            return Err(SignatureRefusal::NotAllowed { name: name(), intent: statement.intent.clone() });
        }
        if trusted.from.is_some_and(|from| at < from) || trusted.until.is_some_and(|until| at >= until) {
            return Err(SignatureRefusal::OutOfDate(name()));
        }
        Ok(Some(name()))
    }
}

impl Signatures {
    /// Whether they are of this version.
    ///
    /// # Errors
    /// [`SignatureRefusal::OtherVersion`].
    pub fn check_version(&self, intent: &IntentId, version: &Version) -> Result<(), SignatureRefusal> {
        let signed = self.statement().map_err(SignatureRefusal::Unreadable)?;
        if signed.intent == *intent && signed.version == *version {
            return Ok(());
        }
        let (intent, version) = (intent.clone(), version.clone());
        Err(SignatureRefusal::OtherVersion { signed: Box::new(signed), intent, version })
    }
}

impl fmt::Display for IntentPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
