//! Answers of read tools that are served again, and one call for all who ask the same at the same time (spec 1, rule 3 for the
//! partner-hosted endpoint: at most 60 seconds, or less as the intent says).
//!
//! Two questions are the same when partner, intent, tool and arguments are, and the user where the partner is called
//! with that user's token. `request_id` is one of the arguments: the contracts name it as the key by which a search is the
//! same one (spec 2, Tools), and what was quoted for one request is not passed off as quoted for another. An answer ends with its tool's time or at its own `expires_at`, whichever comes first.
//!
//! A call is driven by whoever waits for it. When one of them leaves, the others drive it on; when all have left it is dropped,
//! and with it the call to the partner. A failure goes to all who wait and is not kept. Writes have no key, so nothing
//! of them can be kept. What is kept lives in this process's memory and is gone with it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;

use super::key_of;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::{Tool, ToolRole};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::single_flight::{Began, SingleFlight};
use intent_gateway_domain::user::User;

/// No answer is served again after this time, whatever its intent says, seconds.
pub(crate) const CACHE_MAX_SECONDS: u32 = 60;
/// Answers kept at a time.
pub(crate) const ENTRIES_MAX: usize = 20_000;
/// Answers kept at a time, bytes in sum.
pub(crate) const ENTRIES_MAX_BYTES: usize = 64 * 1024 * 1024;
/// A larger answer is not kept, bytes: a few of them would push out everything else.
pub(crate) const ENTRY_MAX_BYTES: usize = 1024 * 1024;

/// A question whose answer may be served again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    key: Digest,
    keep_ms: u64,
}

impl Question {
    /// The question that a call asks; none where its answer may not be served again. `arguments` is their digest as a value
    /// ([`Arguments::digest`](super::arguments::Arguments::digest)), `signed_in` the user with whose token the partner is
    /// called.
    #[must_use]
    pub fn of(
        partner: &PartnerId,
        intent: &str,
        tool: &Tool,
        arguments: Digest,
        signed_in: Option<&User>,
    ) -> Option<Self> {
        if !matches!(tool.role, ToolRole::Search | ToolRole::GetDetail) {
            return None;
        }
        let seconds = tool.cache_seconds.filter(|seconds| *seconds > 0)?.min(CACHE_MAX_SECONDS);
        let (kind, user) = signed_in.map_or(("anybody", ""), |user| ("user", user.key()));
        let key = key_of(&[partner.as_str(), intent, &tool.name, &arguments.to_string(), kind, user]);
        Some(Self { key, keep_ms: u64::from(seconds) * 1_000 })
    }
}

/// An answer that came from the partner.
#[derive(Debug)]
pub struct Fetched<T> {
    /// What is served.
    pub answer: T,
    /// What it takes to keep it, bytes.
    pub bytes: usize,
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This caller's own call.
    Called,
    /// The call of another one, which was under way.
    Joined,
    /// It was kept.
    Kept,
}

/// The answers of one process. Clones share them.
pub struct AnswerCache<T> {
    kept: Arc<Mutex<Kept<T>>>,
    /// Calls under way, and what all who wait for one get.
    calls: SingleFlight<Digest, Result<Arc<T>, CallFailure>>,
    clock: Arc<dyn Clock>,
}

type Kept<T> = ExpiringMap<Digest, KeptAnswer<T>>;

struct KeptAnswer<T> {
    answer: Arc<T>,
    bytes: usize,
    kept_at: Timestamp,
    ends_at: Timestamp,
}

impl<T> Expires for KeptAnswer<T> {
    fn ends_at(&self) -> Timestamp {
        self.ends_at
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<T> Clone for AnswerCache<T> {
    fn clone(&self) -> Self {
        Self { kept: Arc::clone(&self.kept), calls: self.calls.clone(), clock: Arc::clone(&self.clock) }
    }
}

impl<T> fmt::Debug for AnswerCache<T> {
    /// Without the answers, which are a user's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerCache").field("kept", &*self.lock()).finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> AnswerCache<T> {
    /// An empty cache.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let kept = Arc::new(Mutex::new(ExpiringMap::with_bytes(ENTRIES_MAX, ENTRIES_MAX_BYTES)));
        Self { kept, calls: SingleFlight::default(), clock }
    }

    /// The answer to a question: kept, or of a call under way, or of `call`, which is then made. `call` owns what it
    /// needs, for it may be driven by others after its caller has left, and must end by itself in bounded time.
    ///
    /// # Errors
    /// The failure of the call, for each of those who waited for it.
    pub async fn get<F>(&self, question: Question, call: F) -> Result<(Arc<T>, Source), CallFailure>
    where
        F: FnOnce() -> BoxFuture<'static, Result<Fetched<T>, CallFailure>> + Send + 'static,
    {
        let (answer, began) = {
            let now = self.clock.now();
            let mut kept = self.lock();
            kept.forget_ended(now);
            if let Some(entry) = kept.get(&question.key, now).filter(|entry| entry.kept_at <= now) {
                return Ok((Arc::clone(&entry.answer), Source::Kept));
            }
            let cache = self.clone();
            // Still under the lock: a call keeps its answer before it is over, so one of the two is there.
            self.calls.join(&question.key, || async move { Ok(cache.keep(question, call().await?)) })
        };
        let source = match began {
            Began::Now => Source::Called,
            Began::Before => Source::Joined,
        };
        answer.await.map(|answer| (answer, source))
    }

    /// Whoever has read the answer says when its own time ends: it is not served after that.
    pub fn end_by(&self, question: Question, ends_at: Timestamp) {
        self.lock().change(&question.key, |entry| entry.ends_at = entry.ends_at.min(ends_at));
    }

    fn keep(&self, question: Question, fetched: Fetched<T>) -> Arc<T> {
        let Fetched { answer, bytes } = fetched;
        let answer = Arc::new(answer);
        let now = self.clock.now();
        let ends_at = now.plus_ms(question.keep_ms);
        if bytes <= ENTRY_MAX_BYTES {
            let entry = KeptAnswer { answer: Arc::clone(&answer), bytes, kept_at: now, ends_at };
            self.lock().insert(question.key, entry, now);
        }
        answer
    }
}

impl<T> AnswerCache<T> {
    /// What is kept is whole after every step, so that which a panic interrupted can be used.
    fn lock(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
