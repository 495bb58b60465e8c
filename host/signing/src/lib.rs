//! Who has made a component. A signature is Ed25519 (RFC 8032) over a statement of which content it is of, and of which version of
//! which intent; it travels as a custom section at the component's end, which is not part of what is signed.
//!
//! | question | module |
//! |---|---|
//! | what is signed, and how it is written | `statement` |
//! | keys as files and as text | `keys` |
//! | a component with its signatures, taken apart and put together | `signed` |
//! | whether a signature is good enough, and why not | `trust` |
//! | what is not trusted any more | `revoked` |
//!
//! Not here: when it is asked, and what follows.

mod keys;
mod revoked;
mod signed;
mod statement;
mod trust;

#[cfg(test)]
mod tests;

pub use keys::{InvalidKey, KeyId, PublicKey, SigningKey};
pub use revoked::{
    REASON_MAX_CHARS, Revocation, RevocationDesk, RevocationOutcome, Revocations, Revoked, RevokedVersion,
    TooManyRevocations,
};
pub use signed::SignedComponent;
pub use statement::{InvalidSignatures, Signatures, Statement};
pub use trust::{IntentPattern, InvalidIntentPattern, SignatureRefusal, TrustPolicy, TrustedKey};
