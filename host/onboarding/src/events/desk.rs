//! What a partner does with its events: looks at them, has one sent again, tries its webhook, has sending begin again.

use serde_json::json;

use super::courier::check_sent;
use super::record::{EventState, PartnerEvent, QueuedEvent};
use super::told::EventData;
use crate::OnboardingError;
use crate::keeper::RecordKeeper;
use crate::records::Account;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::signing_keys::Webhook;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Named, Versioned, load, named};

/// Events of one list.
pub const EVENTS_LISTED_MAX: u32 = 100;
/// Test events of one account within an hour.
pub const TESTS_AN_HOUR: usize = 10;
const HOUR_MS: u64 = 60 * 60 * 1_000;

/// Partners' events.
pub struct Events {
    pub(crate) keeper: RecordKeeper,
}

impl Events {
    /// The events of an account, the latest first: those before `before`, at most `limit` and [`EVENTS_LISTED_MAX`].
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn list(
        &self,
        account: &PartnerId,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<PartnerEvent>, OnboardingError> {
        let asked = Named { name: account.as_str(), before, limit: limit.min(EVENTS_LISTED_MAX) };
        let found = named::<PartnerEvent>(&*self.keeper.store, asked).await?;
        Ok(found.into_iter().map(|event| event.value).collect())
    }

    /// One event of an account.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`], also for an event of somebody else's.
    pub async fn get(&self, account: &PartnerId, id: &str) -> Result<PartnerEvent, OnboardingError> {
        Ok(self.require(account, id).await?.value)
    }

    /// Has an event sent again, whatever became of it.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`]; `EVENT_WAITING` for one that is on its way; `EVENTS_NOT_SENT` where none are sent.
    pub async fn replay(&self, account: &PartnerId, id: &str, by: &Actor) -> Result<PartnerEvent, OnboardingError> {
        let keeper = &self.keeper;
        keeper
            .step(async || {
                let mut kept = self.require(account, id).await?;
                if kept.value.state == EventState::Waiting {
                    let message = "the event is on its way already; see when it is tried next";
                    return Err(OnboardingError::out_of_step("EVENT_WAITING", message));
                }
                self.check_sent(account).await?;
                let event = &mut kept.value;
                (event.state, event.next_at_ms, event.tried) = (EventState::Waiting, Some(keeper.now()), 0);
                let mut change = Change::default();
                change.put(&Versioned::new(QueuedEvent::of(event, keeper.now())));
                change.audit.push(keeper.audit_entry(by, "event.replayed", account, json!({"event": id})));
                change.put(&kept);
                Ok(Proposal::new(change, kept.value))
            })
            .await
    }

    /// Sends an event that tells nothing, to try the webhook.
    ///
    /// # Errors
    /// `EVENTS_NOT_SENT` where none are sent; [`OnboardingError::TooMany`] after [`TESTS_AN_HOUR`].
    pub async fn send_test(&self, account: &PartnerId, by: &Actor) -> Result<PartnerEvent, OnboardingError> {
        let keeper = &self.keeper;
        keeper
            .step(async || {
                self.check_sent(account).await?;
                let hour_ago = keeper.now().minus_ms(HOUR_MS);
                let latest = self.list(account, None, EVENTS_LISTED_MAX).await?;
                let is_recent =
                    |event: &&PartnerEvent| event.data == EventData::WebhookTest {} && event.at_ms > hour_ago;
                let mut recent: Vec<_> = latest.iter().filter(is_recent).map(|event| event.at_ms).collect();
                if recent.len() >= TESTS_AN_HOUR {
                    recent.truncate(TESTS_AN_HOUR);
                    let free_at = recent.last().map_or(keeper.now(), |oldest| oldest.plus_ms(HOUR_MS));
                    return Err(OnboardingError::TooMany(free_at.as_ms().saturating_sub(keeper.now().as_ms())));
                }
                let mut change = Change::default();
                let event = keeper.queue_event(account, EventData::WebhookTest {}, &mut change)?;
                change.audit.push(keeper.audit_entry(by, "event.test_sent", account, json!({"event": event.id})));
                Ok(Proposal::new(change, event))
            })
            .await
    }

    /// Has events sent again after that was stopped. Those of the time between are not sent by themselves.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] before an address was saved; `EVENTS_NOT_STOPPED` where nothing was stopped.
    pub async fn enable(&self, account: &PartnerId, by: &Actor) -> Result<Webhook, OnboardingError> {
        let keeper = &self.keeper;
        keeper
            .step(async || {
                let mut kept = keeper.require::<Webhook>(account.as_str(), "webhook").await?;
                if kept.value.events.stopped.take().is_none() {
                    let message = "events are sent to this webhook already";
                    return Err(OnboardingError::out_of_step("EVENTS_NOT_STOPPED", message));
                }
                kept.value.events.since_ms = Some(keeper.now());
                let mut change = Change::default();
                let detail = json!({"url": kept.value.url});
                change.audit.push(keeper.audit_entry(by, "webhook.events_enabled", account, detail));
                change.put(&kept);
                Ok(Proposal::new(change, kept.value))
            })
            .await
    }

    async fn require(&self, account: &PartnerId, id: &str) -> Result<Versioned<PartnerEvent>, OnboardingError> {
        let found = self.keeper.find::<PartnerEvent>(id).await?;
        found.filter(|kept| kept.value.account == *account).ok_or(OnboardingError::NotFound("event"))
    }

    async fn check_sent(&self, account: &PartnerId) -> Result<(), OnboardingError> {
        self.keeper.require::<Account>(account.as_str(), "account").await?;
        let webhook = load::<Webhook>(&*self.keeper.store, account.as_str()).await?;
        check_sent(webhook.as_ref().map(|kept| &kept.value), self.keeper.now())
    }
}
