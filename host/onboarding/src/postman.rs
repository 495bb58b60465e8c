//! Sends the mail that the store holds, and tries again what could not go.

use std::sync::Arc;

use super::OnboardingError;
use super::keeper::{NOBODY, RecordKeeper, mail_context};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::mail::{Mail, MailError};
use intent_gateway_domain::ports::Mailer;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{ClaimedMail, MailFate};
use intent_gateway_domain::vault::Sealed;

/// How long a mail is one process's to send, milliseconds: longer than any mailer tries, so that no other process sends it
/// a second time.
const LEASE_MS: u64 = 2 * 60 * 1_000;
/// Mails sent in one go.
const BATCH: usize = 50;
/// Tries until a mail is given up.
const TRIES_MAX: u32 = 12;
/// Pause before the second try, milliseconds; it doubles from try to try.
const RETRY_FIRST_MS: u64 = 5 * 1_000;
/// Longest pause between two tries, milliseconds.
const RETRY_MAX_MS: u64 = 60 * 60 * 1_000;

/// Delivers mail.
pub struct Postman {
    pub(crate) keeper: RecordKeeper,
    pub(crate) mailer: Arc<dyn Mailer>,
}

impl Postman {
    /// Sends what is due, one after the other. Returns how many mails were taken.
    ///
    /// # Errors
    /// [`OnboardingError::Store`]; what could not be sent is tried again later.
    pub async fn deliver(&self) -> Result<usize, OnboardingError> {
        for taken in 0..BATCH {
            let Some(mail) = self.keeper.store.claim_mail(self.keeper.now(), LEASE_MS, 1).await?.pop() else {
                return Ok(taken);
            };
            let fate = self.send(&mail).await;
            self.keeper.store.settle_mail(&mail.id, fate).await?;
        }
        Ok(BATCH)
    }

    async fn send(&self, claimed: &ClaimedMail) -> MailFate {
        let ClaimedMail { id, sealed, tries } = claimed;
        let opened = self.keeper.vault.open(&mail_context(id), &Sealed::from_text(sealed.clone()));
        let mail: Mail = match opened.map_err(|error| chain(&error)).and_then(|text| parse(&text)) {
            Ok(mail) => mail,
            Err(error) => {
                tracing::error!(mail = %id, %error, "a mail cannot be opened and is given up");
                return MailFate::Done;
            }
        };
        if mail.to == NOBODY {
            return MailFate::Done;
        }
        match self.mailer.send(&mail).await {
            Ok(()) => MailFate::Done,
            Err(error @ MailError::Permanent(_)) => {
                tracing::warn!(mail = %id, error = %chain(&error), "a mail was refused for good");
                MailFate::Done
            }
            Err(error @ MailError::Temporary(_)) if tries + 1 >= TRIES_MAX => {
                tracing::warn!(mail = %id, tries = tries + 1, error = %chain(&error), "a mail is given up");
                MailFate::Done
            }
            Err(error @ MailError::Temporary(_)) => {
                let pause = RETRY_FIRST_MS.saturating_mul(1 << (*tries).min(31)).min(RETRY_MAX_MS);
                tracing::info!(mail = %id, pause_ms = pause, error = %chain(&error), "a mail is tried again later");
                MailFate::Retry(self.keeper.now().plus_ms(pause))
            }
        }
    }
}

fn parse(text: &Secret) -> Result<Mail, String> {
    serde_json::from_str(text.expose()).map_err(|error| error.to_string())
}
