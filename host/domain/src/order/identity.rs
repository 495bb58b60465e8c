//! An order's identifier, and whose it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::user::{Asker, Orchestrator, User};
use crate::vault::{Mark, NoEntropy, Vault, hex, random};

/// Hexadecimal digits of an order's identifier: 12 of its time, the others random.
const ID_DIGITS: usize = 12 + 2 * ID_RANDOM_BYTES;
/// Random bytes of an order's identifier.
const ID_RANDOM_BYTES: usize = 8;
/// What the marks of askers and of orchestrators are made for.
const ASKER: &str = "order-asker";
const ORCHESTRATOR: &str = "order-orchestrator";

/// An order's identifier: `ord_` and 28 hexadecimal digits. One that was opened later is the greater, but for the clocks of
/// two gateways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(String);

impl OrderId {
    /// A new one.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    pub fn new(vault: &Vault, now: Timestamp) -> Result<Self, NoEntropy> {
        let random: [u8; ID_RANDOM_BYTES] = random(vault.entropy())?;
        Ok(Self(format!("ord_{:012x}{}", now.as_ms() & 0xffff_ffff_ffff, hex(&random))))
    }

    /// Reads one as it is written.
    ///
    /// # Errors
    /// [`InvalidOrderId`] when the text has another form.
    pub fn parse(text: &str) -> Result<Self, InvalidOrderId> {
        let digits = text.strip_prefix("ord_").filter(|digits| digits.len() == ID_DIGITS).ok_or(InvalidOrderId)?;
        let are_digits = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if are_digits { Ok(Self(text.to_owned())) } else { Err(InvalidOrderId) }
    }

    /// What the identifier of every order opened before a time is less than.
    #[must_use]
    pub fn before(time: Timestamp) -> String {
        format!("ord_{:012x}", time.as_ms() & 0xffff_ffff_ffff)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not an identifier of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an order's identifier is `ord_` and 28 hexadecimal digits")]
pub struct InvalidOrderId;

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whose an order is. The order names nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The orchestrator with the user whom it named, or with none.
    pub asker: Mark,
    /// The orchestrator alone.
    pub orchestrator: Mark,
}

impl Owner {
    /// Of what this asker orders.
    #[must_use]
    pub fn of(vault: &Vault, asker: &Asker) -> Self {
        Self {
            asker: vault.mark(ASKER, asker.key()),
            orchestrator: vault.mark(ORCHESTRATOR, &asker.orchestrator.key()),
        }
    }

    /// The marks by which this asker's orders may be found, one for each master key, the current one first.
    #[must_use]
    pub fn marks(vault: &Vault, asker: &Asker) -> Vec<Mark> {
        vault.marks(ASKER, asker.key())
    }

    /// The marks of everything that an orchestrator orders, likewise.
    #[must_use]
    pub fn orchestrator_marks(vault: &Vault, orchestrator: &Orchestrator) -> Vec<Mark> {
        vault.marks(ORCHESTRATOR, &orchestrator.key())
    }

    /// The same for a user.
    #[must_use]
    pub fn marks_of(vault: &Vault, user: &User) -> Vec<Mark> {
        vault.marks(ASKER, user.key())
    }
}
