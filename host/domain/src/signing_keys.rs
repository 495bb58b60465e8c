//! What a partner signs its completion reports with, as it is kept: written when the partner saves its webhook address or
//! rotates its key (the crate `onboarding`), read to verify reports (the crate `ledger`).

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::PartnerId;
use crate::reseal::SealedRecord;
use crate::store::{Kind, Record, StoreError};
use crate::vault::Sealed;

/// Secrets or keys that may be valid at once; more rotations have to wait.
pub const VALID_AT_ONCE_MAX: usize = 5;

/// A key that the partner signs completion reports with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningKey {
    /// Names the key; not secret.
    pub id: String,
    /// The key, sealed for [`webhook_context`].
    pub sealed: Sealed,
    /// Valid from, milliseconds since the epoch.
    pub not_before_ms: Timestamp,
    /// From then on it is refused; absent for the current one.
    pub not_after_ms: Option<Timestamp>,
}

/// Where the partner receives, and what it signs with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub account: PartnerId,
    /// Filled in by the partner.
    pub url: String,
    /// The current key first, then those that a rotation let live on.
    pub keys: Vec<SigningKey>,
    /// What the gateway sends there. Absent in a record of a release before.
    #[serde(default)]
    pub events: EventSending,
}

/// How events are sent to a webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSending {
    /// What events are signed with, sealed for [`event_secret_context`]: the current secret first, then those that a rotation let
    /// live on. Without one nothing is sent.
    pub secrets: Vec<SigningKey>,
    /// When the address was saved, or sending begun again, milliseconds since the epoch: what failed before does not count.
    pub since_ms: Option<Timestamp>,
    /// That nothing is sent until the partner says so.
    pub stopped: Option<StoppedEvents>,
}

/// That sending was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedEvents {
    /// Milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// One sentence for a person.
    pub reason: String,
}

impl Record for Webhook {
    const KIND: Kind = Kind::Webhooks;

    fn key(&self) -> String {
        self.account.to_string()
    }
}

impl SealedRecord for Webhook {
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)> {
        let (context, events) = (webhook_context(&self.account), event_secret_context(&self.account));
        let keys = self.keys.iter_mut().map(|key| (context.clone(), &mut key.sealed));
        keys.chain(self.events.secrets.iter_mut().map(|secret| (events.clone(), &mut secret.sealed))).collect()
    }
}

/// What a webhook signing key is sealed for.
#[must_use]
pub fn webhook_context(account: &PartnerId) -> String {
    format!("webhook-signing-key/{account}")
}

/// What a secret that events are signed with is sealed for.
#[must_use]
pub fn event_secret_context(account: &PartnerId) -> String {
    format!("webhook-event-secret/{account}")
}

/// What completion reports are verified with, in memory.
pub trait SigningKeys: Send + Sync {
    /// Reads the keys of the store anew.
    ///
    /// # Errors
    /// [`StoreError`]; the keys read last stay in force, until they are too old to be trusted.
    fn refresh(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}
