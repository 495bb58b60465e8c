//! The webhook's address, its signing key, which signs completion reports, and the secret that signs the events sent there: shown
//! once, sealed afterwards, rotated with an overlap (spec 1, Limits: 24 hours).

use std::sync::Arc;

use serde_json::json;

use super::credentials::{ROTATION_OVERLAP_MS, SECRET_BYTES, check_room};
use super::events::{EventData, Word, write_secret};
use super::keeper::RecordKeeper;
use super::records::Account;
use super::sessions::Requester;
use super::undo::{Changed, Telling};
use super::{OnboardingError, mail_texts};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::PartnerProbe;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{
    EventSending, SigningKey, SigningKeys, Webhook, event_secret_context, webhook_context,
};
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
    /// The new secret that events are signed with; absent where there was one already.
    pub webhook_event_secret: Option<Secret>,
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
                let same = IssuedWebhookKey { webhook, webhook_signing_key: None, webhook_event_secret: None };
                return Ok(Proposal::nothing(same));
            }
            if kept.is_some() {
                by.check_proof(self.keeper.now())?;
            }
            let none = || {
                let (url, keys, events) = (String::new(), Vec::new(), EventSending::default());
                Versioned::new(Webhook { account: account.clone(), url, keys, events })
            };
            let mut kept = kept.unwrap_or_else(none);
            let previous_url = std::mem::replace(&mut kept.value.url, url.to_owned());
            // What was wrong was with the address before.
            (kept.value.events.stopped, kept.value.events.since_ms) = (None, Some(self.keeper.now()));
            let text = match previous_url.is_empty() {
                true => mail_texts::set("webhook", url),
                false => mail_texts::moved("webhook", &previous_url, url),
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
            let text = mail_texts::rotated("webhook_signing_key", until);
            let previous_url = kept.value.url.clone();
            let replacing = Replacing { at_once, action: "webhook.rotated", previous_url, text };
            self.replace_key(kept, owner, replacing, by)
        });
        let issued = step.await?;
        self.apply_change().await;
        Ok(issued)
    }

    /// Replaces the secret that events are signed with, or makes the first one. The one before signs as well for
    /// [`ROTATION_OVERLAP_MS`] more, or not at all when `at_once`. The owner is told by mail.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] before an address was saved; `TOO_MANY_SECRETS` when [`VALID_AT_ONCE_MAX`] are valid already;
    /// [`OnboardingError::SignInNeeded`] for `at_once` without a fresh sign-in.
    ///
    /// [`VALID_AT_ONCE_MAX`]: intent_gateway_domain::signing_keys::VALID_AT_ONCE_MAX
    pub async fn rotate_event_secret(
        &self,
        account: &PartnerId,
        at_once: bool,
        by: &Requester,
    ) -> Result<IssuedWebhookKey, OnboardingError> {
        let step = self.keeper.step(async || {
            let mut kept = self.keeper.require::<Webhook>(account.as_str(), "webhook").await?;
            let owner = self.keeper.require::<Account>(account.as_str(), "account").await?.value;
            let now = self.keeper.now();
            by.check_session(&owner)?;
            if at_once {
                by.check_proof(now)?;
            }
            let until = if at_once { now } else { now.plus_ms(ROTATION_OVERLAP_MS) };
            let replaces = !kept.value.events.secrets.is_empty();
            let (id, secret) = self.add_event_secret(&mut kept.value, until)?;
            let mut change = Change::default();
            let previous_until_ms = replaces.then_some(until);
            let detail = json!({"secret": id, "previous_until_ms": previous_until_ms});
            change.audit.push(self.keeper.audit_entry(&by.actor, "webhook.event_secret_rotated", account, detail));
            let overlap = previous_until_ms.filter(|until| *until > now);
            let text = mail_texts::event_secret_rotated(&owner.business_name, overlap);
            let event = match overlap {
                Some(until) => EventData::key_expiring("webhook_event_secret", until),
                None => EventData::AccountChanged { what: "webhook_event_secret".to_owned() },
            };
            let word = Word { subject: "The secret of your webhook's events was replaced", text, event };
            self.keeper.tell(&owner, word, &mut change)?;
            change.put(&kept);
            let (webhook, webhook_event_secret) = (kept.value, Some(secret));
            Ok(Proposal::new(change, IssuedWebhookKey { webhook, webhook_signing_key: None, webhook_event_secret }))
        });
        step.await
    }

    /// Gives the webhook another secret for events; those before sign until then. Its name, and the secret itself.
    fn add_event_secret(&self, webhook: &mut Webhook, until: Timestamp) -> Result<(String, Secret), OnboardingError> {
        let (now, entropy) = (self.keeper.now(), self.keeper.vault.entropy());
        let secret = write_secret(&random::<SECRET_BYTES>(entropy)?);
        let id = format!("whe_{}", hex(&random::<KEY_ID_BYTES>(entropy)?));
        let sealed = self.keeper.vault.seal(&event_secret_context(&webhook.account), &secret)?;
        let kept = SigningKey { id: id.clone(), sealed, not_before_ms: now, not_after_ms: None };
        put_first(&mut webhook.events.secrets, kept, until)?;
        Ok((id, secret))
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
        let expires_at = issued.webhook.keys.get(1).and_then(|key| key.not_after_ms);
        if let Some(until) = expires_at {
            self.keeper.queue_event(
                &owner.value.id,
                EventData::key_expiring("webhook_signing_key", until),
                &mut change,
            )?;
        }
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
        let entropy = self.keeper.vault.entropy();
        let key = Secret::new(format!("whsec_{}", hex(&random::<SECRET_BYTES>(entropy)?)));
        let id = format!("whk_{}", hex(&random::<KEY_ID_BYTES>(entropy)?));
        let Webhook { account, url, keys, .. } = &mut kept.value;
        let previous_until_ms = (!keys.is_empty()).then_some(until);
        let sealed = self.keeper.vault.seal(&webhook_context(account), &key)?;
        put_first(keys, SigningKey { id: id.clone(), sealed, not_before_ms: now, not_after_ms: None }, until)?;
        let detail = json!({"key": id, "url": url, "previous_until_ms": previous_until_ms});
        change.audit.push(self.keeper.audit_entry(actor, action, account, detail));
        let is_first = kept.value.events.secrets.is_empty();
        let event_secret = is_first.then(|| self.add_event_secret(&mut kept.value, now)).transpose()?;
        change.put(kept);
        Ok(IssuedWebhookKey {
            webhook: kept.value.clone(),
            webhook_signing_key: Some(key),
            webhook_event_secret: event_secret.map(|(_, secret)| secret),
        })
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

/// Puts a key before those that are kept, which end then, and drops those that have ended.
///
/// # Errors
/// `TOO_MANY_SECRETS` where too many are left.
fn put_first(keys: &mut Vec<SigningKey>, key: SigningKey, until: Timestamp) -> Result<(), OnboardingError> {
    let now = key.not_before_ms;
    for before in keys.iter_mut() {
        before.not_after_ms = Some(before.not_after_ms.unwrap_or(until).min(until));
    }
    keys.retain(|before| before.not_after_ms.is_none_or(|until| until > now));
    check_room(keys.len())?;
    keys.insert(0, key);
    Ok(())
}
