//! What partners are told as events: posted to their webhook, signed as [Standard Webhooks](https://www.standardwebhooks.com) has
//! it, and kept for a while with every try.
//!
//! | question | module |
//! |---|---|
//! | which events there are, and what each tells | `told` |
//! | what is kept of one, and of one that waits | `record` |
//! | what an event is signed with | `signature` |
//! | who is served next, what becomes of a try, when sending stops | `courier` |
//! | lists, replays, test events, sending again after a stop | `desk` |
//! | statements that are ready | `statements` |
//!
//! An event is kept in the change that causes it, and so is that it waits to be sent ([`RecordKeeper::tell`]): nothing that holds
//! goes untold, whatever breaks. A webhook may get an event twice, never without its `webhook-id`.
//!
//! Not here: the webhook's address and its secrets ([`Webhooks`](crate::Webhooks)), and the post itself (port
//! [`WebhookPost`](intent_gateway_domain::webhook_post::WebhookPost)).

mod courier;
mod desk;
mod record;
mod signature;
mod statements;
mod told;

pub use courier::{Courier, Turn};
pub use desk::{EVENTS_LISTED_MAX, Events, TESTS_AN_HOUR};
pub(crate) use record::event_id;
pub use record::{EventState, PartnerEvent, PostedEvent, QueuedEvent, Try, forget_events};
pub use signature::SECRET_PREFIX;
pub(crate) use signature::write_secret;
pub use statements::StatementNews;
pub use told::{EventConfirmation, EventData, EventFailure, EventNotice, EventOrder, EventStrike, EventTool};

use super::OnboardingError;
use super::keeper::RecordKeeper;
use super::records::Account;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::{Change, Versioned};
use intent_gateway_domain::vault::{hex, random};

/// Random bytes of an event's identifier.
const EVENT_ID_BYTES: usize = 8;

/// What a partner is told, by mail and as an event.
pub(crate) struct Word<'a> {
    /// Of the mail.
    pub(crate) subject: &'a str,
    /// Of the mail.
    pub(crate) text: String,
    pub(crate) event: EventData,
}

impl RecordKeeper {
    /// Tells the owner of an account something within a change: by mail, and as an event.
    pub(crate) fn tell(&self, owner: &Account, word: Word<'_>, change: &mut Change) -> Result<(), OnboardingError> {
        let id = self.new_event_id()?;
        self.tell_as(id, owner, word, change)
    }

    /// The same under a name that the caller has chosen: whoever finds an event of that name has told it already.
    pub(crate) fn tell_as(
        &self,
        id: String,
        owner: &Account,
        word: Word<'_>,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let Word { subject, text, event } = word;
        change.mail.push(self.mail(&owner.email, subject, text)?);
        self.queue(id, &owner.id, event, change);
        Ok(())
    }

    /// Keeps an event within a change, to be sent at once.
    pub(crate) fn queue_event(
        &self,
        account: &PartnerId,
        data: EventData,
        change: &mut Change,
    ) -> Result<PartnerEvent, OnboardingError> {
        Ok(self.queue(self.new_event_id()?, account, data, change))
    }

    fn queue(&self, id: String, account: &PartnerId, data: EventData, change: &mut Change) -> PartnerEvent {
        let event = PartnerEvent::new(id, account.clone(), data, self.now());
        change.put(&Versioned::new(event.clone()));
        change.put(&Versioned::new(QueuedEvent::of(&event, self.now())));
        event
    }

    fn new_event_id(&self) -> Result<String, OnboardingError> {
        let rest = hex(&random::<EVENT_ID_BYTES>(self.vault.entropy())?);
        Ok(event_id(self.now(), &rest))
    }
}
