//! Following an order: what its track tool tells, as it changes, to everybody who follows it for one user.
//!
//! One feed serves all who follow the same: it calls the tool, passes on what the partner tells of its work meanwhile (MCP,
//! progress), and calls again after the time that a track tool is left alone (spec 1, rule 5 for the partner-hosted
//! endpoint). So a partner that streams is listened to, and one that only answers is asked. A feed keeps its last events,
//! and goes on for a moment when nobody is left: who comes back goes on where it was.
//!
//! | what ends a feed | told as |
//! |---|---|
//! | the answer of a call during which the partner told of its work for longer than two calls are apart | `complete` |
//! | a failure that will not pass | `failed` |
//! | [`FAILURES_MAX`] failures in a row | `unavailable` |
//! | an hour | `time_limit` |
//! | events of all feeds that take more than [`EVENTS_MAX_BYTES`] | `overloaded` |
//! | nobody follows it any more | nothing |
//!
//! Not here: one call of the tool ([`calling`](crate::calling)), how often a partner may be called, and HTTP.

mod drive;
mod event;
mod failure;
mod feed;
mod source;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

pub use self::event::{Delivery, End, Event, EventId};
pub use self::feed::Follower;
pub use self::source::Source;

use self::drive::Driver;
use self::event::KeptBytes;
use self::feed::Feed;
use crate::calling::CallError;
use crate::pinned::PinnedFailure;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::Timer;
use intent_gateway_domain::trace::Trace;
use intent_gateway_domain::user::Asker;
use intent_gateway_outbound::policy::arguments::Arguments;

/// Orders that are followed at a time, those included that are still kept for somebody who may come back.
pub(crate) const FEEDS_MAX: usize = 8_192;
/// Events that a feed keeps.
pub(crate) const RING_EVENTS_MAX: usize = 64;
/// Bytes of the events that a feed keeps; the last one is kept whatever its size.
pub(crate) const RING_MAX_BYTES: usize = 256 * 1024;
/// Bytes of all events that are kept, over all feeds.
pub(crate) const EVENTS_MAX_BYTES: usize = 64 * 1024 * 1024;
/// How long a call goes on when nobody follows any more.
pub const LINGER: Duration = Duration::from_secs(10);
/// How long events are kept when nobody follows any more, or nothing follows them.
pub(crate) const KEPT: Duration = Duration::from_secs(60);
/// How long an order is followed at a time.
pub(crate) const FEED_MAX: Duration = Duration::from_secs(60 * 60);
/// Failures in a row, after which a feed ends.
pub const FAILURES_MAX: u32 = 8;

/// What is followed, and for whom.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The intent that the path names.
    pub intent: String,
    /// The tool; one of the intent's track tools.
    pub tool: String,
    /// A reference to what was booked.
    pub reference: String,
    /// The tool's arguments, a JSON object.
    pub arguments: String,
    /// Who asks, and for whom.
    pub asker: Asker,
    /// Used when the arguments bring no `request_id`.
    pub fallback_request_id: String,
    /// What the calls belong to.
    pub trace: Option<Arc<Trace>>,
}

impl Subject {
    /// One for everybody who follows the same for the same user. Which request it is for makes no difference: the events
    /// carry the one of whoever came first.
    fn key(&self) -> Digest {
        let arguments = match Arguments::read(&self.arguments) {
            Ok(arguments) => arguments.without("request_id").digest(),
            Err(_) => Digest::of(self.arguments.as_bytes()),
        };
        let parts = (&self.intent, &self.tool, &self.reference, self.asker.key(), arguments.to_string());
        Digest::of(format!("{parts:?}").as_bytes())
    }
}

/// Why an order is not followed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FollowError {
    /// The tool would not be called.
    #[error("the tool is not called")]
    Refused(#[source] Box<PinnedFailure<CallError>>),
    /// As much is followed as can be.
    #[error("too many orders are followed")]
    Full,
}

/// The orders that are followed through this process. Clones share them.
#[derive(Clone)]
pub struct Following {
    shared: Arc<FollowingState>,
}

struct FollowingState {
    source: Arc<dyn Source>,
    clock: Arc<dyn Clock>,
    timer: Arc<dyn Timer>,
    total: KeptBytes,
    feeds: Mutex<Feeds>,
}

struct Feeds {
    /// Makes identifiers that no other process makes.
    random: RandomState,
    so_far: u64,
    by_key: HashMap<Digest, Arc<Feed>>,
}

/// A place among the followers of an order.
pub struct Joined {
    /// What there is to be told.
    pub follower: Follower,
    /// Set for the first one: the work behind the feed, to be run to its end beside all followers.
    pub driver: Option<BoxFuture<'static, ()>>,
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Following").field("feeds", &self.shared.feeds().by_key.len()).finish_non_exhaustive()
    }
}

impl Following {
    /// Follows orders through the calls of a source.
    #[must_use]
    pub fn new(source: Arc<dyn Source>, clock: Arc<dyn Clock>, timer: Arc<dyn Timer>) -> Self {
        let feeds = Feeds { random: RandomState::new(), so_far: 0, by_key: HashMap::new() };
        let shared = FollowingState { source, clock, timer, total: KeptBytes::default(), feeds: Mutex::new(feeds) };
        Self { shared: Arc::new(shared) }
    }

    /// Follows an order, after an event that was seen before or from the newest answer on.
    ///
    /// # Errors
    /// [`FollowError`]; the partner was not called then.
    pub async fn follow(&self, subject: Subject, after: Option<EventId>) -> Result<Joined, FollowError> {
        // Whoever joins is checked like the first one: what is followed may have ended for good meanwhile.
        self.shared.source.check(&subject).await.map_err(|failed| FollowError::Refused(Box::new(failed)))?;
        let key = subject.key();
        let mut feeds = self.shared.feeds();
        if let Some(follower) = feeds.by_key.get(&key).and_then(|feed| feed.join(after)) {
            return Ok(Joined { follower, driver: None });
        }
        let is_known = feeds.by_key.contains_key(&key);
        if (feeds.by_key.len() >= FEEDS_MAX && !is_known) || self.shared.is_full() {
            return Err(FollowError::Full);
        }
        feeds.so_far += 1;
        let feed = Arc::new(Feed::new(feeds.random.hash_one(feeds.so_far), Arc::clone(&self.shared.total)));
        // A feed without events has not ended.
        let follower = feed.join(None).ok_or(FollowError::Full)?;
        feeds.by_key.insert(key, Arc::clone(&feed));
        drop(feeds);
        let driver = Driver::new(Arc::clone(&self.shared), key, feed, subject);
        Ok(Joined { follower, driver: Some(driver.run().boxed()) })
    }
}

impl FollowingState {
    /// Feeds are whole after every step, so they can be used after a panic.
    fn feeds(&self) -> MutexGuard<'_, Feeds> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self) -> bool {
        self.total.load(Relaxed) > EVENTS_MAX_BYTES
    }

    /// Ends a feed that nobody follows. Whether nobody does: nobody joins while the feeds are locked.
    fn give_up(&self, feed: &Feed) -> bool {
        let _feeds = self.feeds();
        let is_left = !feed.has_followers();
        if is_left {
            feed.tell(Event::End(End::Interrupted));
        }
        is_left
    }

    /// Forgets a feed, unless another one has taken its place. Who follows it still reads it to its end.
    fn forget(&self, key: &Digest, feed: &Arc<Feed>) {
        let mut feeds = self.feeds();
        if feeds.by_key.get(key).is_some_and(|kept| Arc::ptr_eq(kept, feed)) {
            feeds.by_key.remove(key);
        }
    }
}
