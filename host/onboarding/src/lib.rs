//! The way of a business from nothing to live traffic: sign-up, credentials, manifest, review, connection, probe, test,
//! switch-on, and what the platform team does afterwards (spec 1, States and transitions).
//!
//! Each step reads the records that it needs, decides, and commits one change against the revisions that it read. When
//! somebody else was faster, it reads again and decides anew. The rules themselves are pure and live beside this
//! module: [`manifest`](crate::manifest), [`descriptors`](crate::descriptors), [`compliance`](crate::compliance),
//! [`connection`](crate::connection), `golive`.

mod accounts;
pub mod compliance;
pub mod connection;
mod connections;
mod credentials;
pub mod delivered;
pub mod descriptors;
mod error;
mod health;
mod inflation;
pub mod manifest;
mod manifests;
mod names;
mod overview;
mod postman;
mod probing;
pub mod records;
mod reviews;
mod routing;
mod sandbox_call;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use serde_json::Value;

pub use accounts::{CODE_TRIES_MAX, CODE_TTL_MS, CODES_PER_WINDOW_MAX, CODES_WINDOW_MS, CodeSent, SignedIn};
pub use connections::SwitchOn;
pub use credentials::{IssuedCredentials, IssuedWebhookKey, ROTATION_OVERLAP_MS, URL_MAX_BYTES};
pub use error::OnboardingError;
pub use health::{StrikeOrder, StrikeWatch};
pub use inflation::{Compared, REPORTS_BETWEEN_REVIEWS};
pub use manifests::Submitted;
pub use names::AccountNames;
pub use overview::{NextStep, Overview};
pub use probing::TestOrder;
pub use reviews::{DecisionOrder, REVIEW_DUE_MS, ReviewView, Verdict};
pub use routing::{Routing, routed};
pub use sandbox_call::TestCall;

use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::golive::GoLiveCheck;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::mail::Mail;
use intent_gateway_domain::ports::{Contracts, Mailer, PageFetch, PartnerProbe};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::SigningKeys;
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{OutgoingMail, Record, Store, StoreError, Versioned, load};
use intent_gateway_domain::vault::{Vault, hex, random};

/// Characters of a name or a reason that a caller gives.
pub const TEXT_MAX_CHARS: usize = 500;
/// Random bytes of an account's identifier.
const ACCOUNT_ID_BYTES: usize = 8;

/// What onboarding works with.
pub struct Onboarding {
    /// Where records are kept.
    pub store: Arc<dyn Store>,
    /// Seals and marks secrets.
    pub vault: Vault,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The live contracts.
    pub contracts: Arc<dyn Contracts>,
    /// Probes partners' servers.
    pub probe: Arc<dyn PartnerProbe>,
    /// Tests them with sample requests.
    pub golive: Arc<dyn GoLiveCheck>,
    /// Fetches privacy policies.
    pub pages: Arc<dyn PageFetch>,
    /// Sends what the store holds to be sent.
    pub mailer: Arc<dyn Mailer>,
    /// Who is routed.
    pub routing: Routing,
    /// What completion reports are verified with.
    pub keys: Arc<dyn SigningKeys>,
    /// How this gateway is configured.
    pub settings: Settings,
}

/// Settings of onboarding.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `{base_url}` of the platform, without a slash at its end.
    pub base_url: String,
    /// Time between two scheduled probes of a live connection, milliseconds.
    pub reprobe_interval_ms: u64,
}

impl Onboarding {
    fn now(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Has a change of a signing key in force before its caller is told. Other processes follow within a second; so does
    /// this one, should the store fail just now.
    async fn rekey(&self) {
        if let Err(error) = self.refresh_keys().await {
            tracing::warn!(error = %chain(&error), "a change of a signing key is in force a moment later");
        }
    }

    /// Reads the signing keys anew.
    ///
    /// # Errors
    /// [`StoreError`]; the keys read last stay in force, until they are too old to be trusted.
    pub async fn refresh_keys(&self) -> Result<(), StoreError> {
        self.keys.refresh(self.now()).await
    }

    /// Takes a step: reads, decides, commits, and decides anew when somebody else was faster.
    async fn step<T, F>(&self, decide: impl FnMut() -> F) -> Result<T, OnboardingError>
    where
        F: Future<Output = Result<Proposal<T>, OnboardingError>>,
    {
        steps::run(&*self.store, decide).await
    }

    /// A record that must be there.
    async fn existing<R: Record>(&self, key: &str, name: &'static str) -> Result<Versioned<R>, OnboardingError> {
        load(&*self.store, key).await?.ok_or(OnboardingError::NotFound(name))
    }

    fn record(&self, actor: &Actor, action: &str, subject: &PartnerId, detail: Value) -> AuditDraft {
        AuditDraft {
            at_ms: self.now(),
            actor: actor.clone(),
            action: action.to_owned(),
            subject: subject.to_string(),
            detail,
        }
    }

    /// A mail for the outbox of the store, sealed: it may carry a code.
    fn outgoing(&self, to: &str, subject: &str, text: String) -> Result<OutgoingMail, OnboardingError> {
        let id = hex(&random::<16>(self.vault.entropy())?);
        let mail = Mail { to: to.to_owned(), subject: subject.to_owned(), text };
        let text = serde_json::to_string(&mail).expect("three strings always serialise");
        let sealed = self.vault.seal(&mail_context(&id), &Secret::new(text))?.into_text();
        Ok(OutgoingMail { id, sealed, not_before_ms: self.now() })
    }

    fn new_id(&self, prefix: &str) -> Result<String, OnboardingError> {
        Ok(format!("{prefix}{}", hex(&random::<ACCOUNT_ID_BYTES>(self.vault.entropy())?)))
    }
}

fn mail_context(id: &str) -> String {
    format!("mail/{id}")
}
