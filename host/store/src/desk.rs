//! The desk: takes bookings one by one and hands them on in batches, so that many share one durable transaction.
//!
//! One task holds the queue. While a batch is written, what comes waits in the queue and makes the next one, which so
//! grows with the load. After a batch of more than one it lingers a moment, for those who have just had their answer
//! tend to come again together; a single client is never made to wait.
//!
//! Not here: what a booking says, and who is answered what on the wire.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use intent_gateway_core::ledger::{BATCH_MAX, Booked, Booking, Books};
use intent_gateway_core::store::StoreError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Bookings that wait. More than a few batches would only be waited for in vain.
pub const QUEUE_MAX: usize = 4 * BATCH_MAX;
/// How long to wait for more after a batch of more than one.
const LINGER: Duration = Duration::from_micros(300);

/// Why a booking was not answered.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DeskError {
    /// Too many wait; nothing was booked, and trying again later is in order.
    #[error("too many completion reports are waiting to be booked")]
    Full,
    /// The gateway is shutting down; nothing was booked.
    #[error("no more completion reports are taken: the gateway is shutting down")]
    Closed,
    /// The batch failed. Trying again is safe: what was booked all the same is not booked twice.
    #[error("completion reports could not be booked")]
    Store(#[source] Arc<StoreError>),
}

/// A booking and who waits for its outcome.
struct Submission {
    booking: Booking,
    reply: oneshot::Sender<Result<Booked, DeskError>>,
}

/// Where bookings are handed in. Dropped, it writes what it has taken and ends.
pub struct Desk {
    queue: mpsc::Sender<Submission>,
    closing: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk")
    }
}

impl Desk {
    /// Opens the desk, on the runtime that this is called from.
    #[must_use]
    pub fn open(books: Arc<dyn Books>) -> Self {
        let (queue, submissions) = mpsc::channel(QUEUE_MAX);
        let closing = CancellationToken::new();
        let task = tokio::spawn(serve(books, submissions, closing.clone()));
        Self { queue, closing, task: Mutex::new(Some(task)) }
    }

    /// Books. Once it was taken it is carried out, whether or not this is waited for.
    ///
    /// # Errors
    /// [`DeskError`]; at once when the queue is full or the desk is closed.
    pub async fn book(&self, booking: Booking) -> Result<Booked, DeskError> {
        let (reply, answer) = oneshot::channel();
        self.queue.try_send(Submission { booking, reply }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => DeskError::Full,
            mpsc::error::TrySendError::Closed(_) => DeskError::Closed,
        })?;
        let unanswered = || DeskError::Store(Arc::new(StoreError::Engine("the desk has failed".to_owned(), None)));
        answer.await.unwrap_or_else(|_| Err(unanswered()))
    }

    /// Takes no more, and returns once all that was taken has its answer.
    pub async fn close(&self) {
        self.closing.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the desk of the ledger ended badly");
        }
    }
}

/// Writes batch after batch, until nobody can hand in any more and all is written.
async fn serve(books: Arc<dyn Books>, mut queue: mpsc::Receiver<Submission>, closing: CancellationToken) {
    let mut last = 0;
    while let Some(first) = next(&mut queue, &closing).await {
        let mut batch = vec![first];
        fill(&mut batch, &mut queue);
        if last > 1 && batch.len() < BATCH_MAX && !closing.is_cancelled() {
            linger().await;
            fill(&mut batch, &mut queue);
        }
        last = batch.len();
        write(&*books, batch).await;
    }
}

/// The next submission, once there is one; `None` when there will be none.
async fn next(queue: &mut mpsc::Receiver<Submission>, closing: &CancellationToken) -> Option<Submission> {
    tokio::select! {
        biased;
        () = closing.cancelled(), if !queue.is_closed() => {
            queue.close();
            queue.recv().await
        }
        submission = queue.recv() => submission,
    }
}

/// Takes what waits, as far as a batch holds it.
fn fill(batch: &mut Vec<Submission>, queue: &mut mpsc::Receiver<Submission>) {
    while batch.len() < BATCH_MAX
        && let Ok(submission) = queue.try_recv()
    {
        batch.push(submission);
    }
}

/// The runtime's own timers tell whole milliseconds, which is too coarse here.
async fn linger() {
    // It fails only when the runtime ends, and then there is nothing to wait for.
    let _ = tokio::task::spawn_blocking(|| std::thread::sleep(LINGER)).await;
}

/// Writes a batch, and answers each submitter. One who does not wait any more is no failure.
async fn write(books: &dyn Books, batch: Vec<Submission>) {
    let (bookings, replies): (Vec<_>, Vec<_>) =
        batch.into_iter().map(|Submission { booking, reply }| (booking, reply)).unzip();
    match books.book(bookings).await {
        Ok(answers) => {
            for (reply, answer) in replies.into_iter().zip(answers) {
                drop(reply.send(Ok(answer)));
            }
        }
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                reports = replies.len(),
                "a batch was not booked"
            );
            let error = Arc::new(error);
            for reply in replies {
                drop(reply.send(Err(DeskError::Store(Arc::clone(&error)))));
            }
        }
    }
}
