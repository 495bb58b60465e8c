//! Sandbox credentials and the webhook's signing key: shown once, recognised or sealed afterwards, rotated with an
//! overlap (spec 1, Sandbox credentials; Limits: 24 hours).

use serde_json::json;

use super::records::{Account, Credentials, KeptSecret};
use intent_gateway_domain::signing_keys::{SigningKey, VALID_AT_ONCE_MAX, Webhook, webhook_context};

use super::{Onboarding, OnboardingError};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned, load, lookup};
use intent_gateway_domain::vault::{hex, random};

/// How long a replaced secret goes on working, milliseconds (spec 1, Limits).
pub const ROTATION_OVERLAP_MS: u64 = 24 * 60 * 60 * 1_000;
/// Longest `webhook_url`, bytes.
pub const URL_MAX_BYTES: usize = 2_048;
/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;
const CLIENT_ID_BYTES: usize = 12;
const CUSTOMER_ID_BYTES: usize = 6;
const KEY_ID_BYTES: usize = 6;

/// Credentials with the secret in plain: shown once.
#[derive(Clone, Debug)]
pub struct IssuedCredentials {
    /// What is kept.
    pub credentials: Credentials,
    /// The new secret.
    pub client_secret: Secret,
    /// Until when the one before works, milliseconds since the epoch.
    pub previous_until_ms: Option<u64>,
}

/// A webhook, with its key in plain when it is new: shown once.
#[derive(Clone, Debug)]
pub struct IssuedWebhookKey {
    /// What is kept.
    pub webhook: Webhook,
    /// The new key; absent when the address was the same as before.
    pub webhook_signing_key: Option<Secret>,
    /// Until when the one before works, milliseconds since the epoch.
    pub previous_until_ms: Option<u64>,
}

impl Onboarding {
    /// Issues the credentials of an account.
    ///
    /// # Errors
    /// `CREDENTIALS_EXIST` when it has some; rotating gives a new secret.
    pub async fn issue_credentials(
        &self,
        account: &PartnerId,
        actor: &Actor,
    ) -> Result<IssuedCredentials, OnboardingError> {
        self.step(async || {
            self.existing::<Account>(account.as_str(), "account").await?;
            if load::<Credentials>(&*self.store, account.as_str()).await?.is_some() {
                let message = "the account has credentials already; rotate them to get a new client_secret";
                return Err(OnboardingError::out_of_step("CREDENTIALS_EXIST", message));
            }
            let entropy = self.vault.entropy();
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
            change.audit.push(self.record(actor, "credentials.issued", account, detail));
            Ok(Proposal::new(change, IssuedCredentials { credentials, client_secret, previous_until_ms: None }))
        })
        .await
    }

    /// Replaces the secret. The old one works for [`ROTATION_OVERLAP_MS`] more, or not at all when `at_once`, for a
    /// secret that has leaked.
    ///
    /// # Errors
    /// `TOO_MANY_SECRETS` when [`VALID_AT_ONCE_MAX`] are valid already.
    pub async fn rotate_credentials(
        &self,
        account: &PartnerId,
        at_once: bool,
        actor: &Actor,
    ) -> Result<IssuedCredentials, OnboardingError> {
        self.step(async || {
            let mut kept = self.existing::<Credentials>(account.as_str(), "credentials").await?;
            let now = self.now();
            let until = if at_once { now } else { now + ROTATION_OVERLAP_MS };
            let secrets = &mut kept.value.secrets;
            for secret in secrets.iter_mut() {
                secret.not_after_ms = Some(secret.not_after_ms.unwrap_or(until).min(until));
            }
            secrets.retain(|secret| secret.not_after_ms.is_none_or(|until| until > now));
            too_many(secrets.len())?;
            let (client_secret, new) = self.new_secret(&kept.value.client_id)?;
            kept.value.secrets.insert(0, new);
            let mut change = Change::default();
            change.put(&kept);
            let detail = json!({"previous_until_ms": until, "at_once": at_once});
            change.audit.push(self.record(actor, "credentials.rotated", account, detail));
            let issued = IssuedCredentials { credentials: kept.value, client_secret, previous_until_ms: Some(until) };
            Ok(Proposal::new(change, issued))
        })
        .await
    }

    /// The credentials of an account, without a secret.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when none were issued.
    pub async fn credentials(&self, account: &PartnerId) -> Result<Credentials, OnboardingError> {
        Ok(self.existing::<Credentials>(account.as_str(), "credentials").await?.value)
    }

    /// The account whose credentials these are.
    ///
    /// # Errors
    /// [`OnboardingError::NotAccepted`] for an unknown `client_id` and a wrong or outdated secret alike.
    pub async fn authenticate(&self, client_id: &str, client_secret: &str) -> Result<PartnerId, OnboardingError> {
        let kept = lookup::<Credentials>(&*self.store, client_id).await?;
        let now = self.now();
        let context = secret_context(client_id);
        let valid = |secret: &&KeptSecret| secret.not_after_ms.is_none_or(|until| now < until);
        kept.filter(|kept| {
            let mut secrets = kept.value.secrets.iter().filter(valid);
            secrets.any(|secret| self.vault.recognises(&context, &secret.mark, client_secret))
        })
        .map(|kept| kept.value.account)
        .ok_or(OnboardingError::NotAccepted)
    }

    /// Saves the webhook's address. A new address brings a new signing key; the one before works for
    /// [`ROTATION_OVERLAP_MS`] more.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] when the address is not HTTPS.
    pub async fn set_webhook(
        &self,
        account: &PartnerId,
        url: &str,
        actor: &Actor,
    ) -> Result<IssuedWebhookKey, OnboardingError> {
        if url.len() > URL_MAX_BYTES {
            let message = format!("webhook_url has more than {URL_MAX_BYTES} bytes");
            return Err(OnboardingError::invalid("/webhook_url", "INVALID_URL", message));
        }
        if let Err(refused) = self.probe.admits(&Endpoint::mcp(url)) {
            return Err(OnboardingError::invalid("/webhook_url", "INVALID_URL", refused.to_string()));
        }
        let step = self.step(async || {
            self.existing::<Account>(account.as_str(), "account").await?;
            let kept = load::<Webhook>(&*self.store, account.as_str()).await?;
            if let Some(kept) = kept.as_ref().filter(|kept| kept.value.url == url) {
                let webhook = kept.value.clone();
                let same = IssuedWebhookKey { webhook, webhook_signing_key: None, previous_until_ms: None };
                return Ok(Proposal::nothing(same));
            }
            let webhook = Webhook { account: account.clone(), url: url.to_owned(), keys: Vec::new() };
            let mut kept = kept.unwrap_or_else(|| Versioned::new(webhook));
            url.clone_into(&mut kept.value.url);
            self.new_webhook_key(kept, false, "webhook.saved", actor).await
        });
        let issued = step.await?;
        self.rekey().await;
        Ok(issued)
    }

    /// Replaces the webhook's signing key; the one before works for [`ROTATION_OVERLAP_MS`] more, or not at all when
    /// `at_once`.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] before an address was saved; `TOO_MANY_SECRETS` when [`VALID_AT_ONCE_MAX`] are
    /// valid already.
    pub async fn rotate_webhook_key(
        &self,
        account: &PartnerId,
        at_once: bool,
        actor: &Actor,
    ) -> Result<IssuedWebhookKey, OnboardingError> {
        let step = self.step(async || {
            let kept = self.existing::<Webhook>(account.as_str(), "webhook").await?;
            self.new_webhook_key(kept, at_once, "webhook.rotated", actor).await
        });
        let issued = step.await?;
        self.rekey().await;
        Ok(issued)
    }

    /// The webhook of an account, without a key.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when none was saved.
    pub async fn webhook(&self, account: &PartnerId) -> Result<Webhook, OnboardingError> {
        Ok(self.existing::<Webhook>(account.as_str(), "webhook").await?.value)
    }

    async fn new_webhook_key(
        &self,
        mut kept: Versioned<Webhook>,
        at_once: bool,
        action: &str,
        actor: &Actor,
    ) -> Result<Proposal<IssuedWebhookKey>, OnboardingError> {
        let now = self.now();
        let until = if at_once { now } else { now + ROTATION_OVERLAP_MS };
        let Webhook { account, url, keys } = &mut kept.value;
        let previous_until_ms = (!keys.is_empty()).then_some(until);
        for key in keys.iter_mut() {
            key.not_after_ms = Some(key.not_after_ms.unwrap_or(until).min(until));
        }
        keys.retain(|key| key.not_after_ms.is_none_or(|until| until > now));
        too_many(keys.len())?;
        let entropy = self.vault.entropy();
        let key = Secret::new(format!("whsec_{}", hex(&random::<SECRET_BYTES>(entropy)?)));
        let id = format!("whk_{}", hex(&random::<KEY_ID_BYTES>(entropy)?));
        let sealed = self.vault.seal(&webhook_context(account), &key)?;
        keys.insert(0, SigningKey { id: id.clone(), sealed, not_before_ms: now, not_after_ms: None });
        let detail = json!({"key": id, "url": url, "previous_until_ms": previous_until_ms});
        let mut change = Change::default();
        change.audit.push(self.record(actor, action, account, detail));
        change.put(&kept);
        let issued = IssuedWebhookKey { webhook: kept.value, webhook_signing_key: Some(key), previous_until_ms };
        Ok(Proposal::new(change, issued))
    }

    fn new_secret(&self, client_id: &str) -> Result<(Secret, KeptSecret), OnboardingError> {
        let secret = format!("sk_sandbox_{}", hex(&random::<SECRET_BYTES>(self.vault.entropy())?));
        let mark = self.vault.mark(&secret_context(client_id), &secret);
        Ok((Secret::new(secret), KeptSecret { mark, issued_at_ms: self.now(), not_after_ms: None }))
    }
}

fn too_many(valid: usize) -> Result<(), OnboardingError> {
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
