//! What every step of onboarding works with: the records, the time, and the vault.

use std::sync::Arc;

use serde_json::Value;

use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::mail::Mail;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{OutgoingMail, Record, Store, Versioned, load};
use intent_gateway_domain::vault::{Vault, hex, random};

use super::OnboardingError;

/// Random bytes of an identifier.
const ID_BYTES: usize = 8;
/// Whom a mail is for that is sent to nobody.
pub(crate) const NOBODY: &str = "";
/// Random bytes of a mail's identifier.
const MAIL_ID_BYTES: usize = 16;

/// Reads records and takes steps that change them, with the audit entries and mail that belong to a step.
#[derive(Clone)]
pub(crate) struct RecordKeeper {
    pub(crate) store: Arc<dyn Store>,
    /// Seals mail, marks secrets, and gives the random bytes of identifiers.
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<dyn Clock>,
}

impl RecordKeeper {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Takes a step: reads, decides, commits, and decides anew when somebody else was faster.
    pub(crate) async fn step<T, F>(&self, decide: impl FnMut() -> F) -> Result<T, OnboardingError>
    where
        F: Future<Output = Result<Proposal<T>, OnboardingError>>,
    {
        steps::run(&*self.store, decide).await
    }

    /// A record that may be there.
    pub(crate) async fn find<R: Record>(&self, key: &str) -> Result<Option<Versioned<R>>, OnboardingError> {
        Ok(load(&*self.store, key).await?)
    }

    /// A record that must be there; `name` is what is told where it is not.
    pub(crate) async fn require<R: Record>(
        &self,
        key: &str,
        name: &'static str,
    ) -> Result<Versioned<R>, OnboardingError> {
        self.find(key).await?.ok_or(OnboardingError::NotFound(name))
    }

    pub(crate) fn audit_entry(&self, actor: &Actor, action: &str, subject: &PartnerId, detail: Value) -> AuditDraft {
        self.audit_of(actor, action, subject.as_str(), detail)
    }

    /// An entry about something else than an account.
    pub(crate) fn audit_of(&self, actor: &Actor, action: &str, subject: &str, detail: Value) -> AuditDraft {
        AuditDraft {
            at_ms: self.now(),
            actor: actor.clone(),
            action: action.to_owned(),
            subject: subject.to_string(),
            detail,
        }
    }

    /// A mail for the outbox of the store, sealed: it may carry a code.
    pub(crate) fn mail(&self, to: &str, subject: &str, text: String) -> Result<OutgoingMail, OnboardingError> {
        let id = hex(&random::<MAIL_ID_BYTES>(self.vault.entropy())?);
        let mail = Mail { to: to.to_owned(), subject: subject.to_owned(), text };
        let text = serde_json::to_string(&mail).expect("three strings always serialise");
        let sealed = self.vault.seal(&mail_context(&id), &Secret::new(text))?.into_text();
        Ok(OutgoingMail { id, sealed, not_before: self.now() })
    }

    pub(crate) fn new_id(&self, prefix: &str) -> Result<String, OnboardingError> {
        Ok(format!("{prefix}{}", hex(&random::<ID_BYTES>(self.vault.entropy())?)))
    }
}

/// What a mail is sealed for.
#[must_use]
pub fn mail_context(id: &str) -> String {
    format!("mail/{id}")
}
