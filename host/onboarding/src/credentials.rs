//! Sandbox credentials: the secret is shown once, recognised afterwards, and rotated with an overlap (spec 1, Sandbox credentials; Limits: 24 hours).

use serde_json::json;

use super::records::{Account, Credentials, KeptSecret};
use intent_gateway_domain::signing_keys::VALID_AT_ONCE_MAX;

use super::events::EventData;
use super::keeper::RecordKeeper;
use super::sessions::Requester;
use super::undo::{Changed, Telling};
use super::{OnboardingError, mail_texts};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned, load, lookup};
use intent_gateway_domain::vault::{hex, random};

/// How long a replaced secret goes on working, milliseconds (spec 1, Limits).
pub(crate) const ROTATION_OVERLAP_MS: u64 = 24 * 60 * 60 * 1_000;
/// Random bytes of a secret.
pub(crate) const SECRET_BYTES: usize = 32;
const CLIENT_ID_BYTES: usize = 12;
const CUSTOMER_ID_BYTES: usize = 6;

/// Credentials with the secret in plain: shown once.
#[derive(Clone, Debug)]
pub struct IssuedCredentials {
    /// What is kept.
    pub credentials: Credentials,
    /// The new secret.
    pub client_secret: Secret,
}

/// Credentials that were right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    /// Whose they are.
    pub account: PartnerId,
    /// The account's epoch, which tokens carry.
    pub epoch: u64,
}

/// Credentials for the sandbox.
pub struct SandboxCredentials {
    pub(crate) keeper: RecordKeeper,
    /// `{base_url}` of the platform, for mails.
    pub(crate) base_url: String,
}

impl SandboxCredentials {
    /// Issues the credentials of an account.
    ///
    /// # Errors
    /// `CREDENTIALS_EXIST` when it has some; rotating gives a new secret.
    pub async fn issue(&self, account: &PartnerId, actor: &Actor) -> Result<IssuedCredentials, OnboardingError> {
        self.keeper
            .step(async || {
                self.keeper.require::<Account>(account.as_str(), "account").await?;
                if load::<Credentials>(&*self.keeper.store, account.as_str()).await?.is_some() {
                    let message = "the account has credentials already; rotate them to get a new client_secret";
                    return Err(OnboardingError::out_of_step("CREDENTIALS_EXIST", message));
                }
                let entropy = self.keeper.vault.entropy();
                let client_id = format!("platform_sandbox_{}", hex(&random::<CLIENT_ID_BYTES>(entropy)?));
                let (client_secret, kept) = self.new_secret(&client_id)?;
                let credentials = Credentials {
                    account: account.clone(),
                    customer_id: format!("cust_{}", hex(&random::<CUSTOMER_ID_BYTES>(entropy)?)),
                    client_id,
                    secrets: vec![kept],
                };
                let mut change = Change::default();
                change.put(&Versioned::new(credentials.clone()));
                let detail = json!({"client_id": credentials.client_id});
                change.audit.push(self.keeper.audit_entry(actor, "credentials.issued", account, detail));
                Ok(Proposal::new(change, IssuedCredentials { credentials, client_secret }))
            })
            .await
    }

    /// Replaces the secret. The old one works for [`ROTATION_OVERLAP_MS`] more, or not at all when `at_once`, for a
    /// secret that has leaked: then every session of the account ends as well, but the freshly proven one that asks. The
    /// owner is told by mail.
    ///
    /// # Errors
    /// `TOO_MANY_SECRETS` when [`VALID_AT_ONCE_MAX`] are valid already; [`OnboardingError::SignInNeeded`] for `at_once`
    /// without a fresh sign-in.
    pub async fn rotate(
        &self,
        account: &PartnerId,
        at_once: bool,
        by: &Requester,
    ) -> Result<IssuedCredentials, OnboardingError> {
        self.keeper
            .step(async || {
                let mut kept = self.keeper.require::<Credentials>(account.as_str(), "credentials").await?;
                let mut owner = self.keeper.require::<Account>(account.as_str(), "account").await?;
                let now = self.keeper.now();
                by.check_session(&owner.value)?;
                if at_once {
                    by.check_proof(now)?;
                    owner.value.evict(by.session.as_ref(), now);
                }
                let until = if at_once { now } else { now.plus_ms(ROTATION_OVERLAP_MS) };
                let secrets = &mut kept.value.secrets;
                for secret in secrets.iter_mut() {
                    secret.not_after_ms = Some(secret.not_after_ms.unwrap_or(until).min(until));
                }
                secrets.retain(|secret| secret.not_after_ms.is_none_or(|until| until > now));
                check_room(secrets.len())?;
                let (client_secret, new) = self.new_secret(&kept.value.client_id)?;
                let at = new.issued_at_ms;
                kept.value.secrets.insert(0, new);
                let mut change = Change::default();
                change.put(&kept);
                let text = mail_texts::rotated("client_secret", (!at_once).then_some(until));
                let telling = Telling { what: Changed::ClientSecret, text, at, by, base_url: &self.base_url };
                self.keeper.tell_owner(&mut owner.value, telling, &mut change)?;
                if !at_once {
                    self.keeper.queue_event(account, EventData::key_expiring("client_secret", until), &mut change)?;
                }
                change.put(&owner);
                let detail = json!({"previous_until_ms": until, "at_once": at_once});
                change.audit.push(self.keeper.audit_entry(&by.actor, "credentials.rotated", account, detail));
                let issued = IssuedCredentials { credentials: kept.value, client_secret };
                Ok(Proposal::new(change, issued))
            })
            .await
    }

    /// The credentials of an account, without a secret.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when none were issued.
    pub async fn get(&self, account: &PartnerId) -> Result<Credentials, OnboardingError> {
        Ok(self.keeper.require::<Credentials>(account.as_str(), "credentials").await?.value)
    }

    /// The account whose credentials these are.
    ///
    /// # Errors
    /// [`OnboardingError::NotAccepted`] for an unknown `client_id` and a wrong or outdated secret alike.
    pub async fn authenticate(&self, client_id: &str, client_secret: &str) -> Result<Authenticated, OnboardingError> {
        // The same reads and the same comparisons for every `client_id`, known or not: how long they take tells nothing.
        let named = lookup::<Credentials>(&*self.keeper.store, client_id).await?.map(|kept| kept.value.account);
        let key = named.as_ref().map_or("", PartnerId::as_str);
        // The epoch first: should the secret end between the two, the token is of the epoch before and is refused.
        let owner = self.keeper.find::<Account>(key).await?;
        let kept = self.keeper.find::<Credentials>(key).await?;
        let now = self.keeper.now();
        let context = secret_context(client_id);
        let mut secrets = kept.map(|kept| kept.value.secrets).unwrap_or_default();
        secrets.retain(|secret| secret.not_after_ms.is_none_or(|until| now < until));
        let nobodys = self.keeper.vault.mark(&context, "");
        let mut recognised = false;
        for number in 0..VALID_AT_ONCE_MAX {
            let kept = secrets.get(number);
            let mark = kept.map_or(&nobodys, |secret| &secret.mark);
            recognised |= self.keeper.vault.recognises(&context, mark, client_secret) & kept.is_some();
        }
        let authenticated = named.zip(owner).filter(|_| recognised);
        let authenticated = authenticated.map(|(account, owner)| Authenticated { account, epoch: owner.value.epoch });
        authenticated.ok_or(OnboardingError::NotAccepted)
    }

    /// The account that a `client_id` is of, for the records of who tried to enter it.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn account_of(&self, client_id: &str) -> Result<Option<PartnerId>, OnboardingError> {
        Ok(lookup::<Credentials>(&*self.keeper.store, client_id).await?.map(|kept| kept.value.account))
    }

    fn new_secret(&self, client_id: &str) -> Result<(Secret, KeptSecret), OnboardingError> {
        let secret = format!("sk_sandbox_{}", hex(&random::<SECRET_BYTES>(self.keeper.vault.entropy())?));
        let mark = self.keeper.vault.mark(&secret_context(client_id), &secret);
        Ok((Secret::new(secret), KeptSecret { mark, issued_at_ms: self.keeper.now(), not_after_ms: None }))
    }
}

/// Whether another secret may be valid beside so many.
pub(crate) fn check_room(valid: usize) -> Result<(), OnboardingError> {
    if valid < VALID_AT_ONCE_MAX {
        return Ok(());
    }
    let message = format!(
        "{valid} secrets are valid at once; wait until the oldest is over, or rotate with `at_once` to end them all"
    );
    Err(OnboardingError::out_of_step("TOO_MANY_SECRETS", message))
}

fn secret_context(client_id: &str) -> String {
    format!("client-secret/{client_id}")
}
