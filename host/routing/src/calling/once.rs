//! A write that names its key is made once: the same key and arguments get the same booking, other arguments a conflict
//! (the rules: [`idempotency`](intent_gateway_outbound::policy::idempotency)).
//!
//! The attempt is in the store before the partner is called and after it has answered, so a restart in between leaves it to
//! be seen. A repeated write goes out again under its key, for the partner alone knows the booking's current status; where
//! it cannot be asked, or names another booking than before, what it answered first is served.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::beginning::{Begun, BegunOrder, Earlier};
use super::prepare::PreparedCall;
use super::settling::{EndedAttempt, Settled};
use super::{CallError, Caller, JudgedAnswer, OrderStanding};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::order::OrderId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Record, Store, StoreError, Versioned, load};
use intent_gateway_outbound::policy::idempotency::{Attempt, Effect, KeyedWrite, Ruling, SealedAnswer};

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

/// How a write under its key is to go on.
enum Begin {
    /// It goes out; the attempt is kept.
    GoesOut {
        attempt: Versioned<Attempt>,
        /// Whether one like it may have gone out before.
        again: bool,
        order: Option<BegunOrder>,
    },
    /// The same is under way, for so many milliseconds at most.
    UnderWay(u64),
    /// The same was done, with this answer.
    Done(KeptAnswer),
    /// Its order is not any more as it was when the call was prepared.
    Overtaken,
}

/// What an attempt was answered with, and the key that it was sealed for.
struct KeptAnswer {
    key: String,
    sealed: SealedAnswer,
    /// The order that it has opened or gone on with.
    order: Option<OrderId>,
}

impl Caller {
    /// Makes a write under its key. When the option's time is over, only what was done in time is told. None where it was
    /// overtaken.
    pub(super) async fn call_once(
        &self,
        call: &PreparedCall<'_>,
        write: &KeyedWrite,
    ) -> Result<Option<JudgedAnswer>, CallError> {
        let expired = call.expired.as_ref();
        // Ends: every wait brings the deadline of the call nearer.
        loop {
            let (begun, revisions) = self.begin(call, write).await?;
            match begun {
                Begin::GoesOut { attempt: Versioned { revision, value }, again, order } => {
                    // It is what the change writes last.
                    let revision = revisions.last().copied().unwrap_or(revision);
                    let order = order.map(|begun| begun.into_settled(&revisions));
                    return self.carry_out(call, Versioned { revision, value }, again, order).await.map(Some);
                }
                Begin::Done(answer) => return self.repeat(call, &answer, expired.is_some()).await.map(Some),
                Begin::Overtaken => return Ok(None),
                Begin::UnderWay(left_ms) => self.wait_for_another(left_ms, call.time).await?,
            }
        }
    }

    /// Decides by what is kept under the key, and keeps the attempt that goes out; with the revisions that this has led to.
    async fn begin(&self, call: &PreparedCall<'_>, write: &KeyedWrite) -> Result<(Begin, Vec<u64>), CallError> {
        let (store, expired) = (&*self.memory.store, call.expired.as_ref());
        let proposed = Mutex::new(None);
        let begun = steps::run_to_revisions(store, async || {
            let kept = load::<Attempt>(store, &write.id().to_string()).await?;
            let (revision, kept) = match (kept, write.former_id()) {
                (Some(kept), _) => (kept.revision, Some(kept.value)),
                (None, None) => (0, None),
                // It decides, and what follows it is kept under the present key.
                (None, Some(former)) => (0, load::<Attempt>(store, &former.to_string()).await?.map(|kept| kept.value)),
            };
            let now = self.clock.now();
            let again = match (write.judge(kept.as_ref(), now), expired) {
                (Ruling::Conflict, _) => return Err(CallError::KeyUsed),
                (Ruling::UnderWay(left_ms), _) => return Ok(Proposal::nothing(Begin::UnderWay(left_ms))),
                (Ruling::Done(answer), _) => {
                    let key = kept.as_ref().map_or_else(|| write.id().to_string(), Record::key);
                    let order = kept.as_ref().and_then(|kept| kept.order.clone());
                    let answer = KeptAnswer { key, sealed: answer.clone(), order };
                    return Ok(Proposal::nothing(Begin::Done(answer)));
                }
                (Ruling::GoesOut { .. }, Some(expired)) => return Err(expired.clone()),
                (Ruling::GoesOut { again }, None) => again,
            };
            let (id, mut value) = (write.id().to_string(), write.begin(kept.as_ref(), now));
            let earlier = value.order.as_ref().map(|order| Earlier { attempt: &id, order });
            let mut change = Change::default();
            let Begun::With(order) = self.begin_order(call, Some(&id), earlier, &mut change).await? else {
                return Ok(Proposal::nothing(Begin::Overtaken));
            };
            value.order = order.as_ref().map(|begun| begun.id().clone());
            let attempt = Versioned { revision, value };
            change.put(&attempt);
            *lock(&proposed) = Some(attempt.value.clone());
            Ok(Proposal::new(change, Begin::GoesOut { attempt, again, order }))
        });
        let begun = begun.await;
        let proposed = lock(&proposed).take();
        if let (Err(error), Some(attempt)) = (&begun, proposed) {
            self.leave_never_called(call, error, attempt.order.clone(), Some(attempt));
        }
        begun
    }

    /// Makes the call, and records its outcome in what its beginning is kept in.
    async fn carry_out(
        &self,
        call: &PreparedCall<'_>,
        begun: Versioned<Attempt>,
        again: bool,
        order: Option<Settled>,
    ) -> Result<JudgedAnswer, CallError> {
        let outcome = self.make(call, again).await;
        let Versioned { revision, value: begun } = begun;
        let attempt = begun.clone();
        let ended = match &outcome {
            Ok(judged) => match self.seal_answer(&attempt, judged) {
                Some(answer) => Some(attempt.succeed(answer)),
                None => attempt.fail(Effect::Possible),
            },
            Err(CallError::Partner { failure, .. }) => attempt.fail(Effect::of(failure, call.descriptor())),
            Err(CallError::Store { answered: false, .. }) => attempt.fail(Effect::None),
            // The partner has answered, and may have done it, whatever is thought of its answer.
            Err(_) => attempt.fail(Effect::Possible),
        };
        self.settle(call, order, Some((revision, EndedAttempt { begun, ended })), outcome).await
    }

    /// Tells of a write that was done: its current status where the partner can be asked, else what it answered then.
    async fn repeat(
        &self,
        call: &PreparedCall<'_>,
        answer: &KeptAnswer,
        is_over: bool,
    ) -> Result<JudgedAnswer, CallError> {
        let standing = self.order(answer.order.as_ref()).await?.as_ref().map(OrderStanding::from);
        let first = JudgedAnswer { order: standing.clone(), ..self.open_answer(answer)? };
        if is_over {
            return Ok(first);
        }
        match self.make(call, true).await {
            Ok(now) if now.booking == first.booking => {
                let only_as_last = Some(answer.key.clone());
                let order = answer.order.clone().map(|order| Settled { order, only_as_last, as_begun: None });
                self.settle(call, order, None, Ok(now)).await
            }
            Ok(_) => {
                let message = "asked again under a key, the partner named another booking".to_owned();
                let violation = Violation { pointer: String::new(), code: ANOTHER_BOOKING.to_owned(), message };
                self.record(call, Severity::Drop, violation, None);
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

    fn seal_answer(&self, attempt: &Attempt, judged: &JudgedAnswer) -> Option<SealedAnswer> {
        let JudgedAnswer { payload, booking, advisory, by, .. } = judged.clone();
        let by = by.as_deref().map(str::to_owned);
        let text = serde_json::to_string(&StoredAnswer { payload, booking, advisory, by }).ok();
        let text = text.filter(|text| text.len() <= ANSWER_MAX_BYTES)?;
        self.memory.vault.seal(&attempt.key(), &Secret::new(text)).ok().map(SealedAnswer)
    }

    fn open_answer(&self, answer: &KeptAnswer) -> Result<JudgedAnswer, CallError> {
        let text = self.memory.vault.open(&answer.key, &answer.sealed.0);
        let text = text.map_err(|error| CallError::defect(&error))?;
        let StoredAnswer { payload, booking, advisory, by } =
            serde_json::from_str(text.expose()).map_err(|error| CallError::defect(&error))?;
        Ok(JudgedAnswer { payload, booking, advisory, by: by.map(Arc::from), order: None, elapsed: Duration::ZERO })
    }
}

/// Nothing panics while it is held.
fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets the attempts whose time is over; how many there were.
///
/// # Errors
/// [`StoreError`] when the store fails; what was forgotten until then stays so.
pub async fn forget_attempts(store: &dyn Store, now: Timestamp) -> Result<u64, StoreError> {
    steps::forget_all(store, |attempt: &Attempt| attempt.is_over(now)).await
}
