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

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use super::keyed;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::{Tool, ToolRole};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::{PartnerId, UserId};

/// No answer is served again after this time, whatever its intent says, seconds.
pub const CACHE_MAX_SECONDS: u32 = 60;
/// Answers kept at a time.
pub const ENTRIES_MAX: usize = 20_000;
/// Answers kept at a time, bytes in sum.
pub const ENTRIES_MAX_BYTES: usize = 64 * 1024 * 1024;
/// A larger answer is not kept, bytes: a few of them would push out everything else.
pub const ENTRY_MAX_BYTES: usize = 1024 * 1024;

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
        signed_in: Option<&UserId>,
    ) -> Option<Self> {
        if !matches!(tool.role, ToolRole::Search | ToolRole::GetDetail) {
            return None;
        }
        let seconds = tool.cache_seconds.filter(|seconds| *seconds > 0)?.min(CACHE_MAX_SECONDS);
        let (kind, user) = signed_in.map_or(("anybody", ""), |user| ("user", user.as_str()));
        let key = keyed::key(&[partner.as_str(), intent, &tool.name, &arguments.to_string(), kind, user]);
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

/// What all who wait for one call get.
type Landed<T> = Result<Arc<T>, CallFailure>;
type Flight<T> = Shared<BoxFuture<'static, Landed<T>>>;

/// The answers of one process. Clones share them.
pub struct AnswerCache<T> {
    kept: Arc<Mutex<Kept<T>>>,
    clock: Arc<dyn Clock>,
}

impl<T> Clone for AnswerCache<T> {
    fn clone(&self) -> Self {
        Self { kept: Arc::clone(&self.kept), clock: Arc::clone(&self.clock) }
    }
}

impl<T> fmt::Debug for AnswerCache<T> {
    /// Without the answers, which are a user's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        f.debug_struct("AnswerCache").field("entries", &kept.entries.len()).field("bytes", &kept.bytes).finish()
    }
}

struct Kept<T> {
    entries: HashMap<Digest, Entry<T>>,
    /// The same by end, soonest first.
    by_end: BTreeSet<(u64, Digest)>,
    bytes: usize,
    /// Calls under way, each held by those who wait for it: there are never more than callers.
    flights: HashMap<Digest, (u64, WeakFlight<T>)>,
    flights_begun: u64,
}

type WeakFlight<T> = WeakShared<BoxFuture<'static, Landed<T>>>;

struct Entry<T> {
    answer: Arc<T>,
    bytes: usize,
    kept_at_ms: u64,
    ends_ms: u64,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), by_end: BTreeSet::new(), bytes: 0, flights: HashMap::new(), flights_begun: 0 }
    }
}

impl<T: Send + Sync + 'static> AnswerCache<T> {
    /// An empty cache.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { kept: Arc::default(), clock }
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
        let (flight, source) = match self.find(question, call) {
            Found::Kept(answer) => return Ok((answer, Source::Kept)),
            Found::UnderWay(flight) => (flight, Source::Joined),
            Found::Begun(flight) => (flight, Source::Called),
        };
        flight.await.map(|answer| (answer, source))
    }

    fn find<F>(&self, question: Question, call: F) -> Found<T>
    where
        F: FnOnce() -> BoxFuture<'static, Result<Fetched<T>, CallFailure>> + Send + 'static,
    {
        let now_ms = self.clock.now_ms();
        let mut kept = self.kept();
        kept.forget_ended(now_ms);
        if let Some(entry) = kept.entries.get(&question.key).filter(|entry| entry.kept_at_ms <= now_ms) {
            return Found::Kept(Arc::clone(&entry.answer));
        }
        if let Some(flight) = kept.flights.get(&question.key).and_then(|(_, flight)| flight.upgrade()) {
            return Found::UnderWay(flight);
        }
        kept.flights_begun += 1;
        let number = kept.flights_begun;
        let landing = Landing { kept: Arc::downgrade(&self.kept), key: question.key, number };
        let cache = self.clone();
        let flight = async move {
            // Goes when the flight has landed, or when all have left.
            let _landing = landing;
            let fetched = call().await?;
            Ok(cache.keep(question, fetched))
        };
        let flight = flight.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            kept.flights.insert(question.key, (number, weak));
        }
        Found::Begun(flight)
    }

    /// Whoever has read the answer says when its own time ends, milliseconds since the epoch: it is not served after that.
    pub fn end_by(&self, question: Question, ends_ms: u64) {
        let mut kept = self.kept();
        if let Some(entry) = kept.entries.get(&question.key).filter(|entry| entry.ends_ms > ends_ms) {
            let (was_ms, shorter) = (entry.ends_ms, Entry { answer: Arc::clone(&entry.answer), ends_ms, ..*entry });
            kept.by_end.remove(&(was_ms, question.key));
            kept.by_end.insert((ends_ms, question.key));
            kept.entries.insert(question.key, shorter);
        }
    }

    fn keep(&self, question: Question, fetched: Fetched<T>) -> Arc<T> {
        let Fetched { answer, bytes } = fetched;
        let answer = Arc::new(answer);
        let now_ms = self.clock.now_ms();
        let ends_ms = now_ms.saturating_add(question.keep_ms);
        if bytes <= ENTRY_MAX_BYTES {
            let entry = Entry { answer: Arc::clone(&answer), bytes, kept_at_ms: now_ms, ends_ms };
            self.kept().insert(question.key, entry);
        }
        answer
    }
}

impl<T> AnswerCache<T> {
    /// What is kept is whole after every step, so that which a panic interrupted can be used.
    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Found<T> {
    Kept(Arc<T>),
    UnderWay(Flight<T>),
    Begun(Flight<T>),
}

impl<T> Kept<T> {
    fn insert(&mut self, key: Digest, entry: Entry<T>) {
        self.remove(&key);
        self.bytes += entry.bytes;
        self.by_end.insert((entry.ends_ms, key));
        self.entries.insert(key, entry);
        // The one that has the least time left is worth the least.
        while self.entries.len() > ENTRIES_MAX || self.bytes > ENTRIES_MAX_BYTES {
            let Some((_, soonest)) = self.by_end.first().copied() else { return };
            self.remove(&soonest);
        }
    }

    fn remove(&mut self, key: &Digest) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
            self.by_end.remove(&(entry.ends_ms, *key));
        }
    }

    fn forget_ended(&mut self, now_ms: u64) {
        while let Some((ends_ms, key)) = self.by_end.first().copied()
            && ends_ms <= now_ms
        {
            self.remove(&key);
        }
    }
}

/// Takes a flight off the list when it is over.
struct Landing<T> {
    kept: Weak<Mutex<Kept<T>>>,
    key: Digest,
    number: u64,
}

impl<T> Drop for Landing<T> {
    fn drop(&mut self) {
        let Some(kept) = self.kept.upgrade() else { return };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Another one may have begun since, after all had left this one.
        if kept.flights.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            kept.flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests;
