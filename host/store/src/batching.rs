//! Gathers what comes one by one into batches, so that many share one transaction.
//!
//! One task holds the queue. While a batch is worked on, what comes waits in the queue and makes the next one, which so
//! grows with the load. Where it is worth while, the task lingers a moment after a batch of more than one, for those who
//! have just had their answer tend to come again together; a single client is never made to wait.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::supervise;
use intent_gateway_ledger::DeskError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long to wait for more after a batch of more than one.
const LINGER: Duration = Duration::from_micros(300);

/// How a queue is kept.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// What is in it, for the log.
    pub(crate) name: &'static str,
    /// How many wait, at most.
    pub(crate) queue_max: usize,
    /// How many make a batch, at most.
    pub(crate) batch_max: usize,
    /// Whether it is worth while to linger.
    pub(crate) lingers: bool,
}

/// Works on a batch; one answer for each, in their order.
pub(crate) type Work<Q, A> = Box<dyn Fn(Vec<Q>) -> BoxFuture<'static, Result<Vec<A>, StoreError>> + Send + Sync>;

/// Something submitted, and who waits for its answer.
struct Submission<Q, A> {
    question: Q,
    reply: oneshot::Sender<Result<A, DeskError>>,
}

/// A queue and the task that works on it. Dropped, the task finishes what it has taken and ends.
pub(crate) struct Queue<Q, A> {
    submissions: mpsc::Sender<Submission<Q, A>>,
    task: Mutex<Option<JoinHandle<()>>>,
    name: &'static str,
}

impl<Q: Send + 'static, A: Send + 'static> Queue<Q, A> {
    /// Opens a queue on the runtime that this is called from; `closing` closes it.
    pub(crate) fn open(rules: Rules, closing: CancellationToken, work: Work<Q, A>) -> Self {
        let (submissions, queue) = mpsc::channel(rules.queue_max);
        let task = tokio::spawn(serve(rules, queue, closing, work));
        Self { submissions, task: Mutex::new(Some(task)), name: rules.name }
    }

    /// Submits. Once it was taken it is worked on, whether or not this is waited for.
    pub(crate) async fn submit(&self, question: Q) -> Result<A, DeskError> {
        let (reply, answer) = oneshot::channel();
        self.submissions.try_send(Submission { question, reply }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => DeskError::Full,
            mpsc::error::TrySendError::Closed(_) => DeskError::Closed,
        })?;
        let unanswered = || DeskError::Store(Arc::new(StoreError::Engine("the desk has failed".to_owned(), None)));
        answer.await.unwrap_or_else(|_| Err(unanswered()))
    }

    /// What it is called, and how much waits in it.
    pub(crate) fn waiting(&self) -> (&'static str, usize) {
        (self.name, self.submissions.max_capacity() - self.submissions.capacity())
    }

    /// Returns once all that was taken has its answer. It is closed by then.
    pub(crate) async fn finish(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, queue = self.name, "a queue ended badly");
        }
    }
}

/// Works on batch after batch, until nobody can submit any more and all is done.
async fn serve<Q, A>(
    rules: Rules,
    mut queue: mpsc::Receiver<Submission<Q, A>>,
    closing: CancellationToken,
    work: Work<Q, A>,
) {
    let mut last = 0;
    while let Some(first) = next(&mut queue, &closing).await {
        let mut batch = vec![first];
        fill(&mut batch, &mut queue, rules.batch_max);
        if rules.lingers && last > 1 && batch.len() < rules.batch_max && !closing.is_cancelled() {
            linger().await;
            fill(&mut batch, &mut queue, rules.batch_max);
        }
        last = batch.len();
        answer(rules.name, &work, batch).await;
    }
}

/// The next of a queue, once there is one; `None` when there will be none.
pub(crate) async fn next<T>(queue: &mut mpsc::Receiver<T>, closing: &CancellationToken) -> Option<T> {
    tokio::select! {
        biased;
        () = closing.cancelled(), if !queue.is_closed() => {
            queue.close();
            queue.recv().await
        }
        next = queue.recv() => next,
    }
}

/// Takes what waits, as far as a batch holds it.
fn fill<T>(batch: &mut Vec<T>, queue: &mut mpsc::Receiver<T>, batch_max: usize) {
    while batch.len() < batch_max
        && let Ok(next) = queue.try_recv()
    {
        batch.push(next);
    }
}

/// The runtime's own timers tell whole milliseconds, which is too coarse here.
async fn linger() {
    // It fails only when the runtime ends, and then there is nothing to wait for.
    let _ = tokio::task::spawn_blocking(|| std::thread::sleep(LINGER)).await;
}

/// Works on a batch, and answers each submitter. One who does not wait any more is not a failure.
async fn answer<Q, A>(name: &'static str, work: &Work<Q, A>, batch: Vec<Submission<Q, A>>) {
    let (questions, replies): (Vec<_>, Vec<_>) =
        batch.into_iter().map(|Submission { question, reply }| (question, reply)).unzip();
    // A panic costs this batch and not the queue: whoever comes next is served.
    let worked = supervise::catch(name, async { work(questions).await }).await;
    let worked = worked.unwrap_or_else(|panicked| {
        Err(StoreError::Engine("the work on a batch panicked".to_owned(), Some(Box::new(panicked))))
    });
    match worked {
        Ok(answers) => {
            for (reply, answer) in replies.into_iter().zip(answers) {
                drop(reply.send(Ok(answer)));
            }
        }
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                queue = name,
                submissions = replies.len(),
                "a batch failed"
            );
            let error = Arc::new(error);
            for reply in replies {
                drop(reply.send(Err(DeskError::Store(Arc::clone(&error)))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_panic_costs_its_batch_and_not_the_queue() {
        let work: Work<u32, u32> = Box::new(|questions| {
            async move {
                assert!(!questions.contains(&13), "thirteen");
                Ok(questions)
            }
            .boxed()
        });
        let rules = Rules { name: "test", queue_max: 8, batch_max: 1, lingers: false };
        let queue = Queue::open(rules, CancellationToken::new(), work);
        let failure = queue.submit(13).await.expect_err("it panicked");
        let DeskError::Store(failure) = failure else { panic!("expected a failure of the store: {failure}") };
        let cause = std::error::Error::source(&*failure).expect("it has a cause").to_string();
        assert_eq!(cause, "a panic: thirteen");
        assert_eq!(queue.submit(7).await.expect("the queue goes on"), 7);
    }
}
