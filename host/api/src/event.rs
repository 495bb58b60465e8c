//! What partners are told, and what became of sending it.

pub use intent_gateway_onboarding::events::EventState;
use intent_gateway_onboarding::events::{EventData, PartnerEvent, Try};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time;

/// An event, with every try to deliver it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EventBody {
    /// The `webhook-id` of every try.
    pub event_id: String,
    #[serde(flatten)]
    pub event: EventData,
    /// When it happened.
    pub timestamp: String,
    pub state: EventState,
    /// When it is tried next, where it waits.
    #[schema(required)]
    pub next_try_at: Option<String>,
    /// The latest tries, the last one last; at most 20.
    pub tries: Vec<TryBody>,
}

/// One try to deliver an event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TryBody {
    /// When it began.
    pub at: String,
    pub url: String,
    /// The status of the answer; null where none came.
    #[schema(required)]
    pub status: Option<u16>,
    /// Why it did not count as delivered.
    #[schema(required)]
    pub error: Option<String>,
    /// The beginning of the answer's body, as text.
    pub answer: String,
    pub took_ms: u64,
}

/// A page of events, the latest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EventsBody {
    pub events: Vec<EventBody>,
    /// `before` of the next page; null on the last one.
    #[schema(required)]
    pub next: Option<String>,
}

impl From<Try> for TryBody {
    fn from(Try { at_ms, url, status, error, answer, took_ms }: Try) -> Self {
        Self { at: time(at_ms), url, status, error, answer, took_ms }
    }
}

impl From<PartnerEvent> for EventBody {
    fn from(event: PartnerEvent) -> Self {
        let PartnerEvent { id, at_ms, data, state, next_at_ms, tries, .. } = event;
        Self {
            event_id: id,
            event: data,
            timestamp: time(at_ms),
            state,
            next_try_at: next_at_ms.map(time),
            tries: tries.into_iter().map(TryBody::from).collect(),
        }
    }
}

impl EventsBody {
    /// A page that was asked for with `limit`.
    #[must_use]
    pub fn page(events: Vec<PartnerEvent>, limit: u32) -> Self {
        let is_full = events.len() >= limit as usize;
        let next = events.last().filter(|_| is_full).map(|event| event.id.clone());
        Self { events: events.into_iter().map(EventBody::from).collect(), next }
    }
}
