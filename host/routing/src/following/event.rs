//! What the followers of an order are told.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::value::RawValue;

use crate::calling::{CallError, CallOutcome};
use crate::pinned::PinnedFailure;

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The partner told of its work before it answered: an object, its members as it wrote them.
    Progress(Arc<RawValue>),
    /// The tool gave another answer than before.
    Update(Arc<CallOutcome>),
    /// A call gave no answer. Unless the end follows, it is made again.
    Failed(Arc<PinnedFailure<CallError>>),
    /// Nothing follows.
    End(End),
}

/// Why nothing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The partner ended its own stream with the update before.
    Complete,
    /// The failure before will not pass.
    Failed,
    /// Too many calls in a row have failed.
    Unavailable,
    /// The order has been followed for as long as one may be at a time.
    TimeLimit,
    /// More is followed than can be kept.
    Overloaded,
    /// The work behind it was broken off.
    Interrupted,
}

impl End {
    /// Stable name, in lower case.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Unavailable => "unavailable",
            Self::TimeLimit => "time_limit",
            Self::Overloaded => "overloaded",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether there may be more to learn for whoever asks anew.
    #[must_use]
    pub fn may_go_on(self) -> bool {
        match self {
            Self::Complete | Self::Failed => false,
            Self::Unavailable | Self::TimeLimit | Self::Overloaded | Self::Interrupted => true,
        }
    }
}

impl Event {
    /// About what it takes to keep, bytes.
    fn bytes(&self) -> usize {
        /// What an event takes besides its text.
        const FRAME_BYTES: usize = 512;
        let text = match self {
            Self::Progress(params) => params.get().len(),
            Self::Update(called) => called.payload.get().len() + called.reference.as_ref().map_or(0, String::len),
            Self::Failed(_) | Self::End(_) => 0,
        };
        text + FRAME_BYTES
    }
}

/// Names an event: the feed, and the event's number there, from 1. What one feed has counted says nothing to another, so an
/// identifier of a feed that is gone, or of another process, is known as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId {
    pub(super) feed: u64,
    pub(super) number: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.feed, self.number)
    }
}

/// The text names no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the identifier of an event")]
pub struct NoEventId;

impl FromStr for EventId {
    type Err = NoEventId;

    fn from_str(text: &str) -> Result<Self, NoEventId> {
        let (feed, number) = text.split_once('-').ok_or(NoEventId)?;
        let id = Self {
            feed: u64::from_str_radix(feed, 16).map_err(|_| NoEventId)?,
            number: number.parse().map_err(|_| NoEventId)?,
        };
        // Only what was written here: other readings of a number would be other texts for the same event.
        if id.to_string() == text { Ok(id) } else { Err(NoEventId) }
    }
}

/// An event as a follower gets it.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// What to resume after.
    pub id: EventId,
    /// How many events before it the follower was too slow, or came back too late, to get. What counts is in this one.
    pub missed: u64,
    /// What happened.
    pub event: Event,
}

/// Bytes of all events that are kept, over all feeds. Each gives its own back when it is forgotten.
pub(super) type KeptBytes = Arc<AtomicUsize>;

/// An event that is kept.
#[derive(Debug)]
pub(super) struct KeptEvent {
    pub(super) number: u64,
    pub(super) event: Event,
    pub(super) bytes: usize,
    total: KeptBytes,
}

impl KeptEvent {
    pub(super) fn new(number: u64, event: Event, total: &KeptBytes) -> Arc<Self> {
        let bytes = event.bytes();
        total.fetch_add(bytes, Relaxed);
        Arc::new(Self { number, event, bytes, total: Arc::clone(total) })
    }
}

impl Drop for KeptEvent {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_as_they_are_written() {
        let id = EventId { feed: 0xab, number: 7 };
        assert_eq!(id.to_string(), "00000000000000ab-7");
        assert_eq!("00000000000000ab-7".parse(), Ok(id));
        for other in ["", "-", "7", "ab-7", "00000000000000AB-7", "00000000000000ab-+7", "00000000000000ab-7 ", "0-é"]
        {
            assert_eq!(other.parse::<EventId>(), Err(NoEventId), "{other}");
        }
    }
}
