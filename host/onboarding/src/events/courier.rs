//! Sends events to webhooks: whose turn it is, what becomes of a try, and when sending stops.
//!
//! Each partner has one turn at a time, of a few events, one after the other. So one that is slow, or has much to be told, keeps
//! nobody else waiting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;

use super::record::{EventState, PartnerEvent, QueuedEvent, Try};
use super::signature::sign;
use crate::OnboardingError;
use crate::keeper::RecordKeeper;
use crate::mail_texts;
use crate::records::Account;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{SigningKey, StoppedEvents, Webhook, event_secret_context};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Named, Pages, Record as _, Versioned, load, named};
use intent_gateway_domain::telemetry;
use intent_gateway_domain::webhook_post::{WebhookAnswer, WebhookPost, WebhookRequest};

/// Pauses before the second try and those after it, milliseconds: a day in all.
const PAUSES_MS: [u64; 8] = {
    const MINUTE: u64 = 60 * 1_000;
    const HOUR: u64 = 60 * MINUTE;
    [5 * 1_000, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 8 * HOUR, 8 * HOUR]
};
/// Sending stops once nothing was taken for so long, milliseconds: five days.
const STOPS_AFTER_MS: u64 = 5 * 24 * 60 * 60 * 1_000;
/// Events that are looked at together, to see whether any was taken.
const LOOKED_BACK: u32 = 100;
/// Events of one turn.
const TURN_MAX: usize = 5;
/// The webhook is gone for good, it says.
const GONE: u16 = 410;

/// Sends events.
pub struct Courier {
    pub(crate) keeper: RecordKeeper,
    pub(crate) post: Arc<dyn WebhookPost>,
    /// Partners whose turn it is.
    pub(crate) busy: Mutex<BTreeSet<PartnerId>>,
}

/// A partner's turn. While it is held, the partner gets no other.
pub struct Turn {
    courier: Arc<Courier>,
    account: PartnerId,
    queued: Vec<Versioned<QueuedEvent>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.courier.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.account);
    }
}

/// What a try came to.
enum Outcome {
    Delivered,
    /// Why not, in words; whether the webhook says that it is gone for good.
    NotTaken {
        is_gone: bool,
    },
}

impl Courier {
    /// The turns of partners that have events due and none now, the longest due first; at most `room`.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn take_turns(self: &Arc<Self>, room: usize) -> Result<Vec<Turn>, OnboardingError> {
        let now = self.keeper.now();
        let mut due: BTreeMap<PartnerId, Vec<Versioned<QueuedEvent>>> = BTreeMap::new();
        let mut pages = Pages::<QueuedEvent>::of(None);
        'all: while let Some(page) = pages.next(&*self.keeper.store).await? {
            for queued in page {
                if queued.value.due_at_ms > now {
                    break 'all;
                }
                let account = &queued.value.account;
                let is_free = !self.busy.lock().unwrap_or_else(PoisonError::into_inner).contains(account);
                if is_free && (due.len() < room || due.contains_key(account)) {
                    let events = due.entry(account.clone()).or_default();
                    if events.len() < TURN_MAX {
                        events.push(queued);
                    }
                }
            }
        }
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = |(account, queued): (PartnerId, _)| {
            busy.insert(account.clone());
            Turn { courier: self.clone(), account, queued }
        };
        Ok(due.into_iter().map(turn).collect())
    }

    /// Sends one event, or lets it be where it cannot be sent.
    async fn serve(&self, queued: &Versioned<QueuedEvent>) -> Result<(), OnboardingError> {
        let account = &queued.value.account;
        let Some(event) = load::<PartnerEvent>(&*self.keeper.store, &queued.value.event).await? else {
            return self.settle(queued, None).await;
        };
        let webhook = load::<Webhook>(&*self.keeper.store, account.as_str()).await?;
        let Some(webhook) = webhook.map(|kept| kept.value).filter(|webhook| webhook.events.stopped.is_none()) else {
            return self.settle(queued, None).await;
        };
        let secrets = self.secrets(account, &webhook.events.secrets)?;
        if secrets.is_empty() {
            return self.settle(queued, None).await;
        }
        let (made, outcome) = self.make_try(&event.value, &webhook.url, &secrets).await;
        telemetry::event_sent(if matches!(outcome, Outcome::Delivered) { "delivered" } else { "not_taken" });
        self.settle(queued, Some((made, outcome))).await
    }

    /// The secrets that are valid, the current one first.
    fn secrets(&self, account: &PartnerId, kept: &[SigningKey]) -> Result<Vec<Secret>, OnboardingError> {
        let (now, context) = (self.keeper.now(), event_secret_context(account));
        let valid = kept.iter().filter(|secret| secret.not_after_ms.is_none_or(|until| now < until));
        valid.map(|secret| Ok(self.keeper.vault.open(&context, &secret.sealed)?)).collect()
    }

    async fn make_try(&self, event: &PartnerEvent, url: &str, secrets: &[Secret]) -> (Try, Outcome) {
        let (at, body) = (self.keeper.now(), event.body());
        let (signature, timestamp) = sign(&event.id, at, &body, secrets);
        let answered =
            self.post.post(WebhookRequest { url, id: &event.id, timestamp, signature: &signature, body: &body });
        let answered = answered.await;
        let took_ms = self.keeper.now().as_ms().saturating_sub(at.as_ms());
        let made = Try { at_ms: at, url: url.to_owned(), status: None, error: None, answer: String::new(), took_ms };
        match answered {
            Ok(WebhookAnswer { status: status @ 200..300, excerpt }) => {
                (Try { status: Some(status), answer: excerpt, ..made }, Outcome::Delivered)
            }
            Ok(WebhookAnswer { status, excerpt }) => {
                let error = Some(format!("the answer has the status {status}; any of 200 to 299 takes an event"));
                let outcome = Outcome::NotTaken { is_gone: status == GONE };
                (Try { status: Some(status), error, answer: excerpt, ..made }, outcome)
            }
            Err(failure) => (Try { error: Some(chain(&failure)), ..made }, Outcome::NotTaken { is_gone: false }),
        }
    }

    /// Keeps what became of an event: of a try, or that none was made.
    async fn settle(
        &self,
        queued: &Versioned<QueuedEvent>,
        tried: Option<(Try, Outcome)>,
    ) -> Result<(), OnboardingError> {
        let keeper = &self.keeper;
        keeper
            .step(async || {
                // Another gateway, or a replay, may have settled it meanwhile.
                let Some(kept) = load::<QueuedEvent>(&*keeper.store, &queued.value.key()).await? else {
                    return Ok(Proposal::nothing(()));
                };
                let mut change = Change::default();
                change.delete(&kept);
                if let Some(mut event) = load::<PartnerEvent>(&*keeper.store, &queued.value.event).await? {
                    match &tried {
                        None => event.value.end(EventState::Unsent),
                        Some((made, outcome)) => {
                            event.value.note(made.clone());
                            self.follow_up(&mut event.value, outcome, &mut change).await?;
                        }
                    }
                    change.put(&event);
                }
                Ok(Proposal::new(change, ()))
            })
            .await
    }

    /// What a try leads to: the event is delivered, waits for the next try, or is given up, and with it perhaps the webhook.
    async fn follow_up(
        &self,
        event: &mut PartnerEvent,
        outcome: &Outcome,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let now = self.keeper.now();
        let is_gone = match outcome {
            Outcome::Delivered => {
                event.end(EventState::Delivered);
                return Ok(());
            }
            Outcome::NotTaken { is_gone } => *is_gone,
        };
        if let Some(pause) = PAUSES_MS.get(event.tried as usize - 1).filter(|_| !is_gone) {
            let next = now.plus_ms(*pause);
            event.next_at_ms = Some(next);
            change.put(&Versioned::new(QueuedEvent::of(event, next)));
            return Ok(());
        }
        event.end(EventState::Failed);
        let webhook = load::<Webhook>(&*self.keeper.store, event.account.as_str()).await?;
        if let Some(mut webhook) = webhook
            && (is_gone || self.has_taken_nothing(event, &webhook.value).await?)
        {
            self.stop(&mut webhook, is_gone, change).await?;
        }
        Ok(())
    }

    /// Whether the webhook has taken nothing for [`STOPS_AFTER_MS`], since sending began or was begun again. Looked up in the
    /// events themselves and not noted with the webhook: whoever takes and refuses by turns would have everybody follow that record.
    async fn has_taken_nothing(&self, given_up: &PartnerEvent, webhook: &Webhook) -> Result<bool, OnboardingError> {
        let begin = self.keeper.now().minus_ms(STOPS_AFTER_MS);
        let is_taken = |made: &Try| made.error.is_none() && made.at_ms > begin;
        let mut earliest = given_up.tries.first().map_or(self.keeper.now(), |made| made.at_ms);
        let mut before = None::<String>;
        loop {
            let name = given_up.account.as_str();
            let page = Named { name, before: before.as_deref(), limit: LOOKED_BACK };
            let events = named::<PartnerEvent>(&*self.keeper.store, page).await?;
            let tries = || events.iter().flat_map(|event| &event.value.tries);
            if tries().any(is_taken) {
                return Ok(false);
            }
            earliest = tries().map(|made| made.at_ms).min().unwrap_or(earliest).min(earliest);
            match events.last() {
                Some(last) if last.value.at_ms > begin => before = Some(last.value.id.clone()),
                _ => break,
            }
        }
        let begun = webhook.events.since_ms.unwrap_or(earliest).max(earliest);
        Ok(begun <= begin)
    }

    /// Sends nothing to a webhook any more, which its owner is told by mail.
    async fn stop(
        &self,
        webhook: &mut Versioned<Webhook>,
        is_gone: bool,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let (keeper, account) = (&self.keeper, webhook.value.account.clone());
        let reason = match is_gone {
            true => "The webhook answered 410 Gone.",
            false => "The webhook has taken no event for five days.",
        };
        webhook.value.events.stopped = Some(StoppedEvents { at_ms: keeper.now(), reason: reason.to_owned() });
        change.put(webhook);
        let detail = json!({"url": webhook.value.url, "reason": reason});
        change.audit.push(keeper.audit_entry(&Actor::gateway(), "webhook.events_stopped", &account, detail));
        let owner = keeper.require::<Account>(account.as_str(), "account").await?.value;
        let text = mail_texts::events_stopped(&owner.business_name, &webhook.value.url, reason);
        change.mail.push(keeper.mail(&owner.email, "Your webhook is sent nothing any more", text)?);
        telemetry::event_sent("stopped");
        Ok(())
    }
}

impl Turn {
    /// Sends what the turn is for, one after the other.
    pub async fn run(self) {
        for queued in &self.queued {
            if let Err(error) = self.courier.serve(queued).await {
                let (event, error) = (&queued.value.event, chain(&error));
                tracing::error!(partner = %self.account, %event, %error, "an event could not be settled; it is tried again");
                return;
            }
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn account(&self) -> &PartnerId {
        &self.account
    }
}

/// Whether events are sent to a webhook; if not, why, for its owner.
pub(super) fn check_sent(webhook: Option<&Webhook>, now: Timestamp) -> Result<(), OnboardingError> {
    let refused = |message: &str| Err(OnboardingError::out_of_step("EVENTS_NOT_SENT", message));
    let Some(webhook) = webhook else { return refused("no webhook address is saved") };
    if webhook.events.stopped.is_some() {
        return refused("sending was stopped; enable it again first");
    }
    if !webhook.events.secrets.iter().any(|secret| secret.not_after_ms.is_none_or(|until| now < until)) {
        return refused("there is no secret to sign events with; rotate it for a first one");
    }
    Ok(())
}
