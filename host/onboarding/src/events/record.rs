//! What is kept of an event, and of one that waits to be sent.

use serde::{Deserialize, Serialize};

use super::told::EventData;
use crate::text::rfc3339;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::steps::commit_unless_changed;
use intent_gateway_domain::store::{Change, Kind, List, Record, Store, StoreError, Versioned, page};

/// How long an event is kept, milliseconds: 30 days.
const KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// Tries that are kept of one event: the latest.
const TRIES_KEPT_MAX: usize = 20;
/// Events that are forgotten in one change.
const FORGOTTEN_AT_ONCE: u32 = 200;

/// An event's identifier: those of a later millisecond are greater.
pub(crate) fn event_id(at: Timestamp, rest: &str) -> String {
    format!("evt_{:012x}{rest}", at.as_ms())
}

/// How far an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventState {
    /// It is sent at once, or tried again at a time.
    Waiting,
    /// The webhook has taken it.
    Delivered,
    /// It was tried for a day, and is tried no more.
    Failed,
    /// It was not sent: there is no webhook, no secret, or sending is stopped.
    Unsent,
}

impl EventState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Unsent => "unsent",
        }
    }
}

/// One try to deliver an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// When it began, milliseconds since the epoch.
    pub at_ms: Timestamp,
    pub url: String,
    /// The status of the answer; absent where none came.
    pub status: Option<u16>,
    /// Why it did not count as delivered.
    pub error: Option<String>,
    /// The beginning of the answer's body, as text.
    pub answer: String,
    pub took_ms: u64,
}

/// An event as it is posted: the body of the request to the webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PostedEvent {
    #[serde(flatten)]
    pub event: EventData,
    /// When it happened.
    pub timestamp: String,
}

/// Something that a partner is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartnerEvent {
    /// Its name, and the `webhook-id` of every try.
    pub id: String,
    pub account: PartnerId,
    /// When it happened, milliseconds since the epoch.
    pub at_ms: Timestamp,
    #[serde(flatten)]
    pub data: EventData,
    pub state: EventState,
    /// When it is tried next, where it waits.
    pub next_at_ms: Option<Timestamp>,
    /// Tries since it was queued last.
    pub tried: u32,
    /// The latest tries, the last one last.
    pub tries: Vec<Try>,
}

impl PartnerEvent {
    pub(crate) fn new(id: String, account: PartnerId, data: EventData, now: Timestamp) -> Self {
        let (state, next_at_ms) = (EventState::Waiting, Some(now));
        Self { id, account, at_ms: now, data, state, next_at_ms, tried: 0, tries: Vec::new() }
    }

    /// What is posted: `type`, `timestamp` and `data`, the same text each time.
    pub(crate) fn body(&self) -> String {
        let posted = PostedEvent { event: self.data.clone(), timestamp: rfc3339(self.at_ms) };
        serde_json::to_string(&posted).expect("texts, numbers and lists always serialise")
    }

    pub(super) fn note(&mut self, made: Try) {
        self.tried += 1;
        if self.tries.len() >= TRIES_KEPT_MAX {
            self.tries.remove(0);
        }
        self.tries.push(made);
    }

    /// It is not tried any more.
    pub(super) fn end(&mut self, state: EventState) {
        self.state = state;
        self.next_at_ms = None;
    }
}

impl Record for PartnerEvent {
    const KIND: Kind = Kind::PartnerEvents;

    fn key(&self) -> String {
        self.id.clone()
    }

    fn status(&self) -> Option<&'static str> {
        Some(self.state.as_str())
    }

    fn names(&self) -> Vec<String> {
        vec![self.account.to_string()]
    }
}

/// An event that waits to be sent. Those that are due first come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedEvent {
    pub due_at_ms: Timestamp,
    pub event: String,
    pub account: PartnerId,
}

impl QueuedEvent {
    pub(crate) fn of(event: &PartnerEvent, due_at: Timestamp) -> Self {
        Self { due_at_ms: due_at, event: event.id.clone(), account: event.account.clone() }
    }
}

impl Record for QueuedEvent {
    const KIND: Kind = Kind::QueuedEvents;

    fn key(&self) -> String {
        format!("{:013}/{}", self.due_at_ms.as_ms(), self.event)
    }
}

/// Forgets events that are older than 30 days; how many there were. One that still waits goes once it is settled.
///
/// # Errors
/// [`StoreError`]; what was forgotten until then stays so.
pub async fn forget_events(store: &dyn Store, now: Timestamp) -> Result<u64, StoreError> {
    let (mut forgotten, mut after) = (0, None::<String>);
    let end = event_id(now.minus_ms(KEPT_MS), "");
    loop {
        let list = List { status: None, after: after.as_deref(), limit: FORGOTTEN_AT_ONCE };
        let oldest: Vec<Versioned<PartnerEvent>> = page(store, list).await?;
        let Some(last) = oldest.last() else { return Ok(forgotten) };
        after = Some(last.value.id.clone());
        let mut change = Change::default();
        let is_over = |event: &PartnerEvent| event.id < end && event.state != EventState::Waiting;
        oldest.iter().filter(|event| is_over(&event.value)).for_each(|event| change.delete(event));
        let count = change.writes.len() as u64;
        if count > 0 && commit_unless_changed(store, change).await? {
            forgotten += count;
        }
        if oldest.last().is_none_or(|last| last.value.id >= end) || oldest.len() < FORGOTTEN_AT_ONCE as usize {
            return Ok(forgotten);
        }
    }
}
