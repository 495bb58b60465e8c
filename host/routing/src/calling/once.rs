//! A write that names its key is made once: the same key and arguments get the same booking, other arguments a conflict
//! (the rules: [`idempotency`](intent_gateway_outbound::policy::idempotency)).
//!
//! The attempt is in the store before the partner is called and after it has answered, so a restart in between leaves it to
//! be seen. A repeated write goes out again under its key, for the partner alone knows the booking's current status; where
//! it cannot be asked, or names another booking than before, what it answered first is served.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::prepare::PreparedCall;
use super::{CallError, Caller, JudgedAnswer};
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Change, List, Record as _, Store, StoreError, Versioned, load, page};
use intent_gateway_outbound::policy::idempotency::{Answer, Asked, Attempt, Fate, Verdict};

/// How soon it is looked again whether the same write has ended, milliseconds.
const LOOK_AGAIN_MS: u64 = 250;
/// How often an attempt is decided anew because another process was faster.
const RACES_MAX: u32 = 5;
/// A larger answer is not kept, bytes: the same write is then made again under its key.
const ANSWER_MAX_BYTES: usize = 256 * 1024;
/// A finding: asked again under a key, the partner named another booking.
const ANOTHER_BOOKING: &str = "IDEMPOTENCY_BROKEN";

/// A judged answer as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredAnswer {
    payload: Box<RawValue>,
    booking: Option<String>,
    advisory: Option<String>,
    by: Option<String>,
}

impl Caller {
    /// Makes a write under its key. When the option's time is over, only what was done in time is told.
    pub(super) async fn call_once(&self, call: &PreparedCall<'_>, keyed: &Asked) -> Result<JudgedAnswer, CallError> {
        let mut races = 0;
        loop {
            let kept = load::<Attempt>(&*self.memory.store, &keyed.id().to_string()).await.map_err(store)?;
            let now_ms = self.clock.now_ms();
            let again = match (keyed.judge(kept.as_ref().map(|kept| &kept.value), now_ms), &call.expired) {
                (Verdict::Conflict, _) => return Err(CallError::KeyUsed),
                (Verdict::UnderWay(left_ms), _) => {
                    if now_ms.saturating_add(LOOK_AGAIN_MS) > call.deadline_ms {
                        return Err(CallError::UnderWay { wait_ms: left_ms });
                    }
                    self.memory.timer.wait(Duration::from_millis(LOOK_AGAIN_MS)).await;
                    continue;
                }
                (Verdict::Done(answer), expired) => return self.repeat(call, keyed, answer, expired.is_some()).await,
                (Verdict::GoesOut { .. }, Some(expired)) => return Err(expired.clone()),
                (Verdict::GoesOut { again }, None) => again,
            };
            let begun = Versioned {
                revision: kept.as_ref().map_or(0, |kept| kept.revision),
                value: keyed.begin(kept.as_ref().map(|kept| &kept.value), now_ms),
            };
            match self.store_attempt(&begun).await {
                Ok(()) => return self.carry_out(call, begun, again).await,
                Err(StoreError::Conflict(_)) if races < RACES_MAX => races += 1,
                Err(error) => return Err(store(error)),
            }
        }
    }

    /// Makes the call, and takes down what came of it.
    async fn carry_out(
        &self,
        call: &PreparedCall<'_>,
        begun: Versioned<Attempt>,
        again: bool,
    ) -> Result<JudgedAnswer, CallError> {
        let (revision, outcome) = join(self.begun_revision(&begun), self.make(call, again)).await;
        let settled = match &outcome {
            Ok(judged) => match self.seal_answer(&begun.value, judged) {
                Some(answer) => Some(begun.value.clone().done(answer)),
                None => begun.value.clone().failed(Fate::Unknown),
            },
            Err(CallError::Partner { failure, .. }) => begun.value.clone().failed(Fate::of(failure, call.descriptor())),
            // The partner has answered, and may have done it, whatever is thought of its answer.
            Err(_) => begun.value.clone().failed(Fate::Unknown),
        };
        let kept = match settled {
            Some(value) => self.store_attempt(&Versioned { revision, value }).await,
            None => self.drop_attempt(&Versioned { revision, value: begun.value }).await,
        };
        if let Err(error) = kept {
            // It stands as under way, and is made again under its key when that time is over.
            tracing::error!(error = %chain(&error), tool = call.request.tool, "the end of a write could not be kept");
        }
        outcome
    }

    /// Tells of a write that was done: its current status where the partner can be asked, else what it answered then.
    async fn repeat(
        &self,
        call: &PreparedCall<'_>,
        keyed: &Asked,
        answer: &Answer,
        is_over: bool,
    ) -> Result<JudgedAnswer, CallError> {
        let first = self.open_answer(keyed, answer)?;
        if is_over {
            return Ok(first);
        }
        match self.make(call, true).await {
            Ok(now) if now.booking == first.booking => Ok(now),
            Ok(_) => {
                let message = "asked again under a key, the partner named another booking".to_owned();
                let violation = Violation { pointer: String::new(), code: ANOTHER_BOOKING.to_owned(), message };
                self.record(call, Severity::Drop, violation);
                Ok(first)
            }
            Err(error) => {
                tracing::info!(
                    error = %chain(&error), tool = call.request.tool,
                    "a repeated write is answered with what the partner said first"
                );
                Ok(first)
            }
        }
    }

    async fn store_attempt(&self, attempt: &Versioned<Attempt>) -> Result<(), StoreError> {
        let mut change = Change::default();
        change.put(attempt);
        self.memory.store.commit(change).await
    }

    /// The revision that an attempt was kept at when it began: a new record counts on from those that were removed.
    async fn begun_revision(&self, begun: &Versioned<Attempt>) -> u64 {
        let next = begun.revision + 1;
        if begun.revision > 0 {
            return next;
        }
        // Where it cannot be read, its end can hardly be kept either, and that is told.
        let kept = load::<Attempt>(&*self.memory.store, &begun.value.key()).await;
        kept.ok().flatten().map_or(next, |kept| kept.revision)
    }

    async fn drop_attempt(&self, attempt: &Versioned<Attempt>) -> Result<(), StoreError> {
        let mut change = Change::default();
        change.delete(attempt);
        self.memory.store.commit(change).await
    }

    fn seal_answer(&self, attempt: &Attempt, judged: &JudgedAnswer) -> Option<Answer> {
        let JudgedAnswer { payload, booking, advisory, by, .. } = judged.clone();
        let by = by.as_deref().map(str::to_owned);
        let text = serde_json::to_string(&StoredAnswer { payload, booking, advisory, by }).ok();
        let text = text.filter(|text| text.len() <= ANSWER_MAX_BYTES)?;
        self.memory.vault.seal(&attempt.key(), &Secret::new(text)).ok().map(Answer)
    }

    fn open_answer(&self, keyed: &Asked, answer: &Answer) -> Result<JudgedAnswer, CallError> {
        let text = self.memory.vault.open(&keyed.id().to_string(), &answer.0);
        let text = text.map_err(|error| CallError::Store(chain(&error)))?;
        let StoredAnswer { payload, booking, advisory, by } =
            serde_json::from_str(text.expose()).map_err(|error| CallError::Store(chain(&error)))?;
        Ok(JudgedAnswer { payload, booking, advisory, by: by.map(Arc::from), elapsed: Duration::ZERO })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps an error")]
fn store(error: StoreError) -> CallError {
    CallError::Store(chain(&error))
}

/// Attempts read at a time.
const PAGE: u32 = 100;

/// Forgets the attempts whose time is over; how many there were.
///
/// # Errors
/// [`StoreError`] when the store fails; what was forgotten until then stays so.
pub async fn forget_attempts(store: &dyn Store, now_ms: u64) -> Result<u64, StoreError> {
    let (mut forgotten, mut after) = (0, None::<String>);
    loop {
        let list = List { status: None, after: after.as_deref(), limit: PAGE };
        let attempts = page::<Attempt>(store, list).await?;
        let Some(last) = attempts.last() else { return Ok(forgotten) };
        after = Some(last.value.key());
        for attempt in attempts.iter().filter(|attempt| attempt.value.is_over(now_ms)) {
            let mut change = Change::default();
            change.delete(attempt);
            match store.commit(change).await {
                Ok(()) => forgotten += 1,
                // Somebody has begun it anew, or was faster.
                Err(StoreError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
