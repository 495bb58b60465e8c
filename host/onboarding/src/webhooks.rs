//! The webhook's address and its signing key, which signs completion reports: shown once, sealed afterwards, rotated with an
//! overlap (spec 1, Limits: 24 hours).

use std::sync::Arc;

use serde_json::json;

use super::credentials::{ROTATION_OVERLAP_MS, SECRET_BYTES, check_room};
use super::keeper::RecordKeeper;
use super::records::Account;
use super::sessions::Requester;
use super::undo::{Changed, Telling};
use super::{OnboardingError, notices};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::PartnerProbe;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{SigningKey, SigningKeys, Webhook, webhook_context};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned};
use intent_gateway_domain::vault::{hex, random};

/// Longest `webhook_url`, bytes.
pub const URL_MAX_BYTES: usize = 2_048;
const KEY_ID_BYTES: usize = 6;

/// A webhook, with its key in plain when it is new: shown once.
#[derive(Clone, Debug)]
pub struct IssuedWebhookKey {
    /// What is kept.
    pub webhook: Webhook,
    /// The new key; absent when the address was the same as before.
    pub webhook_signing_key: Option<Secret>,
}

/// How a key is replaced.
struct Replacing {
    at_once: bool,
    /// For the records.
    action: &'static str,
    /// The address before; empty where there was none.
    previous_url: String,
    /// What the owner is told.
    text: String,
}

/// Webhooks and their signing keys.
pub struct Webhooks {
    pub(crate) keeper: RecordKeeper,
    /// Says which addresses may be called.
    pub(crate) probe: Arc<dyn PartnerProbe>,
    /// What completion reports are verified with.
    pub(crate) keys: Arc<dyn SigningKeys>,
    /// `{base_url}` of the platform, for mails.
    pub(crate) base_url: String,
}

impl Webhooks {
    /// Saves the webhook's address. A new address, the first one as well, brings a new signing key; the one before works for
    /// [`ROTATION_OVERLAP_MS`] more, and the owner is told by mail.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] when the address is not HTTPS; [`OnboardingError::SignInNeeded`] for another address
    /// than before without a fresh sign-in.
    pub async fn set(
        &self,
        account: &PartnerId,
        url: &str,
        by: &Requester,
    ) -> Result<IssuedWebhookKey, OnboardingError> {
        if url.len() > URL_MAX_BYTES {
            let message = format!("webhook_url has more than {URL_MAX_BYTES} bytes");
            return Err(OnboardingError::invalid("/webhook_url", "INVALID_URL", message));
        }
        if let Err(refused) = self.probe.admits(&Endpoint::mcp(url)) {
            return Err(OnboardingError::invalid("/webhook_url", "INVALID_URL", refused.to_string()));
        }
        let step = self.keeper.step(async || {
            let owner = self.keeper.require::<Account>(account.as_str(), "account").await?;
            by.check_session(&owner.value)?;
            let kept = self.keeper.find::<Webhook>(account.as_str()).await?;
            if let Some(kept) = kept.as_ref().filter(|kept| kept.value.url == url) {
                let webhook = kept.value.clone();
                let same = IssuedWebhookKey { webhook, webhook_signing_key: None };
                return Ok(Proposal::nothing(same));
            }
            if kept.is_some() {
                by.check_proof(self.keeper.now())?;
            }
            let none = || Versioned::new(Webhook { account: account.clone(), url: String::new(), keys: Vec::new() });
            let mut kept = kept.unwrap_or_else(none);
            let previous_url = std::mem::replace(&mut kept.value.url, url.to_owned());
            let text = match previous_url.is_empty() {
                true => notices::set("webhook", url),
                false => notices::moved("webhook", &previous_url, url),
            };
            let replacing = Replacing { at_once: false, action: "webhook.saved", previous_url, text };
            self.replace_key(kept, owner, replacing, by)
        });
        let issued = step.await?;
        self.apply_change().await;
        Ok(issued)
    }

    /// Replaces the webhook's signing key; the one before works for [`ROTATION_OVERLAP_MS`] more, or not at all when
    /// `at_once`. The owner is told by mail.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] before an address was saved; `TOO_MANY_SECRETS` when [`VALID_AT_ONCE_MAX`] are
    /// valid already; [`OnboardingError::SignInNeeded`] for `at_once` without a fresh sign-in.
    pub async fn rotate_key(
        &self,
        account: &PartnerId,
        at_once: bool,
        by: &Requester,
    ) -> Result<IssuedWebhookKey, OnboardingError> {
        let step = self.keeper.step(async || {
            let kept = self.keeper.require::<Webhook>(account.as_str(), "webhook").await?;
            let owner = self.keeper.require::<Account>(account.as_str(), "account").await?;
            let now = self.keeper.now();
            by.check_session(&owner.value)?;
            if at_once {
                by.check_proof(now)?;
            }
            let until = (!at_once).then(|| now.plus_ms(ROTATION_OVERLAP_MS));
            let text = notices::rotated("webhook_signing_key", until);
            let previous_url = kept.value.url.clone();
            let replacing = Replacing { at_once, action: "webhook.rotated", previous_url, text };
            self.replace_key(kept, owner, replacing, by)
        });
        let issued = step.await?;
        self.apply_change().await;
        Ok(issued)
    }

    /// The webhook of an account, without a key.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when none was saved.
    pub async fn get(&self, account: &PartnerId) -> Result<Webhook, OnboardingError> {
        Ok(self.keeper.require::<Webhook>(account.as_str(), "webhook").await?.value)
    }

    /// Puts a new key in the place of the one before, which the owner is told of.
    fn replace_key(
        &self,
        mut kept: Versioned<Webhook>,
        mut owner: Versioned<Account>,
        Replacing { at_once, action, previous_url, text }: Replacing,
        by: &Requester,
    ) -> Result<Proposal<IssuedWebhookKey>, OnboardingError> {
        let mut change = Change::default();
        let issued = self.add_key(&mut kept, at_once, (action, &by.actor), &mut change)?;
        let at = issued.webhook.keys.first().map_or_else(|| self.keeper.now(), |key| key.not_before_ms);
        let telling = Telling { what: Changed::Webhook { previous_url }, text, at, by, base_url: &self.base_url };
        self.keeper.tell_owner(&mut owner.value, telling, &mut change)?;
        change.put(&owner);
        Ok(Proposal::new(change, issued))
    }

    /// Gives the webhook another key within a change; `noted` is the action for the records, and who did it.
    fn add_key(
        &self,
        kept: &mut Versioned<Webhook>,
        at_once: bool,
        (action, actor): (&str, &Actor),
        change: &mut Change,
    ) -> Result<IssuedWebhookKey, OnboardingError> {
        let now = self.keeper.now();
        let until = if at_once { now } else { now.plus_ms(ROTATION_OVERLAP_MS) };
        let Webhook { account, url, keys } = &mut kept.value;
        let previous_until_ms = (!keys.is_empty()).then_some(until);
        for key in keys.iter_mut() {
            key.not_after_ms = Some(key.not_after_ms.unwrap_or(until).min(until));
        }
        keys.retain(|key| key.not_after_ms.is_none_or(|until| until > now));
        check_room(keys.len())?;
        let entropy = self.keeper.vault.entropy();
        let key = Secret::new(format!("whsec_{}", hex(&random::<SECRET_BYTES>(entropy)?)));
        let id = format!("whk_{}", hex(&random::<KEY_ID_BYTES>(entropy)?));
        let sealed = self.keeper.vault.seal(&webhook_context(account), &key)?;
        keys.insert(0, SigningKey { id: id.clone(), sealed, not_before_ms: now, not_after_ms: None });
        let detail = json!({"key": id, "url": url, "previous_until_ms": previous_until_ms});
        change.audit.push(self.keeper.audit_entry(actor, action, account, detail));
        change.put(kept);
        Ok(IssuedWebhookKey { webhook: kept.value.clone(), webhook_signing_key: Some(key) })
    }

    /// The webhook of an account, where an address was saved.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn find(&self, account: &PartnerId) -> Result<Option<Webhook>, OnboardingError> {
        Ok(self.keeper.find::<Webhook>(account.as_str()).await?.map(|kept| kept.value))
    }

    /// Has a change of a signing key in force before its caller is told. Other processes follow within a second; so does
    /// this one, should the store fail just now.
    async fn apply_change(&self) {
        if let Err(error) = self.keys.refresh().await {
            tracing::warn!(error = %chain(&error), "a change of a signing key is in force a moment later");
        }
    }
}
