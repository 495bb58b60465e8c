//! The turn of a job on a thread of the store: its owner waits for it to come within a limit, and for the outcome once it has.
//!
//! The owner is woken once, with the outcome: that the turn has come is a flag, which is looked at when the limit is reached.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::stopped;
use crate::error::EngineError;

const WAITS: u8 = 0;
const HAS_BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

/// What a job answers by, and is told by whether its owner still waits.
pub(super) struct Turn<T> {
    state: Arc<AtomicU8>,
    reply: oneshot::Sender<Result<T, EngineError>>,
}

impl<T> Turn<T> {
    /// Whether nobody waits any more, so that nothing is to be done.
    pub(super) fn is_given_up(&self) -> bool {
        self.reply.is_closed() || self.state.load(Ordering::Acquire) == GIVEN_UP
    }

    /// Begins the job, of which the owner waits for the outcome from now on; false where nobody waits any more.
    pub(super) fn begin(&self) -> bool {
        !self.reply.is_closed() && change(&self.state, HAS_BEGUN)
    }

    /// Tells the outcome. An owner that does not wait any more is no failure.
    pub(super) fn answer(self, outcome: Result<T, EngineError>) {
        drop(self.reply.send(outcome));
    }
}

fn change(state: &AtomicU8, to: u8) -> bool {
    state.compare_exchange(WAITS, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// Hands a job to a thread, waits for so long for its turn, and then for its outcome; `late` is what is said where the turn has
/// not come.
pub(super) async fn hand<J, T>(
    jobs: &mpsc::Sender<J>,
    limit: Duration,
    late: &'static str,
    job: impl FnOnce(Turn<T>) -> J,
) -> Result<T, EngineError> {
    let deadline = Instant::now() + limit;
    let state = Arc::new(AtomicU8::new(WAITS));
    let (reply, mut outcome) = oneshot::channel();
    let job = job(Turn { state: Arc::clone(&state), reply });
    let admitted = tokio::time::timeout_at(deadline, jobs.send(job)).await;
    admitted.map_err(|_| EngineError::too_late(late))?.map_err(|_| stopped())?;
    let outcome = match tokio::time::timeout_at(deadline, &mut outcome).await {
        Ok(outcome) => outcome,
        Err(_) if change(&state, GIVEN_UP) => return Err(EngineError::too_late(late)),
        Err(_) => outcome.await,
    };
    outcome.map_err(|_| stopped())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_come_in_time_is_given_up_and_nothing_is_done_then() {
        let (jobs, mut taken) = mpsc::channel::<Turn<u32>>(1);
        let late = hand(&jobs, LIMIT, "late", |turn| turn).await.expect_err("nobody takes it");
        assert!(matches!(late, EngineError::Unavailable { .. }), "{late:?}");
        let turn = taken.recv().await.expect("it is in the queue");
        assert!(turn.is_given_up() && !turn.begin());
    }

    #[tokio::test(start_paused = true)]
    async fn once_a_job_has_begun_its_outcome_is_waited_for() {
        let (jobs, mut taken) = mpsc::channel::<Turn<u32>>(1);
        let serve = async {
            let turn = taken.recv().await.expect("handed in");
            assert!(turn.begin());
            tokio::time::sleep(3 * LIMIT).await;
            turn.answer(Ok(7));
        };
        let (outcome, ()) = tokio::join!(hand(&jobs, LIMIT, "late", |turn| turn), serve);
        assert_eq!(outcome.expect("it was waited for"), 7);
    }

    #[tokio::test]
    async fn a_thread_that_has_ended_is_said() {
        let (jobs, taken) = mpsc::channel::<Turn<u32>>(1);
        drop(taken);
        assert!(matches!(hand(&jobs, LIMIT, "late", |turn| turn).await, Err(EngineError::Failed { .. })));
    }

    #[tokio::test]
    async fn a_job_whose_owner_has_gone_does_not_begin() {
        let (jobs, mut taken) = mpsc::channel::<Turn<u32>>(1);
        let mut waiting = Box::pin(hand(&jobs, LIMIT, "late", |turn| turn));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(waiting);
        let turn = taken.recv().await.expect("it is in the queue");
        assert!(turn.is_given_up() && !turn.begin());
    }
}
