//! The work behind a feed: calls, waits, and the end.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};

use serde_json::value::RawValue;

use super::event::{End, Event};
use super::feed::Feed;
use super::{FAILURES_MAX, FEED_MAX, FollowingState, KEPT, LINGER, Subject, failure};
use crate::calling::{CallError, CallOutcome};
use crate::pinned::PinnedFailure;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::progress::Listener;
use intent_gateway_outbound::policy::pace::track::BETWEEN_CALLS_MS;

/// How often in a row a call is put off because it is not its time yet, as when another user follows the same order.
const HOLDS_MAX: u32 = 12;

/// Calls for a feed until it ends or nobody is left.
pub(super) struct Driver {
    shared: Arc<FollowingState>,
    key: Digest,
    feed: Arc<Feed>,
    subject: Subject,
}

/// How a call came out.
enum Call {
    Done(Box<Result<CallOutcome, PinnedFailure<CallError>>>),
    /// Nobody was left to tell.
    Abandoned,
    /// The feed's time is over.
    Late,
}

impl Driver {
    pub(super) fn new(shared: Arc<FollowingState>, key: Digest, feed: Arc<Feed>, subject: Subject) -> Self {
        Self { shared, key, feed, subject }
    }

    /// Runs until the feed is forgotten.
    pub(super) async fn run(self) {
        let mut hour = self.shared.timer.wait(FEED_MAX);
        let end = self.follow(&mut hour).await;
        if let Some(end) = end {
            tracing::debug!(tool = %self.subject.tool, reason = end.reason(), "an order is followed to its end");
            self.feed.tell(Event::End(end));
            // Who has not read all of it may still come back.
            self.shared.timer.wait(KEPT).await;
        }
    }

    /// Calls again and again; why it ended, or nothing where nobody is left to be told.
    async fn follow(&self, hour: &mut BoxFuture<'static, ()>) -> Option<End> {
        let (mut failures, mut holds) = (0, 0);
        loop {
            if !self.is_wanted().await {
                return None;
            }
            let began = self.now();
            let words = AtomicU32::new(0);
            let hear = |params: &str| {
                words.fetch_add(1, Relaxed);
                if let Ok(params) = serde_json::from_str::<Box<RawValue>>(params) {
                    self.feed.tell(Event::Progress(params.into()));
                }
            };
            let outcome = match self.call(Listener::new(&hear), hour).await {
                Call::Done(outcome) => *outcome,
                Call::Abandoned => continue,
                Call::Late => return Some(End::TimeLimit),
            };
            let took_ms = self.now().ms_since(began);
            let mut pause_ms = BETWEEN_CALLS_MS;
            match outcome {
                Ok(called) => {
                    (failures, holds) = (0, 0);
                    if !self.update(called) {
                        return Some(End::Overloaded);
                    }
                    // A partner that told of its work for so long has streamed, and has ended its stream. One that told a
                    // word in passing is asked again.
                    if took_ms >= BETWEEN_CALLS_MS && words.load(Relaxed) > 0 {
                        return Some(End::Complete);
                    }
                }
                Err(failed) => {
                    if let Some(wait_ms) = failure::not_yet_ms(&failed.error).filter(|_| holds < HOLDS_MAX) {
                        holds += 1;
                        if self.pause(wait_ms.max(1), hour).await {
                            continue;
                        }
                        return Some(End::TimeLimit);
                    }
                    failures += 1;
                    let wait_ms = failure::wait_ms(&failed.error);
                    let passes = failure::may_pass(&failed);
                    self.feed.tell(Event::Failed(Arc::new(failed)));
                    match wait_ms {
                        _ if !passes => return Some(End::Failed),
                        _ if failures >= FAILURES_MAX => return Some(End::Unavailable),
                        wait_ms => pause_ms = failure::pause_ms(failures, wait_ms),
                    }
                }
            }
            if !self.pause(pause_ms.saturating_sub(took_ms), hour).await {
                return Some(End::TimeLimit);
            }
        }
    }

    /// Whether somebody follows, now or before what is kept for it is forgotten.
    async fn is_wanted(&self) -> bool {
        while !self.feed.has_followers() {
            let comes = pin!(self.feed.until_followed(true));
            if let Either::Right(_) = select(comes, self.shared.timer.wait(KEPT)).await
                && self.shared.give_up(&self.feed)
            {
                return false;
            }
        }
        true
    }

    async fn call(&self, listener: Listener<'_>, hour: &mut BoxFuture<'static, ()>) -> Call {
        let call = self.shared.source.call(&self.subject, listener);
        let abandoned = pin!(self.abandon());
        match select(call, select(abandoned, hour)).await {
            Either::Left((outcome, _)) => Call::Done(Box::new(outcome)),
            Either::Right((Either::Left(_), _)) => Call::Abandoned,
            Either::Right((Either::Right(_), _)) => Call::Late,
        }
    }

    /// Waits before the next call. Whether there is time for one.
    async fn pause(&self, pause_ms: u64, hour: &mut BoxFuture<'static, ()>) -> bool {
        let pause = self.shared.timer.wait(Duration::from_millis(pause_ms));
        // The hour first: at its end nothing new is begun.
        matches!(select(hour, pause).await, Either::Right(_))
    }

    /// Waits until nobody has followed for a while.
    async fn abandon(&self) {
        loop {
            self.feed.until_followed(false).await;
            let comes = pin!(self.feed.until_followed(true));
            if let Either::Right(_) = select(comes, self.shared.timer.wait(LINGER)).await {
                return;
            }
        }
    }

    /// Tells of an answer that is another than the one before. Whether there is room for more.
    fn update(&self, called: CallOutcome) -> bool {
        let is_known = matches!(self.feed.newest(), Some(Event::Update(last)) if is_same(&last, &called));
        is_known || self.feed.tell(Event::Update(Arc::new(called)))
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // After its end, this says nothing. Dropped before, as at a shutdown, nobody waits for more in vain.
        self.feed.tell(Event::End(End::Interrupted));
        self.shared.forget(&self.key, &self.feed);
    }
}

/// Whether two answers tell the same. When they came makes no difference.
fn is_same(one: &CallOutcome, other: &CallOutcome) -> bool {
    one.payload.get() == other.payload.get()
        && one.advisory == other.advisory
        && one.reference == other.reference
        && one.partner.id == other.partner.id
}
