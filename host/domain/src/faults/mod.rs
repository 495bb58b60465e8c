//! Faults of contracts: what a contract said of why it failed, the call in which it did, and what is kept of both.
//!
//! What a contract says is its author's text, and may repeat what a user or a partner wrote. It is bounded, what would
//! move a cursor is spelt out, and it goes to the platform team alone: no log and no caller gets it. The input of the call
//! is kept sealed.
//!
//! Not here: what makes a call a fault ([`ContractFault`]), and how faults are gathered and kept (the store).

mod call;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use call::{Answer, Call, CallRef, Function, Input};

use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::error::ContractFault;
use crate::id::IntentId;
use crate::plain_text::misleads;
use crate::vault::{NoEntropy, OpenError, ResealError, Sealed, Vault};

/// Characters of what a contract says of its fault; what is longer is cut and ends with `…`.
pub const MESSAGE_MAX_CHARS: usize = 2_000;
/// Characters of the place that it names; what is longer is cut likewise.
pub const PLACE_MAX_CHARS: usize = 300;
/// Bytes of an input that is kept, as JSON. A larger one is not kept, and its size is told.
pub const INPUT_MAX_BYTES: usize = 1024 * 1024;
/// Faults of one intent that are kept: the latest.
pub const KEPT_PER_INTENT_MAX: u32 = 100;
/// How long a fault is kept at most, milliseconds: 30 days, for its input holds what a user asked for.
pub const KEPT_MAX_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// Time over which faults of one kind are one fault that came several times, milliseconds.
pub const BURST_MS: u64 = 60 * 1_000;
/// Kinds of faults of one intent that are kept in that time; further ones are counted.
pub const KINDS_PER_BURST_MAX: usize = 10;

/// What a contract said of why it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// In its own words; may have several lines.
    pub message: String,
    /// Where in its source, as its language names places: `src/rules.rs:12:5`.
    pub place: Option<String>,
}

impl Told {
    /// What a contract said, bounded and harmless on a terminal.
    #[must_use]
    pub fn new(message: &str, place: Option<&str>) -> Self {
        Self {
            message: clean(message, MESSAGE_MAX_CHARS, |c| c == '\n'),
            place: place.map(|place| clean(place, PLACE_MAX_CHARS, |_| false)).filter(|place| !place.is_empty()),
        }
    }
}

/// On one line.
impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.message.lines().map(str::trim).filter(|line| !line.is_empty());
        write!(f, "`{}`", lines.collect::<Vec<_>>().join(" | "))?;
        match &self.place {
            Some(place) => write!(f, " at {place}"),
            None => Ok(()),
        }
    }
}

/// A text whose control characters, and those that turn the direction of what is read, are spelt out.
fn clean(text: &str, max_chars: usize, stays: impl Fn(char) -> bool) -> String {
    let text = text.trim();
    let mut cleaned = String::new();
    let mut left = max_chars;
    for c in text.chars() {
        let shown: String = if misleads(c) && !stays(c) { c.escape_default().collect() } else { c.into() };
        let Some(rest) = left.checked_sub(shown.chars().count()) else {
            cleaned.push('…');
            break;
        };
        left = rest;
        cleaned.push_str(&shown);
    }
    cleaned
}

/// A fault at the moment at which it happens. The call is borrowed: of a burst hardly any is kept.
#[derive(Clone, Copy, Debug)]
pub struct FaultNote<'a> {
    /// The intent.
    pub intent: &'a IntentId,
    /// Version of the contract.
    pub version: &'a semver::Version,
    /// Digest of its component.
    pub contract: Digest,
    /// What went wrong.
    pub fault: &'a ContractFault,
    /// The call.
    pub call: CallRef<'a>,
}

impl FaultNote<'_> {
    /// What makes another fault one of the same kind. What the contract said is not part of it: it may differ with every
    /// input.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        FaultKind {
            contract: self.contract,
            function: self.call.function(),
            code: self.fault.code(),
            place: self.fault.told().and_then(|told| told.place.clone()),
        }
    }
}

/// Faults of one kind: of one component, in one function, with one code, at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultKind {
    contract: Digest,
    function: Function,
    code: &'static str,
    place: Option<String>,
}

/// A fault as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFault {
    /// Its number: greater than that of any fault kept before it.
    pub number: u64,
    /// When it happened.
    pub at: Timestamp,
    /// When one of its kind happened last within [`BURST_MS`].
    pub last_at: Timestamp,
    /// How many of its kind happened within that time, itself included.
    pub times: u64,
    /// How many faults of other kinds happened within that time and are not kept, for there were more than
    /// [`KINDS_PER_BURST_MAX`].
    pub others: u64,
    /// The intent.
    pub intent: IntentId,
    /// Version of the contract.
    pub version: semver::Version,
    /// Digest of its component.
    pub contract: Digest,
    /// The function that was called.
    pub function: Function,
    /// The request that the call belonged to; none for an utterance.
    pub request_id: Option<String>,
    /// Stable code of the fault.
    pub code: String,
    /// What went wrong, in the gateway's words.
    pub fault: String,
    /// What the contract said.
    pub told: Option<Told>,
    /// Bytes of the input, as JSON.
    pub input_bytes: u64,
    /// Whether the input is kept.
    pub has_input: bool,
}

/// Which faults are asked for.
#[derive(Clone, Copy, Debug)]
pub struct FaultQuery<'a> {
    /// Of which intent.
    pub intent: &'a IntentId,
    /// Only those with a lower number.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: u32,
}

/// What an input is sealed for: moved to another fault it does not open.
fn context(intent: &IntentId, contract: Digest, at: Timestamp) -> String {
    format!("contract-fault/{intent}/{contract}/{}", at.as_ms())
}

/// The input of a call, JSON, sealed for the fault that it led to.
///
/// # Errors
/// [`NoEntropy`] when the machine gives no random bytes.
pub fn seal_input(
    vault: &Vault,
    intent: &IntentId,
    contract: Digest,
    at: Timestamp,
    input: &[u8],
) -> Result<Sealed, NoEntropy> {
    vault.seal_bytes(&context(intent, contract, at), input)
}

/// The same input under the current master key; none where it is under that already.
///
/// # Errors
/// [`ResealError`] when it cannot be opened, or the machine gives no random bytes.
pub fn reseal_input(
    vault: &Vault,
    intent: &IntentId,
    contract: Digest,
    at: Timestamp,
    sealed: &Sealed,
) -> Result<Option<Sealed>, ResealError> {
    vault.reseal(&context(intent, contract, at), sealed)
}

/// The input of the call that led to a fault.
///
/// # Errors
/// [`OpenError`] when it cannot be opened, or is not an input.
pub fn open_input(vault: &Vault, fault: &KeptFault, sealed: &Sealed) -> Result<Input, OpenError> {
    let json = vault.open_bytes(&context(&fault.intent, fault.contract, fault.at), sealed)?;
    serde_json::from_slice(&json).map_err(|_| OpenError::Forged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_contract_said_is_bounded_and_moves_no_cursor() {
        let told = Told::new(" \u{1b}[2Jgone\r\nline two\u{202e}\0 ", Some("src/a.rs\n:1\u{7}"));
        assert_eq!(told.message, "\\u{1b}[2Jgone\\r\nline two\\u{202e}\\u{0}");
        assert_eq!(told.place.as_deref(), Some("src/a.rs\\n:1\\u{7}"));
        assert_eq!(told.to_string(), "`\\u{1b}[2Jgone\\r | line two\\u{202e}\\u{0}` at src/a.rs\\n:1\\u{7}");
        let long = Told::new(&"☂".repeat(1_000_000), Some(&"\u{1}".repeat(1_000_000)));
        assert_eq!(long.message.chars().count(), MESSAGE_MAX_CHARS + 1);
        assert!(long.message.ends_with("☂…"));
        let place = long.place.expect("a place");
        assert!(place.chars().count() <= PLACE_MAX_CHARS + 1 && place.ends_with("}…"), "{place}");
        assert_eq!(Told::new("", Some(" \n")), Told { message: String::new(), place: None });
    }
}
